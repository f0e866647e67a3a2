package main

import (
	"fmt"
	"testing"

	"scanhost/shared/cuda/abitest"
	"scanhost/shared/plugin/registry"
)

func eachItems(t *testing.T, test func(*testing.T, abitest.Kernel)) {
	for _, items := range []int64{8, 16, 32} {
		t.Run(fmt.Sprint(items), func(t *testing.T) {
			test(t, abitest.Kernel{Longest: 8192, Tile: 8192, Tuning: []int64{items}})
		})
	}
}

func TestSuite(t *testing.T) {
	eachItems(t, func(t *testing.T, k abitest.Kernel) { k.Suite(t) })
}

// Two arrays read and one written, no workspace.
func TestTraffic(t *testing.T) {
	eachItems(t, func(t *testing.T, k abitest.Kernel) { k.Traffic(t, 4, 8192, 2, 1, 0) })
}

// One file for all: where an element is kept does not change what it is combined with.
func TestBitsAreTheSameOnEveryMachine(t *testing.T) {
	eachItems(t, func(t *testing.T, k abitest.Kernel) { k.Golden(t, "testdata/golden.txt") })
}

func TestBitsDifferFromBlellochByRoundingOnly(t *testing.T) {
	abitest.Agreement(t, "testdata/golden.txt", "../blelloch/testdata/golden.txt")
}

// The block doubles, and with it the passes through shared memory, at these lengths.
func TestRowsAroundEveryBlockSize(t *testing.T) {
	eachItems(t, func(t *testing.T, k abitest.Kernel) {
		for size := int64(32); size <= 8192; size *= 2 {
			for _, length := range []int64{size - 1, size, size + 1} {
				if length <= k.Longest {
					k.Run(t, abitest.Case(t, "position", 3, length, "reverse", "h0", "last_state"), nil, registry.Simt{})
				}
			}
		}
	})
}

func TestItemsMustBeOfTheList(t *testing.T) {
	kernel, err := registry.Find("affine_scan", registry.SimtFast)
	if err != nil {
		t.Fatal(err)
	}
	_, status, text := kernel.Prepare(registry.Problem{DType: 1, Dims: []int64{1, 5}, Tuning: []int64{4}})
	if status != registry.Unsupported || text != "items is 4; 8, 16 and 32 are accepted" {
		t.Errorf("status %d, %q", status, text)
	}
}

func BenchmarkSimt(b *testing.B) {
	for _, items := range []int64{8, 16, 32} {
		b.Run(fmt.Sprint(items), func(b *testing.B) {
			abitest.Kernel{Longest: 8192, Tile: 8192, Tuning: []int64{items}}.Benchmark(b, 64, 8192)
		})
	}
}
