// Package judge proves a kernel right or wrong: it runs a suite of cases on an untrusted plugin and turns
// everything that can happen into one verdict for each case.
//
// For every case it
//
//  1. makes the inputs where the plugin can only read them, and outputs full of poison between guard bands;
//  2. asks the plugin to prepare, which is where a kernel may say that the case is beyond it;
//  3. launches once and compares with the float64 reference;
//  4. launches again, with fresh poison, and compares bit for bit;
//  5. on the simulated GPU, counts the traffic in the checked copy and explores seeded schedules.
//
// A plugin that hangs or dies is killed and started again for the next case; after two such cases the rest
// are not run. Nothing that a plugin says is believed without a look at the buffers.
package judge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"scanhost/host/internal/buffers"
	"scanhost/host/internal/launch"
	"scanhost/shared/contract"
	"scanhost/shared/op"
)

// Target is one plugin, built.
type Target struct {
	Manifest contract.Manifest
	Argv     []string // executable and arguments
	Dir      string   // working directory; empty: the host's
	Backend  string   // cuda, simt or cpu
	Hash     string   // of what it was built from
	// Refused is set, with a verdict and its reason, where there is nothing to run: the manifest is bad
	// or the build failed.
	Refused Verdict
	Reason  string
}

// Options says what to run and how hard to look. Zero values mean the defaults of DefaultOptions.
type Options struct {
	Seed         uint64
	Cases        []op.Case // instead of the op's suite
	Launches     int       // of every case, compared bit for bit
	LongLaunches int       // of the one case chosen to show grouping
	Schedules    int       // explored for that case on simt
	ScheduleSeed uint64    // run only this schedule of each case; 0: explore
	Elements     int64     // cap on rows * length; 0: the suite's own
	Tuning       map[string]int64
	Wrap         []string // argv prefix: a tool that runs the plugin
	Deadlines    Deadlines
	Environment  []string // additions to the plugin's, such as CUDA_VISIBLE_DEVICES
}

// Deadlines bound what a plugin may take. Scale multiplies them all; Off switches them off, for debuggers.
type Deadlines struct {
	Handshake, Describe, Prepare, Launch, Release, Silence time.Duration
	LaunchRate                                             float64 // elements per second added to Launch on simt
	Scale                                                  float64
	Off                                                    bool
}

// DefaultOptions is what run-all uses.
func DefaultOptions() Options {
	return Options{Seed: 1, Launches: 3, LongLaunches: 240, Schedules: 48, Deadlines: Deadlines{
		Handshake: 20 * time.Second, Describe: 5 * time.Second, Prepare: 60 * time.Second, Launch: 10 * time.Second,
		Release: 10 * time.Second, Silence: 5 * time.Second, LaunchRate: 400e3, Scale: 1}}
}

// limits are launch's form of the deadlines; it does the scaling.
func (d Deadlines) limits() launch.Limits {
	l := launch.Limits{Handshake: d.Handshake, Silence: d.Silence, Scale: d.Scale}
	if d.Off {
		l.Scale = launch.Off
	}
	return l
}

// launch is the deadline of a batch over so many elements, before scaling.
func (d Deadlines) launch(backend string, elements int64) time.Duration {
	if backend == "cuda" || d.LaunchRate <= 0 {
		return d.Launch
	}
	return d.Launch + time.Duration(float64(elements)/d.LaunchRate*float64(time.Second))
}

// Event is one step of progress.
type Event struct {
	Plugin, Op  string
	Done, Total int           // cases of this kernel
	Case        *CaseResult   // just finished, or nil
	Kernel      *KernelResult // just finished, or nil
}

// Engine judges kernels in one space: on one GPU, or on the simulated one.
type Engine struct {
	Space    buffers.Space
	Options  Options
	Progress func(Event) // of Run; may be nil; one call at a time
	// AfterKill proves that the device still works after a plugin was killed. nil where there is nothing
	// to prove.
	AfterKill func(context.Context) error
	// Needs is a capability without which a plugin cannot work on a GPU in this space; Lost is what cannot be checked there.
	Needs string
	Lost  []string
	// Parallel is how many kernels are judged at a time; 0 means 1. On a GPU one plugin at a time holds the device.
	Parallel int

	// GPU is the one that the rows say they ran on; nil on the simulated one.
	GPU *GPU

	mu     sync.Mutex // guards wedged
	wedged error
	large  sync.Mutex   // held by the one case at a time that needs much memory
	shared *memoryShare // with the engines of other GPUs; may be nil
}

// Run judges every op of every target, Parallel of them at a time. Its error is the host's own trouble; what
// plugins do is in the results, which are in the order of the targets. With a cancelled context it returns what it has.
func (e *Engine) Run(ctx context.Context, targets []Target) ([]KernelResult, error) {
	q := newQueue(targets, e.Progress)
	err := e.work(ctx, q)
	q.refuseRest(ctx, err)
	return q.results(), err
}

// work takes kernels, Parallel at a time, until none is left or the device fails, which is its error.
func (e *Engine) work(ctx context.Context, q *queue) error {
	var all sync.WaitGroup
	for range max(1, e.Parallel) {
		all.Go(func() {
			for e.trouble(nil) == nil {
				r := q.take()
				if r == nil {
					return
				}
				r.engine = e
				r.runOrRefuse(ctx)
			}
		})
	}
	all.Wait()
	return e.trouble(nil)
}

// trouble remembers the first reason to give a device no more work, and returns it.
func (e *Engine) trouble(wedged error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.wedged == nil {
		e.wedged = wedged
	}
	return e.wedged
}

// runOrRefuse judges the kernel unless there is nothing to judge.
func (r *kernelRun) runOrRefuse(ctx context.Context) {
	switch {
	case r.target.Refused != "":
		r.refuse(r.target.Refused, r.target.Reason)
	case ctx.Err() != nil:
		r.refuse(Interrupted, "before it began")
	default:
		r.engine.trouble(r.run(ctx))
	}
	r.reportEnd()
}

// Replay is the command that repeats a case on a kernel.
func Replay(t Target, o Options, c string, schedule uint64) string {
	backend := t.Backend
	if backend == "cpu" { // such plugins run beside the simulated GPU
		backend = "simt"
	}
	args := []string{"go tool host verify --plugin", t.Manifest.Name, "--backend", backend, "--replay", "'" + c + "'"}
	names := make([]string, 0, len(o.Tuning))
	for n := range o.Tuning {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		args = append(args, fmt.Sprintf("--set %s=%d", n, o.Tuning[n]))
	}
	if schedule != 0 {
		args = append(args, fmt.Sprintf("--schedule-seed %d", schedule))
	}
	return strings.Join(args, " ")
}
