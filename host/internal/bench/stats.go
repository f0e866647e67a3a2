package bench

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Statistics of interleaved batches. All are deterministic for equal samples and seed.
//
// A time is the slope of a Theil-Sen line (line.go). A ratio of two contenders is made of single samples,
// each less the intercept that the contenders of a run have in common (the price of the switch between
// processes), over its launches: slopes would bring in the error of two intercepts, and batches of one round
// differ in size, so that slopes would not cancel what a round has in common. That intercepts differ by up to
// switchSpread is allowed for in the interval. What is uncertain besides depends on what was repeated:
//
//   - Where both contenders ran in several processes, the process is the unit. Where its memory and code came
//     to lie biases all samples of a process alike, so fifteen samples of one process are not fifteen
//     observations of the kernel. The interval is Student's, over the processes' centers, with Welch's
//     degrees of freedom; a bootstrap over three processes knows ten distinct resamples and is far too narrow.
//   - Where one ran in a single process, rounds are the unit: whole rounds are drawn again with
//     replacement, the same ones for both contenders, since interleaving makes them share a round's
//     weather. The bootstrap's standard error is widened to Student's for so few rounds. Such an interval
//     knows nothing of placement: Floor does, which is measured between two processes of one plugin.
//
// golang.org/x/perf/benchmath has the Mann-Whitney test, which takes samples for independent: the test
// TestPlainRankTestIsFooledByPlacement shows what becomes of that here.

// Confidence of every interval, and one minus the rate of false verdicts that is accepted.
const Confidence = 0.95

const (
	resamples    = 1000
	leastRounds  = 5     // that a verdict may rest on
	switchSpread = 30e-6 // seconds; seven processes on an H200 had intercepts of 0.28 to 0.31 ms
)

// Difference compares the times of two contenders: Ratio is the second's to the first's, over 1 where the
// second is slower.
type Difference struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"` // interval of Ratio
	High  float64 `json:"high"`
	P     float64 `json:"p"`    // of a difference as large, if there were none; for this comparison alone
	Unit  string  `json:"unit"` // what was taken for independent: processes or rounds
}

// Compare compares samples of one interleaved run. It fails where a side has no line, or a single process with
// less than five rounds.
func Compare(base, other []Sample, seed uint64) (Difference, bool) {
	base, other = valid(base), valid(other)
	a, okA := TheilSen(base)
	b, okB := TheilSen(other)
	if !okA || !okB {
		return Difference{}, false
	}
	common := (a.Intercept + b.Intercept) / 2
	return compare(newSide(base, common), newSide(other, common), seed, sameRun)
}

// valid are the samples that count, timed by launching one by one.
func valid(samples []Sample) []Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool { return s.Dropped != "" || s.Graph })
}

// side is one of two contenders: the logarithm of the time of a launch by every sample.
type side struct {
	samples []Sample
	logs    []float64
	bias    float64 // of a logarithm, by an intercept that is wrong by switchSpread
}

func newSide(samples []Sample, intercept float64) side {
	s := side{samples: samples, logs: make([]float64, len(samples))}
	for i, x := range samples {
		own := min(max(intercept, 0), x.Seconds/2)
		s.logs[i] = math.Log((x.Seconds - own) / float64(x.Launches))
		s.bias += switchSpread / x.Seconds / float64(len(samples))
	}
	return s
}

// scale measures the side's times in units of so many seconds.
func (s side) scale(seconds float64) {
	for i := range s.logs {
		s.logs[i] -= math.Log(seconds)
	}
}

