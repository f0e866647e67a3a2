package bench

import (
	"math"
	"math/rand/v2"
	"time"
)

// Spans of timed batches. The longest is spread more than 20 ms over the shortest, which is what makes a slope of
// the host's clock good to a few parts in a thousand whatever the intercept does.
const (
	shortestSpan = 4e-3  // seconds
	spanSpread   = 26e-3 // from the shortest to the longest
	warmSpan     = 2e-3  // of the untimed batch
	cellSpans    = 4.0   // seconds of timed batches in one cell; a slow baseline gets fewer samples
	leastSamples = 5
	largestBatch = 1 << 16 // launches; what an empty kernel makes of 200 ms
)

// plan is how an entrant is timed: by the time of its launches, not by their number.
type plan struct {
	perLaunch float64 // seconds, roughly
	low, high int     // launches of a timed batch
	warm      int     // launches of the untimed batch
	samples   int
}

// planFor turns a rough time of a launch into batch sizes, and says how many samples the cell can afford.
func planFor(perLaunch float64, o Options) plan {
	perLaunch = max(perLaunch, 1e-7)
	in := func(seconds float64) int {
		return int(min(max(1, math.Ceil(seconds/perLaunch)), largestBatch/2))
	}
	p := plan{perLaunch: perLaunch, low: in(shortestSpan), warm: in(warmSpan)}
	p.high = p.low + in(o.Spread)
	mean := perLaunch * (float64(p.low+p.high)/2 + float64(p.warm))
	p.samples = min(o.Samples, max(leastSamples, int(cellSpans/mean)))
	return p
}

// graph is the plan of replays, whose launches take less: the same batches, as far as a graph may be large.
func (p plan) graph() plan {
	p.low, p.high = min(p.low, mostReplayed/4), min(p.high, mostReplayed)
	return p
}

// mostReplayed is how many launches one graph may hold: capturing takes some microseconds for each.
const mostReplayed = 4096

// limit is when a batch is taken for hung: far beyond what it should take.
func (p plan) limit(launches int) time.Duration {
	return 10*time.Second + time.Duration(20*p.perLaunch*float64(launches)*float64(time.Second))
}

// draw gives the sizes of all batches: random, one from each of as many equal parts of the range as there are
// samples, in random order. So every fit has short and long batches, and no size comes at a time a kernel could
// foresee.
func (p plan) draw(random *rand.Rand) []int {
	sizes := make([]int, p.samples)
	for i, part := range random.Perm(p.samples) {
		at := (float64(part) + random.Float64()) / float64(p.samples)
		sizes[i] = p.low + int(math.Round(at*float64(p.high-p.low)))
	}
	return sizes
}

// schedule deals an entrant's batches over the rounds, as evenly as they go. A slow one's few are spread as well.
func schedule(sizes []int, rounds int, graph bool) [][]span {
	out := make([][]span, rounds)
	for i, n := range sizes {
		at := i * rounds / len(sizes)
		out[at] = append(out[at], span{n, graph})
	}
	return out
}
