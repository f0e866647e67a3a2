package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"scanhost/host/internal/judge"
	"scanhost/host/internal/launch"
	"scanhost/shared/contract"
	"scanhost/shared/contract/kernelv1"
)

// strikes is how many shapes may end a contender's process before it takes no further part.
const strikes = 2

// contestant is a contender and its process, which lives through all shapes unless something ends it.
type contestant struct {
	Contender
	target      judge.Target
	environment []string
	deadlines   judge.Deadlines
	now         func() time.Duration
	afterKill   func(context.Context) error

	process     *launch.Process
	incarnation int
	graphs      bool     // it knows LaunchRequest.graph
	handle      uint64   // of the shape at hand
	ended       int      // shapes that ended its process
	gone        *trouble // why it takes no further part
}

// start runs the plugin unless it runs already.
func (c *contestant) start(ctx context.Context) *trouble {
	if c.process != nil {
		return nil
	}
	process, err := launch.Start(ctx, launch.Command{Path: c.target.Argv[0], Args: c.target.Argv[1:], Dir: c.target.Dir,
		Env: c.environment, Service: contract.KernelService})
	if err != nil {
		return c.failed(ctx, err)
	}
	c.process = process
	c.incarnation++
	process.Heartbeat()
	var d *kernelv1.DescribeResponse
	err = process.Call(ctx, "describe", c.deadlines.Describe, func(ctx context.Context) (err error) {
		d, err = process.Kernel().Describe(ctx, &kernelv1.DescribeRequest{})
		return err
	})
	if err != nil {
		return c.failed(ctx, err)
	}
	if text := contract.Disagreement(c.target.Manifest, d); text != "" {
		return c.end(ctx, &trouble{verdict: judge.BadPlugin, detail: "Describe: " + text})
	}
	for _, known := range d.Capabilities {
		c.graphs = c.graphs || known == contract.CapabilityGraph
	}
	return nil
}

// prepare gets the plugin ready for the shape at hand.
func (c *contestant) prepare(ctx context.Context, g *keeperGround) *trouble {
	for id, fd := range map[uint64]int{g.from.ID(): g.from.FD(), g.to.ID(): g.to.FD()} {
		if err := c.process.Give(id, fd); err != nil {
			return c.failed(ctx, err)
		}
	}
	request := &kernelv1.PrepareRequest{Problem: contract.ProblemToProto(g.problem), Tuning: c.Tuning,
		Backend: backendProto(c.Backend), Sets: g.sets()}
	return c.ready(ctx, request)
}

// ready makes the Prepare call.
func (c *contestant) ready(ctx context.Context, request *kernelv1.PrepareRequest) *trouble {
	var answer *kernelv1.PrepareResponse
	err := c.process.Call(ctx, "prepare", c.deadlines.Prepare, func(ctx context.Context) (err error) {
		answer, err = c.process.Kernel().Prepare(ctx, request)
		return err
	})
	if err != nil {
		return c.failed(ctx, err)
	}
	if u := answer.GetUnsupported(); u != nil {
		return &trouble{verdict: judge.Unsupported, detail: u.Reason}
	}
	if c.handle = answer.GetPrepared().GetHandle(); c.handle == 0 {
		return c.end(ctx, &trouble{verdict: judge.BadPlugin, detail: "prepare: the answer has neither a handle nor a reason"})
	}
	return nil
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

// launch is the one call that is timed: nothing but the call is between the two looks at the clock.
func (c *contestant) launch(ctx context.Context, b batch) (timing, *trouble) {
	request := &kernelv1.LaunchRequest{Handle: c.handle, Launches: uint32(b.launches), FirstSet: uint32(b.first), Graph: b.graph}
	var answer *kernelv1.LaunchResponse
	var took time.Duration
	err := c.process.Call(ctx, "launch", b.limit, func(ctx context.Context) (err error) {
		began := c.now()
		answer, err = c.process.Kernel().Launch(ctx, request)
		took = c.now() - began
		return err
	})
	if err != nil {
		return timing{}, c.failed(ctx, err)
	}
	if f := answer.Finding; f != nil {
		return timing{}, c.finding(ctx, f)
	}
	if int(answer.Completed) != b.launches {
		return timing{}, &trouble{verdict: judge.BadPlugin, detail: fmt.Sprintf("%d of %d launches were completed, and nothing was said to be wrong", answer.Completed, b.launches)}
	}
	return timing{took.Seconds(), answer.DeviceMs / 1e3}, nil
}

// finding is an error of the device, after which the process is of no more use, unless a launch was refused.
func (c *contestant) finding(ctx context.Context, f *kernelv1.Finding) *trouble {
	t := &trouble{verdict: judge.DeviceError, detail: f.Text}
	switch f.Kind {
	case kernelv1.Finding_REFUSED:
		return t
	case kernelv1.Finding_OUT_OF_MEMORY:
		t.verdict = judge.OutOfMemory
	case kernelv1.Finding_DEADLOCK:
		t.verdict = judge.Hung
	}
	return c.end(ctx, t)
}

// failed is the trouble of an error of launch's. The process is ended, whatever is left of it.
func (c *contestant) failed(ctx context.Context, err error) *trouble {
	t := &trouble{verdict: judge.NotRun, detail: err.Error()}
	var l *launch.Failure
	if errors.As(err, &l) {
		t.verdict, t.detail = judge.Verdict(l.Kind), l.Text
		if l.Kind == launch.Unkillable {
			t.wedged = fmt.Errorf("%s could not be removed: %w", c.Name, launch.ErrUnkillable)
		}
		if status.Code(l.Cause) == codes.ResourceExhausted && !contract.TooLarge(l.Cause) {
			t.verdict = judge.OutOfMemory
		}
	}
	return c.end(ctx, t)
}

// end kills the process that a trouble leaves, and proves that the device survived it.
func (c *contestant) end(ctx context.Context, t *trouble) *trouble {
	p := c.process
	c.process, c.handle, t.ended = nil, 0, true
	if c.ended++; c.ended >= strikes {
		c.gone = &trouble{verdict: judge.NotRun, detail: fmt.Sprintf("its process was ended %d times, last for: %s: %s", c.ended, t.verdict, t.detail)}
	}
	if p != nil {
		if err := p.Kill(t.detail); err != nil {
			t.verdict, t.wedged = judge.Unkillable, fmt.Errorf("%s could not be removed: %w", c.Name, err)
			return t
		}
	}
	if c.afterKill != nil && ctx.Err() == nil {
		if err := c.afterKill(ctx); err != nil {
			t.wedged = fmt.Errorf("the device does not work after %s was ended: %w", c.Name, err)
		}
	}
	return t
}

// release ends the shape at hand.
func (c *contestant) release(ctx context.Context) *trouble {
	if c.process == nil || c.handle == 0 {
		return nil
	}
	handle := c.handle
	c.handle = 0
	err := c.process.Call(ctx, "release", c.deadlines.Release, func(ctx context.Context) error {
		_, err := c.process.Kernel().Release(ctx, &kernelv1.ReleaseRequest{Handle: handle})
		return err
	})
	if err != nil {
		return c.failed(ctx, err)
	}
	return nil
}

// stop ends the process in order.
func (c *contestant) stop() error {
	if c.process == nil {
		return nil
	}
	p := c.process
	c.process, c.handle = nil, 0
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := p.Stop(ctx); errors.Is(err, launch.ErrUnkillable) {
		return fmt.Errorf("%s could not be removed: %w", c.Name, err)
	}
	return nil
}
