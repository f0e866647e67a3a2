package op

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Every 16-bit pattern survives widening and rounding; NaN stays NaN.
func TestSixteenBitTypesRoundTrip(t *testing.T) {
	for _, dtype := range []DType{FP16, BF16} {
		for bits := range 1 << 16 {
			raw, value := []byte{byte(bits), byte(bits >> 8)}, make([]float32, 1)
			Decode(value, raw, dtype)
			again := make([]byte, 2)
			Encode(again, value, dtype)
			if value[0] == value[0] && (raw[0] != again[0] || raw[1] != again[1]) {
				t.Fatalf("%s %04x is %g and comes back as %02x%02x", dtype, bits, value[0], again[1], again[0])
			}
			Decode(value, again, dtype)
			if nan := bits&0x7fff > map[DType]int{FP16: 0x7c00, BF16: 0x7f80}[dtype]; nan != (value[0] != value[0]) {
				t.Fatalf("%s %04x: NaN lost or made", dtype, bits)
			}
		}
	}
}

// Between neighbours the nearer is taken, and the even one half way.
func TestSixteenBitTypesRoundToNearestEven(t *testing.T) {
	for _, dtype := range []DType{FP16, BF16} {
		last := map[DType]int{FP16: 0x7bff, BF16: 0x7f7f}[dtype]
		for low := range last {
			raw, pairOf := []byte{byte(low), byte(low >> 8), byte(low + 1), byte((low + 1) >> 8)}, make([]float32, 2)
			Decode(pairOf, raw, dtype)
			half := (float64(pairOf[0]) + float64(pairOf[1])) / 2
			if float64(float32(half)) != half {
				continue // below fp32's own grid, where no value lies between
			}
			even := pairOf[low&1]
			below, above := math.Nextafter32(float32(half), 0), math.Nextafter32(float32(half), math.MaxFloat32)
			for v, want := range map[float32]float32{float32(half): even, below: pairOf[0], above: pairOf[1]} {
				got, out := make([]byte, 2), make([]float32, 1)
				Encode(got, []float32{v}, dtype)
				if Decode(out, got, dtype); out[0] != want {
					t.Fatalf("%s: %g becomes %g, want %g", dtype, v, out[0], want)
				}
			}
		}
	}
}

func TestMisalignedBuffersAreRead(t *testing.T) {
	c := caseNamed(t, "affine_scan:decay:rows=3:length=50:none:fp32:seed=1")
	arrays := arraysOf(t, c)
	run(c, arrays, serial)
	for role, raw := range arrays {
		shifted := make([]byte, len(raw)+1)
		copy(shifted[1:], raw)
		arrays[role] = shifted[1:]
	}
	if got := check(t, c, arrays); got.Wrong > 0 || got.Checked != 150 {
		t.Errorf("%+v", got)
	}
}

// What a kernel did wrong must reach --json even where it is NaN.
func TestResultsSurviveJSON(t *testing.T) {
	want := Comparison{
		Checked: 3, Worst: math.Inf(1), Wrong: 2, OutOfRange: 1, Flushed: 1,
		First: &Position{Role: "h", Row: 1, Index: 2, Expected: math.Inf(-1), Got: math.NaN(), Bounds: math.Inf(1)},
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Comparison
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("%s\n%s", text, diff)
	}
	if err := json.Unmarshal([]byte(`{"worst_bounds": "much"}`), &got); err == nil {
		t.Error("a word was taken for a number")
	}
}
