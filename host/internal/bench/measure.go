package bench

import (
	"context"
	"math/rand/v2"
	"time"

	"scanhost/host/internal/judge"
)

// Options of a sweep. Zero values are not defaults; DefaultOptions has them.
type Options struct {
	Seed      uint64
	Samples   int           // timed batches of a cell, if its time allows
	Spread    float64       // seconds that the longest timed batch is over the shortest
	GraphTime float64       // seconds of a launch below which graph replay is timed as well
	Lease     time.Duration // least length of a lease, so that telemetry falls into it
	Restarts  int           // processes of every contender for a shape, one after another
	Elements  int64         // of the first output of a cell, compared with the reference; others are held to by their bits
	Deadlines judge.Deadlines
}

// DefaultOptions is what host bench uses.
func DefaultOptions() Options {
	return Options{Seed: 1, Samples: 15, Spread: spanSpread, GraphTime: 30e-6, Lease: leaseLeast, Restarts: 1, Elements: 16 << 20, Deadlines: judge.DefaultOptions().Deadlines}
}

// meter times entrants on a ground by the host's clock.
type meter struct {
	now     func() time.Duration
	options Options
	random  *rand.Rand
	proven  map[proof]int64 // outputs of the shape at hand that were compared, and how many elements of them
	plans   map[string]plan // of the shape at hand, by kernel, so that its other processes need no pilot
}

const (
	pilotSpan = 6e-3  // seconds that a pilot's batch should take
	slowSpan  = 50e-3 // of a single launch, which needs no second look
)

// pilot finds out how long a launch takes, from a first guess, and plans the cell. Its batches are looked at like
// any other and do not count.
func (m *meter) pilot(ctx context.Context, g ground, e *entrant, guess float64) error {
	kept, leases, launches, checked := len(e.samples), len(e.leases), e.cell.Launches, e.cell.Checked
	e.plan = planFor(max(guess, 1e-6), m.options)
	e.plan.warm = 1
	n, before := 1, Sample{}
	for range 4 {
		if err := m.span(ctx, g, e, 0, span{launches: n}); err != nil || e.out != nil || ctx.Err() != nil {
			return err
		}
		last := e.samples[len(e.samples)-1]
		took := max(last.Seconds-interceptGuess, last.Seconds/4) / float64(n)
		// A call that takes long whatever is in it must not make batches short.
		if slope := (last.Seconds - before.Seconds) / float64(n-before.Launches); before.Launches > 0 && slope > 0 {
			took = min(took, max(slope, took/20))
		}
		e.plan = planFor(took, m.options)
		if n > 4 && took*float64(n) > pilotSpan/2 || last.Seconds > slowSpan {
			break
		}
		before = last
		n = max(n+1, int(pilotSpan/took), min(8*n, int(slowSpan/took)))
	}
	e.samples, e.leases, e.cell.Launches, e.cell.Checked = e.samples[:kept], e.leases[:leases], launches, checked
	return nil
}

// interceptGuess is about what a batch costs beside its launches.
const interceptGuess = 2e-4

// spansEach is how many spans a lease has where there are samples enough.
const spansEach = 2

// rounds is in how many rounds the samples are taken: what is drawn from them takes rounds for independent, and
// every process needs one.
func (m *meter) rounds() int {
	n := m.options.Samples
	return max((n+spansEach-1)/spansEach, min(n, leastRounds), m.options.Restarts)
}

// race times all entrants in rounds, each in an order of its own, one lease at a time. between is called before
// every round. The error is the host's own; what befalls an entrant is in the entrant.
func (m *meter) race(ctx context.Context, g ground, entrants []*entrant, graphs map[*entrant]bool, between func(round, rounds int) error) error {
	rounds := m.rounds()
	plain, replay := map[*entrant][][]span{}, map[*entrant][][]span{}
	for _, e := range entrants {
		plain[e] = schedule(e.plan.draw(m.random), rounds, false)
		if graphs[e] {
			replay[e] = schedule(e.plan.graph().draw(m.random), rounds, true)
		}
	}
	for round := range rounds {
		if err := between(round, rounds); err != nil {
			return err
		}
		for _, i := range m.random.Perm(len(entrants)) {
			e := entrants[i]
			if err := m.lease(ctx, g, e, round, plain[e][round]); err != nil {
				return err
			}
			if graphs[e] {
				if err := m.replayLease(ctx, g, e, round, replay[e][round]); err != nil {
					return err
				}
			}
			if e.out != nil && e.out.wedged != nil {
				return e.out.wedged
			}
			if ctx.Err() != nil {
				return nil
			}
		}
	}
	return nil
}

// replayLease is a lease of graph replays. A kernel that cannot be captured keeps its other times.
func (m *meter) replayLease(ctx context.Context, g ground, e *entrant, round int, spans []span) error {
	if e.out != nil || e.noGraph != "" {
		return nil
	}
	err := m.lease(ctx, g, e, round, spans)
	if e.out != nil && !e.out.ended && e.out.verdict == judge.DeviceError {
		e.noGraph, e.out = "no graph replay: "+e.out.detail, nil
	}
	return err
}
