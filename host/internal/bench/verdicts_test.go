package bench

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Benjamini and Hochberg's own worked example: of these 15 the first four are found at 5 %.
func TestAdjustFindsWhatThePaperFinds(t *testing.T) {
	p := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0}
	found := 0
	for _, q := range adjust(p) {
		if q <= 0.05 {
			found++
		}
	}
	if found != 4 {
		t.Errorf("%d found, want 4: %v", found, adjust(p))
	}
}

func TestAdjustKeepsTheOrderAndNeverLowers(t *testing.T) {
	random := rand.New(rand.NewPCG(seed, 3))
	for range 200 {
		p := make([]float64, random.IntN(30))
		for i := range p {
			p[i] = random.Float64()
		}
		q := adjust(p)
		for i := range p {
			if q[i] < p[i]-1e-12 || q[i] > 1 {
				t.Fatalf("p %v became %v", p, q)
			}
			for j := range p {
				if p[i] < p[j] && q[i] > q[j] {
					t.Fatalf("order of %v changed in %v", p, q)
				}
			}
		}
	}
}

func TestADifferenceInsideTheNoiseIsNone(t *testing.T) {
	d := Difference{Ratio: 1.01, Low: 1.009, High: 1.011, P: 1e-9}
	if got := d.Outcome(0.02); got != NoDifference {
		t.Errorf("1 %% inside a noise of 2 %%: %s", got)
	}
	if got := d.Outcome(0.005); got != Worse {
		t.Errorf("1 %% outside a noise of 0.5 %%: %s", got)
	}
	if got := (Difference{Ratio: 0.9, P: 0.2}).Outcome(0); got != NoDifference {
		t.Errorf("p = 0.2: %s", got)
	}
}

func TestUnequalNoiseMakesNoFalseVerdicts(t *testing.T) {
	const times = 1000
	quiet, loud := newWorld(0.001, 0.002, 0, 0), newWorld(0.02, 0.02, 0.05, 0)
	found := 0
	for i := range times {
		weather := slices.Repeat([]float64{1}, 30)
		d, ok := Compare(quiet.run(70e-6, 6, 5, weather), loud.run(70e-6, 3, 5, weather), uint64(i))
		if !ok {
			t.Fatal("no line")
		}
		if d.Outcome(0) != NoDifference {
			found++
		}
	}
	if rate := float64(found) / times; rate > tolerated(times) {
		t.Errorf("%.1f %% false verdicts, seed %d", 100*rate, seed)
	}
}

func TestSelfTestCounts(t *testing.T) {
	w := newWorld(0.005, 0.003, 0.02, 0.002)
	var test SelfTest
	for i := range SelfTestComparisons {
		weather := w.weather(15)
		test.Add("lookback", "L=2048", w.run(70e-6, 3, 5, weather), w.run(70e-6, 3, 5, weather), uint64(i))
	}
	test.Finish()
	t.Logf("%d of %d false, %.1f to %.1f %%", test.False, len(test.Comparisons), 100*test.Low, 100*test.High)
	if !test.Pass || test.Rate > test.High || test.Rate < test.Low {
		t.Errorf("%.2f %% false (%.2f to %.2f), %s", 100*test.Rate, 100*test.Low, 100*test.High, test.Detail)
	}
	for range 60 { // and some that do differ
		weather := w.weather(15)
		test.Add("lookback", "L=2048", w.run(70e-6, 3, 5, weather), w.run(80e-6, 3, 5, weather), 1)
	}
	if test.Finish(); test.Pass || test.False < 60 {
		t.Errorf("60 false verdicts pass: %+v", test.False)
	}
}

func TestSelfTestRefusesTooLittle(t *testing.T) {
	w := newWorld(0, 0.003, 0, 0)
	var few, once SelfTest
	for range SelfTestComparisons {
		weather := w.weather(15)
		if len(few.Comparisons) < 3 {
			few.Add("x", "", w.run(70e-6, 3, 5, weather), w.run(70e-6, 3, 5, weather), 1)
		}
		once.Add("x", "", w.run(70e-6, 1, 5, weather), w.run(70e-6, 1, 5, weather), 1)
	}
	few.Finish()
	once.Finish()
	few.Add("x", "", nil, nil, 1)
	if few.Pass || once.Pass || few.Unusable != 1 {
		t.Errorf("few: %v %q, once: %v %q", few.Pass, few.Detail, once.Pass, once.Detail)
	}
}

// Values of the interval as printed in tables.
func TestClopperPearson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{0, 10, 0, 0.3085}, {5, 10, 0.1871, 0.8129}, {10, 10, 0.6915, 1}, {20, 400, 0.0308, 0.0762}} {
		low, high := ClopperPearson(c.k, c.n)
		if math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.k, c.n, low, high, c.low, c.high)
		}
	}
}
