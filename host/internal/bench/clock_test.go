package bench

import (
	"math/rand/v2"
	"testing"

	"scanhost/host/internal/judge"
)

// scattered are 15 batches of 4 us launches that take up to a fifth more or less, batch by batch, as where
// launching is all that is timed, and fixed seconds beside.
func scattered(random *rand.Rand, scatter, fixed float64) []Sample {
	var samples []Sample
	for i := range 15 {
		n := 1000 + random.IntN(6500)
		seconds := float64(n)*4e-6*(1+scatter*(2*random.Float64()-1)) + fixed
		samples = append(samples, Sample{Round: i / 2, Launches: n, Seconds: seconds, Device: seconds - fixed})
	}
	return samples
}

func mismatches(scatter, fixed float64) int {
	found := 0
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 9))
		keeper := newReference(scattered(random, scatter, 3e-4), 1)
		if v, _ := clockVerdict(scattered(random, scatter, fixed), keeper, 1); v == judge.ClockMismatch {
			found++
		}
	}
	return found
}

// A scatter of 20 % makes an intercept of some milliseconds of nothing. That is no work hidden from the slope; a whole
// batch's time beside the slope is, and where nothing scatters so is 1.5 ms.
func TestScatterIsNoClockMismatch(t *testing.T) {
	for _, c := range []struct {
		name           string
		scatter, fixed float64
		least, most    int
	}{
		{"scatter", 0.2, 3e-4, 0, 6},
		{"scatter and 20 ms hidden", 0.2, 20e-3, 190, 200},
		{"quiet", 0.003, 3e-4, 0, 0},
		{"quiet and 1.5 ms hidden", 0.003, 1.8e-3, 200, 200},
	} {
		if n := mismatches(c.scatter, c.fixed); n < c.least || n > c.most {
			t.Errorf("%s: %d of 200 are clock-mismatch; %d to %d are right", c.name, n, c.least, c.most)
		}
	}
}
