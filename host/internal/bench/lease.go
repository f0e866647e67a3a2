package bench

import (
	"context"
	"fmt"
	"time"

	"scanhost/host/internal/judge"
	"scanhost/shared/op"
)

// batch is one timed or untimed call: launch i of it works on set (first + i) mod the number of sets.
type batch struct {
	launches, first int
	graph           bool
	limit           time.Duration // after which it hangs
}

// timing is how long a batch took: by the host's clock around the call, and by the device's events, which are
// the plugin's word. Both in seconds.
type timing struct{ host, device float64 }

// racer is something that can be timed on the shape at hand: a plugin, or the keeper's stream.
type racer interface {
	launch(ctx context.Context, b batch) (timing, *trouble)
}

// trouble is what ended a contender's part in a cell.
type trouble struct {
	verdict judge.Verdict
	detail  string
	ended   bool  // its process is gone
	wedged  error // the device or the keeper is of no more use
}

// ground is the memory of the shape at hand. Set i reads the inputs i mod inputs and writes slot i.
type ground interface {
	slots() int  // a multiple of inputs
	inputs() int // sets of inputs with different contents
	// poison fills the first count slots and their guard bands.
	poison(ctx context.Context, count int) error
	// inspect gives a fingerprint of each of the first count slots, or says where a guard band changed.
	inspect(ctx context.Context, count int) (look, error)
	// compare checks a slot against the reference: as many whole rows as make up the elements.
	compare(slot int, elements int64) (op.Comparison, error)
}

type look struct {
	prints []uint64
	broken string // the guard band that changed; "" when all are intact
}

// entrant is a contender on the shape at hand.
type entrant struct {
	racer    racer
	cell     *Cell
	plan     plan
	process  int      // which incarnation
	right    []uint64 // fingerprints of right outputs, by inputs; nil for a stream, which nobody checks
	runToRun bool
	samples  []Sample
	leases   []interval // by sample
	out      *trouble   // it takes no further part
	noGraph  string     // why it is not replayed as a graph
}

// interval is a time on the host's clock, since the sweep began.
type interval struct{ from, to time.Duration }

// span is one timed batch to come.
type span struct {
	launches int
	graph    bool
}

// lease gives the device to one entrant for its spans of a round. Every span has fresh poison and an untimed
// batch before it; its calls differ from those in nothing that a kernel can see. The error is the host's own.
func (m *meter) lease(ctx context.Context, g ground, e *entrant, round int, spans []span) error {
	if e.out != nil {
		return nil
	}
	began := m.now()
	first := len(e.samples)
	var err error
	for _, s := range spans {
		if err = m.span(ctx, g, e, round, s); err != nil || e.out != nil || ctx.Err() != nil {
			break
		}
	}
	if err == nil && e.out == nil && len(spans) > 0 && !spans[0].graph {
		m.stretch(ctx, e, began)
	}
	for range e.samples[first:] {
		e.leases = append(e.leases, interval{began, m.now()})
	}
	return err
}

// stretch keeps the entrant at work until the lease is long enough for telemetry to fall into it.
func (m *meter) stretch(ctx context.Context, e *entrant, began time.Duration) {
	rest := (m.options.Lease - (m.now() - began)).Seconds()
	if rest < e.plan.perLaunch || rest < shortestSpan {
		return
	}
	n := min(int(rest/e.plan.perLaunch), largestBatch)
	_, e.out = e.racer.launch(ctx, batch{launches: n, limit: e.plan.limit(n)})
}

func (m *meter) span(ctx context.Context, g ground, e *entrant, round int, s span) error {
	warm := batch{launches: e.plan.warm, limit: e.plan.limit(e.plan.warm)}
	timed := batch{launches: s.launches, first: warm.launches, graph: s.graph, limit: e.plan.limit(s.launches)}
	if s.graph { // the untimed batch is the one that is captured
		timed.first = 0
		warm = timed
		warm.limit += captureTime
	}
	used := min(g.slots(), timed.first+timed.launches)
	if err := g.poison(ctx, used); err != nil {
		return fmt.Errorf("poisoning outputs: %w", err)
	}
	if _, e.out = e.racer.launch(ctx, warm); e.out != nil {
		return nil
	}
	if s.graph { // its outputs would hide a replay that does nothing
		if err := g.poison(ctx, used); err != nil {
			return fmt.Errorf("poisoning outputs: %w", err)
		}
	}
	at := m.now()
	took, out := e.racer.launch(ctx, timed)
	if e.out = out; out != nil {
		return nil
	}
	e.samples = append(e.samples, Sample{Round: round, Process: e.process, Launches: s.launches, Seconds: took.host,
		Device: took.device, At: at.Seconds(), Graph: s.graph})
	e.cell.Launches += s.launches
	if e.right == nil {
		return nil
	}
	return m.judge(ctx, g, e, used, min(s.launches, g.slots()))
}