// grouped has the center of each group of samples that has at least so many, in order of the groups' keys.
func (s side) grouped(key func(Sample) int, least int) (keys []int, centers []float64) {
	by := map[int][]float64{}
	for i, x := range s.samples {
		by[key(x)] = append(by[key(x)], s.logs[i])
	}
	for k, values := range by {
		if len(values) >= least {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		centers = append(centers, center(by[k]))
	}
	return keys, centers
}

func (s side) processes() []float64 {
	_, centers := s.grouped(func(x Sample) int { return x.Process }, 3)
	return centers
}

func (s side) rounds() ([]int, []float64) { return s.grouped(func(x Sample) int { return x.Round }, 1) }

type pairing int

const (
	sameRun pairing = iota // rounds are common to both sides
	twoRuns                // rounds of the sides have nothing to do with each other
)

func compare(a, b side, seed uint64, p pairing) (Difference, bool) {
	bias := (a.bias + b.bias) / 2
	if byA, byB := a.processes(), b.processes(); len(byA) > 1 && len(byB) > 1 {
		return welch(byA, byB, bias), true
	}
	roundsA, logsA := a.rounds()
	roundsB, logsB := b.rounds()
	random := rand.New(rand.NewPCG(seed, 0))
	if p == sameRun {
		var paired []float64
		for i, r := range roundsA {
			if j, found := slices.BinarySearch(roundsB, r); found {
				paired = append(paired, logsB[j]-logsA[i])
			}
		}
		n := len(paired)
		if n < leastRounds {
			return Difference{}, false
		}
		return student(center(paired), spread(paired, random), float64(n-1), bias, "rounds"), true
	}
	n := min(len(logsA), len(logsB))
	if n < leastRounds {
		return Difference{}, false
	}
	se := math.Hypot(spread(logsA, random), spread(logsB, random))
	return student(center(logsB)-center(logsA), se, float64(n-1), bias, "rounds"), true
}

// welch is Student's interval for two groups whose spreads may differ.
func welch(a, b []float64, bias float64) Difference {
	meanA, varA := meanVariance(a)
	meanB, varB := meanVariance(b)
	partA, partB := varA/float64(len(a)), varB/float64(len(b))
	free := (partA + partB) * (partA + partB) / (partA*partA/float64(len(a)-1) + partB*partB/float64(len(b)-1))
	if math.IsNaN(free) { // no spread at all
		free = float64(len(a) + len(b) - 2)
	}
	return student(meanB-meanA, math.Sqrt(partA+partB), free, bias, "processes")
}

// student makes an interval of a log ratio, its standard error, the degrees of freedom of that error, and a
// bias of either sign.
func student(logRatio, se, free, bias float64, unit string) Difference {
	half := se*quantileT(free) + bias
	d := Difference{Ratio: math.Exp(logRatio), Low: math.Exp(logRatio - half), High: math.Exp(logRatio + half), Unit: unit}
	beyond := max(math.Abs(logRatio)-bias, 0)
	switch {
	case beyond == 0:
		d.P = 1
	case se > 0:
		d.P = 2 * distuv.StudentsT{Sigma: 1, Nu: free}.Survival(beyond/se)
	}
	return d
}

// quantileT is how many standard errors an interval reaches to each side.
func quantileT(free float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: free}.Quantile((1 + Confidence) / 2)
}

func meanVariance(x []float64) (mean, variance float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, variance
}

// spread is the standard error of the center of values, by bootstrap.
func spread(values []float64, random *rand.Rand) float64 {
	all := means(values)
	again := make([]float64, resamples)
	for i := range again {
		again[i] = weightedMedian(all, resample(random, len(values)))
	}
	return standardError(again, len(values))
}

// resample counts how often each of n blocks is drawn in n draws with replacement.
func resample(random *rand.Rand, n int) []int {
	weight := make([]int, n)
	for range n {
		weight[random.IntN(n)]++
	}
	return weight
}

// standardError of what was estimated again and again from n blocks drawn with replacement: half the width of
// the middle 68 %, since the few draws full of outliers would rule a standard deviation. The blocks spread
// around their own center, which makes it too small by sqrt((n-1)/n).
func standardError(again []float64, n int) float64 {
	const sigma = 0.1587 // part of a normal distribution below minus one
	half := (Quantile(again, 1-sigma) - Quantile(again, sigma)) / 2
	return half * math.Sqrt(float64(n)/float64(n-1))
}
