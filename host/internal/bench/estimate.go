package bench

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// Summarize computes from the cell's samples all that follows from them: Time, Graph, Intercept, Upper, Device
// and Discarded. A cell whose samples make no line keeps a Time of zero.
func (c *Cell) Summarize(seed uint64) {
	plain := valid(c.Samples)
	var replayed []Sample
	c.Discarded = 0
	for _, s := range c.Samples {
		switch {
		case s.Dropped != "":
			c.Discarded++
		case s.Graph:
			s.Graph = false
			replayed = append(replayed, s)
		}
	}
	var line Line
	c.Time, line = EstimateTime(plain, seed)
	c.Intercept = line.Intercept
	c.Graph, _ = EstimateTime(replayed, seed)
	var upper, device []float64
	for _, s := range plain {
		upper = append(upper, s.Seconds/float64(s.Launches))
		device = append(device, s.Device/float64(s.Launches))
	}
	c.Upper, c.Device = orZero(Median(upper)), orZero(Median(device))
}

func orZero(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}

// EstimateTime is the time of a launch by samples that count, with its quartiles and interval. It is zero
// where no two samples differ in launches.
func EstimateTime(samples []Sample, seed uint64) (Estimate, Line) {
	line, ok := TheilSen(samples)
	if !ok || line.Slope <= 0 {
		return Estimate{}, Line{}
	}
	each := make([]float64, len(samples))
	for i, s := range samples {
		each[i] = (s.Seconds - line.Intercept) / float64(s.Launches)
	}
	e := Estimate{Seconds: line.Slope, Q1: Quantile(each, 0.25), Q3: Quantile(each, 0.75)}
	half := uncertainty(samples, seed)
	e.Low, e.High = line.Slope*math.Exp(-half), line.Slope*math.Exp(half)
	return e, line
}

// uncertainty is half the interval of a logarithm of a time; what it rests on is said in stats.go. Where there
// is too little to say, it is that of a factor of two.
func uncertainty(samples []Sample, seed uint64) float64 {
	if byProcess := processSlopes(samples); len(byProcess) > 1 {
		_, variance := meanVariance(byProcess)
		return math.Sqrt(variance/float64(len(byProcess))) * quantileT(float64(len(byProcess)-1))
	}
	var rounds []int
	for _, s := range samples {
		rounds = append(rounds, s.Round)
	}
	slices.Sort(rounds)
	rounds = slices.Compact(rounds)
	all := slopes(samples)
	random := rand.New(rand.NewPCG(seed, 0))
	var again []float64
	for range resamples {
		weight := resample(random, len(rounds))
		bySample := make([]int, len(samples))
		for i, s := range samples {
			at, _ := slices.BinarySearch(rounds, s.Round)
			bySample[i] = weight[at]
		}
		if r := math.Log(weightedMedian(all, bySample)); !math.IsNaN(r) && !math.IsInf(r, 0) {
			again = append(again, r)
		}
	}
	if len(rounds) < leastRounds || len(again) < resamples/2 {
		return math.Ln2
	}
	return standardError(again, len(rounds)) * quantileT(float64(len(rounds)-1))
}

// processSlopes has the logarithm of the slope of every process that has three samples or more.
func processSlopes(samples []Sample) []float64 {
	by := map[int][]Sample{}
	for _, s := range samples {
		by[s.Process] = append(by[s.Process], s)
	}
	var logs []float64
	for _, p := range slices.Sorted(maps.Keys(by)) {
		if line, ok := TheilSen(by[p]); ok && line.Slope > 0 && len(by[p]) >= 3 {
			logs = append(logs, math.Log(line.Slope))
		}
	}
	return logs
}
