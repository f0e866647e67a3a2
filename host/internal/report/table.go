package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"scanhost/host/internal/judge"
)

// Text is all of a run that is for people: the table, the failures, the summary.
func Text(w io.Writer, run judge.Run, s Style) {
	Table(w, run, s)
	Failures(w, run, s)
	fmt.Fprintln(w)
	fmt.Fprint(w, Lost(run.Kernels...))
	fmt.Fprintln(w, summary(run))
}

var columns = []string{"op", "kernel", "backend", "passed/run/\nunsupported", "determinism", "worst error\nin bounds", "time", "verdict"}

// Table has one row for each kernel. Where it is wider than the terminal, what all rows agree on goes above
// it, and where that is not enough, it becomes one block for each kernel.
func Table(w io.Writer, run judge.Run, s Style) {
	if len(run.Kernels) == 0 {
		return
	}
	rows := make([][]string, len(run.Kernels))
	for i, k := range run.Kernels {
		rows[i] = cells(k, s)
		if k.GPU != nil && onSeveralGPUs(run.Kernels) {
			rows[i][2] = fmt.Sprintf("%s:%d", k.Backend, k.GPU.Number)
		}
	}
	fits := func(rendered string) bool { return s.Width == 0 || text.LongestLineLen(rendered) <= s.Width }
	rendered := Grid(columns, rows, 5, 6)
	ops, backends := distinct(rows, 0), distinct(rows, 2)
	if !fits(rendered) && len(ops) == 1 && len(backends) == 1 {
		rendered = ops[0] + " on " + backends[0] + "\n" + withoutOp(rows)
	}
	if !fits(rendered) {
		rendered = blocks(rows)
	}
	fmt.Fprintln(w, rendered)
}

// onSeveralGPUs says whether a row has to name its GPU.
func onSeveralGPUs(kernels []judge.KernelResult) bool {
	first := ""
	for _, k := range kernels {
		switch {
		case k.GPU == nil:
		case first == "":
			first = k.GPU.UUID
		case k.GPU.UUID != first:
			return true
		}
	}
	return false
}

func withoutOp(rows [][]string) string {
	short := make([][]string, len(rows))
	for i, r := range rows {
		short[i] = append([]string{r[1]}, r[3:]...)
	}
	return Grid(append([]string{columns[1]}, columns[3:]...), short, 3, 4)
}

// distinct lists a column's values; rows of plugins that never got so far have none.
func distinct(rows [][]string, column int) []string {
	var values []string
	for _, r := range rows {
		if r[column] != "-" && !slices.Contains(values, r[column]) {
			values = append(values, r[column])
		}
	}
	return values
}

// Grid renders rows under a header, without lines, the numbered columns aligned to the right.
func Grid(header []string, rows [][]string, right ...int) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleDefault)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Box.PaddingLeft = ""
	t.Style().Box.PaddingRight = "  "
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(asRow(header))
	for _, r := range rows {
		t.AppendRow(asRow(r))
	}
	var configs []table.ColumnConfig
	for _, n := range right {
		configs = append(configs, table.ColumnConfig{Number: n + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	t.SuppressTrailingSpaces()
	return t.Render()
}

func asRow(cells []string) table.Row {
	row := make(table.Row, len(cells))
	for i, c := range cells {
		row[i] = c
	}
	return row
}

func cells(k judge.KernelResult, s Style) []string {
	worst := "-"
	if k.Run > 0 {
		worst = fmt.Sprintf("%.3f", k.Worst)
		if k.Worst >= 1000 {
			worst = fmt.Sprintf("%.3g", k.Worst)
		}
	}
	return []string{
		orDash(k.Op), k.Plugin, orDash(k.Backend),
		fmt.Sprintf("%d/%d/%d", k.Passed, k.Run, k.Unsupported),
		orDash(k.Determinism), worst, Duration(k.Time), s.verdict(k.Verdict),
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func blocks(rows [][]string) string {
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: %s", r[1], r[len(r)-1])
		for j, c := range r[:len(r)-1] {
			if j != 1 {
				fmt.Fprintf(&b, "\n  %s %s", strings.ReplaceAll(columns[j], "\n", " "), c)
			}
		}
	}
	return strings.ReplaceAll(b.String(), "passed/run/ ", "passed/run/")
}

// Duration is as precise as a person cares for.
func Duration(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", max(1, float64(d)/float64(time.Millisecond)))
	case d < 100*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
}
