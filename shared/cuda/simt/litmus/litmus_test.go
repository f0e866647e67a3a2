//go:build !race

package litmus

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// data is n elements of a decaying recurrence, the same in every test.
func data(n int) (a, b []float32) {
	a, b = make([]float32, n), make([]float32, n)
	state := uint32(1)
	for i := range a {
		state = state*1664525 + 1013904223
		a[i] = 0.9 + float32(state>>20)/65536
		state = state*1664525 + 1013904223
		b[i] = float32(state>>20)/4096 - 0.5
	}
	return a, b
}

func do(t testing.TB, r Run) Report {
	t.Helper()
	if r.A == nil {
		r.A, r.B = data(256)
	}
	report, err := r.Do()
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// rightScan says where h first leaves the recurrence, or -1. The chain is short, so 1e-4 is far above rounding and
// far below any mistake.
func rightScan(a, b, h []float32) int {
	state := 0.0
	for i := range a {
		state = float64(a[i])*state + float64(b[i])
		if !(math.Abs(state-float64(h[i])) <= 1e-4) {
			return i
		}
	}
	return -1
}

// Each bug is found in every mode and for every seed named, with its text; its twin passes in all modes.
var pairs = []struct {
	bug, twin string
	status    Status
	modes     []Mode
	seeds     int // EXPLORE: from 1
	n         int // elements; default 256
	outputs   int
	text      []string
}{
	{bug: "look_back/no_writer_fence", twin: "look_back", status: Unordered, modes: []Mode{Explore}, seeds: 100, n: 2048,
		text: []string{"the writer's fence is missing", "workspace"}},
	{bug: "look_back/no_reader_fence", twin: "look_back", status: Unordered, modes: []Mode{Explore}, seeds: 100, n: 2048,
		text: []string{"the reader's fence is missing", "workspace"}},
	{bug: "look_back/block_index", twin: "look_back", status: Deadlock, modes: []Mode{Explore}, seeds: 30, n: 2048,
		text: []string{"thread 0 polls workspace at byte", "nobody has stored to", "have not started"}},
	{bug: "relay/torn", twin: "relay", status: Unordered, modes: []Mode{Explore}, seeds: 30, n: 64,
		text: []string{"16 bytes at once", "stored in parts"}},
	{bug: "reverse/missing_barrier", twin: "reverse", status: Race, modes: []Mode{Count, Explore}, seeds: 30,
		text: []string{"shared memory at byte", "no barrier orders the two"}},
	{bug: "reverse/divergent_barrier", twin: "reverse", status: Divergence, modes: []Mode{Count, Explore}, seeds: 30,
		text: []string{"barrier", "kernel.cu:101", "kernel.cu:102"}},
	{bug: "reverse/uninitialised", twin: "reverse", status: Uninitialised, modes: []Mode{Count, Explore}, seeds: 30,
		text: []string{"thread 46 reads static shared memory"}},
	{bug: "reverse_warp/missing_barrier", twin: "reverse_warp", status: Race, modes: []Mode{Count, Explore}, seeds: 30,
		n: 32, text: []string{"__syncwarp"}},
	{bug: "rounded_up/beyond", twin: "rounded_up", status: OutOfBounds, modes: []Mode{Count, Explore}, seeds: 5, n: 250,
		text: []string{"block 7 thread 26 writes 4 bytes at 0 bytes past the end of array 2 (1000 bytes)"}},
	{bug: "fill_shared/beyond", twin: "fill_shared", status: OutOfBounds, modes: []Mode{Count, Explore}, seeds: 5, n: 32,
		text: []string{"past the end of its 96 bytes of dynamic shared memory"}},
	{bug: "write_input", twin: "reverse", status: InputWrite, modes: []Mode{Count, Explore}, seeds: 5,
		text: []string{"writes 4 bytes to an input, array 0 at byte"}},
	{bug: "recurse/deep", twin: "recurse", status: Fault, modes: []Mode{Fast, Count, Explore}, seeds: 5, n: 64,
		text: []string{"block 0 thread 37: stack overflow"}},
	{bug: "masks/mismatch", twin: "masks", status: Divergence, modes: []Mode{Count, Explore}, seeds: 30, n: 32,
		text: []string{"mask 0x0001ffff", "mask 0xffff0000"}},
	{bug: "load_vectors/misaligned", twin: "load_vectors", status: Fault, modes: []Mode{Count, Explore}, seeds: 5,
		text: []string{"misaligned access of 16 bytes at array 0 at byte"}},
	{bug: "all_write/differ", twin: "all_write", status: Unordered, modes: []Mode{Explore}, seeds: 30,
		text: []string{"overwrites array 2 at byte 0"}},
	{bug: "grid_barrier/too_large", twin: "grid_barrier", status: Refused, modes: []Mode{Fast, Count, Explore}, seeds: 2,
		text: []string{"cooperative launch of 64 blocks; at most 32"}},
	{bug: "shape/block", twin: "shape", status: Refused, modes: []Mode{Fast, Count, Explore}, seeds: 2,
		text: []string{"block of 1025 x 1 x 1"}},
	{bug: "shape/grid", twin: "shape", status: Refused, modes: []Mode{Fast, Count, Explore}, seeds: 2,
		text: []string{"grid of 0 x 1 x 1"}},
	{bug: "shape/shared", twin: "shape", status: Refused, modes: []Mode{Fast, Count, Explore}, seeds: 2,
		text: []string{"233472 bytes of dynamic shared memory"}},
	{bug: "neighbours/unordered", twin: "neighbours", status: Unordered, modes: []Mode{Explore}, seeds: 30,
		text: []string{"reads workspace at byte 8"}},
	{bug: "count_in_shared/uninitialised", twin: "count_in_shared", status: Uninitialised, modes: []Mode{Count, Explore},
		seeds: 5, text: []string{"reads static shared memory"}},
	{bug: "wait_for_ever", twin: "look_back", status: Deadlock, modes: []Mode{Fast, Count, Explore}, seeds: 5,
		text: []string{"polls"}},
}

func TestBugIsNamedAndItsTwinPasses(t *testing.T) {
	for _, p := range pairs {
		t.Run(p.bug, func(t *testing.T) {
			a, b := data(max(p.n, 32))
			if p.n == 0 {
				a, b = data(256)
			}
			for _, mode := range p.modes {
				for seed := 1; seed <= seedsOf(mode, p.seeds); seed++ {
					bug := do(t, Run{Name: p.bug, Mode: mode, Seed: uint64(seed), A: a, B: b})
					if bug.Status != p.status {
						t.Fatalf("mode %d seed %d: status %d, want %d; text %q", mode, seed, bug.Status, p.status, bug.Text)
					}
					for _, want := range p.text {
						if !strings.Contains(bug.Text, want) {
							t.Fatalf("mode %d seed %d: text %q lacks %q", mode, seed, bug.Text, want)
						}
					}
				}
			}
			for _, mode := range []Mode{Fast, Count, Explore} {
				for seed := 1; seed <= seedsOf(mode, 10); seed++ {
					if twin := do(t, Run{Name: p.twin, Mode: mode, Seed: uint64(seed), A: a, B: b}); twin.Status != OK {
						t.Fatalf("twin %s, mode %d seed %d: %d %s", p.twin, mode, seed, twin.Status, twin.Text)
					}
				}
			}
		})
	}
}

func seedsOf(mode Mode, seeds int) int {
	if mode == Explore {
		return seeds
	}
	return 1
}

// The correct look-back: no false alarm and no wrong result. SCANHOST_SEEDS asks for more seeds than fit in a few
// seconds.
func TestCorrectLookBackPassesEverySeed(t *testing.T) {
	seeds := 300
	if s := os.Getenv("SCANHOST_SEEDS"); s != "" {
		var err error
		if seeds, err = strconv.Atoi(s); err != nil {
			t.Fatalf("SCANHOST_SEEDS is %q; a number is needed", s)
		}
	}
	a, b := data(64 * 32)
	begin := time.Now()
	for seed := 1; seed <= seeds; seed++ {
		r := do(t, Run{Name: "look_back", Mode: Explore, Seed: uint64(seed), A: a, B: b})
		if r.Status != OK {
			t.Fatalf("seed %d: %d %s", seed, r.Status, r.Text)
		}
		if at := rightScan(a, b, r.H); at >= 0 {
			t.Fatalf("seed %d: wrong at %d", seed, at)
		}
	}
	t.Logf("%.0f schedules per second", float64(seeds)/time.Since(begin).Seconds())
}

// A swapped operand breaks no rule of the machine: only the result shows it.
func TestSwappedOperandsAreWrongInEveryMode(t *testing.T) {
	a, b := data(2048)
	for _, mode := range []Mode{Fast, Count, Explore} {
		r := do(t, Run{Name: "look_back/swapped", Mode: mode, A: a, B: b})
		if r.Status != OK || rightScan(a, b, r.H) < 0 {
			t.Errorf("mode %d: status %d, first difference at %d; want 0 and one", mode, r.Status, rightScan(a, b, r.H))
		}
		if r = do(t, Run{Name: "look_back", Mode: mode, A: a, B: b}); rightScan(a, b, r.H) >= 0 {
			t.Errorf("mode %d: the twin is wrong at %d", mode, rightScan(a, b, r.H))
		}
	}
}

func TestSeedReplaysItsReport(t *testing.T) {
	a, b := data(2048)
	differ := false
	for _, name := range []string{"look_back", "look_back/no_writer_fence", "look_back/block_index", "reverse/missing_barrier"} {
		for seed := uint64(1); seed <= 10; seed++ {
			run := Run{Name: name, Mode: Explore, Seed: seed, A: a, B: b}
			first, again := do(t, run), do(t, run)
			if first.Status != again.Status || first.Text != again.Text || first.Counters != again.Counters {
				t.Fatalf("%s seed %d: %d %q %+v, then %d %q %+v", name, seed, first.Status, first.Text, first.Counters,
					again.Status, again.Text, again.Counters)
			}
			run.Seed += 100
			differ = differ || do(t, run).Counters != first.Counters
		}
	}
	if !differ {
		t.Error("no seed changed anything")
	}
}

// A batch stops at its first finding, says which launch it was, and leaves the simulator fit for the next batch.
func TestLaunchAfterAFinding(t *testing.T) {
	a, b := data(2048)
	for _, mode := range []Mode{Fast, Count, Explore} {
		for range 3 {
			r := do(t, Run{Name: "recurse/deep", Mode: mode, Seed: 7, Launches: 3, A: a, B: b})
			if r.Status != Fault || r.Completed != 0 || r.Seed != 7 {
				t.Fatalf("mode %d: status %d after %d launches, seed %d: %s", mode, r.Status, r.Completed, r.Seed, r.Text)
			}
			r = do(t, Run{Name: "look_back", Mode: mode, Launches: 3, A: a, B: b})
			if r.Status != OK || r.Completed != 3 || rightScan(a, b, r.H) >= 0 {
				t.Fatalf("mode %d: status %d after %d launches: %s", mode, r.Status, r.Completed, r.Text)
			}
		}
	}
}

func TestCounters(t *testing.T) {
	a, b := data(2048)
	c := do(t, Run{Name: "look_back", Mode: Count, A: a, B: b}).Counters
	bytes := uint64(4 * len(a))
	if c.Read != [3]uint64{bytes, bytes, 0} || c.Written != [3]uint64{0, 0, bytes} {
		t.Errorf("read %v, written %v; want each array once, %d bytes", c.Read, c.Written, bytes)
	}
	if c.Atomics != 64 || c.Barriers != 2*64 || c.Shuffles != 64*12 {
		t.Errorf("%d atomics, %d barriers, %d shuffles; want 64, 128, 768", c.Atomics, c.Barriers, c.Shuffles)
	}
	if want := uint64(64*4 + 64*(8+4)*2); c.WorkspaceWritten != want {
		t.Errorf("%d bytes written to the workspace, want %d: a ticket, two records and two flags for each tile", c.WorkspaceWritten, want)
	}
}

// Schedules explored per second: 64 tiles of 32 threads.
func BenchmarkExplore(bench *testing.B) {
	a, b := data(64 * 32)
	for i := range bench.N {
		if r := do(bench, Run{Name: "look_back", Mode: Explore, Seed: uint64(i + 1), A: a, B: b}); r.Status != OK {
			bench.Fatal(r.Text)
		}
	}
	bench.ReportMetric(float64(bench.N)/bench.Elapsed().Seconds(), "schedules/s")
}
