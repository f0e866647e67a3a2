package bench

import (
	"fmt"
	"math"
)

// Standing is what a bar comes to on one cell.
type Standing string

const (
	Holds       Standing = "pass"
	Fails       Standing = "fail"
	Undecided   Standing = "undecided"
	NotMeasured Standing = "not measured" // a failure: a bar that covers nothing promises nothing
)

// Judgement is one bar on one cell.
type Judgement struct {
	Bar       string   `json:"bar"`
	Contender string   `json:"contender"`
	Shape     string   `json:"shape,omitempty"`
	Length    int64    `json:"length,omitempty"`
	Array     int64    `json:"array_bytes,omitempty"`
	Demand    string   `json:"demand"`
	Value     float64  `json:"value"` // % of the ceiling, or a ratio of times
	Low       float64  `json:"low"`   // its interval, widened to the run's A/A noise
	High      float64  `json:"high"`
	Standing  Standing `json:"standing"`
	Detail    string   `json:"detail,omitempty"`
}

// Broken says whether a judgement must make a command fail.
func (j Judgement) Broken() bool { return j.Standing == Fails || j.Standing == NotMeasured }

// Judge holds a sweep to the bars: one judgement for each bar and cell that it covers, in the spec's order.
//
// Every judgement is made at 95 % for itself. They are not corrected for their number: a bar is a promise about
// each cell, and correction would only turn fail into undecided.
func (s Spec) Judge(sweep Sweep) []Judgement {
	var all []Judgement
	for _, b := range s.Bars {
		found := false
		for _, c := range sweep.Cells {
			if b.covers(c) {
				found = true
				all = append(all, b.judge(sweep, c))
			}
		}
		if !found {
			all = append(all, Judgement{Bar: b.Name, Contender: b.Plugin, Demand: b.demand(), Standing: NotMeasured,
				Detail: "the sweep has no cell that this bar covers"})
		}
	}
	return all
}

func (b Bar) judge(s Sweep, c Cell) Judgement {
	j := Judgement{Bar: b.Name, Contender: c.Contender, Shape: c.Shape(), Length: c.Length(), Array: c.ArrayBytes,
		Demand: b.demand(), Standing: NotMeasured}
	switch {
	case s.Predicted:
		j.Detail = "the sweep holds a model's times, not measured ones"
		return j
	case !c.Timed():
		j.Detail = fmt.Sprintf("%s: %s", c.Contender, c.Verdict)
		return j
	}
	var problem string
	if b.Ceiling != nil {
		problem = b.ofCeiling(s, c, &j)
	} else {
		problem = b.ratio(s, c, &j)
	}
	if j.Detail = problem; problem == "" {
		j.Standing = b.standing(j)
	}
	return j
}

func (b Bar) ofCeiling(s Sweep, c Cell, j *Judgement) string {
	part := s.OfCeiling(c)
	if part == 0 {
		return "no ceiling was measured for this array size"
	}
	floor, _ := floorOf(s.Floors(), c.ArrayBytes)
	j.Value = 100 * part
	j.Low = j.Value * min(c.Time.Seconds/c.Time.High, math.Exp(-floor.Log))
	j.High = j.Value * max(c.Time.Seconds/c.Time.Low, math.Exp(floor.Log))
	return ""
}

func (b Bar) ratio(s Sweep, c Cell, j *Judgement) string {
	base, found := s.Find(b.Against, c)
	if !found || !base.Timed() {
		return fmt.Sprintf("%s has no time for this shape", b.Against)
	}
	common := s.intercept()
	d, ok := compare(newSide(valid(base.Samples), common), newSide(valid(c.Samples), common), s.Seed, sameRun)
	if !ok {
		return "too few samples to compare"
	}
	floor, _ := floorOf(s.Floors(), c.ArrayBytes)
	j.Value = d.Ratio
	j.Low, j.High = min(d.Low, d.Ratio*math.Exp(-floor.Log)), max(d.High, d.Ratio*math.Exp(floor.Log))
	return ""
}

// standing weighs the interval against the limits.
func (b Bar) standing(j Judgement) Standing {
	least, most := math.Inf(-1), math.Inf(1)
	for _, limit := range []*float64{b.Ceiling, b.AtLeast} {
		if limit != nil {
			least = *limit
		}
	}
	if b.AtMost != nil {
		most = *b.AtMost
	}
	switch {
	case j.Low >= least && j.High <= most:
		return Holds
	case j.High < least || j.Low > most:
		return Fails
	}
	return Undecided
}
