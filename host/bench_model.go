package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"scanhost/host/internal/bench"
	"scanhost/host/internal/discover"
	"scanhost/host/internal/judge"
	"scanhost/host/internal/report"
	"scanhost/shared/op"
)

// usualModel is the GPU that is spoken of where none is here and none was named.
const usualModel = "h200"

// predict is what there is without a GPU: the model's times for one that has a name, and the traffic that the
// simulated GPU counts. No CPU time is shown.
func (j benching) predict(ctx context.Context) error {
	name := j.options.model
	if name == "" {
		name = usualModel
		fmt.Fprintf(j.errOut, "no GPU and nvcc here: times are the model's for an %s; --model names another\n", usualModel)
	}
	gpu, err := bench.KnownGPU(name)
	if err != nil {
		return err
	}
	if j.options.selfTest || j.options.calibrate {
		return errors.New("self-test and calibrate need an NVIDIA GPU and nvcc; neither says anything about a model")
	}
	if j.spec != nil {
		return errors.New("a spec judges measured times, which need an NVIDIA GPU and nvcc; host report FILE --spec judges a saved run")
	}
	progress := report.NewProgress(j.errOut)
	built, err := buildTargets(ctx, discover.BuildRequest{Plugins: j.plugins, Backend: "simt", Install: j.options.install}, progress)
	if err != nil {
		return err
	}
	entries, err := j.entries(built.targets, "simt")
	if err != nil {
		return err
	}
	counts := countAll(ctx, entries, j.problems, progress)
	var contenders []bench.Contender
	for _, e := range entries {
		contenders = append(contenders, e.Contender)
	}
	sweep := newSweep(j.options.seed, environment(ctx, "simt"))
	if err := bench.PredictSweep(sweep, gpu, contenders, j.problems, counts, limits(built.targets)); err != nil {
		return err
	}
	sweep.Took, sweep.Interrupted = time.Since(sweep.Started), ctx.Err() != nil
	return j.showPrediction(ctx, *sweep)
}

// countAll counts every entry, one after the other. One that cannot be counted has its reason noted.
func countAll(ctx context.Context, entries []bench.Entry, problems []op.Problem, progress *report.Progress) bench.Counted {
	counts := map[string]map[string]bench.Traffic{}
	for _, e := range entries {
		if e.Target.Backend != "simt" {
			continue // plain programs, in which nobody counts
		}
		counted, err := bench.CountTraffic(ctx, e, problems, judge.DefaultOptions().Deadlines)
		counts[e.Name] = counted
		if err != nil && ctx.Err() == nil {
			progress.Note("%s: traffic not counted: %v", e.Name, err)
			continue
		}
		progress.Note("counted the traffic of %s on %d shapes", e.Name, len(counted))
	}
	return func(c bench.Contender, p op.Problem) (bench.Traffic, bool) {
		t, ok := counts[c.Name][bench.CountedAs(p)]
		return t, ok
	}
}

// limits says where a kernel's manifest refuses a problem.
func limits(targets []judge.Target) func(bench.Contender, op.Problem) string {
	return func(c bench.Contender, p op.Problem) string {
		for _, t := range targets {
			o, ok := t.Manifest.Op(p.Op)
			switch {
			case !ok || t.Manifest.Name != c.Plugin:
			case o.MaxLength > 0 && p.Dims["length"] > o.MaxLength:
				return fmt.Sprintf("length %d is over %d", p.Dims["length"], o.MaxLength)
			case !slices.Contains(o.DTypes, string(p.DType)):
				return fmt.Sprintf("dtype is %s; %s is accepted", p.DType, strings.Join(o.DTypes, ", "))
			}
		}
		return ""
	}
}

// showPrediction prints and keeps a prediction.
func (j benching) showPrediction(ctx context.Context, sweep bench.Sweep) error {
	dir, err := judging{keep: true, results: j.options.results}.resultsFolder("simt", j.errOut)
	if err != nil {
		return err
	}
	out, err := j.print(sweep)
	if err != nil {
		return err
	}
	if dir == "" || sweep.Interrupted {
		return nil
	}
	paths, err := report.SaveSweep(filepath.Join(dir, benchName), sweep, j.options.baseline)
	if err == nil {
		fmt.Fprintln(out, "results:", paths[0])
	}
	return err
}

// counted finds what the committed prediction has counted, for kernels that have not changed since. It is made again by
// host bench --model h200 --results results/counted.
func (j benching) counted() bench.Counted {
	s, err := bench.Load(filepath.Join(discover.Root(), "results", countedUnder, benchName+".json"))
	if err != nil {
		return nil // then nothing was counted, and the report has no counts
	}
	return func(c bench.Contender, p op.Problem) (bench.Traffic, bool) {
		for _, k := range s.Contenders {
			if k.Name != c.Name || k.Version != c.Version {
				continue
			}
			for _, cell := range s.Cells {
				if cell.Contender == c.Name && cell.CountedRead > 0 && bench.CountedAs(cell.Problem) == bench.CountedAs(p) {
					return bench.Traffic{Read: cell.CountedRead, Written: cell.CountedWrote}, true
				}
			}
		}
		return bench.Traffic{}, false
	}
}
