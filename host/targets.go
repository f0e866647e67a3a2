package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scanhost/host/internal/buffers"
	"scanhost/host/internal/discover"
	"scanhost/host/internal/judge"
	"scanhost/host/internal/machine"
	"scanhost/host/internal/report"
)

// builtTargets is what the judge works on, and the keeper that owns a GPU's buffers, where there is one.
type builtTargets struct {
	targets []judge.Target
	keeper  *discover.Built
}

// addInstall is --install of a command that builds plugins to run them.
func addInstall(cmd *cobra.Command, install *bool) {
	cmd.Flags().BoolVar(install, "install", false, "make environments for plugins in Python that no Python here suits: pip downloads their packages")
}

// buildTargets builds the plugins that have the backend. Every plugin becomes a target: one that cannot be
// built, or is none, carries its verdict.
func buildTargets(ctx context.Context, r discover.BuildRequest, progress *report.Progress) (builtTargets, error) {
	plugins, backend := r.Plugins, r.Backend
	r.Plugins = nil
	for _, p := range plugins {
		if p.Err == nil && runsOn(p, backend) != "" {
			r.Plugins = append(r.Plugins, p)
		}
	}
	r.Progress = func(line string) { progress.Note("%s", line) }
	made, keeper, err := discover.Build(ctx, r)
	if err != nil {
		return builtTargets{}, err
	}
	b := builtTargets{keeper: keeper}
	for _, p := range plugins {
		b.targets = append(b.targets, target(p, backend, made))
	}
	return b, nil
}

// runsOn is the backend of a plugin in a run on the given one, or "". Beside the simulated GPU, plugins
// that compute on the CPU run as well.
func runsOn(p discover.Plugin, backend string) string {
	has := func(b string) bool { return slices.Contains(p.Manifest.Backends, b) }
	switch {
	case has(backend):
		return backend
	case backend == "simt" && has("cpu"):
		return "cpu"
	}
	return ""
}

func target(p discover.Plugin, backend string, made []discover.Built) judge.Target {
	t := judge.Target{Manifest: p.Manifest, Dir: p.Dir, Backend: runsOn(p, backend)}
	if p.Err != nil {
		t.Manifest.Name, t.Refused, t.Reason = p.Name(), judge.BadPlugin, p.Err.Error()
		return t
	}
	i := slices.IndexFunc(made, func(b discover.Built) bool { return b.Plugin.Dir == p.Dir })
	if i < 0 {
		t.Backend, t.Refused = backend, judge.Unsupported
		t.Reason = fmt.Sprintf("it runs on %s, not on %s", strings.Join(p.Manifest.Backends, ", "), backend)
		return t
	}
	t.Argv, t.Hash = made[i].Executable, made[i].Hash
	if err := made[i].Err; err != nil {
		t.Refused, t.Reason = judge.BuildFailed, buildReason(err)
	}
	return t
}

// buildReason leaves out what the row says already.
func buildReason(err error) string {
	var refused *discover.BuildError
	if errors.As(err, &refused) {
		return refused.First + " (all of it: " + refused.Log + ")"
	}
	return err.Error()
}

// workplace is where the arrays of a run live, and how its device is proved to work.
type workplace struct {
	space     buffers.Space
	device    *machine.Device // nil on the simulated GPU
	afterKill func(context.Context) error
	close     func() error
	needs     string   // capability that a plugin must have to work on such memory
	lost      []string // what cannot be checked on it
}

// workplace starts the keeper of the device where the run is on a GPU.
func (b builtTargets) workplace(ctx context.Context, memory memoryFlag, d machine.Device, notice notice) (workplace, error) {
	if b.keeper == nil {
		return workplace{space: buffers.Memfd{}, close: func() error { return nil }}, nil
	}
	k, err := startKeeper(ctx, b.keeper, d, notice)
	if err != nil {
		return workplace{}, err
	}
	w := workplace{space: k.space, device: &d, afterKill: k.space.Canary, close: k.stop}
	exports, err := k.exports(ctx)
	if err == nil {
		w, err = memory.choose(w, exports)
	}
	if err != nil {
		return workplace{}, errors.Join(err, k.stop())
	}
	return w, nil
}

// engine judges there. A plugin sees no GPU but that of the place. On the simulated one two kernels run at a time:
// exploring a case leaves cores idle.
func (w workplace) engine(o judge.Options) *judge.Engine {
	e := &judge.Engine{Space: w.space, Options: o, AfterKill: w.afterKill, Needs: w.needs, Lost: w.lost, Parallel: 2}
	if d := w.device; d != nil {
		e.Options.Environment = append(slices.Clip(o.Environment), d.Environment()...)
		e.GPU = &judge.GPU{Number: d.Number, Name: d.Name, UUID: d.UUID}
		e.Parallel = 1
	}
	return e
}
