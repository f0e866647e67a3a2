package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Rival is one contender on one shape against another that ran beside it.
type Rival struct {
	Contender  string     `json:"contender"`
	Against    string     `json:"against"`
	Cell       Cell       `json:"-"`               // of Contender
	Predicted  float64    `json:"predicted_ratio"` // by the traffic model
	Difference Difference `json:"difference"`      // Ratio over 1: Contender is slower
	Adjusted   float64    `json:"adjusted_p"`      // corrected for all rivals of the sweep
	Outcome    Outcome    `json:"outcome"`
	Notes      []string   `json:"notes,omitempty"` // what the outcome lacks, and what would clear it
}

// Rivals compares every contender with the baseline, or with the rung it improves on where no baseline is
// named, shape by shape, and corrects for their number. Shapes that one side has no time for are left out, and so
// are second twins.
func (s Sweep) Rivals(baseline string) ([]Rival, error) {
	if baseline != "" && !s.has(baseline) {
		return nil, fmt.Errorf("baseline %q is not in this sweep; it has %s", baseline, strings.Join(s.names(), ", "))
	}
	var rivals []Rival
	for _, c := range s.Contenders {
		if against := s.Against(c.Name, baseline); against != "" {
			rivals = append(rivals, s.rivals(c.Name, against)...)
		}
	}
	s.judge(rivals)
	return rivals, nil
}

// Against is whom a contender is compared with, or "".
func (s Sweep) Against(contender, baseline string) string {
	switch i := slices.Index(s.names(), contender); {
	case i < 0 || contender == baseline || s.SecondTwin(contender):
		return ""
	case baseline != "":
		return baseline
	default:
		return s.rungBelow(s.Contenders[i])
	}
}

func (s Sweep) rivals(contender, against string) []Rival {
	var rivals []Rival
	for _, c := range s.Cells {
		base, found := s.Find(against, c)
		if c.Contender != contender || !found || !c.Timed() || !base.Timed() {
			continue
		}
		a, b := newSide(valid(base.Samples), s.intercept()), newSide(valid(c.Samples), s.intercept())
		d, ok := compare(a, b, s.Seed, sameRun)
		if !ok {
			continue
		}
		r := Rival{Contender: contender, Against: against, Cell: c, Difference: d}
		if base.Predicted > 0 {
			r.Predicted = c.Predicted / base.Predicted
		}
		rivals = append(rivals, r)
	}
	return rivals
}

// judge fills in what depends on all rivals together.
func (s Sweep) judge(rivals []Rival) {
	p := make([]float64, len(rivals))
	for i, r := range rivals {
		p[i] = r.Difference.P
	}
	floors := s.Floors()
	for i, adjusted := range adjust(p) {
		r := &rivals[i]
		floor, known := floorOf(floors, r.Cell.ArrayBytes)
		r.Adjusted, r.Outcome = adjusted, r.Difference.decide(adjusted, floor.Log)
		r.Notes = notes(r.Difference, adjusted, floor, known)
	}
}

// wide is how far an interval may reach before one is told so, as a ratio.
const wide = 1.05

// notes are what a reader of the outcome has to know, and what would clear it.
func notes(d Difference, adjusted float64, floor Floor, known bool) []string {
	var list []string
	if !known && d.Unit == "rounds" {
		list = append(list, "one process each and no A/A pair, so placement is not in the interval: restart processes or add a twin")
	}
	outside := d.Low > 1 || d.High < 1
	if outside && adjusted > 1-Confidence {
		list = append(list, "no difference after correction for the number of comparisons: bench these two alone, or with more samples")
	}
	if outside && known && math.Abs(math.Log(d.Ratio)) <= floor.Log {
		list = append(list, fmt.Sprintf("inside the A/A noise of %.1f %%", floor.Percent()))
	}
	if !outside && d.High/d.Low > wide*wide {
		list = append(list, "the interval is wide: more samples or more processes narrow it")
	}
	return list
}

// rungBelow is the contender that c says it improves on, with its default tuning.
func (s Sweep) rungBelow(c Contender) string {
	for _, other := range s.Contenders {
		if c.ImprovesOn != "" && other.Plugin == c.ImprovesOn && other.Name == other.Plugin {
			return other.Name
		}
	}
	return ""
}

func (s Sweep) names() []string {
	names := make([]string, len(s.Contenders))
	for i, c := range s.Contenders {
		names[i] = c.Name
	}
	return names
}

func (s Sweep) has(contender string) bool { return slices.Contains(s.names(), contender) }
