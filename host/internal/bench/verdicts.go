package bench

import (
	"maps"
	"math"
	"slices"
)

// Outcome is what a comparison comes to.
type Outcome string

const (
	Better       Outcome = "better"
	Worse        Outcome = "worse"
	NoDifference Outcome = "no difference"
)

// decide says what a difference comes to, given its probability after correction for the comparisons beside
// it, and the A/A noise of the run, as the logarithm of a ratio.
func (d Difference) decide(adjusted, floor float64) Outcome {
	switch logRatio := math.Log(d.Ratio); {
	case adjusted > 1-Confidence || math.Abs(logRatio) <= floor:
		return NoDifference
	case logRatio > 0:
		return Worse
	}
	return Better
}

// Outcome of a comparison that stands alone.
func (d Difference) Outcome(floor float64) Outcome { return d.decide(d.P, floor) }

// adjust corrects probabilities for their number, by Benjamini and Hochberg: of all rows that a sweep calls
// better or worse, at most 5 % are expected to be neither; where no row differs, the chance of any false one is
// 5 %. Holm's stricter promise, no false row at all in 95 % of sweeps, would need every row to be judged at 5 %
// divided by hundreds of rows. With three processes a side that is 20 standard errors, so that true
// differences of 5 % would go unseen, and nobody reads a sweep for a single row. Rows that share a baseline
// depend on each other positively, under which the procedure holds.
func adjust(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case p[i] < p[j]:
			return -1
		case p[i] > p[j]:
			return 1
		}
		return i - j
	})
	adjusted := make([]float64, len(p))
	least := 1.0
	for rank := len(p); rank > 0; rank-- {
		i := order[rank-1]
		least = min(least, p[i]*float64(len(p))/float64(rank))
		adjusted[i] = least
	}
	return adjusted
}

// Twins pairs the contenders of a sweep that are the same kernel in two processes.
func (s Sweep) Twins() [][2]string {
	var twins [][2]string
	for i, a := range s.Contenders {
		for _, b := range s.Contenders[i+1:] {
			if a.Plugin == b.Plugin && a.Hash == b.Hash && a.Backend == b.Backend && maps.Equal(a.Tuning, b.Tuning) {
				twins = append(twins, [2]string{a.Name, b.Name})
			}
		}
	}
	return twins
}

// SecondTwin says whether a contender is there only to measure the noise: its twin stands for the kernel.
func (s Sweep) SecondTwin(contender string) bool {
	return slices.ContainsFunc(s.Twins(), func(twins [2]string) bool { return contender == twins[1] })
}

// Floor is the A/A noise of one array size: what a kernel differs from itself in another process of the same
// run. A difference inside it is none.
type Floor struct {
	ArrayBytes  int64   `json:"array_bytes"`
	Log         float64 `json:"log_ratio"`   // differences up to this are noise, at 95 %
	Comparisons int     `json:"comparisons"` // that it was made of
}

// Percent is the floor as a part of the time.
func (f Floor) Percent() float64 { return 100 * math.Expm1(f.Log) }

// Floors measures the A/A noise of each array size from the sweep's twins; sizes without twins have none.
//
// The twins' log ratios are taken for normal around zero; the floor is Student's bound on one more such ratio,
// so that a single pair of twins, which may agree by luck, gives a wide one.
func (s Sweep) Floors() []Floor {
	squares := map[int64][]float64{}
	for _, twins := range s.Twins() {
		for _, c := range s.Cells {
			other, found := s.Find(twins[1], c)
			if c.Contender != twins[0] || !found || !c.Timed() || !other.Timed() {
				continue
			}
			logRatio := math.Log(other.Time.Seconds / c.Time.Seconds)
			squares[c.ArrayBytes] = append(squares[c.ArrayBytes], logRatio*logRatio)
		}
	}
	var floors []Floor
	for _, size := range slices.Sorted(maps.Keys(squares)) {
		n := len(squares[size])
		mean := 0.0
		for _, x := range squares[size] {
			mean += x / float64(n)
		}
		floors = append(floors, Floor{size, math.Sqrt(mean) * quantileT(float64(n)), n})
	}
	return floors
}

// floor of an array size, and whether there is one.
func floorOf(floors []Floor, size int64) (Floor, bool) {
	i := slices.IndexFunc(floors, func(f Floor) bool { return f.ArrayBytes == size })
	if i < 0 {
		return Floor{}, false
	}
	return floors[i], true
}

// Timed says whether the cell has a time that counts.
func (c Cell) Timed() bool { return c.Verdict == "pass" && c.Time.Seconds > 0 }

// Find finds a contender's cell of the same problem and array size.
func (s Sweep) Find(contender string, like Cell) (Cell, bool) {
	i := slices.IndexFunc(s.Cells, func(c Cell) bool { return c.Contender == contender && c.sameWork(like) })
	if i < 0 {
		return Cell{}, false
	}
	return s.Cells[i], true
}

func (c Cell) sameWork(d Cell) bool {
	return c.ArrayBytes == d.ArrayBytes && c.Problem.Op == d.Problem.Op && c.Problem.DType == d.Problem.DType &&
		maps.Equal(c.Problem.Dims, d.Problem.Dims) && slices.Equal(c.Problem.Options, d.Problem.Options)
}
