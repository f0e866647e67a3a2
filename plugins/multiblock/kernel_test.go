package main

import (
	"testing"

	"scanhost/shared/cuda/abitest"
)

var underTest = abitest.Kernel{Longest: 4194304, Tile: 2048}

func TestSuite(t *testing.T) { underTest.Suite(t) }

// a, b, then h and the products are read; h, the products, then h again are written.
func TestTraffic(t *testing.T) { underTest.Traffic(t, 2, 8192, 4, 3, 0.01) }

func TestBitsAreTheSameOnEveryMachine(t *testing.T) { underTest.Golden(t, "testdata/golden.txt") }

func BenchmarkSimt(b *testing.B) { underTest.Benchmark(b, 4, 1<<17) }

func TestBitsDifferFromLookbackByRoundingOnly(t *testing.T) {
	abitest.Agreement(t, "testdata/golden.txt", "../lookback/testdata/golden.txt")
}
