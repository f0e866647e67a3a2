package litmus

import (
	"math"
	"math/bits"
	"slices"
	"testing"
)

// semantics computes what the kernel of that name must return, from CUDA's definitions.
func semantics(a, b []float32, t int) [16]float64 {
	lane := t % 32
	var h [16]float64
	h[0] = float64(t)
	if lane%8 >= 3 {
		h[0] -= 3
	}
	h[1] = float64(t)
	if lane%8 < 5 {
		h[1] += 3
	}
	h[2] = float64(t/32*32 + lane ^ 5)
	h[3] = float64(t/8*8 + 1)
	h[4], h[5], h[6], h[7] = 11, 1, 0, 1
	h[8] = float64(bits.LeadingZeros32(uint32(t)))
	if t > 0 {
		h[8] += 100 * float64(bits.TrailingZeros32(uint32(t))+1)
	}
	h[9] = float64(float32(math.FMA(float64(a[t]), float64(b[t]), float64(a[t]))))
	h[10], h[11], h[12] = 64, 63, -63
	h[14] = float64(bits.Reverse8(uint8(t)))
	h[15] = math.NaN()
	if t%2 == 0 {
		h[15] = float64(t/32*32 + 4)
	}
	return h
}

func TestCollectivesAtomicsAndBits(t *testing.T) {
	a, b := make([]float32, 64), make([]float32, 64)
	for i := range a {
		a[i], b[i] = 1+float32(i)/4096, 1-float32(i)/8192
	}
	for _, mode := range modes() {
		r, err := Run{Name: "semantics", Mode: mode, Seed: 3, A: a, B: b, Outputs: 1024}.Do()
		if err != nil || r.Status != OK {
			t.Fatalf("mode %d: %v, status %d %s", mode, err, r.Status, r.Text)
		}
		swaps := 0
		for thread := range 64 {
			want := semantics(a, b, thread)
			for i, w := range want {
				got := float64(r.H[16*thread+i])
				if i == 13 { // exactly one thread's compare-and-swap wins
					swaps += int(got)
				} else if got != w && !(math.IsNaN(got) && math.IsNaN(w)) {
					t.Errorf("mode %d thread %d value %d: %v, want %v", mode, thread, i, got, w)
				}
			}
		}
		if swaps != 1 {
			t.Errorf("mode %d: %d threads won the compare-and-swap, want 1", mode, swaps)
		}
	}
}

// In FAST mode workers share the look-back; a race between them would show here, or under go test -race in the
// simulator's own Go callers.
func TestFastWithSeveralWorkers(t *testing.T) {
	n := 1 << 16
	a, b := make([]float32, n), make([]float32, n)
	for i := range a {
		a[i], b[i] = 0.5, float32(i%7)
	}
	for _, workers := range []uint32{1, 2, 5} {
		r, err := Run{Name: "look_back", Workers: workers, Launches: 5, A: a, B: b}.Do()
		if err != nil || r.Status != OK || r.Completed != 5 {
			t.Fatalf("%d workers: %v, status %d %s", workers, err, r.Status, r.Text)
		}
		state := 0.0
		for i := range a {
			state = 0.5*state + float64(b[i])
			if !(math.Abs(state-float64(r.H[i])) <= 1e-4) {
				t.Fatalf("%d workers: h[%d] = %v, want %v", workers, i, r.H[i], state)
			}
		}
	}
}

// Every schedule gives the result that the lanes would have in step.
func TestMixedMeetings(t *testing.T) {
	want := mixed()
	inputs := make([]float32, len(want))
	for _, mode := range modes() {
		for seed := uint64(1); seed <= 10; seed++ {
			r, err := Run{Name: "mixed", Mode: mode, Seed: seed, Workers: uint32(1 + seed%2), A: inputs, B: inputs}.Do()
			if err != nil || r.Status != OK {
				t.Fatalf("mode %d seed %d: %v, status %d: %s", mode, seed, err, r.Status, r.Text)
			}
			for i, v := range want {
				if r.H[i] != float32(v) {
					t.Fatalf("mode %d seed %d: thread %d has %v, want %d", mode, seed, i, r.H[i], v)
				}
			}
		}
	}
}

// mixed is kernel mixed, a step of all threads at a time.
func mixed() []uint32 {
	v := make([]uint32, 70)
	for i := range v {
		v[i] = uint32(i)
	}
	for round := range 6 {
		warps := 3
		if round >= 3 {
			warps = 2
		}
		was := slices.Clone(v)
		for i := range 64 {
			v[i] += was[i/16*16+(i%16^(round+1))]
		}
		if round%2 == 1 {
			was = slices.Clone(v)
			for i := range 64 {
				votes := uint32(0)
				for _, w := range was[i/32*32 : i/32*32+32] {
					votes += w & 1
				}
				from := i
				if i%32 >= 3 {
					from = i - 3
				}
				v[i] += votes + was[from]
			}
		}
		first := []uint32{v[0], v[32], v[64]}
		for i := range v {
			if i/32 < warps {
				v[i] = (v[i] + first[(i/32+1)%warps]) & 0xfffff
			}
		}
	}
	return v
}
