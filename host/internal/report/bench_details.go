package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"scanhost/host/internal/bench"
)

// details has a line for each cell.
func (g group) details(w io.Writer, s bench.Sweep, style Style) {
	lengths, contenders := g.axes(s)
	header := []string{"L", "contender", "ms", "quartiles", "+-%", "GB/s", "% of\npeak", "% of\nceiling", "checked", "labels"}
	var rows [][]string
	for _, length := range lengths {
		for _, name := range contenders {
			if c, found := g.at(name, length); found && c.Verdict != "unsupported" {
				rows = append(rows, detail(s, c))
			}
		}
	}
	if style.Width > 0 && style.Width < 100 { // these two are in the CSV
		drop := func(row []string) []string { return append(slices.Clone(row[:3]), append(row[4:8:8], row[9])...) }
		header = drop(header)
		for i := range rows {
			rows[i] = drop(rows[i])
		}
		fmt.Fprintf(w, "\neach\n%s\n", Grid(header, rows, 0, 2, 3, 4, 5, 6))
		return
	}
	fmt.Fprintf(w, "\neach\n%s\n", Grid(header, rows, 0, 2, 3, 4, 5, 6, 7, 8))
}

func detail(s bench.Sweep, c bench.Cell) []string {
	length := fmt.Sprint(c.Length())
	all := strings.Join(c.Labels, ", ")
	if s.Predicted {
		all = strings.TrimPrefix(all+", predicted", ", ")
	} else if !c.Timed() {
		return []string{length, c.Contender, "-", "-", "-", "-", "-", "-", "-", c.Verdict}
	}
	quartiles, half, checked := "-", "-", "-"
	if c.Time.Seconds > 0 {
		quartiles = milliseconds(c.Time.Q1) + " " + milliseconds(c.Time.Q3)
		half = fmt.Sprintf("%.1f", 50*(c.Time.High-c.Time.Low)/c.Time.Seconds)
	}
	if c.Launches > 0 {
		checked = fmt.Sprintf("%d/%d", c.Checked, c.Launches)
	}
	return []string{length, c.Contender, milliseconds(s.Seconds(c)), quartiles, half, gigabytes(s.Rate(c)), percent(s.OfPeak(c)), percent(s.OfCeiling(c)), checked, all}
}

// sweepNotes are what has to be known about a sweep's numbers.
func sweepNotes(w io.Writer, s bench.Sweep) {
	var notes []string
	if s.Predicted {
		notes = append(notes, "all times are the traffic model's for "+s.GPU.Name+": nothing was measured")
	}
	if s.Interrupted {
		notes = append(notes, "interrupted: cells that were not finished are missing")
	}
	if n, of := dropped(s); n > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d samples were dropped: %s", n, of, strings.Join(reasons(s), "; ")))
	}
	notes = append(notes, failedCells(s)...)
	notes = append(notes, labels(s)...)
	if n, of := checked(s); n < of {
		notes = append(notes, fmt.Sprintf("%d of %d timed launches had an output of their own that was checked; memory holds no more", n, of))
	}
	for _, f := range s.Floors() {
		notes = append(notes, fmt.Sprintf("A/A noise at %s: %.1f %%, from %d comparisons of a kernel with itself; smaller differences are none",
			bench.Megabytes(f.ArrayBytes), f.Percent(), f.Comparisons))
	}
	if len(notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, n := range notes {
		fmt.Fprintln(w, "note: "+printable(n))
	}
}

// labels has a line for each label and array size, since the tables by length do not show them.
func labels(s bench.Sweep) []string {
	var lines []string
	for _, g := range groups(s) {
		count := map[string]int{}
		for _, c := range g.cells {
			for _, l := range c.Labels {
				count[l]++
			}
		}
		for _, l := range slices.Sorted(maps.Keys(count)) {
			lines = append(lines, fmt.Sprintf("%s: %d of %d cells at %s an array", l, count[l], len(g.cells), bench.Megabytes(g.bytes)))
		}
	}
	return lines
}

func dropped(s bench.Sweep) (n, of int) {
	for _, c := range s.Cells {
		for _, x := range c.Samples {
			of++
			if x.Dropped != "" {
				n++
			}
		}
	}
	return n, of
}

func reasons(s bench.Sweep) []string {
	var all []string
	for _, c := range s.Cells {
		for _, x := range c.Samples {
			if x.Dropped != "" && !slices.Contains(all, x.Dropped) {
				all = append(all, x.Dropped)
			}
		}
	}
	slices.Sort(all)
	if len(all) > 3 {
		all = append(all[:3], fmt.Sprintf("and %d more reasons", len(all)-3))
	}
	return all
}

func checked(s bench.Sweep) (n, of int) {
	for _, c := range s.Cells {
		if c.Timed() {
			n, of = n+c.Checked, of+c.Launches
		}
	}
	return n, of
}

// failedCells has a line for each contender and verdict, with the lengths and the first detail.
func failedCells(s bench.Sweep) []string {
	if s.Predicted {
		return nil
	}
	type key struct{ contender, verdict string }
	var order []key
	lengths, details := map[key][]int64{}, map[key]string{}
	for _, c := range s.Cells {
		if c.Timed() || c.Verdict == "unsupported" {
			continue
		}
		k := key{c.Contender, c.Verdict}
		if lengths[k] == nil {
			order = append(order, k)
			details[k] = c.Detail
		}
		if !slices.Contains(lengths[k], c.Length()) {
			lengths[k] = append(lengths[k], c.Length())
		}
	}
	var lines []string
	for _, k := range order {
		line := fmt.Sprintf("%s: %s at L = %s", k.contender, k.verdict, strings.Trim(strings.ReplaceAll(fmt.Sprint(lengths[k]), " ", ", "), "[]"))
		if details[k] != "" {
			line += ": " + details[k]
		}
		lines = append(lines, line)
	}
	return lines
}
