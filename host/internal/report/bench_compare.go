package report

import (
	"fmt"
	"io"
	"slices"

	"scanhost/host/internal/bench"
)

// ComparisonText shows how a sweep stands to an older one.
func ComparisonText(w io.Writer, c bench.Comparison, style Style) {
	for _, n := range c.Notes {
		fmt.Fprintln(w, "note: "+n)
	}
	old, new, show := "old ms", "new ms", milliseconds
	if c.By == bench.ByCeiling {
		old, new, show = "old % of\nceiling", "new % of\nceiling", percent
	}
	header := []string{"contender", "L", "array", old, new, "times as\nlong", "interval", "verdict"}
	var rows [][]string
	count := map[bench.Outcome]int{}
	var details []string
	for _, r := range c.Rows {
		count[r.Outcome]++
		times, between := "-", "-"
		if r.Difference.Ratio > 0 {
			times, between = ratio(r.Difference.Ratio), interval(r.Difference)
		}
		rows = append(rows, []string{r.Contender, fmt.Sprint(r.Length), bench.Megabytes(r.ArrayBytes), show(r.Old), show(r.New), times, between, style.outcome(r.Outcome)})
		if r.Detail != "" {
			if line := r.Contender + ": " + r.Detail; !slices.Contains(details, line) {
				details = append(details, line)
			}
		}
	}
	fmt.Fprintln(w, Grid(header, rows, 1, 2, 3, 4, 5, 6))
	for _, d := range details {
		fmt.Fprintln(w, "note: "+d)
	}
	only(w, "old", c.OnlyOld)
	only(w, "new", c.OnlyNew)
	fmt.Fprintf(w, "\n%d better, %d worse, %d no difference, compared by %s\n", count[bench.Better], count[bench.Worse], count[bench.NoDifference], c.By)
}

// only lists rows that one run lacks, and not all of them where they are many.
func only(w io.Writer, run string, rows []string) {
	const shown = 3
	for i, r := range rows {
		if i == shown && len(rows) > shown+1 {
			fmt.Fprintf(w, "only in the %s run: %d more rows, all in --json\n", run, len(rows)-shown)
			return
		}
		fmt.Fprintf(w, "only in the %s run: %s\n", run, r)
	}
}

// SpecText shows how a sweep stands to its bars: for each bar what it asks, and for each cell that it covers what
// was measured.
func SpecText(w io.Writer, judgements []bench.Judgement, style Style) {
	count := map[bench.Standing]int{}
	for start := 0; start < len(judgements); {
		first, end := judgements[start], start
		var rows [][]string
		for ; end < len(judgements) && sameBar(first, judgements[end]); end++ {
			count[judgements[end].Standing]++
			rows = append(rows, standingRow(judgements[end], style))
		}
		fmt.Fprintf(w, "%s: %s %s\n", first.Bar, first.Contender, first.Demand)
		fmt.Fprintf(w, "%s\n\n", Grid([]string{"L", "array", "is", "interval", "verdict"}, rows, 0, 1, 2, 3))
		start = end
	}
	if count[bench.Undecided] > 0 {
		fmt.Fprintln(w, "note: undecided: the interval holds the limit; more --samples narrow it")
	}
	fmt.Fprintf(w, "%d pass, %d fail, %d undecided, %d not measured\n", count[bench.Holds], count[bench.Fails], count[bench.Undecided], count[bench.NotMeasured])
}

func sameBar(a, b bench.Judgement) bool {
	return a.Bar == b.Bar && a.Contender == b.Contender && a.Demand == b.Demand
}

func standingRow(j bench.Judgement, style Style) []string {
	length, array, value, between, verdict := "-", "-", "-", "-", style.standing(j.Standing)
	if j.Length > 0 {
		length, array = fmt.Sprint(j.Length), bench.Megabytes(j.Array)
	}
	if j.High > 0 {
		value, between = fmt.Sprintf("%.4g", j.Value), fmt.Sprintf("%.4g to %.4g", j.Low, j.High)
	}
	if j.Detail != "" {
		verdict += ": " + j.Detail
	}
	return []string{length, array, value, between, verdict}
}

func (s Style) standing(x bench.Standing) string {
	switch x {
	case bench.Holds:
		return s.paint(green, string(x))
	case bench.Undecided:
		return s.paint(yellow, string(x))
	}
	return s.paint(red, string(x))
}

// SelfTestText shows the rate of false verdicts, and the comparisons that gave one.
func SelfTestText(w io.Writer, t bench.SelfTest, style Style) {
	for _, a := range t.Comparisons {
		if a.Outcome != bench.NoDifference {
			fmt.Fprintf(w, "%s %s against itself: %s, %s (%s)\n", a.Contender, a.Cell, a.Outcome, ratio(a.Difference.Ratio), interval(a.Difference))
		}
	}
	fmt.Fprintf(w, "%d of %d comparisons of a kernel with itself were called different: %.1f %%, 95 %% interval %.1f to %.1f %%; at most %.0f %% is accepted\n",
		t.False, len(t.Comparisons), 100*t.Rate, 100*t.Low, 100*t.High, 100*bench.SelfTestRate)
	fmt.Fprintf(w, "the largest difference seen is %.2f %%\n", t.Largest)
	if t.Unusable > 0 {
		fmt.Fprintf(w, "%d comparisons had too few samples that count\n", t.Unusable)
	}
	if t.Pass {
		fmt.Fprintln(w, style.paint(green, "self-test: pass"))
		return
	}
	fmt.Fprintln(w, style.paint(red, "self-test: fail")+", "+t.Detail)
}
