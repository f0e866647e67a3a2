package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"scanhost/host/internal/buffers"
	"scanhost/host/internal/judge"
	"scanhost/shared/contract"
	"scanhost/shared/contract/kernelv1"
	"scanhost/shared/op"
)

// Counting runs the checked copy of a kernel, some thousand times slower than a GPU, so it counts on small
// problems with the same traffic for each element.
const (
	countElements = 32 << 10
	countLimit    = 120 * time.Second
)

// CountedAs names the small problem whose count stands for a problem's.
func CountedAs(p op.Problem) string {
	o, err := op.Lookup(p.Op)
	if err != nil {
		return ""
	}
	return p.Op + " " + fmt.Sprint(o.Miniature(p, countElements).Dims) // maps are printed in order
}

// CountTraffic lets the simulated GPU count what an entry, built for it, moves for each element, by CountedAs.
// An entry that cannot be counted gives the reason as an error.
func CountTraffic(ctx context.Context, e Entry, problems []op.Problem, deadlines judge.Deadlines) (map[string]Traffic, error) {
	if e.Target.Refused != "" {
		return nil, fmt.Errorf("%s: %s", e.Target.Refused, e.Target.Reason)
	}
	c := &contestant{Contender: e.Contender, target: e.Target, deadlines: deadlines}
	counted := map[string]Traffic{}
	if t := c.start(ctx); t != nil {
		return nil, t.err()
	}
	for _, p := range problems {
		name := CountedAs(p)
		if _, done := counted[name]; done || ctx.Err() != nil {
			continue
		}
		o, err := op.Lookup(p.Op)
		if err != nil {
			return counted, errors.Join(err, c.stop())
		}
		traffic, t := c.count(ctx, o.Miniature(p, countElements))
		if t != nil && t.verdict == judge.Unsupported {
			continue
		}
		if t != nil {
			return counted, errors.Join(t.err(), c.stop())
		}
		counted[name] = traffic
	}
	return counted, c.stop()
}

func (t *trouble) err() error { return fmt.Errorf("%s: %s", t.verdict, t.detail) }

// count makes one launch in the checked copy and adds up its bytes.
func (c *contestant) count(ctx context.Context, p op.Problem) (Traffic, *trouble) {
	s, err := newShape(p)
	if err != nil {
		return Traffic{}, &trouble{verdict: judge.NotRun, detail: err.Error()}
	}
	arrays, err := memfds(s)
	defer func() {
		for _, a := range arrays {
			a.Close()
		}
	}()
	if err != nil {
		return Traffic{}, &trouble{verdict: judge.NotRun, detail: err.Error()}
	}
	set := &kernelv1.BufferSet{}
	for _, a := range arrays {
		set.Buffers = append(set.Buffers, a.Message())
		if err := c.process.Give(a.Message().Id, a.FD()); err != nil {
			return Traffic{}, c.failed(ctx, err)
		}
	}
	request := &kernelv1.PrepareRequest{Problem: contract.ProblemToProto(p), Tuning: c.Tuning, Backend: backendProto(c.Backend),
		Sets: []*kernelv1.BufferSet{set}}
	if t := c.ready(ctx, request); t != nil {
		return Traffic{}, t
	}
	counters, t := c.countOnce(ctx)
	if t == nil {
		t = c.release(ctx)
	}
	elements := float64(s.arrayBytes)
	return Traffic{Read: total(counters.GetBytesRead()) / elements, Written: total(counters.GetBytesWritten()) / elements}, t
}

func total(byRole map[string]uint64) (sum float64) {
	for _, n := range byRole {
		sum += float64(n)
	}
	return sum
}

func (c *contestant) countOnce(ctx context.Context) (*kernelv1.Counters, *trouble) {
	var answer *kernelv1.LaunchResponse
	err := c.process.Call(ctx, "launch", countLimit, func(ctx context.Context) (err error) {
		answer, err = c.process.Kernel().Launch(ctx, &kernelv1.LaunchRequest{Handle: c.handle, Launches: 1,
			Simt: &kernelv1.SimtOptions{Mode: kernelv1.SimtOptions_COUNT}})
		return err
	})
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	if f := answer.Finding; f != nil {
		return nil, c.finding(ctx, f)
	}
	return answer.Counters, nil
}

// memfds makes the arrays of a shape on the host.
func memfds(s shape) ([]buffers.Array, error) {
	var arrays []buffers.Array
	what, err := s.op.ParseCase(caseName(s, 1))
	if err != nil {
		return nil, err
	}
	for _, info := range s.arrays {
		var a buffers.Array
		if info.Output {
			a, err = buffers.Memfd{}.Output(info)
		} else {
			a, err = buffers.Memfd{}.Input(info, func(dst []byte) error { return s.op.Fill(what, info.Role, dst) })
		}
		if err != nil {
			return arrays, err
		}
		arrays = append(arrays, a)
	}
	return arrays, nil
}
