package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"scanhost/host/internal/discover"
	"scanhost/host/internal/judge"
	"scanhost/host/internal/machine"
	"scanhost/host/internal/report"
)

// judging is what run-all and verify have in common: plugins in, a run out.
type judging struct {
	name    string // of the command, and of its files in results
	flags   judgingFlags
	plugins []discover.Plugin
	options judge.Options
	results string // folder, or "" for the usual one
	keep    bool   // write results at all
	json    bool
}

// judgePlugins builds, judges, reports and keeps, in this order. An interruption ends the judging and not
// the report.
func judgePlugins(ctx context.Context, j judging, out, errOut io.Writer) error {
	backend, err := j.flags.backend.resolveToRun(ctx)
	if err != nil {
		return err
	}
	devices, err := j.flags.gpus.choose(ctx, backend)
	if err != nil {
		return err
	}
	results, err := j.resultsFolder(resultsName(backend, devices), errOut)
	if err != nil {
		return err
	}
	run := judge.Run{Schema: 1, Command: append([]string{"host"}, os.Args[1:]...), Started: time.Now().UTC(), Seed: j.options.Seed,
		Environment: environment(ctx, backend, devices...)}
	progress := report.NewProgress(errOut)
	trouble := j.fill(ctx, &run, backend, devices, progress)
	run.Took = time.Since(run.Started)
	run.Interrupted = ctx.Err() != nil
	if err := j.show(run, results, out, errOut); err != nil {
		return err
	}
	if trouble != nil {
		return trouble
	}
	for _, k := range run.Kernels {
		if k.Verdict.Failure() {
			return errFailed
		}
	}
	return nil
}

// fill makes the run's rows. Its error is trouble of the host's own, beside which the rows still count.
func (j judging) fill(ctx context.Context, run *judge.Run, backend string, devices []machine.Device, progress *report.Progress) error {
	built, err := buildTargets(ctx, discover.BuildRequest{Plugins: j.plugins, Backend: backend, Install: j.flags.install}, progress)
	if err != nil {
		return err
	}
	run.Kernels, err = built.judge(ctx, j.options, j.flags.memory, devices, progress)
	j.completeReplays(run.Kernels, len(devices))
	return err
}

// completeReplays adds what the judge does not know of: how often the user asked for a launch, and where a
// plugin outside plugins/ is found; and which of several GPUs it was.
func (j judging) completeReplays(kernels []judge.KernelResult, gpus int) {
	extra := ""
	if j.options.Launches != judge.DefaultOptions().Launches {
		extra = fmt.Sprintf(" --launches %d", j.options.Launches)
	}
	if m := j.flags.memory; m != "" && m != "auto" {
		extra += " --memory " + string(m)
	}
	own := filepath.Join(discover.Root(), "plugins")
	for i := range kernels {
		place := ""
		for _, p := range j.plugins {
			if p.Name() == kernels[i].Plugin && filepath.Dir(p.Dir) != own {
				place = " --plugin-dir " + shellWord(p.Dir)
			}
		}
		if gpu := kernels[i].GPU; gpu != nil && (gpus > 1 || len(j.flags.gpus) > 0) {
			place += " --gpu " + gpu.UUID
		}
		for n := range kernels[i].Cases {
			if c := &kernels[i].Cases[n]; c.Replay != "" {
				c.Replay += extra + place
			}
		}
	}
}

func (j judging) show(run judge.Run, results string, out, errOut io.Writer) error {
	if j.json {
		if err := report.JSON(out, run); err != nil {
			return err
		}
	} else if len(run.Kernels) > 0 {
		report.Text(out, run, report.StyleOf(out))
	}
	if results == "" || len(run.Kernels) == 0 {
		return nil
	}
	name := j.name
	if run.Interrupted {
		name += ".partial" // the last whole run stays
	}
	path, err := report.Save(filepath.Join(results, name), run)
	if err != nil {
		return err
	}
	if j.json {
		out = errOut
	}
	fmt.Fprintln(out, "results:", path)
	return nil
}

// resultsFolder finds and makes the folder before anything is run: hours of work must not end in "read-only".
func (j judging) resultsFolder(name string, errOut io.Writer) (string, error) {
	if !j.keep {
		return "", nil
	}
	dir := j.results
	if dir == "" {
		root := discover.Root()
		if root == "" {
			return "", nil // outside the repository results are kept where --results says
		}
		dir = filepath.Join(root, "results", name)
	}
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(dir, ".writable"); err == nil {
			f.Close()
			os.Remove(f.Name())
		}
	}
	switch {
	case err == nil:
		return dir, nil
	case j.results != "":
		return "", fmt.Errorf("results folder cannot be written: %w", err)
	}
	fmt.Fprintln(errOut, "results are not kept:", err)
	return "", nil
}
