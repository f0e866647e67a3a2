package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"scanhost/host/internal/bench"
	"scanhost/host/internal/discover"
	"scanhost/host/internal/judge"
	"scanhost/host/internal/machine"
	"scanhost/host/internal/report"
	"scanhost/shared/op"
)

// benching is one run of bench: plugins and problems in, a sweep out.
type benching struct {
	options     *benchOptions
	plugins     []discover.Plugin
	problems    []op.Problem
	device      machine.Device // where everything is timed: times of two devices are not comparable
	spec        *bench.Spec
	out, errOut io.Writer
}

// stage is what a measurement stands on: built plugins and a running keeper.
type stage struct {
	entries  []bench.Entry
	runner   bench.Runner
	progress *report.Progress
	baseline string
	close    func() error
}

// stage builds everything and starts the keeper.
func (j benching) stage(ctx context.Context) (*stage, error) {
	progress := report.NewProgress(j.errOut)
	built, err := buildTargets(ctx, discover.BuildRequest{Plugins: j.plugins, Backend: "cuda", Install: j.options.install}, progress)
	if err != nil {
		return nil, err
	}
	k, err := startKeeper(ctx, built.keeper, j.device, progress.Note)
	if err != nil {
		return nil, err
	}
	// A launch on copied memory is mostly copying, and no timed output could be checked.
	if exports, err := k.exports(ctx); err != nil || !exports {
		if err == nil {
			err = errors.New("bench times kernels in memory that the keeper owns, and " + noExport)
		}
		return nil, errors.Join(err, k.stop())
	}
	s := &stage{progress: progress, baseline: j.options.baseline, close: k.stop}
	if s.entries, err = j.entries(built.targets, "cuda"); err != nil {
		return nil, errors.Join(err, k.stop())
	}
	options := bench.DefaultOptions()
	options.Seed, options.Samples, options.Restarts = j.options.seed, j.options.samples, j.options.restarts
	s.runner = bench.Runner{Keeper: k.space, Options: options, Environment: j.device.Environment(), Telemetry: true, Progress: s.event, Counted: j.counted()}
	return s, nil
}

// entries are the contenders: every plugin with every combination of the values that --set asks of it.
func (j benching) entries(targets []judge.Target, backend string) ([]bench.Entry, error) {
	asked, err := parseSet(j.options.set)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	var out []bench.Entry
	for _, t := range targets {
		for _, tunable := range t.Manifest.Tunables {
			for _, v := range asked[tunable.Name] {
				if !slices.Contains(tunable.Values, v) {
					return nil, fmt.Errorf("plugin %s: %s is %d; accepted are %v", t.Manifest.Name, tunable.Name, v, tunable.Values)
				}
			}
		}
		for _, tuning := range tunings(t, asked, used) {
			out = append(out, entry(t, tuning, backend, j.problems[0].Op))
		}
	}
	for name := range asked {
		if !used[name] {
			return nil, fmt.Errorf("set: no plugin here has a tunable %q", name)
		}
	}
	return out, checkBaseline(out, j.options.baseline)
}

// checkBaseline refuses before anything is measured what could not be compared with afterwards.
func checkBaseline(entries []bench.Entry, baseline string) error {
	var names []string
	for _, e := range entries {
		if e.Name == baseline {
			return nil
		}
		names = append(names, e.Name)
	}
	if baseline == "" {
		return nil
	}
	return fmt.Errorf("baseline is %q; what is timed is %s", baseline, strings.Join(names, ", "))
}

func entry(t judge.Target, tuning map[string]int64, backend, operation string) bench.Entry {
	m := t.Manifest
	c := bench.Contender{Name: m.Name, Plugin: m.Name, Version: m.Version, Role: m.Role, Backend: backend, Hash: t.Hash,
		ImprovesOn: m.ImprovesOn, Tuning: tuning}
	if declared, ok := m.Op(operation); ok {
		c.Read, c.Written = declared.ArraysRead, declared.ArraysWritten
	}
	var named []string
	for _, tunable := range m.Tunables {
		if v, ok := tuning[tunable.Name]; ok && v != tunable.Default {
			named = append(named, fmt.Sprintf("%s=%d", tunable.Name, v))
		}
	}
	if len(named) > 0 {
		c.Name += "[" + strings.Join(named, ",") + "]"
	}
	return bench.Entry{Contender: c, Target: t}
}

// parseSet reads name=value,value.
func parseSet(texts []string) (map[string][]int64, error) {
	asked := map[string][]int64{}
	for _, text := range texts {
		name, values, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("set is %q; name=value,value is accepted", text)
		}
		for _, v := range strings.Split(values, ",") {
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("set is %q, and %q is no whole number", text, v)
			}
			if !slices.Contains(asked[name], n) {
				asked[name] = append(asked[name], n)
			}
		}
	}
	return asked, nil
}

// tunings are the combinations of asked values that a plugin accepts; one empty one where nothing is asked of it.
func tunings(t judge.Target, asked map[string][]int64, used map[string]bool) []map[string]int64 {
	out := []map[string]int64{nil}
	for _, tunable := range t.Manifest.Tunables {
		values, ok := asked[tunable.Name]
		if !ok {
			continue
		}
		used[tunable.Name] = true
		var more []map[string]int64
		for _, with := range out {
			for _, v := range values {
				if !slices.Contains(tunable.Values, v) {
					continue
				}
				next := maps.Clone(with)
				if next == nil {
					next = map[string]int64{}
				}
				next[tunable.Name] = v
				more = append(more, next)
			}
		}
		out = more
	}
	return out
}

