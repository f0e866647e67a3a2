package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"image/png"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"scanhost/host/internal/bench"
	"scanhost/host/internal/bench/benchtest"
)

// sweep has what a report has to show: a kernel without a time, one that failed, dropped samples, A/A noise.
func sweep() bench.Sweep {
	s := benchtest.Small().Sweep()
	for i := range s.Cells {
		c := &s.Cells[i]
		if c.Contender == "lookback" && c.Length() == 65536 {
			c.Verdict, c.Detail, c.Time = "clock-mismatch", "device events say 0.5 ms", bench.Estimate{}
		}
		if c.Contender == "multiblock" {
			c.Labels = []string{"fits in L2"}
			c.Samples[2].Dropped = "SM clock fell to 1200 MHz"
			c.Checked /= 2
			c.Summarize(1)
		}
	}
	return s
}

func sweepText(t *testing.T, s bench.Sweep, style Style) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := SweepText(&b, s, "", Full, style); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSweepText(t *testing.T) { golden(t, "sweep.golden", sweepText(t, sweep(), Style{})) }

func TestSweepTextFitsTheTerminal(t *testing.T) {
	for line := range strings.Lines(string(sweepText(t, sweep(), Style{Width: 80}))) {
		if strings.HasPrefix(line, "note: ") || strings.HasPrefix(line, "time of ") || strings.HasPrefix(line, "traffic model") {
			continue // sentences wrap where the terminal wraps them
		}
		if n := len(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestAPredictionSaysSoEverywhere(t *testing.T) {
	s := benchtest.Small().Sweep()
	s.Predicted, s.Ceilings[0].Best = true, 0
	for i := range s.Cells {
		s.Cells[i].Samples, s.Cells[i].Time, s.Cells[i].Launches, s.Cells[i].Checked = nil, bench.Estimate{}, 0, 0
	}
	text := sweepText(t, s, Style{})
	golden(t, "predicted.golden", text)
	if !bytes.HasPrefix(text, []byte("predicted, not measured: ")) || !bytes.Contains(text, []byte("nothing was measured")) {
		t.Error("it is not marked as predicted")
	}
	var b bytes.Buffer
	if err := CSV(&b, s); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range rows[0] {
		if name == "seconds" && rows[1][i] != "" || name == "predicted_seconds" && rows[1][i] == "" {
			t.Errorf("%s is %q", name, rows[1][i])
		}
	}
	if svg := figure(t, s, "svg"); !bytes.Contains(svg, []byte("predicted, not measured")) {
		t.Error("the figure is not marked as predicted")
	}
}

func TestPredictionText(t *testing.T) {
	var b bytes.Buffer
	PredictionText(&b, sweep(), "")
	golden(t, "prediction.golden", b.Bytes())
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, sweep()); err != nil {
		t.Fatal(err)
	}
	golden(t, "sweep.csv", b.Bytes())
}

func TestComparisonText(t *testing.T) {
	newer := benchtest.Small()
	newer.Seed, newer.Slower = 2, map[string]float64{"multiblock": 1.05, "lookback": 0.9}
	newer.Lengths = []int64{2048, 65536, 131072}
	c, err := bench.CompareSweeps(sweep(), newer.Sweep())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	ComparisonText(&b, c, Style{})
	golden(t, "comparison.golden", b.Bytes())
}

func TestSpecText(t *testing.T) {
	spec, err := bench.LoadSpec(filepath.Join("testdata", "bars.toml"))
	if err != nil {
		t.Fatal(err)
	}
	w := benchtest.Small()
	w.ArrayMB = []int64{768}
	var b bytes.Buffer
	SpecText(&b, spec.Judge(w.Sweep()), Style{})
	golden(t, "bars.golden", b.Bytes())
}

func TestTheCommittedSpecsAreRead(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join("..", "..", "..", "docs", "*.toml"))
	if len(paths) < 2 {
		t.Errorf("specs %q", paths)
	}
	for _, p := range paths {
		if _, err := bench.LoadSpec(p); err != nil {
			t.Error(err)
		}
	}
}

func TestSelfTestText(t *testing.T) {
	test := bench.SelfTest{Comparisons: make([]bench.AA, 450)}
	for i := range test.Comparisons {
		test.Comparisons[i] = bench.AA{Contender: "lookback", Cell: "L=2048", Processes: [2]int{3, 3}, Outcome: bench.NoDifference,
			Difference: bench.Difference{Ratio: 1.001, Low: 0.99, High: 1.02, P: 0.6, Unit: "processes"}}
	}
	test.Comparisons[7].Outcome = bench.Worse
	test.Comparisons[7].Difference = bench.Difference{Ratio: 1.02, Low: 1.01, High: 1.03, P: 0.01, Unit: "processes"}
	test.Finish()
	var b bytes.Buffer
	SelfTestText(&b, test, Style{})
	golden(t, "selftest.golden", b.Bytes())
}

func figure(t *testing.T, s bench.Sweep, format string) []byte {
	t.Helper()
	figures := Figures(s)
	if len(figures) != 1 || figures[0].Name != "96MB" {
		t.Fatalf("figures %+v, want one of 96MB", figures)
	}
	var b bytes.Buffer
	if err := figures[0].Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFiguresShowEveryContenderAndAreEqualEachTime(t *testing.T) {
	s := sweep()
	svg := figure(t, s, "svg")
	if !bytes.Equal(svg, figure(t, s, "svg")) {
		t.Error("two SVGs of one sweep differ")
	}
	if err := xml.NewDecoder(bytes.NewReader(svg)).Decode(new(struct{})); err != nil {
		t.Errorf("not XML: %v", err)
	}
	for _, want := range []string{"blelloch", "multiblock", "lookback_items", "time in ms", "% of ceiling", "NVIDIA H200", "96 MB"} {
		if !bytes.Contains(svg, []byte(want)) {
			t.Errorf("SVG lacks %q", want)
		}
	}
	picture, err := png.Decode(bytes.NewReader(figure(t, s, "png")))
	if err != nil {
		t.Fatal(err)
	}
	colors := map[[3]uint32]bool{}
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y++ {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			colors[[3]uint32{r >> 8, g >> 8, b >> 8}] = true
		}
	}
	for _, l := range looks[:4] {
		if !colors[[3]uint32{uint32(l.color.R), uint32(l.color.G), uint32(l.color.B)}] {
			t.Errorf("the picture lacks the color %v", l.color)
		}
	}
	if err := Figures(s)[0].Write(io.Discard, "gif"); err == nil || !strings.Contains(err.Error(), "svg and png are") {
		t.Errorf("gif: %v", err)
	}
}

func TestSaveSweepKeepsEverything(t *testing.T) {
	dir := t.TempDir()
	paths, err := SaveSweep(filepath.Join(dir, "h200", "bench"), sweep(), "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	if got := strings.Join(names, " "); got != "bench.json bench.txt bench.csv bench-96MB.svg bench-96MB.png" {
		t.Errorf("files %s", got)
	}
	back, err := bench.Load(paths[0])
	if err != nil || len(back.Cells) != len(sweep().Cells) || len(back.Cells[0].Samples) != 15 {
		t.Errorf("%v; %d cells", err, len(back.Cells))
	}
	left, _ := filepath.Glob(filepath.Join(dir, "h200", "*"))
	if len(left) != len(paths) {
		t.Errorf("left over: %q", left)
	}
}
