package bench

import (
	"context"
	"fmt"
	"math"

	"scanhost/shared/op"
)

// ClockCheck is how a kernel's time looks to each clock.
type ClockCheck struct {
	Kernel   string  `json:"kernel"`
	Shape    string  `json:"shape"`
	Known    float64 `json:"known_seconds,omitempty"` // of the device's timer, for a spin
	Host     float64 `json:"host_seconds"`            // slope of the host's clock
	Events   float64 `json:"event_seconds"`           // slope of device events
	Batch    float64 `json:"intercept_seconds"`       // of the host's line
	Spread   float64 `json:"spread"`                  // interquartile range over the time
	Samples  int     `json:"samples"`
	Disagree float64 `json:"disagreement"` // host over events, less 1
}

func (c ClockCheck) String() string {
	known := ""
	if c.Known > 0 {
		known = fmt.Sprintf(", known %s", micro(c.Known))
	}
	return fmt.Sprintf("%-26s %-34s host %12s, events %12s (%+.2f %%)%s, intercept %s, quartiles %.2f %% apart, %d samples",
		c.Kernel, c.Shape, micro(c.Host), micro(c.Events), 100*c.Disagree, known, micro(c.Batch), 100*c.Spread, c.Samples)
}

func checkClock(kernel, shape string, samples []Sample) ClockCheck {
	c := ClockCheck{Kernel: kernel, Shape: shape, Samples: len(samples)}
	e, line := EstimateTime(samples, 1)
	c.Host, c.Batch = e.Seconds, line.Intercept
	if c.Host > 0 {
		c.Spread = (e.Q3 - e.Q1) / c.Host
	}
	if events, ok := deviceLine(samples); ok && events.Slope > 0 {
		c.Events, c.Disagree = events.Slope, c.Host/events.Slope-1
	}
	return c
}

// spins are kernels of known length, in nanoseconds of the device's timer.
var spins = []uint64{5_000, 70_000, 500_000}

// Calibrate shows what the host's clock is worth across processes: kernels of known length first, then streams
// and plugins, all alive and taking turns.
func (r Runner) Calibrate(ctx context.Context, sweep *Sweep, entries []Entry, problems []op.Problem) ([]ClockCheck, error) {
	var checks []ClockCheck
	r.spins = func(x *running, g ground) error {
		for _, ns := range spins {
			e := &entrant{racer: &spinner{r.Keeper, x.now, ns}, cell: &Cell{}}
			if err := x.pilot(ctx, g, e, float64(ns)/1e9); err != nil {
				return err
			}
			if err := x.race(ctx, g, []*entrant{e}, nil, func(int, int) error { return nil }); err != nil {
				return err
			}
			c := checkClock("spin", "", e.samples)
			c.Known = float64(ns) / 1e9
			checks = append(checks, c)
		}
		return nil
	}
	err := r.Run(ctx, sweep, entries, problems)
	for _, c := range sweep.Ceilings {
		checks = append(checks, checkClock("stream", Megabytes(c.ArrayBytes), c.Samples))
	}
	for _, c := range sweep.Cells {
		if plain := valid(c.Samples); len(plain) > 0 {
			check := checkClock(c.Contender, c.Shape()+" "+Megabytes(c.ArrayBytes), plain)
			check.Kernel += " " + c.Verdict
			checks = append(checks, check)
		}
	}
	return checks, err
}

// Of the self-test: shorter spans than a sweep's, so that the many comparisons end in minutes. Noise is larger for
// it, and so is the chance of a false verdict.
const (
	selfTestSamples  = 4 // of each process
	selfTestSpread   = 12e-3
	selfTestElements = 1 << 20
)

// SelfTest times every entry against itself, each side in as many processes one after another as the rules of the
// self-test ask for, and counts the differences that are found.
func (r Runner) SelfTest(ctx context.Context, entries []Entry, problems []op.Problem) (SelfTest, error) {
	var both []Entry
	for _, e := range entries {
		if e.Role != "kernel" {
			continue // a baseline's slow launches say nothing about the harness that a quick kernel's do not
		}
		other := e
		other.Name += " again"
		both = append(both, e, other)
	}
	o := &r.Options
	o.Samples, o.Spread, o.GraphTime, o.Lease, o.Elements, o.Restarts = selfTestSamples, selfTestSpread, 0, 0, selfTestElements, 1
	r.Save, r.memory = nil, map[string]remembered{}
	show := r.Progress
	merged := map[string]*Cell{}
	var order []string
	for process := range SelfTestProcesses {
		sweep := &Sweep{Seed: o.Seed}
		r.pass = uint64(process) + 1
		r.Progress = func(e Event) {
			if e.Prediction == nil && show != nil {
				e.Shape, e.Cells = fmt.Sprintf("process %d of %d, %s", process+1, SelfTestProcesses, e.Shape), nil
				show(e)
			}
		}
		if err := r.Run(ctx, sweep, both, problems); err != nil || ctx.Err() != nil {
			return SelfTest{}, err
		}
		for _, c := range sweep.Cells {
			key := c.Name()
			if merged[key] == nil {
				merged[key] = &Cell{Contender: c.Contender, Problem: c.Problem, ArrayBytes: c.ArrayBytes, Verdict: c.Verdict}
				order = append(order, key)
			}
			for _, s := range c.Samples {
				s.Process, s.Round = process, s.Round+process*selfTestSamples
				merged[key].Samples = append(merged[key].Samples, s)
			}
		}
	}
	return compareWithSelf(merged, order, o.Seed), nil
}

func compareWithSelf(cells map[string]*Cell, order []string, seed uint64) SelfTest {
	var t SelfTest
	for _, key := range order {
		c := cells[key]
		again := *c
		again.Contender += " again"
		other, ok := cells[again.Name()]
		if !ok || c.Verdict == "unsupported" {
			continue
		}
		t.Add(c.Contender, c.Shape()+" "+Megabytes(c.ArrayBytes), c.Samples, other.Samples, seed)
	}
	t.Finish()
	t.Largest = math.Round(1e4*t.Largest) / 1e4
	return t
}
