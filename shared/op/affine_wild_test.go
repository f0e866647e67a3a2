package op

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// wild draws values from the whole of fp32, and now and then from what lies outside it.
func wild(withSpecials bool) *rapid.Generator[float32] {
	special := []float32{0, 1, -1, 0x1p-149, -0x1p-126, math.MaxFloat32, 1e30, 1e-30}
	if withSpecials {
		special = append(special, inf, -inf, nan)
	}
	return rapid.Custom(func(t *rapid.T) float32 {
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			return rapid.SampledFrom(special).Draw(t, "special")
		case 1, 2:
			v := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
			if finite(v) {
				return v
			}
		}
		return rapid.Float32Range(-1.5, 1.5).Draw(t, "tame")
	})
}

// Overflow, underflow, NaN and infinities anywhere: no grouping may be called wrong for what IEEE arithmetic
// makes of them. This is the test of what is labelled out of range, and for how long.
func TestNoGroupingIsWrongOnWildData(t *testing.T) {
	for name, values := range map[string]*rapid.Generator[float32]{"finite": wild(false), "with NaN and infinities": wild(true)} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				n := rapid.IntRange(1, 40).Draw(r, "n")
				x := table{a: rapid.SliceOfN(values, n, n).Draw(r, "a"), b: rapid.SliceOfN(values, n, n).Draw(r, "b")}
				h0 := float32(0)
				if rapid.Bool().Draw(r, "start state") {
					h0 = values.Draw(r, "h0")
					x.h0, x.options = []float32{h0}, []string{"h0"}
				}
				for name, scan := range map[string]scanner{
					"serial": serial, "serial, unfused": serialUnfused, "tree": tree, "tree, unfused": treeUnfused, "any": bracketed(r),
				} {
					x.h = scan(x.a, x.b, h0)
					if got := x.check(t); got.Wrong > 0 {
						r.Fatalf("%s: %+v, first %v\nh = %v", name, got, got.First, x.h)
					}
				}
			})
		})
	}
}
