package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"scanhost/host/internal/launch"
	"scanhost/shared/contract"
	"scanhost/shared/contract/kernelv1"
	"scanhost/shared/op"
)

// strikes is how many cases may hang or crash a plugin before the rest are not run.
const strikes = 2

// kernelRun is one kernel going through its cases.
type kernelRun struct {
	queue    *queue  // nil in Scan, which reports nothing
	place    int     // in the queue, and so in the results
	engine   *Engine // nil until one takes it
	target   Target
	declared contract.Op
	op       op.Op
	result   KernelResult
	process  *launch.Process // nil between a kill and the next case
	total    int
	long     string // name of the case chosen for many launches and schedules
	scratch  map[string][]byte
}

// refuse fills the row of a kernel that is not run at all.
func (r *kernelRun) refuse(v Verdict, reason string) {
	r.begin()
	r.result.Verdict, r.result.Detail = v, reason
}

func (r *kernelRun) begin() {
	m := r.target.Manifest
	r.result = KernelResult{Plugin: m.Name, Version: m.Version, Role: m.Role, Op: r.declared.Name, Backend: r.target.Backend,
		ImprovesOn: m.ImprovesOn, Hash: r.target.Hash, Determinism: "-", Verdict: Pass}
}

// run judges the kernel. Its error says that the device is not to be used any more.
func (r *kernelRun) run(ctx context.Context) (wedged error) {
	r.begin()
	r.result.GPU = r.engine.GPU
	started := time.Now()
	defer func() { r.result.Time = time.Since(started) }()
	var err error
	if r.op, err = op.Lookup(r.declared.Name); err != nil {
		r.result.Verdict, r.result.Detail = BadPlugin, err.Error()
		return nil
	}
	cases := r.cases()
	r.total = len(cases)
	r.report(Event{Plugin: r.result.Plugin, Op: r.result.Op, Total: r.total})
	defer func() {
		if stop := r.stop(); stop != nil && wedged == nil {
			wedged = stop
		}
	}()
	if f := r.start(ctx); f != nil {
		r.fail(*f)
		return f.wedged
	}
	failed := 0
	for i, c := range cases {
		res, f := r.judge(ctx, c)
		if ctx.Err() != nil {
			r.interrupt(i)
			return nil
		}
		r.add(res)
		if f == nil {
			continue
		}
		if f.wedged != nil {
			r.skip(cases[i+1:], f.wedged.Error())
			return f.wedged
		}
		if failed++; failed == strikes {
			r.skip(cases[i+1:], fmt.Sprintf("the plugin was ended %d times", strikes))
			break
		}
	}
	r.conclude()
	return nil
}

// cases is the explicit list, or the op's suite within what the kernel declares.
func (r *kernelRun) cases() []op.Case {
	o := r.engine.Options
	cases := o.Cases
	if cases == nil {
		limits := op.Limits{MaxLength: r.declared.MaxLength, Options: r.declared.Options, Elements: o.Elements}
		for _, d := range r.declared.DTypes {
			limits.DTypes = append(limits.DTypes, op.DType(d))
		}
		cases = r.op.Suite(limits, o.Seed)
	}
	var mine []op.Case
	for _, c := range cases {
		if c.Problem.Op == r.declared.Name {
			mine = append(mine, c)
		}
	}
	largest := int64(exploreElements)
	if r.target.Backend == "cuda" {
		largest = longElements
	}
	r.long = longCase(mine, r.declared.MaxLength, largest)
	return mine
}

// exploreElements bounds a case that the checked copy of the simulated GPU runs.
const exploreElements = 16384

// repeatElements bounds a case that is launched several times off the GPU, where exploring a small case shows
// more than repeating a large one.
const repeatElements = 1 << 17

// longElements bounds the case that a real GPU launches many times.
const longElements = 8 << 20

// longCase is where grouping shows in the bits: decay near 1 and the longest row among the cases of at most
// largest elements. Where a suite has no decay near 1, the longest row of any regime is taken.
func longCase(cases []op.Case, ceiling, largest int64) string {
	best, bestLength := "", int64(0)
	for _, c := range cases {
		length, elements := c.Problem.Dims["length"], elements(c.Problem)
		if ceiling > 0 && length > ceiling || elements == 0 || elements > largest {
			continue
		}
		if c.Regime == "near1" {
			length *= 1000
		}
		if length > bestLength {
			best, bestLength = c.Name, length
		}
	}
	return best
}

func elements(p op.Problem) int64 {
	n := int64(1)
	for _, d := range p.Dims {
		n *= d
	}
	return n
}

// failure is what ended a case together with the process that ran it, or the device.
type failure struct {
	verdict Verdict
	detail  string
	log     []string
	wedged  error
}

// start runs the plugin and checks that it is what its manifest says.
func (r *kernelRun) start(ctx context.Context) *failure {
	o := r.engine.Options
	process, err := launch.Start(ctx, launch.Command{Path: r.target.Argv[0], Args: r.target.Argv[1:], Dir: r.target.Dir,
		Env: o.Environment, Service: contract.KernelService, Wrap: o.Wrap, Limits: o.Deadlines.limits()})
	if err != nil {
		return r.failure(ctx, err)
	}
	r.process = process
	process.Heartbeat()
	var d *kernelv1.DescribeResponse
	err = process.Call(ctx, "describe", o.Deadlines.Describe, func(ctx context.Context) (err error) {
		d, err = process.Kernel().Describe(ctx, &kernelv1.DescribeRequest{})
		return err
	})
	if err != nil {
		return r.failure(ctx, err)
	}
	if text := contract.Disagreement(r.target.Manifest, d); text != "" {
		return r.end(ctx, &failure{verdict: BadPlugin, detail: "Describe: " + text})
	}
	if need := r.engine.Needs; need != "" && r.target.Backend == "cuda" {
		if !slices.Contains(d.Capabilities, need) {
			return r.end(ctx, &failure{verdict: Unsupported, detail: fmt.Sprintf("this run hands plugins host memory to copy to the GPU, and it lacks capability %s", need)})
		}
		r.result.Lost = r.engine.Lost
	}
	return nil
}

