package bench

import (
	"slices"
	"testing"

	"scanhost/host/internal/discover"
	"scanhost/host/internal/judge"
	"scanhost/shared/op"
)

// buildSimt builds a plugin of the repository for the simulated GPU.
func buildSimt(t *testing.T, names ...string) []Entry {
	t.Helper()
	all, err := discover.Find(nil)
	if err != nil {
		t.Fatal(err)
	}
	plugins, err := discover.Choose(all, names)
	if err != nil {
		t.Fatal(err)
	}
	built, _, err := discover.Build(t.Context(), discover.BuildRequest{Plugins: plugins, Backend: "simt"})
	if err != nil {
		t.Fatal(err)
	}
	var entries []Entry
	for _, b := range built {
		if b.Err != nil {
			t.Fatal(b.Err)
		}
		m := b.Plugin.Manifest
		entries = append(entries, Entry{Contender{Name: m.Name, Plugin: m.Name, Role: m.Role, Backend: "simt", Hash: b.Hash, Read: 2, Written: 1},
			judge.Target{Manifest: m, Argv: b.Executable, Dir: b.Plugin.Dir, Backend: "simt", Hash: b.Hash}})
	}
	return entries
}

// The whole of a sweep but for the GPU: real processes, memory in slots, every output compared. The simulated
// GPU's times mean nothing, so no verdict of the clocks is asked for.
func TestSweepOnTheSimulatedGPU(t *testing.T) {
	if testing.Short() {
		t.Skip("builds plugins")
	}
	entries := buildSimt(t, "lookback", "blelloch")
	var problems []op.Problem
	for _, shape := range [][2]int64{{64, 100}, {16, 400}, {1, 6400}} {
		p, err := op.NewAffineProblem(shape[0], shape[1], op.FP32)
		if err != nil {
			t.Fatal(err)
		}
		problems = append(problems, p)
	}
	options := DefaultOptions()
	options.Samples, options.Spread, options.Restarts, options.Lease = 6, 2e-3, 2, 0
	sweep := &Sweep{Seed: 1}
	predicted := 0
	saved := 0
	r := Runner{Keeper: newFakeKeeper(t), Options: options, Save: func(*Sweep) error { saved++; return nil }, Progress: func(e Event) {
		if e.Prediction != nil {
			predicted += len(e.Prediction.Cells)
		}
	}}
	if err := r.Run(t.Context(), sweep, entries, problems); err != nil {
		t.Fatal(err)
	}
	if len(sweep.Cells) != 6 || predicted != 6 || saved != 3 || len(sweep.Ceilings) != 1 {
		t.Fatalf("%d cells, %d predicted, %d saves, %d ceilings; want 6, 6, 3, 1", len(sweep.Cells), predicted, saved, len(sweep.Ceilings))
	}
	for _, c := range sweep.Cells {
		if c.Contender == "blelloch" && c.Problem.Dims["length"] == 6400 {
			if c.Verdict != string(judge.Unsupported) || len(c.Samples) != 0 {
				t.Errorf("%s: %s (%s) with %d samples; its ceiling is 2048", c.Name(), c.Verdict, c.Detail, len(c.Samples))
			}
			continue
		}
		if !slices.Contains([]judge.Verdict{judge.Pass, judge.ClockMismatch, judge.NoValidSample}, judge.Verdict(c.Verdict)) {
			t.Errorf("%s: %s: %s", c.Name(), c.Verdict, c.Detail)
		}
		processes := map[int]bool{}
		for _, s := range c.Samples {
			processes[s.Process] = true
		}
		if len(c.Samples) < 5 || len(processes) != 2 || c.Compared < 6400 || c.Checked != c.Launches || c.Launches == 0 {
			t.Errorf("%s: %d samples in %d processes, %d elements compared, %d of %d launches checked", c.Name(), len(c.Samples), len(processes),
				c.Compared, c.Checked, c.Launches)
		}
		if c.Predicted <= 0 || c.Upper <= 0 {
			t.Errorf("%s: predicted %g, upper %g", c.Name(), c.Predicted, c.Upper)
		}
	}
}

func TestSelfTestComparesEveryKernelWithItself(t *testing.T) {
	if testing.Short() {
		t.Skip("builds plugins")
	}
	var problems []op.Problem
	for _, length := range []int64{100, 6400} {
		problems = append(problems, affine(t, 6400/length, length))
	}
	r := Runner{Keeper: newFakeKeeper(t), Options: DefaultOptions()}
	got, err := r.SelfTest(t.Context(), buildSimt(t, "lookback", "blelloch"), problems)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Comparisons) + got.Unusable; n != 3 {
		t.Errorf("%d comparisons; two kernels at length 100 and one at 6400 are 3", n)
	}
	for _, c := range got.Comparisons {
		if c.Processes != [2]int{SelfTestProcesses, SelfTestProcesses} {
			t.Errorf("%s: sides ran in %v processes", c.Cell, c.Processes)
		}
	}
}

func TestCalibrationShowsEveryClock(t *testing.T) {
	if testing.Short() {
		t.Skip("builds plugins")
	}
	o := DefaultOptions()
	o.Samples, o.Spread, o.Lease = 4, 2e-3, 0
	r := Runner{Keeper: newFakeKeeper(t), Options: o}
	checks, err := r.Calibrate(t.Context(), &Sweep{}, buildSimt(t, "lookback"), []op.Problem{affine(t, 64, 100)})
	if err != nil {
		t.Fatal(err)
	}
	if len(checks) != 5 {
		t.Fatalf("%d checks; three spins, a stream and a plugin are 5: %v", len(checks), checks)
	}
	for i, c := range checks {
		if c.Samples < 4 || (c.Known > 0) != (i < 3) {
			t.Errorf("%v", c)
		}
	}
}
