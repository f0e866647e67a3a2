package litmus

import (
	"encoding/binary"
	"math"
	"testing"

	"scanhost/shared/op"
)

// Rounding changes its mind only at a number of the type and half way between two of them, so a type is tested
// exhaustively by every one of its numbers, every middle, and the fp32 numbers next to these, of either sign.
// The largest number's middle is half a unit above it, where infinity begins.
func roundingPoints(dtype op.DType) []float32 {
	var points []float32
	around := func(x float32) {
		points = append(points, x, math.Nextafter32(x, 0), math.Nextafter32(x, float32(math.Inf(1))))
	}
	infinity := map[op.DType]uint16{op.FP16: 0x7c00, op.BF16: 0x7f80}[dtype]
	for bits := range infinity {
		x := stored(bits, dtype)
		unit := float64(stored(max(bits, 1), dtype)) - float64(stored(max(bits, 1)-1, dtype))
		if bits+1 < infinity {
			unit = float64(stored(bits+1, dtype)) - float64(x)
		}
		around(x)
		around(float32(float64(x) + unit/2))
	}
	points = append(points, math.MaxFloat32, math.SmallestNonzeroFloat32, float32(math.Inf(1)))
	for _, x := range points {
		points = append(points, -x)
	}
	return points
}

func stored(bits uint16, dtype op.DType) float32 {
	var value [1]float32
	op.Decode(value[:], binary.LittleEndian.AppendUint16(nil, bits), dtype)
	return value[0]
}

func rounded(x float32, dtype op.DType) uint16 {
	var raw [2]byte
	op.Encode(raw[:], []float32{x}, dtype)
	return binary.LittleEndian.Uint16(raw[:])
}

func TestStorageTypesRoundAsTheJudgeDoes(t *testing.T) {
	for i, dtype := range []op.DType{op.FP16, op.BF16} {
		b := roundingPoints(dtype)
		a := make([]float32, len(b))
		r, err := Run{Name: "storage_types", Mode: Fast, A: a, B: b, Outputs: 4 * len(b)}.Do()
		if err != nil || r.Status != OK {
			t.Fatalf("%v, status %d %s", err, r.Status, r.Text)
		}
		for k, x := range b {
			if got, want := uint16(r.H[4*k+2+i]), rounded(x, dtype); got != want {
				t.Fatalf("%s: %g (%#08x) narrows to %#04x, want %#04x", dtype, x, math.Float32bits(x), got, want)
			}
		}
	}
}

func TestStorageTypesWidenEveryPattern(t *testing.T) {
	a := make([]float32, 1<<16)
	for i := range a {
		a[i] = float32(i)
	}
	r, err := Run{Name: "storage_types", Mode: Fast, A: a, B: make([]float32, len(a)), Outputs: 4 * len(a)}.Do()
	if err != nil || r.Status != OK {
		t.Fatalf("%v, status %d %s", err, r.Status, r.Text)
	}
	for i, dtype := range []op.DType{op.FP16, op.BF16} {
		for bits := range a {
			got, want := math.Float32bits(r.H[4*bits+i]), math.Float32bits(stored(uint16(bits), dtype))
			if got != want {
				t.Fatalf("%s: %#04x widens to %#08x, want %#08x", dtype, bits, got, want)
			}
		}
	}
}

// A GPU stores one NaN, whatever the sign and payload of the fp32 one.
func TestEveryNaNIsStoredAlike(t *testing.T) {
	nans := []float32{math.Float32frombits(0x7fc00000), math.Float32frombits(0xffc00000), math.Float32frombits(0x7f800001),
		math.Float32frombits(0xffffffff)}
	for _, mode := range modes() {
		r, err := Run{Name: "storage_types", Mode: mode, A: make([]float32, len(nans)), B: nans, Outputs: 4 * len(nans)}.Do()
		if err != nil || r.Status != OK {
			t.Fatalf("mode %d: %v, status %d %s", mode, err, r.Status, r.Text)
		}
		for k, x := range nans {
			if half, brain := r.H[4*k+2], r.H[4*k+3]; half != 0x7fff || brain != 0x7fff {
				t.Errorf("mode %d: %#08x narrows to %#x in fp16 and %#x in bf16, want 0x7fff", mode, math.Float32bits(x), int(half), int(brain))
			}
		}
	}
}