// failure is the verdict of an error of launch's. The process is ended, whatever is left of it.
func (r *kernelRun) failure(ctx context.Context, err error) *failure {
	f := &failure{verdict: NotRun, detail: err.Error()}
	var l *launch.Failure
	if errors.As(err, &l) {
		f.verdict, f.detail, f.log = Verdict(l.Kind), l.Text, l.Evidence.Log
		if l.Kind == launch.Unkillable {
			f.wedged = fmt.Errorf("%s could not be removed: %w", r.result.Plugin, launch.ErrUnkillable)
		}
		if status.Code(l.Cause) == codes.ResourceExhausted && !contract.TooLarge(l.Cause) {
			f.verdict = OutOfMemory
		}
	}
	return r.end(ctx, f)
}

// end kills the process that a failure leaves, and proves that the device survived it.
func (r *kernelRun) end(ctx context.Context, f *failure) *failure {
	p := r.process
	r.process = nil
	if p != nil {
		if f.log == nil {
			f.log = p.Evidence().Log
		}
		if err := p.Kill(f.detail); err != nil {
			f.verdict, f.wedged = Unkillable, fmt.Errorf("%s could not be removed: %w", r.result.Plugin, err)
			f.detail += "; " + err.Error()
			return f
		}
	}
	if prove := r.engine.AfterKill; prove != nil && ctx.Err() == nil {
		if err := prove(ctx); err != nil {
			f.wedged = fmt.Errorf("the device does not work after %s was ended: %w", r.result.Plugin, err)
		}
	}
	return f
}

// stop ends the process at the end of the kernel's cases.
func (r *kernelRun) stop() error {
	if r.process == nil {
		return nil
	}
	p := r.process
	r.process = nil
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := p.Stop(ctx); errors.Is(err, launch.ErrUnkillable) {
		r.result.Verdict, r.result.Detail = Unkillable, err.Error()
		return fmt.Errorf("%s could not be removed: %w", r.result.Plugin, err)
	}
	return nil
}

func (r *kernelRun) fail(f failure) {
	r.result.Verdict, r.result.Detail, r.result.Log = f.verdict, f.detail, f.log
}

func (r *kernelRun) add(c CaseResult) {
	r.result.Cases = append(r.result.Cases, c)
	switch {
	case c.Verdict == Unsupported:
		r.result.Unsupported++
	case c.Verdict == Pass:
		r.result.Passed++
		r.result.Run++
	case c.Verdict != NotRun:
		r.result.Run++
	}
	if c.Comparison != nil && !(op.Real(c.Comparison.Worst) <= r.result.Worst) {
		r.result.Worst = op.Real(c.Comparison.Worst)
	}
	last := &r.result.Cases[len(r.result.Cases)-1]
	r.report(Event{Plugin: r.result.Plugin, Op: r.result.Op, Done: len(r.result.Cases), Total: r.total, Case: last})
}

func (r *kernelRun) skip(rest []op.Case, why string) {
	for _, c := range rest {
		r.add(CaseResult{Case: c.Name, Regime: c.Regime, Problem: c.Problem, Verdict: NotRun, Detail: why})
	}
	r.conclude()
}

func (r *kernelRun) interrupt(done int) {
	r.conclude()
	r.result.Verdict = Interrupted
	r.result.Detail = fmt.Sprintf("after %d of %d cases", done, r.total)
}

// conclude folds the cases into the kernel's verdict: that of the first case that failed.
func (r *kernelRun) conclude() {
	for _, c := range r.result.Cases {
		if c.Verdict.Failure() && c.Verdict != NotRun {
			r.result.Verdict, r.result.Detail = c.Verdict, c.Detail
			break
		}
	}
	switch {
	case r.anyVerdict(Nondeterministic):
		r.result.Determinism = "varies"
	case r.result.Passed == 0: // nothing was compared to the end
	case r.target.Manifest.RunToRun:
		r.result.Determinism = "run-to-run"
	default:
		r.result.Determinism = "not declared"
	}
	if r.result.Run > 0 || r.result.Verdict != Pass || len(r.result.Cases) == 0 {
		return
	}
	// Nothing ran: refused by the kernel, or beyond this machine.
	r.result.Verdict, r.result.Detail = r.result.Cases[0].Verdict, r.result.Cases[0].Detail
	for _, c := range r.result.Cases {
		if c.Verdict == Unsupported && r.declares(c.Problem) {
			r.result.Verdict, r.result.Detail = BadPlugin, "refused every case, also those that plugin.toml declares: "+c.Detail
			return
		}
	}
}

// declares says whether plugin.toml claims a problem.
func (r *kernelRun) declares(p op.Problem) bool {
	for _, option := range p.Options {
		if !slices.Contains(r.declared.Options, option) {
			return false
		}
	}
	return slices.Contains(r.declared.DTypes, string(p.DType)) &&
		(r.declared.MaxLength == 0 || p.Dims["length"] <= r.declared.MaxLength)
}

func (r *kernelRun) anyVerdict(v Verdict) bool {
	for _, c := range r.result.Cases {
		if c.Verdict == v {
			return true
		}
	}
	return false
}