// captureTime is granted to the capture of a graph, beside its run.
const captureTime = 20 * time.Second

// judge looks at what a batch left in the slots it used.
func (m *meter) judge(ctx context.Context, g ground, e *entrant, used, checked int) error {
	seen, err := g.inspect(ctx, used)
	if err != nil {
		return fmt.Errorf("inspecting outputs: %w", err)
	}
	if seen.broken != "" {
		e.out = &trouble{verdict: judge.OutOfBounds, detail: seen.broken}
		return nil
	}
	compared := false
	for slot, print := range seen.prints {
		if print == e.right[slot%len(e.right)] {
			continue
		}
		if compared { // of a kernel whose bits vary one output of a batch is compared
			checked--
			continue
		}
		compared = true
		if err := m.differs(g, e, slot); err != nil || e.out != nil {
			return err
		}
	}
	e.cell.Checked += max(0, checked)
	return nil
}

// differs judges an output that has not the bits of the first.
func (m *meter) differs(g ground, e *entrant, slot int) error {
	c, err := g.compare(slot, sampleElements)
	if err != nil {
		return fmt.Errorf("comparing an output: %w", err)
	}
	switch {
	case c.Wrong > 0:
		e.out = wrong(c, fmt.Sprintf("output %d of a timed batch: ", slot))
	case e.runToRun:
		e.out = &trouble{verdict: judge.Nondeterministic,
			detail: fmt.Sprintf("output %d of a timed batch has other bits than the first; %d of its elements were compared and are within the bound; plugin.toml declares run_to_run", slot, c.Checked)}
	}
	return nil
}

// wrong is the trouble of an output that the reference contradicts.
func wrong(c op.Comparison, where string) *trouble {
	t := &trouble{verdict: judge.Wrong, detail: fmt.Sprintf("%s%d of %d elements", where, c.Wrong, c.Checked)}
	if c.Unwritten > 0 && c.Unwritten == c.Wrong {
		t.verdict = judge.Unwritten
	}
	if c.First != nil {
		t.detail += "; first " + c.First.String()
	}
	return t
}

// Elements compared with the reference: of the first outputs of a cell's other inputs, and of an output whose bits
// differ.
const (
	otherElements  = 2 << 20
	sampleElements = 1 << 20
)

// proof is an output that was compared on the shape at hand: by inputs and fingerprint.
type proof struct {
	inputs int
	print  uint64
}

// verify makes the first launches of a cell, one for each set of inputs, and compares them with the reference.
// The fingerprints of what is right are kept. It gives the seconds of a launch, roughly.
func (m *meter) verify(ctx context.Context, g ground, e *entrant) (float64, error) {
	n := g.inputs()
	if err := g.poison(ctx, n); err != nil {
		return 0, fmt.Errorf("poisoning outputs: %w", err)
	}
	took, out := e.racer.launch(ctx, batch{launches: n, limit: firstLimit})
	if e.out = out; out != nil {
		return 0, nil
	}
	seen, err := g.inspect(ctx, n)
	if err != nil {
		return 0, fmt.Errorf("inspecting outputs: %w", err)
	}
	if seen.broken != "" {
		e.out = &trouble{verdict: judge.OutOfBounds, detail: seen.broken}
		return 0, nil
	}
	e.right = seen.prints
	for slot := range n {
		if count, ok := m.proven[proof{slot, seen.prints[slot]}]; ok { // another contender's, bit for bit
			e.cell.Compared += count
			continue
		}
		elements := m.options.Elements
		if slot > 0 {
			elements = min(elements, otherElements)
		}
		c, err := g.compare(slot, elements)
		if err != nil {
			return 0, fmt.Errorf("comparing the first outputs: %w", err)
		}
		e.cell.Compared += c.Checked
		if c.Wrong > 0 {
			e.out = wrong(c, fmt.Sprintf("launch %d: ", slot))
			return 0, nil
		}
		m.proven[proof{slot, seen.prints[slot]}] = c.Checked
	}
	return took.host / float64(n), nil
}

// firstLimit bounds a cell's first batch, of which nothing is known.
const firstLimit = 60 * time.Second
