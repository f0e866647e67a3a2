package bench

import (
	"fmt"
	"math"
)

// Measure is what two runs are compared by.
type Measure string

const (
	ByTime    Measure = "time"         // runs on GPUs of one kind
	ByCeiling Measure = "% of ceiling" // runs on different GPUs, whose times say nothing about kernels
)

// Comparison is one sweep against an older one.
type Comparison struct {
	Schema  int          `json:"schema"` // 1
	Old     string       `json:"old"`    // file
	New     string       `json:"new"`
	OldGPU  string       `json:"old_gpu"`
	NewGPU  string       `json:"new_gpu"`
	By      Measure      `json:"by"`
	Rows    []CompareRow `json:"rows"`
	OnlyOld []string     `json:"only_old,omitempty"` // rows of one file alone, by name
	OnlyNew []string     `json:"only_new,omitempty"`
	Notes   []string     `json:"notes,omitempty"`
}

// CompareRow is one contender on one shape in both sweeps.
type CompareRow struct {
	Contender  string     `json:"contender"`
	Op         string     `json:"op"`
	Shape      string     `json:"shape"`
	Length     int64      `json:"length"`
	ArrayBytes int64      `json:"array_bytes"`
	Old        float64    `json:"old"`                  // seconds, or part of the ceiling
	New        float64    `json:"new"`                  // likewise
	Difference Difference `json:"difference"`           // of times, or of times in units of the ceiling's; over 1: slower
	Adjusted   float64    `json:"adjusted_p,omitempty"` // corrected for the number of rows
	Outcome    Outcome    `json:"outcome"`
	Detail     string     `json:"detail,omitempty"` // why, where it is not the difference
}

// Regressed says whether any row got worse.
func (c Comparison) Regressed() bool {
	for _, r := range c.Rows {
		if r.Outcome == Worse {
			return true
		}
	}
	return false
}

// CompareSweeps compares a newer sweep with an older one, row by row. It fails where nothing can be compared.
//
// Rounds of two runs have nothing in common, so nothing of the weather cancels; the larger A/A noise of the
// two runs is the floor. Where kernels ran in one process per run, run it is, not kernel, that may differ:
// only a floor speaks about that, and a note says where there is none.
func CompareSweeps(older, newer Sweep) (Comparison, error) {
	c := Comparison{Schema: 1, OldGPU: older.GPU.Name, NewGPU: newer.GPU.Name, By: ByTime}
	if older.Predicted || newer.Predicted {
		return c, fmt.Errorf("times of a model are not compared: one of the two was made without a GPU")
	}
	if older.GPU.Name != newer.GPU.Name {
		c.By = ByCeiling
		c.Notes = append(c.Notes, fmt.Sprintf("different GPUs (%s, %s): compared by %% of each one's own ceiling, not by time", older.GPU.Name, newer.GPU.Name))
	} else if older.GPU.UUID != newer.GPU.UUID {
		c.Notes = append(c.Notes, "two cards of one kind: a difference may be the card's")
	}
	for _, now := range newer.Cells {
		if before, found := older.Find(now.Contender, now); found {
			c.Rows = append(c.Rows, c.row(older, newer, before, now))
		} else {
			c.OnlyNew = append(c.OnlyNew, now.Name())
		}
	}
	for _, before := range older.Cells {
		if _, found := newer.Find(before.Contender, before); !found {
			c.OnlyOld = append(c.OnlyOld, before.Name())
		}
	}
	if len(c.Rows) == 0 {
		return c, fmt.Errorf("the two benchmarks have no row in common: contender, op, shape and array size must agree")
	}
	c.judge(older, newer)
	return c, nil
}

func (c Comparison) row(older, newer Sweep, before, now Cell) CompareRow {
	r := CompareRow{Contender: now.Contender, Op: now.Problem.Op, Shape: now.Shape(), Length: now.Length(), ArrayBytes: now.ArrayBytes, Outcome: NoDifference}
	switch {
	case before.Timed() && !now.Timed():
		r.Outcome, r.Detail = Worse, fmt.Sprintf("was timed, and now: %s", now.Verdict)
		return r
	case !before.Timed() && now.Timed():
		r.Outcome, r.Detail = Better, fmt.Sprintf("was %s, and now has a time", before.Verdict)
		return r
	case !now.Timed():
		r.Detail = fmt.Sprintf("no time in either: %s", now.Verdict)
		return r
	}
	a, b := newSide(valid(before.Samples), older.intercept()), newSide(valid(now.Samples), newer.intercept())
	r.Old, r.New = before.Time.Seconds, now.Time.Seconds
	if c.By == ByCeiling {
		r.Old, r.New = older.OfCeiling(before), newer.OfCeiling(now)
		if r.Old == 0 || r.New == 0 {
			r.Detail = "no ceiling was measured, so different GPUs cannot be compared"
			return r
		}
		a.scale(older.ceilingSeconds(before))
		b.scale(newer.ceilingSeconds(now))
	}
	d, ok := compare(a, b, newer.Seed, twoRuns)
	if !ok {
		r.Detail = "too few samples to compare"
		return r
	}
	r.Difference = d
	return r
}

// ceilingSeconds is what the cell would take at the ceiling.
func (s Sweep) ceilingSeconds(c Cell) float64 {
	ceiling, _ := s.Ceiling(c.ArrayBytes)
	return rate(c, 1) / ceiling.Stream
}

// judge corrects the rows that have a difference for their number, and decides them.
func (c *Comparison) judge(older, newer Sweep) {
	var p []float64
	var at []int
	for i, r := range c.Rows {
		if r.Difference.Ratio > 0 {
			p, at = append(p, r.Difference.P), append(at, i)
		}
	}
	floorsOld, floorsNew := older.Floors(), newer.Floors()
	blind := false
	for k, adjusted := range adjust(p) {
		r := &c.Rows[at[k]]
		before, knownOld := floorOf(floorsOld, r.ArrayBytes)
		now, knownNew := floorOf(floorsNew, r.ArrayBytes)
		floor := max(before.Log, now.Log)
		blind = blind || !knownOld && !knownNew && r.Difference.Unit == "rounds"
		r.Adjusted, r.Outcome = adjusted, r.Difference.decide(adjusted, floor)
		outside := r.Difference.Low > 1 || r.Difference.High < 1
		if outside && math.Abs(math.Log(r.Difference.Ratio)) <= floor {
			r.Detail = fmt.Sprintf("inside the A/A noise of %.1f %%", 100*math.Expm1(floor))
		}
	}
	if blind {
		c.Notes = append(c.Notes, "neither run has an A/A pair, and kernels ran in one process each: a difference may be the process's")
	}
}
