package judge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"scanhost/host/internal/buffers"
	"scanhost/host/internal/launch"
	"scanhost/host/internal/machine"
	"scanhost/shared/contract"
	"scanhost/shared/contract/kernelv1"
	"scanhost/shared/op"
)

// trial is one case on one kernel.
type trial struct {
	*kernelRun
	c      op.Case
	arrays []buffers.Array // in the op's order; nil where the problem has none
	infos  []op.Array
	data   map[string][]byte // host copies: the inputs, and outputs of the launch being judged
	handle uint64
	res    CaseResult
	hashes []uint64 // of the outputs of the first launch
}

// judge runs a case. A failure is returned where the process did not survive it.
func (r *kernelRun) judge(ctx context.Context, c op.Case) (CaseResult, *failure) {
	t := &trial{kernelRun: r, c: c, data: map[string][]byte{}}
	t.res = CaseResult{Case: c.Name, Regime: c.Regime, Problem: c.Problem, Tuning: r.engine.Options.Tuning, Verdict: Pass}
	if elements(c.Problem) > repeatElements {
		r.engine.large.Lock()
		defer r.engine.large.Unlock()
		defer r.engine.shared.take(hostBytes(r.op.Arrays(c.Problem)))()
		defer func() { r.scratch = nil }()
	}
	started := time.Now()
	f := t.run(ctx)
	if f != nil {
		t.res.Verdict, t.res.Detail = f.verdict, f.detail
		if len(f.log) > 0 {
			r.result.Log = f.log
		}
	}
	t.res.Time = time.Since(started)
	if err := t.close(); err != nil && f == nil {
		f = &failure{wedged: err}
	}
	if t.res.Verdict.Failure() {
		t.res.Replay = Replay(r.target, r.engine.Options, c.Name, t.res.Seed)
	}
	return t.res, f
}

func (t *trial) run(ctx context.Context) *failure {
	if err := t.makeArrays(); err != nil {
		// The host's own trouble is not the kernel's failure. A keeper that does not answer will not for the next case
		// either: without an end its GPU would take every kernel of the run and run none.
		var keeper *launch.Failure
		if errors.As(err, &keeper) {
			return t.hostTrouble("making the arrays", err)
		}
		t.res.Verdict, t.res.Detail = NotRun, err.Error()
		return nil
	}
	if t.process == nil {
		if f := t.start(ctx); f != nil {
			return f
		}
	}
	f := t.prepare(ctx)
	if f != nil || t.handle == 0 {
		return f
	}
	if f := t.launches(ctx); f != nil {
		return f
	}
	return t.release(ctx)
}

// makeArrays makes the host's copies, with the inputs filled, and lays all of it out.
func (t *trial) makeArrays() error {
	if t.scratch == nil {
		t.scratch = map[string][]byte{}
	}
	t.infos = t.op.Arrays(t.c.Problem)
	if err := fits(t.infos); err != nil {
		return err
	}
	for _, a := range t.infos {
		if a.Shape == nil {
			continue
		}
		if int64(cap(t.scratch[a.Role])) < a.Bytes() {
			t.scratch[a.Role] = make([]byte, a.Bytes())
		}
		t.data[a.Role] = t.scratch[a.Role][:a.Bytes()]
		if a.Output {
			continue
		}
		if err := t.op.Fill(t.c, a.Role, t.data[a.Role]); err != nil {
			return fmt.Errorf("filling %s: %w", a.Role, err)
		}
	}
	return t.placeArrays()
}

// hostBytes is what a case takes of this machine's memory.
func hostBytes(arrays []op.Array) (need int64) {
	for _, a := range arrays {
		if a.Shape != nil {
			need += 2 * a.Bytes()
		}
	}
	return need
}

// fits refuses arrays that the machine cannot hold twice, where the plugin maps them and as the host's copy, before
// anything is allocated: the Go runtime ends the whole host when it runs out.
func fits(arrays []op.Array) error {
	need := hostBytes(arrays)
	have, err := machine.AvailableMemory()
	if err == nil && need > have/10*9 {
		return fmt.Errorf("the case takes %.1f GB of this machine's memory, of which %.1f GB are available", float64(need)/1e9, float64(have)/1e9)
	}
	return nil
}

// prepare leaves handle 0 where the case ends with a verdict and the process lives.
func (t *trial) prepare(ctx context.Context) *failure {
	set := &kernelv1.BufferSet{}
	for _, a := range t.arrays {
		if a == nil {
			continue
		}
		set.Buffers = append(set.Buffers, a.Message())
		if err := t.process.Give(a.Message().Id, a.FD()); err != nil {
			return t.failure(ctx, err)
		}
	}
	request := &kernelv1.PrepareRequest{Problem: contract.ProblemToProto(t.c.Problem), Tuning: t.engine.Options.Tuning,
		Backend: backendProto(t.target.Backend), Sets: []*kernelv1.BufferSet{set}}
	var answer *kernelv1.PrepareResponse
	err := t.process.Call(ctx, "prepare", t.engine.Options.Deadlines.Prepare, func(ctx context.Context) (err error) {
		answer, err = t.process.Kernel().Prepare(ctx, request)
		return err
	})
	if err != nil {
		return t.failure(ctx, err)
	}
	if u := answer.GetUnsupported(); u != nil {
		t.res.Verdict, t.res.Detail = Unsupported, u.Reason
		return nil
	}
	if t.handle = answer.GetPrepared().GetHandle(); t.handle == 0 {
		t.res.Verdict, t.res.Detail = BadPlugin, "prepare: the answer has neither a handle nor a reason"
	}
	return nil
}

