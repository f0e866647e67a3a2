package bench

import (
	"math/rand/v2"
	"testing"
)

func TestBatchesGoByTimeNotByNumber(t *testing.T) {
	o := DefaultOptions()
	random := rand.New(rand.NewPCG(3, 0))
	for _, perLaunch := range []float64{1e-6, 5e-6, 72e-6, 484e-6, 5e-3, 33e-3, 0.2} {
		p := planFor(perLaunch, o)
		sizes := p.draw(random)
		low, high, total := sizes[0], sizes[0], 0
		for _, n := range sizes {
			low, high, total = min(low, n), max(high, n), total+n
		}
		if spread := float64(high-low) * perLaunch; spread < 20e-3 && high < largestBatch/4 {
			t.Errorf("%g s a launch: batches of %d to %d launches are %g s apart; 20 ms is the least", perLaunch, low, high, spread)
		}
		if seconds := float64(total) * perLaunch; seconds > cellSpans+leastSamples*2*perLaunch {
			t.Errorf("%g s a launch: %d batches take %g s", perLaunch, len(sizes), seconds)
		}
		if p.low < 1 || p.high <= p.low || p.warm < 1 || len(sizes) < leastSamples || len(sizes) > o.Samples {
			t.Errorf("%g s a launch: plan is %+v with %d samples", perLaunch, p, len(sizes))
		}
	}
}

func TestFewSamplesAreStillFew(t *testing.T) {
	o := DefaultOptions()
	o.Samples = 3
	if p := planFor(1e-4, o); p.samples != 3 {
		t.Errorf("%d samples planned where 3 were asked for", p.samples)
	}
}

func TestScheduleSpreadsBatches(t *testing.T) {
	for _, c := range []struct{ batches, rounds int }{{15, 8}, {5, 8}, {16, 8}, {1, 8}, {4, 4}} {
		most, all := 0, 0
		for _, spans := range schedule(make([]int, c.batches), c.rounds, false) {
			most, all = max(most, len(spans)), all+len(spans)
		}
		if all != c.batches || most > (c.batches+c.rounds-1)/c.rounds {
			t.Errorf("%d batches in %d rounds: %d are dealt, up to %d in one", c.batches, c.rounds, all, most)
		}
	}
}
