package op

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npz"
)

// The golden data are independent answers in extended precision; those of the real series also agree with pandas.
func TestGoldenData(t *testing.T) {
	for _, file := range []string{"testdata/affine_random.npz", "testdata/affine_real.npz"} {
		archive, err := npz.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = archive.Close() }()
		names := 0
		for _, key := range archive.Keys() {
			name, found := strings.CutSuffix(key, ".h.npy")
			if !found {
				continue
			}
			names++
			t.Run(name, func(t *testing.T) { checkGolden(t, archive, name) })
		}
		if names < 4 {
			t.Errorf("%s: found %d cases", file, names)
		}
	}
}

func checkGolden(t *testing.T, archive *npz.Reader, name string) {
	var a, b []float32
	var h []float64
	for array, into := range map[string]any{".a.npy": &a, ".b.npy": &b, ".h.npy": &h} {
		if err := archive.Read(name+array, into); err != nil {
			t.Fatal(err)
		}
	}
	shape := archive.Header(name + ".a.npy").Descr.Shape
	length, rows := shape[len(shape)-1], len(a)/shape[len(shape)-1]
	rounded := make([]float32, len(h))
	for i, v := range h {
		rounded[i] = float32(v)
	}
	p, err := NewAffineProblem(int64(rows), int64(length), FP32)
	if err != nil {
		t.Fatal(err)
	}
	got, err := affine{}.Check(p, map[string][]byte{"a": bytesOf(a), "b": bytesOf(b), "h": bytesOf(rounded)}, testPoison, false)
	if err != nil || got.Wrong > 0 || got.Worst > 0.25 { // one rounding of the four and more that any row is granted
		t.Errorf("%+v, first %v, %v", got, got.First, err)
	}
	for row := range rows {
		at := row * length
		want, s, _ := naive(a[at:at+length], b[at:at+length], 0)
		for i, v := range want {
			if math.Abs(v-h[at+i]) > 1e-12*s[i] {
				t.Fatalf("row %d, step %d: %.17g, golden %.17g", row, i, v, h[at+i])
			}
		}
	}
	if slices.Contains(archive.Keys(), name+".pandas_ewm.npy") {
		checkPandas(t, archive, name, h)
	}
}

// checkPandas compares with pandas' own moving average. Its factors are float64, ours were rounded to fp32.
func checkPandas(t *testing.T, archive *npz.Reader, name string, h []float64) {
	var theirs []float64
	if err := archive.Read(name+".pandas_ewm.npy", &theirs); err != nil {
		t.Fatal(err)
	}
	for i, v := range theirs {
		if math.Abs(v-h[i]) > 1e-6*math.Abs(v) {
			t.Fatalf("step %d: %.17g, pandas %.17g", i, h[i], v)
		}
	}
}
