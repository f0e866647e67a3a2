package main

import (
	"testing"

	"scanhost/shared/cuda/abitest"
)

var underTest = abitest.Kernel{Tile: 256}

func TestSuite(t *testing.T) { underTest.Suite(t) }

func TestWorkspaceIsKept(t *testing.T) { underTest.Lookback(t) }

func TestTraffic(t *testing.T) { underTest.Traffic(t, 1, 8192, 2, 1, 0.12) }

func TestBitsAreTheSameOnEveryMachine(t *testing.T) { underTest.Golden(t, "testdata/golden.txt") }

func BenchmarkSimt(b *testing.B) { underTest.Benchmark(b, 2, 1<<18) }
