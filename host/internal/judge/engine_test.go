package judge

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scanhost/host/internal/buffers"
	"scanhost/shared/contract"
	"scanhost/shared/faulty"
	"scanhost/shared/op"
)

func TestMain(m *testing.M) {
	faulty.MainIfAsked()
	os.Exit(m.Run())
}

// target is the faulty plugin, run from this very test binary.
func target(t *testing.T, fault string) Target {
	t.Helper()
	manifest, err := contract.ParseManifest(faulty.Manifest(fault))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Target{Manifest: manifest, Argv: []string{self, "--fault", fault}, Dir: filepath.Dir(self), Backend: "cpu"}
}

// patience bounds every phase. It is short enough for a fast test and long enough for a busy machine.
const patience = 2 * time.Second

func engine(t *testing.T, cases []op.Case) *Engine {
	o := DefaultOptions()
	o.Cases = cases
	o.Launches = 3
	o.Deadlines = Deadlines{Handshake: patience, Describe: patience, Prepare: patience, Launch: patience, Release: patience, Silence: patience, Scale: 1}
	return &Engine{Space: buffers.Memfd{}, Options: o}
}

// small is a few small cases of the real suite.
func small(t *testing.T, n int) []op.Case {
	t.Helper()
	o, err := op.Lookup("affine_scan")
	if err != nil {
		t.Fatal(err)
	}
	var out []op.Case
	for _, c := range o.Suite(op.Limits{DTypes: []op.DType{op.FP32}, Options: o.Options()}, 1) {
		if e := elements(c.Problem); e > 50 && e < 5000 && c.Problem.Dims["length"] > 16 && len(out) < n {
			out = append(out, c)
		}
	}
	if len(out) < n {
		t.Fatalf("the suite has %d small cases; %d are needed", len(out), n)
	}
	return out
}

// casesFor is one case where each costs a whole deadline, and many where the fault needs time to show.
func casesFor(f faulty.Fault) int {
	switch {
	case f.Name == "late-death" || f.Name == "no-heartbeat":
		return 20
	case f.Verdict == "hung":
		return 1
	}
	return 3
}

func TestEveryFaultCostsItsOwnRowWithTheRightVerdict(t *testing.T) {
	for _, f := range faulty.Faults {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			e := engine(t, small(t, casesFor(f)))
			if f.Name == "no-heartbeat" {
				e.Options.Deadlines.Silence = 50 * time.Millisecond
			}
			started := time.Now()
			results, err := e.Run(context.Background(), []Target{target(t, f.Name)})
			if err != nil {
				t.Fatalf("the host's own trouble: %v", err)
			}
			r := results[0]
			want := Verdict(f.Verdict)
			if f.Name == "unsupported-always" {
				want = BadPlugin // it refuses what its manifest declares
			}
			if r.Verdict != want {
				t.Errorf("verdict %s (%s), want %s", r.Verdict, r.Detail, want)
			}
			if want != Pass && r.Detail == "" {
				t.Error("the failure has no detail")
			}
			if took := time.Since(started); want == Hung && took > patience+2*time.Second {
				t.Errorf("took %v; the deadline is %v", took, patience)
			}
			if want == Pass && r.Passed != len(e.Options.Cases) {
				t.Errorf("%d of %d cases passed", r.Passed, len(e.Options.Cases))
			}
		})
	}
}

func TestAfterTwoStrikesTheRestIsNotRun(t *testing.T) {
	t.Parallel()
	results, _ := engine(t, small(t, 6)).Run(context.Background(), []Target{target(t, "exit-in-launch"), target(t, "none")})
	var got []Verdict
	for _, c := range results[0].Cases {
		got = append(got, c.Verdict)
	}
	want := []Verdict{Crashed, Crashed, NotRun, NotRun, NotRun, NotRun}
	if len(got) != len(want) {
		t.Fatalf("%d results for %d cases", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("case %d: %s, want %s", i, got[i], want[i])
		}
	}
	if r := results[0]; r.Run != 2 || r.Passed != 0 {
		t.Errorf("run %d, passed %d; want 2 and 0", r.Run, r.Passed)
	}
	if results[1].Verdict != Pass {
		t.Errorf("the honest plugin after it: %s (%s)", results[1].Verdict, results[1].Detail)
	}
}

