package bench

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Rules of the self-test: what it must consist of, and what it may find.
const (
	SelfTestComparisons = 400
	SelfTestProcesses   = 3
	SelfTestRate        = 1 - Confidence
)

// AA is one comparison of a plugin with itself.
type AA struct {
	Contender  string     `json:"contender"`
	Cell       string     `json:"cell"`      // shape, for people
	Processes  [2]int     `json:"processes"` // that each side ran in
	Difference Difference `json:"difference"`
	Outcome    Outcome    `json:"outcome"`
}

// SelfTest is the rate of false verdicts among comparisons of plugins with themselves.
type SelfTest struct {
	Comparisons []AA    `json:"comparisons"`
	False       int     `json:"false_verdicts"`
	Unusable    int     `json:"unusable"` // comparisons without a verdict, since a side had no valid line
	Rate        float64 `json:"rate"`
	Low         float64 `json:"low"`  // exact interval of the rate, 95 %
	High        float64 `json:"high"` // by Clopper and Pearson
	Largest     float64 `json:"largest_percent"`
	Pass        bool    `json:"pass"`
	Detail      string  `json:"detail,omitempty"` // why not
}

// Add judges one A/A comparison: base and other are samples of the same plugin in different processes. No
// A/A floor is applied, nor a correction for the number of comparisons: both would only make verdicts rarer.
func (t *SelfTest) Add(contender, cell string, base, other []Sample, seed uint64) {
	d, ok := Compare(base, other, seed)
	if !ok {
		t.Unusable++
		return
	}
	a := AA{contender, cell, [2]int{processes(base), processes(other)}, d, d.Outcome(0)}
	t.Comparisons = append(t.Comparisons, a)
}

func processes(samples []Sample) int {
	seen := map[int]bool{}
	for _, s := range valid(samples) {
		seen[s.Process] = true
	}
	return len(seen)
}

// Finish computes the rate. It passes if the rate that was found is within what is accepted and the test was
// what it has to be.
func (t *SelfTest) Finish() {
	t.False, t.Largest = 0, 0
	restarted := true
	for _, a := range t.Comparisons {
		if a.Outcome != NoDifference {
			t.False++
		}
		t.Largest = max(t.Largest, 100*math.Abs(math.Log(a.Difference.Ratio)))
		restarted = restarted && min(a.Processes[0], a.Processes[1]) >= SelfTestProcesses
	}
	n := len(t.Comparisons)
	t.Rate, t.Low, t.High = 0, 0, 1
	if n > 0 {
		t.Rate = float64(t.False) / float64(n)
		t.Low, t.High = ClopperPearson(t.False, n)
	}
	switch {
	case n < SelfTestComparisons:
		t.Detail = fmt.Sprintf("%d comparisons, and %d are needed", n, SelfTestComparisons)
	case !restarted:
		t.Detail = fmt.Sprintf("a side ran in fewer than %d processes", SelfTestProcesses)
	case t.Rate > SelfTestRate:
		t.Detail = fmt.Sprintf("more than %.0f %% of verdicts are false", 100*SelfTestRate)
	default:
		t.Detail = ""
	}
	t.Pass = t.Detail == ""
}

// ClopperPearson is the exact 95 % interval of a rate when k of n were seen.
func ClopperPearson(k, n int) (low, high float64) {
	const tail = (1 - Confidence) / 2
	high = 1
	if k > 0 {
		low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
	}
	if k < n {
		high = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - tail)
	}
	return low, high
}
