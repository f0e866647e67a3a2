package bench

import (
	"cmp"
	"math"
	"slices"
)

// Line is total time against launches: Slope seconds a launch, Intercept seconds a batch whatever its size.
type Line struct {
	Slope, Intercept float64
}

// pair is what two samples, by their positions, say about the quantity: a slope, or a mean.
type pair struct {
	value float64
	i, j  int
}

// slopes are those between all samples of different size.
func slopes(samples []Sample) []pair {
	var all []pair
	for i := range samples {
		for j := i + 1; j < len(samples); j++ {
			if n := samples[j].Launches - samples[i].Launches; n != 0 {
				all = append(all, pair{(samples[j].Seconds - samples[i].Seconds) / float64(n), i, j})
			}
		}
	}
	return ascending(all)
}

// means are those of all pairs of values, and the values themselves; their median is the estimator of Hodges
// and Lehmann, nearly as precise as the mean, and unmoved by up to 29 % of wrong values.
func means(values []float64) []pair {
	var all []pair
	for i, x := range values {
		for j, y := range values[i:] {
			all = append(all, pair{(x + y) / 2, i, i + j})
		}
	}
	return ascending(all)
}

func ascending(all []pair) []pair {
	slices.SortFunc(all, func(a, b pair) int { return cmp.Compare(a.value, b.value) })
	return all
}

// weightedMedian is the median of pairs when sample i counts weight[i] times, or NaN where none counts. A
// resample differs from the sample only in weights, so pairs are sorted once. Of a value that is drawn twice
// the pair with itself counts as often as it would in a list of both.
func weightedMedian(all []pair, weight []int) float64 {
	total := 0
	for _, p := range all {
		total += p.times(weight)
	}
	seen := 0
	for k, p := range all {
		seen += p.times(weight)
		switch {
		case 2*seen == total && total > 0:
			next := k + 1
			for all[next].times(weight) == 0 {
				next++
			}
			return (p.value + all[next].value) / 2
		case 2*seen > total:
			return p.value
		}
	}
	return math.NaN()
}

func (p pair) times(weight []int) int {
	if p.i == p.j {
		return weight[p.i] * (weight[p.i] + 1) / 2
	}
	return weight[p.i] * weight[p.j]
}

// center is the Hodges-Lehmann estimate; of nothing it is NaN.
func center(values []float64) float64 { return weightedMedian(means(values), ones(len(values))) }

// TheilSen fits a line through batches of different size: the median of the slopes of all pairs, then the
// median of what is left. Up to 29 % of the samples may be arbitrarily wrong. It fails where no two samples
// differ in launches.
func TheilSen(samples []Sample) (Line, bool) {
	slope := weightedMedian(slopes(samples), ones(len(samples)))
	if math.IsNaN(slope) {
		return Line{}, false
	}
	rest := make([]float64, len(samples))
	for i, s := range samples {
		rest[i] = s.Seconds - slope*float64(s.Launches)
	}
	return Line{slope, Median(rest)}, true
}

func ones(n int) []int {
	w := make([]int, n)
	for i := range w {
		w[i] = 1
	}
	return w
}

// Quantile interpolates between the order statistics; q is from 0 to 1. Of nothing it is NaN.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

// Median of nothing is NaN.
func Median(values []float64) float64 { return Quantile(values, 0.5) }