func TestFailureNamesItsPositionAndReplay(t *testing.T) {
	t.Parallel()
	cases := small(t, 1)
	results, _ := engine(t, cases).Run(context.Background(), []Target{target(t, "wrong-answer")})
	c := results[0].Cases[0]
	if c.Comparison == nil || c.Comparison.First == nil || c.Comparison.Wrong != 1 {
		t.Fatalf("comparison %+v, want exactly one wrong element with its position", c.Comparison)
	}
	if !strings.Contains(c.Replay, "--replay") || !strings.Contains(c.Replay, cases[0].Name) {
		t.Errorf("replay command is %q", c.Replay)
	}
}

func TestCancellationKeepsWhatWasDone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	e := engine(t, small(t, 6))
	e.Progress = func(ev Event) {
		if ev.Done == 2 {
			cancel()
		}
	}
	results, _ := e.Run(ctx, []Target{target(t, "none"), target(t, "none")})
	if r := results[0]; r.Verdict != Interrupted || r.Passed != 2 {
		t.Errorf("first: %s with %d passed, want interrupted with 2", r.Verdict, r.Passed)
	}
	if r := results[1]; r.Verdict != Interrupted || len(r.Cases) != 0 {
		t.Errorf("second: %s with %d cases, want interrupted with none", r.Verdict, len(r.Cases))
	}
}

func TestRefusedTargetIsARow(t *testing.T) {
	t.Parallel()
	refused := target(t, "none")
	refused.Refused, refused.Reason = BuildFailed, "kernel.cu:1: error"
	results, err := engine(t, nil).Run(context.Background(), []Target{refused})
	if err != nil || len(results) != 1 || results[0].Verdict != BuildFailed || results[0].Detail != "kernel.cu:1: error" {
		t.Errorf("results %+v, error %v", results, err)
	}
}

func TestKernelsSideBySideKeepTheirRows(t *testing.T) {
	t.Parallel()
	e := engine(t, small(t, 3))
	e.Parallel = 3
	finished := map[string]bool{} // Progress is called by one kernel at a time
	e.Progress = func(ev Event) {
		if ev.Kernel != nil {
			finished[ev.Plugin] = true
		}
	}
	faults := []string{"none", "wrong-answer", "exit-in-launch", "none"}
	var targets []Target
	for _, f := range faults {
		targets = append(targets, target(t, f))
	}
	results, err := e.Run(context.Background(), targets)
	if err != nil || len(results) != len(faults) || len(finished) != 3 {
		t.Fatalf("%d results, %d plugins reported, error %v", len(results), len(finished), err)
	}
	for i, want := range []Verdict{Pass, Wrong, Crashed, Pass} {
		if results[i].Verdict != want || results[i].Plugin != faulty.PluginName(faults[i]) {
			t.Errorf("row %d is %s, %s; want %s of %s", i, results[i].Plugin, results[i].Verdict, want, faults[i])
		}
	}
}

func parsed(t *testing.T, name string) op.Case {
	t.Helper()
	o, err := op.Lookup("affine_scan")
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.ParseCase(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCaseBeyondTheMachineIsNotRun(t *testing.T) {
	t.Parallel()
	c := parsed(t, "affine_scan:near1:rows=1048576:length=1048576:none:fp32:seed=1")
	results, err := engine(t, []op.Case{c}).Run(context.Background(), []Target{target(t, "none")})
	if err != nil || results[0].Verdict != NotRun || !strings.Contains(results[0].Detail, "GB") {
		t.Errorf("%s (%s), error %v; want not-run with the sizes", results[0].Verdict, results[0].Detail, err)
	}
}

// A kernel may refuse what its manifest does not claim; refusing all that it claims makes the manifest a lie.
func TestRefusalOfWhatIsNotDeclaredIsUnsupported(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Verdict{
		"affine_scan:near1:rows=3:length=33:none:fp16:seed=1": Unsupported,
		"affine_scan:near1:rows=3:length=33:none:fp32:seed=1": BadPlugin,
	} {
		results, _ := engine(t, []op.Case{parsed(t, name)}).Run(context.Background(), []Target{target(t, "unsupported-always")})
		if results[0].Verdict != want {
			t.Errorf("%s: %s (%s), want %s", name, results[0].Verdict, results[0].Detail, want)
		}
	}
}
