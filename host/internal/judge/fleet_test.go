package judge

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scanhost/host/internal/buffers"
	"scanhost/host/internal/launch"
	"scanhost/shared/op"
)

// holdScript runs a plugin as the holder of the GPU that it is shown. A second one at the same time fails, and says so
// in a file. With "meet" the plugin starts once plugins on two GPUs have been seen at the same time.
const holdScript = `
dir=$1 how=$2 gpu=$1/$CUDA_VISIBLE_DEVICES; shift 2
mkdir "$gpu" || { echo "$@" >> "$dir/held-twice"; exit 9; }
if [ "$how" = meet ]; then
  waited=0
  until [ -e "$dir/met" ]; do
    if [ -d "$dir/GPU-a" ] && [ -d "$dir/GPU-b" ]; then : > "$dir/met"; fi
    waited=$((waited + 1))
    [ $waited -lt 300 ] || exit 9
    sleep 0.05
  done
fi
"$@"
rmdir "$gpu"
`

// stand is GPUs that are folders: a plugin that holds one has made its folder.
type stand struct {
	t   *testing.T
	dir string
}

func newStand(t *testing.T) stand {
	s := stand{t, t.TempDir()}
	t.Cleanup(func() {
		if who, err := os.ReadFile(filepath.Join(s.dir, "held-twice")); err == nil {
			t.Errorf("a GPU was held twice, by %s", who)
		}
	})
	return s
}

func (s stand) targets(how string, faults ...string) []Target {
	script := filepath.Join(s.dir, "hold.sh")
	if err := os.WriteFile(script, []byte(holdScript), 0o644); err != nil {
		s.t.Fatal(err)
	}
	var out []Target
	for _, f := range faults {
		honest := target(s.t, f)
		honest.Argv = append([]string{"/bin/sh", script, s.dir, how}, honest.Argv...)
		out = append(out, honest)
	}
	return out
}

// place is a GPU whose canary, after it took a killed plugin's hold away, gives sick.
func (s stand) place(uuid string, cases int, sick error) Place {
	return Place{Name: uuid, Open: func(context.Context) (*Engine, func() error, error) {
		e := engine(s.t, small(s.t, cases))
		e.Options.Deadlines.Handshake = 20 * time.Second // plugins meet before it
		e.Options.Environment = []string{"CUDA_VISIBLE_DEVICES=" + uuid}
		e.GPU = &GPU{UUID: uuid}
		e.AfterKill = func(context.Context) error {
			return errors.Join(os.RemoveAll(filepath.Join(s.dir, uuid)), sick)
		}
		return e, func() error { return nil }, nil
	}}
}

func TestTwoGPUsWorkAtOnceAndEachHoldsOnePlugin(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	targets := s.targets("meet", "none", "wrong-answer", "slow-start", "exit-in-launch", "none", "slow-start")
	var lines []string
	f := Fleet{Places: []Place{s.place("GPU-a", 3, nil), s.place("GPU-b", 3, nil)}, Progress: func(ev Event) {
		if ev.Kernel != nil {
			lines = append(lines, ev.Plugin)
		}
	}}
	results, err := f.Run(context.Background(), targets)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]int{}
	for i, want := range []Verdict{Pass, Wrong, Pass, Crashed, Pass, Pass} {
		r := results[i]
		if r.Verdict != want || r.Plugin != targets[i].Manifest.Name || lines[i] != r.Plugin {
			t.Errorf("row %d: %s is %s (%s), line of %s; want %s of %s", i, r.Plugin, r.Verdict, r.Detail, lines[i], want, targets[i].Manifest.Name)
		}
		if r.GPU == nil {
			t.Fatalf("row %d does not say where it ran", i)
		}
		used[r.GPU.UUID]++
	}
	if used["GPU-a"] == 0 || used["GPU-b"] == 0 {
		t.Errorf("rows by GPU are %v; both should have some", used)
	}
}

func TestGPUThatFailsStopsOnlyItself(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	a, b := s.place("GPU-a", 2, nil), s.place("GPU-b", 2, nil)
	failed := make(chan struct{})
	openA, openB := a.Open, b.Open
	a.Open = func(ctx context.Context) (*Engine, func() error, error) {
		e, done, err := openA(ctx)
		e.AfterKill = func(context.Context) error { close(failed); return errors.New("the canary sings wrong") }
		return e, done, err
	}
	b.Open = func(ctx context.Context) (*Engine, func() error, error) { // so that GPU-a has the first kernel
		<-failed
		return openB(ctx)
	}
	results, err := (&Fleet{Places: []Place{a, b}}).Run(context.Background(), s.targets("alone", "exit-in-launch", "none", "none"))
	if err == nil || !strings.Contains(err.Error(), "GPU-a gets no more work") || !strings.Contains(err.Error(), "sings wrong") {
		t.Errorf("error is %v", err)
	}
	if r := results[0]; r.Verdict != Crashed || r.GPU.UUID != "GPU-a" || r.Cases[1].Verdict != NotRun {
		t.Errorf("first: %s on %v, then %s", r.Verdict, r.GPU, r.Cases[1].Verdict)
	}
	for _, r := range results[1:] {
		if r.Verdict != Pass || r.GPU.UUID != "GPU-b" {
			t.Errorf("%s: %s (%s) on %v, want pass on GPU-b", r.Plugin, r.Verdict, r.Detail, r.GPU)
		}
	}
}

