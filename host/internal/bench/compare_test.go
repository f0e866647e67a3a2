package bench_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scanhost/host/internal/bench"
	"scanhost/host/internal/bench/benchtest"
)

func outcomes(c bench.Comparison) map[string][]bench.Outcome {
	all := map[string][]bench.Outcome{}
	for _, r := range c.Rows {
		all[r.Contender] = append(all[r.Contender], r.Outcome)
	}
	return all
}

func compare(t *testing.T, older, newer benchtest.World) bench.Comparison {
	t.Helper()
	c, err := bench.CompareSweeps(older.Sweep(), newer.Sweep())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestARegressionIsFound(t *testing.T) {
	older, newer := benchtest.Small(), benchtest.Small()
	newer.Seed, newer.Slower = 2, map[string]float64{"multiblock": 1.05, "lookback": 0.9}
	c := compare(t, older, newer)
	for name, want := range map[string]bench.Outcome{"multiblock": bench.Worse, "lookback": bench.Better, "lookback_items": bench.NoDifference} {
		if got := outcomes(c)[name]; len(got) != 3 || slices.ContainsFunc(got, func(o bench.Outcome) bool { return o != want }) {
			t.Errorf("%s: %v, want %s", name, got, want)
		}
	}
	if !c.Regressed() || c.By != bench.ByTime {
		t.Errorf("regressed %v by %s", c.Regressed(), c.By)
	}
}

func TestTheSameRunAgainIsNoRegression(t *testing.T) {
	regressed := 0
	for seed := range uint64(40) {
		older, newer := benchtest.Small(), benchtest.Small()
		older.Placement, newer.Placement = 0.003, 0.003
		older.Seed, newer.Seed = 2*seed+1, 2*seed+2
		if compare(t, older, newer).Regressed() {
			regressed++
		}
	}
	// One process a run: only the A/A pair knows of placement, and it is one pair of processes a run.
	if regressed > 6 {
		t.Errorf("%d of 40 pairs of equal runs show a regression", regressed)
	}
}

func TestDifferentGPUsAreComparedByTheirCeilings(t *testing.T) {
	older, newer := benchtest.Small(), benchtest.Small()
	older.GPU, newer.GPU, newer.Seed = "h200", "l4", 2
	newer.Slower = map[string]float64{"multiblock": 1.2}
	c := compare(t, older, newer)
	if c.By != bench.ByCeiling || !strings.Contains(strings.Join(c.Notes, " "), "different GPUs") {
		t.Errorf("by %s, notes %q", c.By, c.Notes)
	}
	for name, want := range map[string]bench.Outcome{"multiblock": bench.Worse, "lookback": bench.NoDifference} {
		for _, got := range outcomes(c)[name] {
			if got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
	}
	newSweep := newer.Sweep()
	newSweep.Ceilings = nil
	without, err := bench.CompareSweeps(older.Sweep(), newSweep)
	if err != nil || without.Regressed() || !strings.Contains(without.Rows[0].Detail, "ceiling") {
		t.Errorf("without a ceiling: %v, %+v", err, without.Rows[0])
	}
}

func TestAKernelThatNoLongerRunsGotWorse(t *testing.T) {
	older, newer := benchtest.Small().Sweep(), benchtest.Small().Sweep()
	newer.Cells[0].Verdict = "wrong"
	c, err := bench.CompareSweeps(older, newer)
	if err != nil || !c.Regressed() || c.Rows[0].Detail != "was timed, and now: wrong" {
		t.Errorf("%v, %+v", err, c.Rows[0])
	}
	back, err := bench.CompareSweeps(newer, older)
	if err != nil || back.Regressed() || back.Rows[0].Outcome != bench.Better {
		t.Errorf("%v, %+v", err, back.Rows[0])
	}
}

func TestWhatCannotBeComparedIsSaid(t *testing.T) {
	here, elsewhere := benchtest.Small(), benchtest.Small()
	elsewhere.Lengths = []int64{1024}
	if _, err := bench.CompareSweeps(here.Sweep(), elsewhere.Sweep()); err == nil || !strings.Contains(err.Error(), "no row in common") {
		t.Errorf("no common rows: %v", err)
	}
	model := here.Sweep()
	model.Predicted = true
	if _, err := bench.CompareSweeps(here.Sweep(), model); err == nil || !strings.Contains(err.Error(), "model") {
		t.Errorf("a model's times: %v", err)
	}
}

func TestRowsOfOneFileAreListed(t *testing.T) {
	older, newer := benchtest.Small(), benchtest.Small()
	newer.Lengths = []int64{512, 2048, 4096}
	c := compare(t, older, newer)
	if len(c.OnlyOld) != 5 || len(c.OnlyNew) != 5 || c.OnlyNew[0] != "blelloch, affine_scan fp32 rows=6144 length=4096" {
		t.Errorf("only old %q, only new %q", c.OnlyOld, c.OnlyNew)
	}
}

func TestRivalsAreJudgedAgainstTheRungBelow(t *testing.T) {
	s := benchtest.Small().Sweep()
	rivals, err := s.Rivals("")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rivals {
		want := bench.Better
		if r.Contender == "multiblock" || r.Contender == "lookback" && r.Cell.Length() > 0 {
			want = bench.Worse // 7 arrays at 86 % against 3 at 62 %; 3 at 28 % against 7 at 86 %
		}
		if r.Outcome != want {
			t.Errorf("%s against %s at L = %d: %s (%+v), want %s", r.Contender, r.Against, r.Cell.Length(), r.Outcome, r.Difference, want)
		}
		if r.Contender == "multiblock" && math.Abs(r.Predicted-7.0/3) > 1e-9 {
			t.Errorf("predicted ratio %g, want 2.33", r.Predicted)
		}
	}
	if len(rivals) != 2+3+3 { // blelloch has no time at 65536
		t.Errorf("%d rivals", len(rivals))
	}
	if _, err := s.Rivals("cub"); err == nil || !strings.Contains(err.Error(), "it has blelloch, multiblock") {
		t.Errorf("unknown baseline: %v", err)
	}
}

// Two kernels of equal time, in one process each: only the twins beside them know of placement.
func TestTheRunsOwnNoiseSeesPlacement(t *testing.T) {
	called := map[bool]int{}
	rows := 0
	for seed := range uint64(80) {
		w := benchtest.Small()
		w.Seed, w.Placement = seed+1, 0.01
		w.Slower = map[string]float64{"lookback": 0.28 / 0.88} // as fast as lookback_items
		for _, twin := range []bool{true, false} {
			w.Twin = twin
			rivals, err := w.Sweep().Rivals("lookback_items")
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rivals {
				if r.Contender == "lookback" && r.Outcome != bench.NoDifference {
					called[twin]++
				}
			}
		}
		rows += 3
	}
	if rate := float64(called[true]) / float64(rows); rate > 0.05+3*math.Sqrt(0.05*0.95/float64(rows)) {
		t.Errorf("%.1f %% of %d rows are called different, although A/A noise was measured in the run", 100*rate, rows)
	}
	if rate := float64(called[false]) / float64(rows); rate < 0.2 {
		t.Errorf("without twins only %.1f %% are called different: this world has no placement to see", 100*rate)
	}
}

func TestLoadRefusesWhatIsNoBenchmark(t *testing.T) {
	for content, want := range map[string]string{
		"not json":                     "is not a benchmark's JSON",
		`{"schema": 1, "kernels": []}`: "holds verdicts of run-all",
		`{"answer": 42}`:               "has no schema and cells",
		`{"schema": 7, "cells": []}`:   "has schema 7; this host reads 1",
		`{"schema": 1, "cells": 5}`:    "is not a benchmark's JSON",
	} {
		path := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := bench.Load(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", content, err, want)
		}
	}
}
