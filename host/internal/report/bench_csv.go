package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"scanhost/host/internal/bench"
)

// csvColumns are the table that a spreadsheet gets: a row for each cell, SI units without prefixes, parts and not
// percent. A value that was not measured is empty.
var csvColumns = []struct {
	name string
	of   func(bench.Sweep, bench.Cell) string
}{
	{"gpu", func(s bench.Sweep, _ bench.Cell) string { return s.GPU.Name }},
	{"op", func(_ bench.Sweep, c bench.Cell) string { return c.Problem.Op }},
	{"dtype", func(_ bench.Sweep, c bench.Cell) string { return string(c.Problem.DType) }},
	{"options", func(_ bench.Sweep, c bench.Cell) string { return strings.Join(c.Problem.Options, "+") }},
	{"shape", func(_ bench.Sweep, c bench.Cell) string { return c.Shape() }},
	{"length", func(_ bench.Sweep, c bench.Cell) string { return strconv.FormatInt(c.Length(), 10) }},
	{"array_bytes", func(_ bench.Sweep, c bench.Cell) string { return strconv.FormatInt(c.ArrayBytes, 10) }},
	{"contender", func(_ bench.Sweep, c bench.Cell) string { return c.Contender }},
	{"verdict", func(_ bench.Sweep, c bench.Cell) string { return c.Verdict }},
	{"predicted_seconds", func(_ bench.Sweep, c bench.Cell) string { return number(c.Predicted) }},
	{"seconds", measured(func(c bench.Cell) float64 { return c.Time.Seconds })},
	{"low_seconds", measured(func(c bench.Cell) float64 { return c.Time.Low })},
	{"high_seconds", measured(func(c bench.Cell) float64 { return c.Time.High })},
	{"q1_seconds", measured(func(c bench.Cell) float64 { return c.Time.Q1 })},
	{"q3_seconds", measured(func(c bench.Cell) float64 { return c.Time.Q3 })},
	{"graph_seconds", measured(func(c bench.Cell) float64 { return c.Graph.Seconds })},
	{"upper_seconds", measured(func(c bench.Cell) float64 { return c.Upper })},
	{"device_seconds", measured(func(c bench.Cell) float64 { return c.Device })},
	{"intercept_seconds", measured(func(c bench.Cell) float64 { return c.Intercept })},
	{"reference_intercept_seconds", measured(func(c bench.Cell) float64 { return c.Reference })},
	{"effective_bytes_per_second", func(s bench.Sweep, c bench.Cell) string { return ifMeasured(s, s.Rate(c)) }},
	{"of_peak", func(s bench.Sweep, c bench.Cell) string { return ifMeasured(s, s.OfPeak(c)) }},
	{"of_ceiling", func(s bench.Sweep, c bench.Cell) string { return ifMeasured(s, s.OfCeiling(c)) }},
	{"counted_arrays_read", func(_ bench.Sweep, c bench.Cell) string { return number(c.CountedRead) }},
	{"counted_arrays_written", func(_ bench.Sweep, c bench.Cell) string { return number(c.CountedWrote) }},
	{"samples", func(_ bench.Sweep, c bench.Cell) string { return strconv.Itoa(len(c.Samples)) }},
	{"discarded", func(_ bench.Sweep, c bench.Cell) string { return strconv.Itoa(c.Discarded) }},
	{"launches", func(_ bench.Sweep, c bench.Cell) string { return strconv.Itoa(c.Launches) }},
	{"checked", func(_ bench.Sweep, c bench.Cell) string { return strconv.Itoa(c.Checked) }},
	{"labels", func(_ bench.Sweep, c bench.Cell) string { return strings.Join(c.Labels, "; ") }},
	{"detail", func(_ bench.Sweep, c bench.Cell) string { return c.Detail }},
}

// measured leaves a model's sweep without times: a spreadsheet shows no note beside a number.
func measured(value func(bench.Cell) float64) func(bench.Sweep, bench.Cell) string {
	return func(s bench.Sweep, c bench.Cell) string { return ifMeasured(s, value(c)) }
}

func ifMeasured(s bench.Sweep, x float64) string {
	if s.Predicted {
		return ""
	}
	return number(x)
}

func number(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 7, 64)
}

// CSV writes a sweep as one table.
func CSV(w io.Writer, s bench.Sweep) error {
	out := csv.NewWriter(w)
	row := make([]string, len(csvColumns))
	for i, c := range csvColumns {
		row[i] = c.name
	}
	if err := out.Write(row); err != nil {
		return err
	}
	for _, cell := range s.Cells {
		for i, c := range csvColumns {
			row[i] = c.of(s, cell)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