// launches makes every launch of the case and stops at the first that is not right.
func (t *trial) launches(ctx context.Context) *failure {
	o := t.engine.Options
	if o.ScheduleSeed != 0 && t.target.Backend == "simt" {
		return t.once(ctx, schedule(o.ScheduleSeed))
	}
	repeat := o.Launches
	switch {
	case t.target.Backend != "cuda" && elements(t.c.Problem) > repeatElements:
		repeat = 1
	case t.target.Backend == "cuda" && t.c.Name == t.long:
		repeat = max(repeat, o.LongLaunches)
	}
	for range max(1, repeat) {
		if f := t.once(ctx, nil); f != nil || t.res.Verdict != Pass {
			return f
		}
	}
	if t.target.Backend != "simt" || elements(t.c.Problem) > exploreElements {
		return nil
	}
	if f := t.once(ctx, &kernelv1.SimtOptions{Mode: kernelv1.SimtOptions_COUNT}); f != nil || t.res.Verdict != Pass {
		return f
	}
	schedules := min(2, o.Schedules)
	if t.c.Name == t.long {
		schedules = o.Schedules
	}
	for i := range schedules {
		if f := t.once(ctx, schedule(t.engine.Options.Seed<<20+uint64(i)+1)); f != nil || t.res.Verdict != Pass {
			return f
		}
	}
	return nil
}

func schedule(seed uint64) *kernelv1.SimtOptions {
	return &kernelv1.SimtOptions{Mode: kernelv1.SimtOptions_EXPLORE, Seed: seed}
}

// once makes one launch into fresh poison and judges it.
func (t *trial) once(ctx context.Context, simt *kernelv1.SimtOptions) *failure {
	for i, a := range t.arrays {
		if a != nil && t.infos[i].Output {
			if err := a.Poison(); err != nil {
				return t.hostTrouble("poisoning "+t.infos[i].Role, err)
			}
		}
	}
	// The checked copy is some 30 times slower than the fast one.
	work := elements(t.c.Problem)
	if simt.GetMode() != kernelv1.SimtOptions_FAST {
		work *= 30
	}
	var answer *kernelv1.LaunchResponse
	err := t.process.Call(ctx, "launch", t.engine.Options.Deadlines.launch(t.target.Backend, work), func(ctx context.Context) (err error) {
		answer, err = t.process.Kernel().Launch(ctx, &kernelv1.LaunchRequest{Handle: t.handle, Launches: 1, Simt: simt})
		return err
	})
	if err != nil {
		return t.failure(ctx, err)
	}
	explored := simt.GetMode() == kernelv1.SimtOptions_EXPLORE
	if explored {
		t.res.Schedules++
		t.res.Seed = simt.Seed
	} else {
		t.res.Launches++
	}
	if simt.GetMode() == kernelv1.SimtOptions_COUNT {
		t.res.Counters = flatten(answer.Counters)
	}
	if f := answer.Finding; f != nil {
		return t.finding(ctx, f)
	}
	f := t.inspect()
	if explored && t.res.Verdict == Pass {
		t.res.Seed = 0
	}
	return f
}

// hostTrouble is a failure of the keeper or of the host's memory: nothing to do with this kernel, and
// nothing more can be judged.
func (t *trial) hostTrouble(doing string, err error) *failure {
	return &failure{verdict: NotRun, detail: doing + ": " + err.Error(), wedged: fmt.Errorf("%s: %w", doing, err)}
}

func (t *trial) release(ctx context.Context) *failure {
	err := t.process.Call(ctx, "release", t.engine.Options.Deadlines.Release, func(ctx context.Context) error {
		_, err := t.process.Kernel().Release(ctx, &kernelv1.ReleaseRequest{Handle: t.handle})
		return err
	})
	if err != nil {
		return t.failure(ctx, err)
	}
	return nil
}

func (t *trial) close() error {
	var errs []error
	for _, a := range t.arrays {
		if a != nil {
			errs = append(errs, a.Close())
		}
	}
	return errors.Join(errs...)
}

func backendProto(name string) kernelv1.Backend {
	switch name {
	case "cuda":
		return kernelv1.Backend_BACKEND_CUDA
	case "simt":
		return kernelv1.Backend_BACKEND_SIMT
	}
	return kernelv1.Backend_BACKEND_CPU
}
