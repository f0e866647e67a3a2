package report

import (
	"fmt"
	"io"
	"slices"

	"scanhost/host/internal/bench"
)

// RivalsText says who beat whom: for each pair of contenders and array size what was predicted, and for each
// length what was measured.
func RivalsText(w io.Writer, rivals []bench.Rival, style Style) {
	if len(rivals) == 0 {
		return
	}
	fmt.Fprintf(w, "\nratios of times, with 95 %% intervals; verdicts corrected for %d comparisons\n", len(rivals))
	for start := 0; start < len(rivals); {
		end := start
		for end < len(rivals) && sameRace(rivals[start], rivals[end]) {
			end++
		}
		race(w, rivals[start:end], style)
		start = end
	}
	var notes []string
	for _, r := range rivals {
		for _, n := range r.Notes {
			if !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}
	}
	for _, n := range notes {
		fmt.Fprintln(w, "note: "+n)
	}
}

func sameRace(a, b bench.Rival) bool {
	return a.Contender == b.Contender && a.Against == b.Against && a.Cell.ArrayBytes == b.Cell.ArrayBytes && a.Cell.Problem.Op == b.Cell.Problem.Op
}

func race(w io.Writer, rivals []bench.Rival, style Style) {
	first := rivals[0]
	fmt.Fprintf(w, "\ntime of %s / time of %s, %s an array", first.Contender, first.Against, bench.Megabytes(first.Cell.ArrayBytes))
	if first.Predicted > 0 {
		fmt.Fprintf(w, "; predicted %.2f", first.Predicted)
	}
	fmt.Fprintln(w)
	var rows [][]string
	for _, r := range rivals {
		rows = append(rows, []string{fmt.Sprint(r.Cell.Length()), ratio(r.Difference.Ratio), interval(r.Difference), style.outcome(r.Outcome)})
	}
	fmt.Fprintln(w, Grid([]string{"L", "measured", "interval", "verdict"}, rows, 0, 1, 2))
}

func (s Style) outcome(o bench.Outcome) string {
	switch o {
	case bench.Better:
		return s.paint(green, string(o))
	case bench.Worse:
		return s.paint(red, string(o))
	}
	return string(o)
}

func ratio(x float64) string {
	if x >= 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.3f", x)
}

func interval(d bench.Difference) string { return ratio(d.Low) + " to " + ratio(d.High) }
