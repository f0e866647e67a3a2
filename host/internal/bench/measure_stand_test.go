package bench

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"scanhost/host/internal/judge"
	"scanhost/shared/op"
)

// stand is a device with a clock of its own, on which racers take the time that they are made to take.
type stand struct {
	at     time.Duration
	random *rand.Rand
	prints []uint64 // of slots; 0 is poison
	sets   int
	broken string
	order  []string // who was timed, in order
}

const standSeed = 7

func newStand(slots, sets int) *stand {
	return &stand{random: rand.New(rand.NewPCG(standSeed, 0)), prints: make([]uint64, slots), sets: sets}
}

func (w *stand) now() time.Duration { return w.at }
func (w *stand) slots() int         { return len(w.prints) }
func (w *stand) inputs() int        { return w.sets }

func (w *stand) poison(_ context.Context, count int) error {
	clear(w.prints[:count])
	w.at += time.Millisecond
	return nil
}

func (w *stand) inspect(_ context.Context, count int) (look, error) {
	w.at += time.Millisecond
	return look{append([]uint64{}, w.prints[:count]...), w.broken}, nil
}

func right(set int) uint64 { return uint64(100 + set) }

// compare takes prints for values: a right one, or one that is 1000 more, is within the bound.
func (w *stand) compare(slot int, elements int64) (op.Comparison, error) {
	c := op.Comparison{Checked: elements}
	switch print := w.prints[slot]; {
	case print == 0:
		c.Wrong, c.Unwritten = elements, elements
	case print != right(slot%w.sets) && print != right(slot%w.sets)+1000:
		c.Wrong = 1
	}
	return c, nil
}

// fake is a racer.
type fake struct {
	*stand
	name      string
	perLaunch float64
	intercept float64
	events    float64 // device events over the truth; 0: none are reported
	noise     float64 // relative
	outliers  float64 // part of batches that take twice as long
	calls     int
	misdeed   func(f *fake, b batch) *trouble // after the launches of a call
}

func (f *fake) launch(_ context.Context, b batch) (timing, *trouble) {
	f.calls++
	f.order = append(f.order, f.name)
	for i := range b.launches {
		slot := (b.first + i) % len(f.prints)
		f.prints[slot] = right(slot % f.sets)
	}
	if f.misdeed != nil {
		if t := f.misdeed(f, b); t != nil {
			return timing{}, t
		}
	}
	device := f.perLaunch * float64(b.launches) * (1 + f.noise*f.random.NormFloat64())
	if f.random.Float64() < f.outliers {
		device *= 2
	}
	host := device + f.intercept + 15e-6*f.random.NormFloat64()
	f.at += time.Duration(host * 1e9)
	return timing{host, device * f.events}, nil
}

// honest is a kernel of 70 us on a device where a batch costs 0.3 ms.
func honest(w *stand, name string) *fake {
	return &fake{stand: w, name: name, perLaunch: 70e-6, intercept: 3e-4, events: 1, noise: 0.002}
}

func contestMeter(w *stand, o Options) *meter {
	return &meter{now: w.now, options: o, random: rand.New(rand.NewPCG(o.Seed, 1)), proven: map[proof]int64{}}
}

// contest measures fakes as a sweep does, after a reference that is honest, and gives their entrants.
func contest(t *testing.T, w *stand, o Options, fakes ...*fake) []*entrant {
	t.Helper()
	m := contestMeter(w, o)
	var entrants []*entrant
	graphs := map[*entrant]bool{}
	for _, f := range fakes {
		e := &entrant{racer: f, cell: &Cell{Contender: f.name}, runToRun: true}
		guess, err := m.verify(t.Context(), w, e)
		if err == nil && e.out == nil {
			err = m.pilot(t.Context(), w, e, guess)
		}
		if err != nil {
			t.Fatal(err)
		}
		graphs[e] = e.plan.perLaunch < o.GraphTime
		entrants = append(entrants, e)
	}
	w.order = nil
	if err := m.race(t.Context(), w, entrants, graphs, func(int, int) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return entrants
}

// conclusion is a cell's verdict when the reference's intercept is 0.3 ms.
func conclusion(e *entrant) Cell {
	x := &running{sweep: &Sweep{GPU: GPU{L2Bytes: 60 << 20, Peak: 4.8e12}}}
	c := e.cell
	c.Samples, c.Reference = e.samples, 3e-4
	c.Summarize(1)
	x.verdict(e, 288<<20)
	return *c
}

func TestHonestKernelsAreTimedRight(t *testing.T) {
	w := newStand(600, 2)
	entrants := contest(t, w, DefaultOptions(), honest(w, "a"), honest(w, "b"))
	for _, e := range entrants {
		c := conclusion(e)
		if c.Verdict != string(judge.Pass) || c.Time.Seconds < 69.5e-6 || c.Time.Seconds > 70.5e-6 || c.Time.Low > 70e-6 || c.Time.High < 70e-6 {
			t.Errorf("%s: %s (%s), %v; 70 us is the truth", c.Contender, c.Verdict, c.Detail, c.Time)
		}
		if len(c.Samples) < 15 || c.Checked != c.Launches || c.Compared == 0 {
			t.Errorf("%s: %d samples, %d of %d launches checked, %d elements compared", c.Contender, len(c.Samples), c.Checked, c.Launches, c.Compared)
		}
	}
}

func TestRoundsAreShuffledAndReplayable(t *testing.T) {
	play := func(seed uint64) []string {
		w := newStand(600, 2)
		o := DefaultOptions()
		o.Seed, o.Lease = seed, 0
		contest(t, w, o, honest(w, "a"), honest(w, "b"), honest(w, "c"))
		return w.order
	}
	first := play(1)
	if !equal(first, play(1)) {
		t.Error("equal seeds have different orders")
	}
	if equal(first, play(2)) {
		t.Error("different seeds have the same order")
	}
	orders := map[string]bool{}
	const calls = 2 * spansEach // of a lease: each batch has an untimed one before it
	for i := 0; i+3*calls <= len(first); i += 3 * calls {
		round := first[i] + first[i+calls] + first[i+2*calls]
		if len(map[byte]bool{round[0]: true, round[1]: true, round[2]: true}) != 3 {
			t.Fatalf("round %q has not every contender once", round)
		}
		orders[round] = true
	}
	if len(orders) < 3 {
		t.Errorf("eight rounds have %d orders", len(orders))
	}
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