// deadKeeper is the memory of a GPU whose keeper died.
type deadKeeper struct{ buffers.Memfd }

func (deadKeeper) Input(op.Array, func([]byte) error) (buffers.Array, error) {
	return nil, &launch.Failure{Kind: launch.Crashed, Text: "the keeper's allocation of a: died by SIGKILL"}
}

func TestGPUWithoutItsKeeperDoesNotTakeEveryKernel(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	a, b := s.place("GPU-a", 2, nil), s.place("GPU-b", 2, nil)
	ended := make(chan struct{})
	openA, openB := a.Open, b.Open
	a.Open = func(ctx context.Context) (*Engine, func() error, error) {
		e, _, err := openA(ctx)
		e.Space = deadKeeper{}
		return e, func() error { close(ended); return nil }, err
	}
	b.Open = func(ctx context.Context) (*Engine, func() error, error) {
		<-ended
		return openB(ctx)
	}
	results, err := (&Fleet{Places: []Place{a, b}}).Run(context.Background(), s.targets("alone", "none", "none", "none"))
	if err == nil || !strings.Contains(err.Error(), "GPU-a gets no more work") || !strings.Contains(err.Error(), "died by SIGKILL") {
		t.Errorf("error is %v", err)
	}
	for i, want := range []Verdict{NotRun, Pass, Pass} {
		if r := results[i]; r.Verdict != want {
			t.Errorf("row %d: %s (%s), want %s", i, r.Verdict, r.Detail, want)
		}
	}
}

func TestRowsThatNoGPUIsLeftForAreNotRun(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	broken := Place{Name: "GPU-b", Open: func(context.Context) (*Engine, func() error, error) { return nil, nil, errors.New("no answer") }}
	targets := s.targets("alone", "exit-in-launch", "none", "none")
	targets[2].Refused, targets[2].Reason = BuildFailed, "kernel.cu:1: error"
	f := Fleet{Places: []Place{s.place("GPU-a", 2, errors.New("wrong sum")), broken}}
	results, err := f.Run(context.Background(), targets)
	if err == nil || !strings.Contains(err.Error(), "wrong sum") || !strings.Contains(err.Error(), "GPU-b gets no more work: no answer") {
		t.Errorf("error is %v; want that of either GPU", err)
	}
	if r := results[1]; r.Verdict != NotRun || r.GPU != nil || !strings.Contains(r.Detail, "wrong sum") || !strings.Contains(r.Detail, "no answer") {
		t.Errorf("second: %s (%s) on %v, want not-run with both reasons", r.Verdict, r.Detail, r.GPU)
	}
	if r := results[2]; r.Verdict != BuildFailed {
		t.Errorf("third: %s (%s); what needs no GPU keeps its verdict", r.Verdict, r.Detail)
	}
}

func TestGPUThatOthersHoldHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	busy := Place{Name: "GPU-b", Open: func(ctx context.Context) (*Engine, func() error, error) {
		<-ctx.Done()
		return nil, nil, ctx.Err()
	}}
	results, err := (&Fleet{Places: []Place{busy, s.place("GPU-a", 1, nil)}}).Run(context.Background(), s.targets("alone", "none", "none"))
	if err != nil || results[0].Verdict != Pass || results[1].Verdict != Pass {
		t.Errorf("%s and %s, error %v; want two passes", results[0].Verdict, results[1].Verdict, err)
	}
}

func TestInterruptionStopsAllGPUs(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var interrupted time.Time
	f := Fleet{Places: []Place{s.place("GPU-a", 8, nil), s.place("GPU-b", 8, nil)}, Progress: func(ev Event) {
		if ev.Case != nil && ev.Done == 2 && interrupted.IsZero() {
			interrupted = time.Now()
			cancel()
		}
	}}
	results, err := f.Run(ctx, s.targets("meet", "none", "spin-in-launch", "none"))
	if err != nil {
		t.Error(err)
	}
	if took := time.Since(interrupted); took > 5*time.Second {
		t.Errorf("stopping took %v", took)
	}
	for i, want := range []int{2, 0, 0} {
		if r := results[i]; r.Verdict != Interrupted || r.Passed < want {
			t.Errorf("row %d: %s with %d passed, want interrupted with %d at least", i, r.Verdict, r.Passed, want)
		}
	}
	if results[1].GPU == nil || results[1].GPU.UUID == results[0].GPU.UUID {
		t.Errorf("the rows were on %v and %v; want two GPUs", results[0].GPU, results[1].GPU)
	}
}

func TestLargeCasesShareTheMachinesMemory(t *testing.T) {
	m := newMemoryShare()
	m.most = 100
	first := m.take(60)
	second := m.take(40)
	entered := make(chan func())
	go func() { entered <- m.take(200) }() // more than there is: alone
	first()
	select {
	case <-entered:
		t.Fatal("200 of 100 were given while 40 were held")
	case <-time.After(20 * time.Millisecond):
	}
	second()
	(<-entered)()
	if m.used != 0 {
		t.Errorf("%d are still held", m.used)
	}
}
