package main

import (
	"testing"

	"scanhost/shared/cuda/abitest"
)

var underTest = abitest.Kernel{Longest: 2048, Tile: 2048}

func TestSuite(t *testing.T) { underTest.Suite(t) }

// Two arrays read and one written, no workspace.
func TestTraffic(t *testing.T) { underTest.Traffic(t, 4, 2048, 2, 1, 0) }

func TestBitsAreTheSameOnEveryMachine(t *testing.T) { underTest.Golden(t, "testdata/golden.txt") }

func BenchmarkSimt(b *testing.B) { underTest.Benchmark(b, 256, 2048) }

func TestBitsDifferFromLookbackByRoundingOnly(t *testing.T) {
	abitest.Agreement(t, "testdata/golden.txt", "../lookback/testdata/golden.txt")
}
