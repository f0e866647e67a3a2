package bench

import (
	"strings"
	"testing"

	"scanhost/host/internal/judge"
)

// every kind of kernel that must not get away with it, and the verdict it must get. after counts its calls: the
// first ones are the verification and the pilot.
func TestVerdictsOnMisbehaviour(t *testing.T) {
	const late = 12
	cases := []struct {
		name   string
		change func(f *fake)
		want   judge.Verdict
		says   string
	}{
		{"honest", func(*fake) {}, judge.Pass, ""},
		{"no device events", func(f *fake) { f.events = 0 }, judge.Pass, ""},
		{"a tenth of batches twice as long", func(f *fake) { f.outliers = 0.1 }, judge.Pass, ""},
		{"events say half", func(f *fake) { f.events = 0.5 }, judge.ClockMismatch, "plugin's events"},
		{"events say 3 % less", func(f *fake) { f.events = 0.97 }, judge.ClockMismatch, "plugin's events"},
		{"5 ms of every batch hidden from the slope", func(f *fake) { f.intercept += 5e-3 }, judge.ClockMismatch, "hidden from the slope"},
		{"faster than memory", func(f *fake) { f.perLaunch = 40e-6 }, judge.ImpossibleTime, "GB/s"},
		{"skips the last launch", func(f *fake) { f.misdeed = skipLast }, judge.Unwritten, ""},
		{"skips it once", func(f *fake) { f.misdeed = after(late, skipLast) }, judge.Unwritten, "timed batch"},
		{"wrong in one launch", func(f *fake) {
			f.misdeed = after(late, func(f *fake, b batch) *trouble { f.prints[b.first%len(f.prints)] = 5; return nil })
		}, judge.Wrong, "timed batch"},
		{"other bits in one launch", func(f *fake) {
			f.misdeed = after(late, func(f *fake, b batch) *trouble { f.prints[b.first%len(f.prints)] += 1000; return nil })
		}, judge.Nondeterministic, "run_to_run"},
		{"writes beside its output", func(f *fake) {
			f.misdeed = after(late, func(f *fake, _ batch) *trouble { f.broken = "byte 400 of h was written"; return nil })
		}, judge.OutOfBounds, "byte 400"},
		{"hangs", func(f *fake) {
			f.misdeed = after(late, func(*fake, batch) *trouble {
				return &trouble{verdict: judge.Hung, detail: "no answer to launch within 10s", ended: true}
			})
		}, judge.Hung, "no answer"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newStand(600, 2)
			bad, good := honest(w, "bad"), honest(w, "good")
			c.change(bad)
			o := DefaultOptions()
			o.Lease = 0
			entrants := contest(t, w, o, good, bad)
			if got := conclusion(entrants[1]); got.Verdict != string(c.want) || !strings.Contains(got.Detail, c.says) {
				t.Errorf("verdict %s (%s), want %s with %q", got.Verdict, got.Detail, c.want, c.says)
			}
			if c.want == judge.OutOfBounds {
				return // the guards of this world are all one
			}
			if got := conclusion(entrants[0]); got.Verdict != string(judge.Pass) || len(got.Samples) < o.Samples {
				t.Errorf("the kernel beside it: %s (%s) with %d samples", got.Verdict, got.Detail, len(got.Samples))
			}
		})
	}
}

// after is a misdeed from a call on.
func after(calls int, misdeed func(*fake, batch) *trouble) func(*fake, batch) *trouble {
	return func(f *fake, b batch) *trouble {
		if f.calls < calls {
			return nil
		}
		return misdeed(f, b)
	}
}

func skipLast(f *fake, b batch) *trouble {
	f.prints[(b.first+b.launches-1)%len(f.prints)] = 0
	return nil
}

func TestBitsMayVaryWhereNothingElseIsDeclared(t *testing.T) {
	w := newStand(600, 2)
	f := honest(w, "varies")
	f.misdeed = func(f *fake, b batch) *trouble {
		if f.calls > 1 {
			f.prints[b.first%len(f.prints)] += 1000
			f.prints[(b.first+1)%len(f.prints)] += 1000
		}
		return nil
	}
	m := contestMeter(w, DefaultOptions())
	e := &entrant{racer: f, cell: &Cell{}, runToRun: false, plan: planFor(70e-6, DefaultOptions())}
	if _, err := m.verify(t.Context(), w, e); err != nil || e.out != nil {
		t.Fatal(err, e.out)
	}
	if err := m.lease(t.Context(), w, e, 0, []span{{launches: 100}}); err != nil || e.out != nil {
		t.Fatal(err, e.out)
	}
	if e.cell.Checked >= e.cell.Launches || e.cell.Checked < e.cell.Launches-4 {
		t.Errorf("%d of %d launches count as checked; outputs with other bits that were not compared do not", e.cell.Checked, e.cell.Launches)
	}
}

func TestABatchBeyondTheSlotsSaysHowManyWereChecked(t *testing.T) {
	w := newStand(40, 2)
	entrants := contest(t, w, DefaultOptions(), honest(w, "a"))
	c := conclusion(entrants[0])
	if c.Verdict != string(judge.Pass) || c.Checked != 40*len(c.Samples) || !strings.Contains(c.Detail, "launches had an output of their own") {
		t.Errorf("%s: %d of %d launches checked in %d samples: %s", c.Verdict, c.Checked, c.Launches, len(c.Samples), c.Detail)
	}
}

func TestGraphReplayIsASecondTime(t *testing.T) {
	w := newStand(600, 2)
	tiny, stubborn := honest(w, "tiny"), honest(w, "stubborn")
	tiny.perLaunch, stubborn.perLaunch = 5e-6, 5e-6
	stubborn.misdeed = func(_ *fake, b batch) *trouble {
		if b.graph {
			return &trouble{verdict: judge.DeviceError, detail: "capturing the batch as a graph: not permitted"}
		}
		return nil
	}
	entrants := contest(t, w, DefaultOptions(), tiny, stubborn)
	x := &running{sweep: &Sweep{}}
	for i, e := range entrants {
		e.cell.Samples = e.samples
		e.cell.Reference = 3e-4
		e.cell.Summarize(1)
		x.verdict(e, 0)
		if e.cell.Verdict != string(judge.Pass) || (e.cell.Graph.Seconds > 0) != (i == 0) || (e.noGraph == "") != (i == 0) {
			t.Errorf("%s: %s (%s), graph %v, %q", e.cell.Contender, e.cell.Verdict, e.cell.Detail, e.cell.Graph, e.noGraph)
		}
	}
}

func TestASlowBaselineDoesNotEatTheSweep(t *testing.T) {
	w := newStand(40, 2)
	slow := honest(w, "slow")
	slow.perLaunch = 0.4
	o := DefaultOptions()
	entrants := contest(t, w, o, slow, honest(w, "quick"))
	spent := 0.0
	for _, s := range entrants[0].samples {
		spent += s.Seconds
	}
	if len(entrants[0].samples) != leastSamples || spent > 4 {
		t.Errorf("%d samples of %g s in all; %d are the least", len(entrants[0].samples), spent, leastSamples)
	}
	rounds := map[int]bool{}
	for _, s := range entrants[0].samples {
		rounds[s.Round] = true
	}
	if len(rounds) != leastSamples {
		t.Errorf("its samples are in %d rounds", len(rounds))
	}
	if c := conclusion(entrants[0]); c.Verdict != string(judge.Pass) || c.Time.Seconds < 0.39 || c.Time.Seconds > 0.41 {
		t.Errorf("%s (%s): %g s; 0.4 is the truth", c.Verdict, c.Detail, c.Time.Seconds)
	}
}
