package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"scanhost/host/internal/bench"
	"scanhost/shared/op"
)

// Extent is how much of a sweep is shown.
type Extent int

const (
	Brief Extent = iota // tables by length
	Full                // and a line for each cell
)

// SweepText is all of a sweep that is for people: what was measured for each array size, the model beside it,
// who beat whom, and what has to be known about the numbers.
func SweepText(w io.Writer, s bench.Sweep, baseline string, extent Extent, style Style) error {
	rivals, err := s.Rivals(baseline)
	if err != nil {
		return err
	}
	for i, g := range groups(s) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		g.head(w, s)
		g.table(w, s, style, "time in ms", func(c bench.Cell) string { return milliseconds(s.Seconds(c)) }, bestOfPeak)
		g.table(w, s, style, "% of ceiling", func(c bench.Cell) string { return percent(s.OfCeiling(c)) }, nil)
		if graphed(g.cells) {
			g.table(w, s, style, "time in ms by graph replay", func(c bench.Cell) string { return milliseconds(c.Graph.Seconds) }, nil)
		}
		if extent == Full {
			g.details(w, s, style)
		}
	}
	ModelText(w, s)
	RivalsText(w, rivals, style)
	sweepNotes(w, s)
	return nil
}

// group is the cells of one op, storage type, options and array size: one set of tables.
type group struct {
	op      string
	dtype   op.DType
	options string
	bytes   int64
	cells   []bench.Cell
}

func (g group) same(c bench.Cell) bool {
	return g.op == c.Problem.Op && g.dtype == c.Problem.DType && g.options == strings.Join(c.Problem.Options, "+") && g.bytes == c.ArrayBytes
}

func groups(s bench.Sweep) []group {
	var all []group
	for _, c := range s.Cells {
		i := slices.IndexFunc(all, func(g group) bool { return g.same(c) })
		if i < 0 {
			i = len(all)
			all = append(all, group{op: c.Problem.Op, dtype: c.Problem.DType, options: strings.Join(c.Problem.Options, "+"), bytes: c.ArrayBytes})
		}
		all[i].cells = append(all[i].cells, c)
	}
	slices.SortStableFunc(all, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.op, b.op), cmp.Compare(a.dtype, b.dtype), cmp.Compare(a.options, b.options), cmp.Compare(a.bytes, b.bytes))
	})
	return all
}

// title names the group and the GPU.
func (g group) title(s bench.Sweep) string {
	text := fmt.Sprintf("%s %s", g.op, g.dtype)
	if g.options != "" {
		text += " " + g.options
	}
	text += fmt.Sprintf(", %s an array, %s", bench.Megabytes(g.bytes), s.GPU.Name)
	if s.Predicted {
		text = "predicted, not measured: " + text
	}
	return text
}

func (g group) head(w io.Writer, s bench.Sweep) {
	fmt.Fprintln(w, g.title(s))
	peak := fmt.Sprintf("theoretical %s GB/s", gigabytes(s.GPU.Peak))
	if ceiling, ok := s.Ceiling(g.bytes); ok {
		peak += fmt.Sprintf(", ceiling %s GB/s", gigabytes(ceiling.Stream))
		if ceiling.Best > 0 {
			peak += fmt.Sprintf(" (best stream found %s)", gigabytes(ceiling.Best))
		}
	}
	fmt.Fprintln(w, peak)
}

// lengths of the group, ascending, and its contenders in the sweep's order.
func (g group) axes(s bench.Sweep) (lengths []int64, contenders []string) {
	for _, c := range g.cells {
		lengths = append(lengths, c.Length())
	}
	slices.Sort(lengths)
	for _, c := range s.Contenders {
		if slices.ContainsFunc(g.cells, func(x bench.Cell) bool { return x.Contender == c.Name }) {
			contenders = append(contenders, c.Name)
		}
	}
	return slices.Compact(lengths), contenders
}

func (g group) at(contender string, length int64) (bench.Cell, bool) {
	i := slices.IndexFunc(g.cells, func(c bench.Cell) bool { return c.Contender == contender && c.Length() == length })
	if i < 0 {
		return bench.Cell{}, false
	}
	return g.cells[i], true
}

// table has a row for each length and a column for each contender, in as many parts as fit the width. last,
// where there is one, adds a column.
func (g group) table(w io.Writer, s bench.Sweep, style Style, title string, show func(bench.Cell) string, last func(group, bench.Sweep, int64) string) {
	lengths, contenders := g.axes(s)
	contenders = slices.DeleteFunc(contenders, s.SecondTwin) // in the line for each cell
	fmt.Fprintf(w, "\n%s\n", title)
	for len(contenders) > 0 {
		n := len(contenders)
		part := g.part(s, lengths, contenders, show, last)
		for n > 1 && style.Width > 0 && text.LongestLineLen(part) > style.Width {
			n--
			part = g.part(s, lengths, contenders[:n], show, nil)
		}
		fmt.Fprintln(w, part)
		contenders = contenders[n:]
	}
}

func (g group) part(s bench.Sweep, lengths []int64, contenders []string, show func(bench.Cell) string, last func(group, bench.Sweep, int64) string) string {
	header, right := []string{"L"}, []int{0}
	for i, name := range contenders {
		header, right = append(header, folded(name)), append(right, i+1)
	}
	if last != nil {
		header, right = append(header, "best %\nof peak"), append(right, len(header))
	}
	var rows [][]string
	for _, length := range lengths {
		row := []string{fmt.Sprint(length)}
		for _, name := range contenders {
			row = append(row, g.show(s, name, length, show))
		}
		if last != nil {
			row = append(row, last(g, s, length))
		}
		rows = append(rows, row)
	}
	return Grid(header, rows, right...)
}

// show is a cell's value, or why it has none.
func (g group) show(s bench.Sweep, contender string, length int64, value func(bench.Cell) string) string {
	c, found := g.at(contender, length)
	switch {
	case !found || c.Verdict == "unsupported":
		return "-"
	case !s.Predicted && !c.Timed():
		return c.Verdict
	}
	return value(c)
}

// folded breaks a name after its underscores, so that columns stay narrow.
func folded(name string) string {
	name = strings.ReplaceAll(name, "_", "_\n")
	return strings.ReplaceAll(name, "[", "\n[")
}

func bestOfPeak(g group, s bench.Sweep, length int64) string {
	best := 0.0
	for _, c := range g.cells {
		if c.Length() == length {
			best = max(best, s.OfPeak(c))
		}
	}
	return percent(best)
}

func graphed(cells []bench.Cell) bool {
	return slices.ContainsFunc(cells, func(c bench.Cell) bool { return c.Graph.Seconds > 0 })
}

// milliseconds with three or four digits, or a dash.
func milliseconds(seconds float64) string {
	ms := 1000 * seconds
	switch {
	case ms <= 0:
		return "-"
	case ms < 1:
		return fmt.Sprintf("%.4f", ms)
	case ms < 10:
		return fmt.Sprintf("%.3f", ms)
	}
	return fmt.Sprintf("%.1f", ms)
}

func percent(part float64) string {
	if part <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*part)
}

func gigabytes(bytesPerSecond float64) string {
	if bytesPerSecond <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", bytesPerSecond/1e9)
}