// event shows progress: predictions before anything is measured, then every shape with the time left.
func (s *stage) event(e bench.Event) {
	if p := e.Prediction; p != nil {
		var text strings.Builder
		report.PredictionText(&text, *p, s.baseline)
		s.progress.Note("ceiling at %s: %.0f GB/s, best stream %.0f GB/s\n%s", bench.Megabytes(p.Ceilings[0].ArrayBytes),
			p.Ceilings[0].Stream/1e9, p.Ceilings[0].Best/1e9, text.String())
		return
	}
	left := ""
	if e.Left > 0 {
		left = ", about " + report.Duration(e.Left.Round(time.Second)) + " left"
	}
	s.progress.Note("%d of %d%s: %s%s", e.Done, e.Total, left, e.Shape, brief(e.Cells))
}

// brief is one number or verdict for each cell.
func brief(cells []bench.Cell) string {
	var parts []string
	for _, c := range cells {
		text := fmt.Sprintf("%.4g us", 1e6*c.Time.Seconds)
		if c.Verdict != string(judge.Pass) {
			text = c.Verdict
		}
		parts = append(parts, c.Contender+" "+text)
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// measure is the sweep.
func (j benching) measure(ctx context.Context) (err error) {
	files, err := j.files()
	if err != nil {
		return err
	}
	sweep := newSweep(j.options.seed, environment(ctx, "cuda", j.device))
	if j.options.resume {
		if err := files.resume(sweep); err != nil {
			return err
		}
	}
	s, err := j.stage(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	s.runner.Save = func(sweep *bench.Sweep) error { return files.savePartial(*sweep) }
	s.entries = withTwin(s.entries)
	trouble := s.runner.Run(ctx, sweep, s.entries, j.problems)
	sweep.Took = time.Since(sweep.Started)
	sweep.Interrupted = ctx.Err() != nil
	if len(sweep.Cells) == 0 {
		return trouble
	}
	return errors.Join(trouble, j.show(ctx, *sweep, files))
}

// twinMark ends the name of a contender that is another's second process.
const twinMark = " (A/A)"

// withTwin adds a second process of the highest rung: what a kernel differs from itself is the noise of the run.
func withTwin(entries []bench.Entry) []bench.Entry {
	improved := map[string]bool{}
	for _, e := range entries {
		improved[e.ImprovesOn] = true
	}
	for _, e := range slices.Backward(entries) {
		if !improved[e.Plugin] && e.ImprovesOn != "" && e.Target.Refused == "" && e.Name == e.Plugin {
			e.Name += twinMark
			return append(entries, e)
		}
	}
	if len(entries) == 1 && entries[0].Target.Refused == "" {
		twin := entries[0]
		twin.Name += twinMark
		entries = append(entries, twin)
	}
	return entries
}

// print writes a sweep in the form asked for, and says where further lines may go.
func (j benching) print(sweep bench.Sweep) (rest io.Writer, err error) {
	if j.options.json {
		return j.errOut, report.JSON(j.out, sweep)
	}
	return j.out, report.SweepText(j.out, sweep, j.options.baseline, report.Brief, report.StyleOf(j.out))
}

// show reports a sweep and says by its error whether something failed.
func (j benching) show(ctx context.Context, sweep bench.Sweep, files benchFiles) error {
	out, err := j.print(sweep)
	if err != nil {
		return err
	}
	path, err := files.save(sweep, j.options.baseline)
	if err != nil {
		return err
	}
	if path != "" {
		fmt.Fprintln(out, "results:", path)
	}
	failed := false
	for _, c := range sweep.Cells {
		failed = failed || judge.Verdict(c.Verdict).Failure()
	}
	if j.spec != nil && !sweep.Interrupted {
		judgements := j.spec.Judge(sweep)
		report.SpecText(out, judgements, report.StyleOf(out))
		failed = failed || slices.ContainsFunc(judgements, bench.Judgement.Broken)
	}
	if failed {
		return errFailed
	}
	return nil
}

// benchFiles is where a sweep is kept; the zero value keeps nothing.
type benchFiles struct{ dir string }

const (
	benchName    = "bench"
	partialName  = "bench.partial"
	countedUnder = "counted"
)

func (j benching) files() (benchFiles, error) {
	dir, err := judging{keep: true, results: j.options.results}.resultsFolder(j.device.Folder(), j.errOut)
	return benchFiles{dir}, err
}

// resume puts what an interrupted sweep finished into this one.
func (f benchFiles) resume(sweep *bench.Sweep) error {
	if f.dir == "" {
		return errors.New("resume: results are not kept here; --results says where they were")
	}
	old, err := bench.Load(filepath.Join(f.dir, partialName+".json"))
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	if old.Seed != sweep.Seed {
		return fmt.Errorf("resume: the interrupted sweep has seed %d, and this one %d", old.Seed, sweep.Seed)
	}
	sweep.Started, sweep.GPU, sweep.Cells, sweep.Ceilings, sweep.Contenders = old.Started, old.GPU, old.Cells, old.Ceilings, old.Contenders
	return nil
}

func (f benchFiles) savePartial(sweep bench.Sweep) error {
	if f.dir == "" {
		return nil
	}
	sweep.Interrupted = true
	return saveJSON(filepath.Join(f.dir, partialName+".json"), sweep)
}

// save writes the whole sweep, or leaves the partial one of an interrupted run.
func (f benchFiles) save(sweep bench.Sweep, baseline string) (string, error) {
	if f.dir == "" {
		return "", nil
	}
	if sweep.Interrupted {
		return filepath.Join(f.dir, partialName+".json"), f.savePartial(sweep)
	}
	paths, err := report.SaveSweep(filepath.Join(f.dir, benchName), sweep, baseline)
	if err != nil {
		return "", err
	}
	return paths[0], os.RemoveAll(filepath.Join(f.dir, partialName+".json"))
}
