package main

import (
	"fmt"
	"testing"

	"scanhost/shared/cuda/abitest"
	"scanhost/shared/plugin/registry"
)

func withItems(items int64) abitest.Kernel {
	return abitest.Kernel{Tile: 512 * items, Tuning: []int64{items, 0}}
}

func eachItems(t *testing.T, test func(*testing.T, abitest.Kernel)) {
	for _, items := range []int64{1, 2, 4, 8, 16} {
		t.Run(fmt.Sprint(items), func(t *testing.T) { test(t, withItems(items)) })
	}
}

func TestSuite(t *testing.T) {
	eachItems(t, func(t *testing.T, k abitest.Kernel) { k.Suite(t) })
}

// The chain does not know how many items a thread has.
func TestWorkspaceIsKept(t *testing.T) { withItems(4).Lookback(t) }

// With a workspace that is new in each launch there is nothing to keep, and nothing may be taken for zero.
func TestWorkspaceOfEachLaunch(t *testing.T) {
	k := withItems(4)
	k.Tuning = []int64{4, 1}
	k.Suite(t)
}

func TestTraffic(t *testing.T) {
	eachItems(t, func(t *testing.T, k abitest.Kernel) { k.Traffic(t, 1, 8*k.Tile, 2, 1, 0.3/float64(k.Tuning[0])) })
}

func TestBitsAreTheSameOnEveryMachine(t *testing.T) {
	eachItems(t, func(t *testing.T, k abitest.Kernel) {
		k.Golden(t, fmt.Sprintf("testdata/golden_%d.txt", k.Tuning[0]))
	})
}

// A row that does not start at a 16-byte boundary begins some positions into its first group, up to three, and
// may need one tile more for it.
func TestRowsOfEveryAlignment(t *testing.T) {
	eachItems(t, func(t *testing.T, k abitest.Kernel) {
		for _, length := range []int64{k.Tile - 4, k.Tile - 3, k.Tile - 2, k.Tile - 1, 2*k.Tile - 3, 2*k.Tile - 1} {
			for _, options := range [][]string{{"last_state"}, {"reverse", "h0", "last_state"}} {
				k.Run(t, abitest.Case(t, "position", 5, length, options...), nil, registry.Simt{})
			}
		}
	})
}

func TestItemsMustBeOfTheList(t *testing.T) {
	kernel, err := registry.Find("affine_scan", registry.SimtFast)
	if err != nil {
		t.Fatal(err)
	}
	_, status, text := kernel.Prepare(registry.Problem{DType: 1, Dims: []int64{1, 5}, Tuning: []int64{3, 0}})
	if status != registry.Unsupported || text != "items is 3; 1, 2, 4, 8 and 16 are accepted" {
		t.Errorf("status %d, %q", status, text)
	}
}

func BenchmarkSimt(b *testing.B) {
	for _, items := range []int64{1, 2, 4, 8, 16} {
		b.Run(fmt.Sprint(items), func(b *testing.B) { withItems(items).Benchmark(b, 2, 1<<20) })
	}
}

func TestBitsDifferFromLookbackByRoundingOnly(t *testing.T) {
	eachItems(t, func(t *testing.T, k abitest.Kernel) {
		abitest.Agreement(t, fmt.Sprintf("testdata/golden_%d.txt", k.Tuning[0]), "../lookback/testdata/golden.txt")
	})
}
