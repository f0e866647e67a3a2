package report

import (
	"fmt"
	"io"
	"math"

	"scanhost/host/internal/bench"
)

// PredictionText is the model's part of a sweep, to be printed before anything is measured: what each contender
// declares to move, and the time and the ratio that follow.
func PredictionText(w io.Writer, s bench.Sweep, baseline string) {
	fmt.Fprintln(w, "predicted from declared traffic: arrays * bytes / ceiling")
	header := []string{"contender", "arrays\nread+written", "array", "predicted\nms", "times as\nlong", "as"}
	var rows [][]string
	for _, c := range s.Contenders {
		for _, p := range predictions(s, c.Name, baseline) {
			rows = append(rows, append([]string{c.Name, arrays(c.Read, c.Written)}, p...))
		}
	}
	fmt.Fprintln(w, Grid(header, rows, 1, 2, 3, 4))
}

// predictions of a contender: one for each array size, or more where the model depends on shape.
func predictions(s bench.Sweep, contender, baseline string) [][]string {
	var rows [][]string
	seen := map[string]bool{}
	for _, c := range s.Cells {
		if c.Contender != contender || c.Predicted <= 0 || c.Verdict == "unsupported" {
			continue
		}
		ratio, as := "-", "-"
		if against := s.Against(contender, baseline); against != "" {
			if base, found := s.Find(against, c); found && base.Predicted > 0 {
				ratio, as = fmt.Sprintf("%.2f", c.Predicted/base.Predicted), against
			}
		}
		row := []string{bench.Megabytes(c.ArrayBytes), milliseconds(c.Predicted), ratio, as}
		if key := fmt.Sprint(row[:2]); !seen[key] {
			seen[key] = true
			rows = append(rows, row)
		}
	}
	return rows
}

func arrays(read, written float64) string { return fmt.Sprintf("%.3g+%.3g", read, written) }

// extremes of some cells' values; zero values are not there.
type extremes struct{ low, high float64 }

func (e *extremes) add(x float64) {
	switch {
	case x <= 0:
	case e.high == 0:
		*e = extremes{x, x}
	default:
		*e = extremes{math.Min(e.low, x), math.Max(e.high, x)}
	}
}

func (e extremes) show(format func(float64) string) string {
	low, high := format(e.low), format(e.high)
	switch {
	case e.high == 0:
		return "-"
	case low == high:
		return low
	}
	return low + "-" + high
}

// ModelText sets predicted, counted and measured side by side, for each contender and array size, over all
// lengths.
func ModelText(w io.Writer, s bench.Sweep) {
	header := []string{"contender", "declared\narrays", "counted\narrays", "predicted\nms", "measured\nms", "measured/\npredicted"}
	for i, g := range groups(s) {
		var rows [][]string
		for _, c := range s.Contenders {
			if row := modelRow(g, c, s); row != nil {
				rows = append(rows, row)
			}
		}
		if i == 0 {
			fmt.Fprintln(w, "\ntraffic model: declared arrays * bytes / ceiling; counted on the simulated GPU")
		}
		fmt.Fprintf(w, "\n%s, over all L\n%s\n", g.title(s), Grid(header, rows, 1, 2, 3, 4, 5))
	}
}

func modelRow(g group, c bench.Contender, s bench.Sweep) []string {
	var counted, predicted, measured, quotient extremes
	found := false
	for _, x := range g.cells {
		if x.Contender != c.Name || x.Verdict == "unsupported" {
			continue
		}
		found = true
		counted.add(x.CountedRead + x.CountedWrote)
		predicted.add(x.Predicted)
		if x.Timed() && !s.Predicted {
			measured.add(x.Time.Seconds)
			if x.Predicted > 0 {
				quotient.add(x.Time.Seconds / x.Predicted)
			}
		}
	}
	if !found {
		return nil
	}
	two := func(x float64) string { return fmt.Sprintf("%.2f", x) }
	return []string{c.Name, fmt.Sprintf("%.3g", c.Read+c.Written), counted.show(two), predicted.show(milliseconds),
		measured.show(milliseconds), quotient.show(two)}
}
