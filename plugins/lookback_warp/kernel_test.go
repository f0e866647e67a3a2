package main

import (
	"testing"

	"scanhost/shared/cuda/abitest"
)

var underTest = abitest.Kernel{Tile: 256}

func TestSuite(t *testing.T) { underTest.Suite(t) }

func TestWorkspaceIsKept(t *testing.T) { underTest.Lookback(t) }

// Each tile's warp reads 32 records whether it needs them or not: more than the thread of level 3, at once.
func TestTraffic(t *testing.T) { underTest.Traffic(t, 1, 8192, 2, 1, 0.35) }

// The file is that of level 3: a warp that looks back applies the same maps in the same order as a thread.
func TestBitsAreThoseOfLookback(t *testing.T) { underTest.Golden(t, "../lookback/testdata/golden.txt") }

func BenchmarkSimt(b *testing.B) { underTest.Benchmark(b, 2, 1<<18) }
