package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"scanhost/host/internal/judge"
	"scanhost/shared/op"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", name, d)
	}
}

func problem(rows, length int64) op.Problem {
	return op.Problem{Op: "affine_scan", DType: op.FP32, Dims: map[string]int64{"rows": rows, "length": length}}
}

// sample has a kernel for each way that a row can look.
func sample() judge.Run {
	wrong := judge.CaseResult{
		Case: "affine_scan/far_impulse/rows=3/length=4097/seed=7", Regime: "far_impulse", Problem: problem(3, 4097),
		Verdict: judge.Wrong, Time: 3 * time.Millisecond, Replay: "go tool host verify --plugin lookback --replay affine_scan/far_impulse/rows=3/length=4097/seed=7",
		Comparison: &op.Comparison{Checked: 12291, Worst: math.Inf(1), Wrong: 1, First: &op.Position{
			Role: "h", Row: 2, Index: 4096, Expected: 1, Got: math.NaN(), Bounds: math.Inf(1)}},
	}
	skipped := judge.CaseResult{Case: "affine_scan/exact/rows=1/length=1/seed=7", Regime: "exact", Problem: problem(1, 1), Verdict: judge.NotRun}
	return judge.Run{
		Schema: 1, Command: []string{"host", "run-all"}, Seed: 7, Took: 61500 * time.Millisecond,
		Started:     time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC),
		Environment: map[string]string{"go": "go1.26"},
		Kernels: []judge.KernelResult{
			{Plugin: "blelloch", Version: "0.1.0", Role: "kernel", Op: "affine_scan", Backend: "simt", Passed: 60, Run: 60, Unsupported: 18,
				Determinism: "run-to-run", Worst: 0.4213, Time: 3200 * time.Millisecond, Verdict: judge.Pass},
			{Plugin: "lookback", Version: "0.1.0", Role: "kernel", Op: "affine_scan", Backend: "simt", Passed: 76, Run: 77,
				Determinism: "varies", Worst: op.Real(math.Inf(1)), Time: 125 * time.Second, Verdict: judge.Wrong, Cases: []judge.CaseResult{wrong, skipped}},
			{Plugin: "broken", Verdict: judge.BuildFailed, Detail: "kernel.cu:7:1: error: expected ';'"},
			{Plugin: "crasher", Op: "affine_scan", Backend: "simt", Run: 1, Verdict: judge.Crashed, Determinism: "-",
				Detail: "signal 11 in launch", Log: []string{"about to die \x1b[2J", "goodbye"}, Time: 40 * time.Millisecond},
		},
	}
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	Text(&b, sample(), Style{})
	golden(t, "text.golden", b.Bytes())
}

func TestTheTableFitsTheTerminal(t *testing.T) {
	for width, name := range map[int]string{80: "usual.golden", 50: "narrow.golden"} {
		var b bytes.Buffer
		Table(&b, sample(), Style{Width: width})
		golden(t, name, b.Bytes())
		for line := range strings.Lines(b.String()) {
			if got := len(strings.TrimSuffix(line, "\n")); got > width {
				t.Errorf("at width %d a line has %d: %q", width, got, line)
			}
		}
	}
}

func TestColorsMarkVerdictsAndKeepTheColumns(t *testing.T) {
	var plain, colored bytes.Buffer
	Table(&plain, sample(), Style{})
	Table(&colored, sample(), Style{Color: true})
	if !strings.Contains(colored.String(), "\x1b[32mpass\x1b[0m") || !strings.Contains(colored.String(), "\x1b[31mwrong\x1b[0m") {
		t.Fatalf("colors are missing: %q", colored.String())
	}
	bare := colored.String()
	for _, c := range []string{"\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"} {
		bare = strings.ReplaceAll(bare, c, "")
	}
	if d := cmp.Diff(plain.String(), bare); d != "" {
		t.Errorf("colors move columns:\n%s", d)
	}
}

func TestFailuresOfOneKernelAreBounded(t *testing.T) {
	run := sample()
	one := run.Kernels[1].Cases[0]
	for range 50 {
		run.Kernels[1].Cases = append(run.Kernels[1].Cases, one)
	}
	var b bytes.Buffer
	Failures(&b, run, Style{})
	if got := strings.Count(b.String(), "replay: "); got != shownCases {
		t.Errorf("%d failures are shown, want %d", got, shownCases)
	}
	if !strings.Contains(b.String(), "and 46 more") {
		t.Errorf("the rest must be counted:\n%s", b.String())
	}
}

func TestSavedRunsReadBackWhole(t *testing.T) {
	want := sample()
	path, err := Save(filepath.Join(t.TempDir(), "deep", "run-all"), want)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got judge.Run
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	sameNaN := cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })
	if d := cmp.Diff(want, got, sameNaN); d != "" {
		t.Errorf("the run changed on its way through %s:\n%s", path, d)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestSaveSaysWhereItCannotWrite(t *testing.T) {
	if _, err := Save("/dev/null/run", sample()); err == nil || !strings.Contains(err.Error(), "/dev/null") {
		t.Errorf("got %v", err)
	}
}

func TestProgressOffATerminalIsALinePerPlugin(t *testing.T) {
	var b bytes.Buffer
	p := NewProgress(&b)
	p.Note("building %d plugins", 2)
	for _, k := range sample().Kernels[:2] {
		p.Begin(k.Plugin, k.Run)
		p.Case(judge.Event{Plugin: "lookback", Done: 1, Total: 10, Case: &judge.CaseResult{Verdict: judge.Pass}})
		p.End(k)
	}
	golden(t, "progress.golden", b.Bytes())
}

func TestProgressOnATerminalLeavesOnlyResults(t *testing.T) {
	var b bytes.Buffer
	p := &Progress{w: &b, style: Style{Terminal: true, Width: 80}}
	k := sample().Kernels[0]
	p.Begin(k.Plugin, 2)
	p.Case(judge.Event{Plugin: "lookback", Done: 1, Total: 10, Case: &judge.CaseResult{Verdict: judge.Pass}})
	p.Case(judge.Event{Plugin: "lookback", Done: 1, Total: 10, Case: &judge.CaseResult{Verdict: judge.Wrong}})
	p.End(k)
	lines := strings.Split(b.String(), "\r")
	if len(lines) < 4 {
		t.Errorf("nothing moved: %q", b.String())
	}
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "blelloch         pass  60 of 60 pass") {
		t.Errorf("the last line is %q", last)
	}
}

func TestTextSaysOnceWhatWasNotChecked(t *testing.T) {
	for _, lost := range [][]string{nil, {"one thing", "another"}} {
		run := sample()
		for i := range run.Kernels {
			run.Kernels[i].Lost = lost
		}
		var b bytes.Buffer
		Text(&b, run, Style{})
		if n := strings.Count(b.String(), "plugins copied host memory: one thing; another\n"); n != min(1, len(lost)) {
			t.Errorf("with %v lost it is said %d times:\n%s", lost, n, &b)
		}
	}
}
