package op

import (
	"testing"
)

var rightScans = map[string]scanner{
	"serial": serial, "serial, unfused": serialUnfused, "tree": tree, "tree, unfused": treeUnfused,
	"spine": tiled(256, spine), "look-back": tiled(256, folded), "short tiles": tiled(32, folded),
}

// No right grouping may be called wrong, whatever the regime, shape and options.
func TestRightGroupingsPassTheSuite(t *testing.T) {
	limits := Limits{Options: affine{}.Options(), Elements: 1 << 16, DTypes: []DType{FP32, FP16, BF16}}
	if testing.Short() {
		limits.Elements = 1 << 12
	}
	suite := affine{}.Suite(limits, 1)
	for name, scan := range rightScans {
		t.Run(name, func(t *testing.T) {
			for _, c := range suite {
				if got := judged(t, c, scan); got.Wrong > 0 {
					t.Errorf("%s: %d wrong, first %v", c.Name, got.Wrong, got.First)
				}
			}
		})
	}
}

// The row that a constant tolerance, or a bound in log2 L alone, gets wrong in one direction or the other.
func TestLongRowAtDecayNearOne(t *testing.T) {
	skipLong(t)
	const row = "affine_scan:near1:rows=1:length=4194304:h0:fp32:seed=1"
	middle := func(tiles int) int { return tiles / 2 }
	for _, s := range []struct {
		name  string
		scan  scanner
		right bool
	}{
		{"serial", serial, true},
		{"serial, unfused", serialUnfused, true},
		{"tree", tree, true},
		{"tree, unfused", treeUnfused, true},
		{"blocked", tiled(2048, spine), true},
		{"look-back over 16,384 tiles", tiled(256, folded), true},
		{"operands swapped", treeSwapped, false},
		{"carry dropped at one tile in the middle", tiled(256, dropped(middle)), false},
		{"history cut after 32 tiles", tiled(256, truncated(32)), false},
		{"history cut after 512 tiles", tiled(256, truncated(512)), false},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			got := judged(t, caseNamed(t, row), s.scan)
			t.Logf("worst %.3g bounds, %d wrong", got.Worst, got.Wrong)
			if (got.Wrong == 0) != s.right {
				t.Errorf("%d wrong, first %v", got.Wrong, got.First)
			}
		})
	}
}

// Each fault must be caught in the regimes that are meant for it. Random data with strong decay would pass most.
func TestFaultsAreCaughtWhereMeant(t *testing.T) {
	last := func(tiles int) int { return tiles - 1 }
	second := func(tiles int) int { return 1 }
	faults := map[string]scanner{
		"swapped":      treeSwapped,
		"dropped":      tiled(256, dropped(second)),
		"dropped last": tiled(256, dropped(last)),
		"truncated":    tiled(256, truncated(4)),
		"shifted": func(a, b []float32, h0 float32) []float32 {
			return append([]float32{h0}, serial(a, b, h0)[:max(1, len(a))-1]...)
		},
		"forward for reverse": func(a, b []float32, h0 float32) []float32 {
			h := make([]float32, len(a))
			for i := len(a) - 1; i >= 0; i-- {
				h0 = fused(a[i], h0, b[i])
				h[i] = h0
			}
			return h
		},
		"start state ignored": func(a, b []float32, _ float32) []float32 { return serial(a, b, 0) },
		"zeros":               func(a, _ []float32, _ float32) []float32 { return make([]float32, len(a)) },
	}
	for fault, regimes := range map[string][]string{
		"swapped":             {"decay", "near1", "near0", "negative", "signs", "resets", "exact", "position", "random"},
		"dropped":             {"near1", "one", "exact", "impulse", "chain"},
		"dropped last":        {"near1", "one", "exact", "impulse", "chain"},
		"truncated":           {"near1", "impulse", "chain"},
		"shifted":             {"decay", "zero", "near0", "exact", "position", "mixed"},
		"forward for reverse": {"decay", "near1", "exact", "impulse", "position", "mixed"},
		"start state ignored": {"decay", "near1", "exact", "position"},
		"zeros":               {"near0", "zero", "decay", "exact", "impulse"},
	} {
		for _, regime := range regimes {
			c := caseNamed(t, "affine_scan:"+regime+":rows=1:length=4097:h0:fp32:seed=1")
			if got := judged(t, c, faults[fault]); got.Wrong == 0 {
				t.Errorf("%s passes %s, worst %.3g bounds", fault, c.Name, got.Worst)
			}
		}
	}
}

// With a = 1 and -1 nothing is rounded, so equality holds where a bound over so many steps would let a value go.
func TestImpulseSurvivesALongRowExactly(t *testing.T) {
	skipLong(t)
	c := caseNamed(t, "affine_scan:impulse:rows=1:length=4194304:reverse:fp32:seed=3")
	if got := judged(t, c, serial); got.Wrong > 0 || got.Worst != 0 {
		t.Errorf("serial: %+v", got)
	}
	if got := judged(t, c, tiled(256, dropped(func(n int) int { return n - 1 }))); got.Wrong != 256 {
		t.Errorf("a carry lost into the last tile gives %d wrong, want 256", got.Wrong)
	}
}

// Rounding errors of a fold from right to left do not shrink with decay, and M does not count them: a kernel that
// walks far back this way is outside, where the fold from left to right is inside. docs/error-bounds.md says why.
func TestLongFoldFromTheRightIsOutside(t *testing.T) {
	const n = 10000
	a, b := make([]float32, n), make([]float32, n)
	for i := range a {
		a[i], b[i] = 1, 0x1.01p-24
	}
	b[n-1] = 1
	right := pair{a[n-1], b[n-1]}
	for i := n - 2; i >= 0; i-- {
		right = combine(pair{a[i], b[i]}, right)
	}
	p, err := NewAffineProblem(1, n, FP32)
	if err != nil {
		t.Fatal(err)
	}
	h := serial(a, b, 0)
	arrays := map[string][]byte{"a": bytesOf(a), "b": bytesOf(b), "h": bytesOf(h)}
	if got, err := (affine{}).Check(p, arrays, testPoison, false); err != nil || got.Wrong != 0 {
		t.Errorf("left to right: %+v, %v", got, err)
	}
	h[n-1] = right.b
	arrays["h"] = bytesOf(h)
	if got, err := (affine{}).Check(p, arrays, testPoison, false); err != nil || got.Wrong != 1 {
		t.Errorf("right to left: %+v, %v; want 1 wrong", got, err)
	}
}

// skipLong leaves rows of millions out of -short runs: one row is one goroutine's, and holds nothing for a race
// detector to see.
func skipLong(t *testing.T) {
	if testing.Short() {
		t.Skip("rows of 2^22 are for runs without -short")
	}
}

func bytesOf(values []float32) []byte {
	raw := make([]byte, 4*len(values))
	Encode(raw, values, FP32)
	return raw
}
