package main

import (
	"fmt"
	"testing"

	"scanhost/shared/cuda/abitest"
	"scanhost/shared/op"
	"scanhost/shared/plugin/registry"
)

// streams are the ways a row meets a team: warps of a team, groups of a thread, teams of a block, rows of a team.
// With short = 0 every row is a stream.
var streams = []abitest.Kernel{
	stream(op.FP32, 1, 32, 1), stream(op.FP32, 2, 256, 1), stream(op.FP32, 4, 64, 2), stream(op.FP32, 2, 128, 8),
	stream(op.FP16, 1, 64, 2), stream(op.BF16, 2, 256, 4), stream(op.BF16, 4, 32, 1),
}

func stream(dtype op.DType, groups, threads, rowsPerTeam int64) abitest.Kernel {
	return tuned(dtype, groups, threads, rowsPerTeam, 0)
}

func tuned(dtype op.DType, groups, threads, rowsPerTeam, short int64) abitest.Kernel {
	tile := threads * groups * 16 / dtype.Size()
	return abitest.Kernel{DType: dtype, Tile: tile, Tuning: []int64{groups, threads, rowsPerTeam, short}}
}

func each(t *testing.T, kernels []abitest.Kernel, test func(*testing.T, abitest.Kernel)) {
	for _, k := range kernels {
		t.Run(fmt.Sprint(k.DType, k.Tuning), func(t *testing.T) { test(t, k) })
	}
}

func TestStreams(t *testing.T) {
	each(t, streams, func(t *testing.T, k abitest.Kernel) { k.Suite(t) })
}

func TestShortRows(t *testing.T) {
	each(t, []abitest.Kernel{
		tuned(op.FP32, 2, 256, 1, 2048), tuned(op.FP32, 1, 64, 1, 4096), tuned(op.BF16, 1, 128, 1, 1024), tuned(op.FP16, 4, 32, 1, 512),
	}, func(t *testing.T, k abitest.Kernel) { k.Suite(t) })
}

// Rows of every length to beyond a warp's strip lie in a tile in every alignment; a block, or a team, has few of the last.
func TestRowsOfEveryAlignment(t *testing.T) {
	for _, k := range []abitest.Kernel{tuned(op.FP32, 2, 64, 1, 4096), tuned(op.BF16, 1, 32, 1, 4096), stream(op.FP32, 1, 64, 2), stream(op.FP16, 2, 32, 4)} {
		for length := int64(1); length <= 131; length++ {
			options := [][]string{{"last_state"}, {"reverse", "h0", "last_state"}}[length%2]
			k.Run(t, k.Case(t, "position", 37, length, options...), nil, registry.Simt{})
		}
	}
}

// Inf and NaN of one row must not reach the next in its tile: a segment starts by a flag, not by a factor of 0.
func TestNothingLeaksFromRowToRow(t *testing.T) {
	k := tuned(op.FP32, 2, 128, 1, 4096)
	for _, length := range []int64{1, 3, 17, 64, 127, 500} {
		k.Run(t, k.Case(t, "nonfinite", 61, length, "h0", "last_state"), nil, registry.Simt{})
	}
}

func TestTraffic(t *testing.T) {
	tuned(op.FP32, 2, 256, 1, 0).Traffic(t, 3, 16384, 2, 1, 0)
	tuned(op.BF16, 2, 256, 1, 0).Traffic(t, 3, 16384, 2, 1, 0)
	tuned(op.FP32, 2, 256, 1, 256).Traffic(t, 300, 128, 2, 1, 0)
}

func TestBitsAreTheSameOnEveryMachine(t *testing.T) {
	stream(op.FP32, 2, 256, 1).Golden(t, "testdata/golden.txt")
}

func TestBitsDifferFromLookbackByRoundingOnly(t *testing.T) {
	abitest.Agreement(t, "testdata/golden.txt", "../lookback/testdata/golden.txt")
}

func BenchmarkSimt(b *testing.B) {
	b.Run("stream", func(b *testing.B) { stream(op.FP32, 2, 256, 1).Benchmark(b, 256, 1<<13) })
	b.Run("short", func(b *testing.B) { tuned(op.FP32, 2, 256, 1, 256).Benchmark(b, 1<<14, 128) })
}
