package op

import (
	"math"
	"strings"
	"testing"
)

// table checks rows of one length given by hand.
type table struct {
	a, b, h []float32
	rows    int64
	h0      []float32
	last    []float32
	options []string
	exact   bool
}

func (x table) check(t *testing.T) Comparison {
	t.Helper()
	rows := max(1, x.rows)
	p, err := NewAffineProblem(rows, int64(len(x.a))/rows, FP32, x.options...)
	if err != nil {
		t.Fatal(err)
	}
	arrays := map[string][]byte{"a": bytesOf(x.a), "b": bytesOf(x.b), "h": bytesOf(x.h), "h0": bytesOf(x.h0), "last_state": bytesOf(x.last)}
	got, err := affine{}.Check(p, arrays, testPoison, x.exact)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

var (
	inf    = float32(math.Inf(1))
	nan    = float32(math.NaN())
	poison = math.Float32frombits(testPoison)
)

// Rows are rows of the table: what a kernel may and may not give where IEEE arithmetic leaves the finite.
func TestSpecialValues(t *testing.T) {
	const huge, tiny = 3e38, 1e-30
	for _, c := range []struct {
		name string
		table
		wrong, outOfRange, unwritten int64
	}{
		{"NaN is never within", table{a: []float32{1}, b: []float32{1}, h: []float32{nan}}, 1, 0, 0},
		{"Inf is never within", table{a: []float32{1}, b: []float32{1}, h: []float32{inf}}, 1, 0, 0},
		{"NaN is never equal", table{a: []float32{1}, b: []float32{1}, h: []float32{nan}, exact: true}, 1, 0, 0},
		{"-0 equals 0", table{a: []float32{1, 0}, b: []float32{0, 0}, h: []float32{float32(math.Copysign(0, -1)), 0}, exact: true}, 0, 0, 0},
		{"poison is unwritten", table{a: []float32{1, 1}, b: []float32{1, 1}, h: []float32{1, poison}}, 1, 0, 1},
		{"poison is unwritten where NaN is due", table{a: []float32{1}, b: []float32{nan}, h: []float32{poison}}, 1, 0, 1},
		{"NaN stays NaN", table{a: []float32{1, 1}, b: []float32{nan, 1}, h: []float32{nan, nan}}, 0, 0, 0},
		{"NaN lost", table{a: []float32{1, 1}, b: []float32{nan, 1}, h: []float32{nan, 1}}, 1, 0, 0},
		{"NaN is not Inf", table{a: []float32{1, 1}, b: []float32{nan, 1}, h: []float32{nan, inf}}, 1, 0, 0},
		{"NaN leaks backwards", table{a: []float32{1, 1}, b: []float32{1, nan}, h: []float32{nan, nan}}, 1, 0, 0},
		{"NaN leaks to the next row", table{rows: 2, a: []float32{1, 1}, b: []float32{nan, 1}, h: []float32{nan, nan}}, 1, 0, 0},
		{"NaN start", table{a: []float32{0}, b: []float32{1}, h0: []float32{nan}, h: []float32{nan}, options: []string{"h0"}}, 0, 0, 0},
		{"NaN passes a zero", table{a: []float32{1, 0}, b: []float32{nan, 1}, h: []float32{nan, 1}}, 1, 0, 0},
		{"all +Inf stays +Inf", table{a: []float32{1, 1, 1}, b: []float32{inf, inf, inf}, h: []float32{inf, inf, inf}}, 0, 0, 0},
		{"all +Inf made NaN", table{a: []float32{1, 1, 1}, b: []float32{inf, inf, inf}, h: []float32{inf, inf, nan}}, 1, 0, 0},
		{"sign of Inf", table{a: []float32{1, -1}, b: []float32{inf, 0}, h: []float32{inf, inf}}, 1, 0, 0},
		{"Inf times 0", table{a: []float32{1, 0}, b: []float32{inf, 1}, h: []float32{inf, nan}}, 0, 0, 0},
		{"Inf times 0 is not b", table{a: []float32{1, 0}, b: []float32{inf, 1}, h: []float32{inf, 1}}, 1, 0, 0},
		{"opposed Inf", table{a: []float32{1, 1}, b: []float32{inf, -inf}, h: []float32{inf, nan}}, 0, 0, 0},
		{"Inf through underflowed factors", table{a: []float32{1, tiny, tiny}, b: []float32{inf, 0, 0}, h: []float32{inf, inf, nan}}, 0, 0, 0},
		{"infinite a is Inf or NaN", table{a: []float32{1, inf, 1}, b: []float32{1, 0, 0}, h: []float32{1, inf, nan}}, 0, 0, 0},
		{"infinite a is not finite", table{a: []float32{1, inf}, b: []float32{1, 0}, h: []float32{1, 1}}, 1, 0, 0},
		{"first a unused", table{a: []float32{nan, 1}, b: []float32{1, 1}, h: []float32{1, 2}}, 0, 2, 0},
		{"first a used", table{a: []float32{nan, 1}, b: []float32{1, 1}, h: []float32{nan, nan}}, 0, 2, 0},
		{"first a unused, wrong", table{a: []float32{nan, 1}, b: []float32{1, 1}, h: []float32{1, 3}}, 1, 1, 0},
		{"overflow is labelled", table{a: []float32{1, 2, 1}, b: []float32{huge, 0, 0}, h: []float32{huge, inf, nan}}, 0, 2, 0},
		{"finite is no overflow", table{a: []float32{1, 2, 1}, b: []float32{huge, 0, 0}, h: []float32{huge, 1, nan}}, 1, 1, 0},
		{"overflow of a product alone", table{a: []float32{1, 1e30, 1e30, 0}, b: []float32{0, 0, 0, 1}, h: []float32{0, 0, 0, 1}}, 0, 2, 0},
		{"and what it leaves to a tree", table{a: []float32{1, 1e30, 1e30, 0}, b: []float32{0, 0, 0, 1}, h: []float32{0, 0, nan, nan}}, 0, 2, 0},
		{"reset after overflow is still held", table{a: []float32{1, 1e30, 1e30, 0}, b: []float32{0, 0, 0, 1}, h: []float32{0, 0, nan, 2}}, 1, 1, 0},
		{"overflow does not reach the next row", table{rows: 2, a: []float32{1, 2, 1, 1}, b: []float32{huge, huge, 1, 1}, h: []float32{huge, inf, 1, nan}}, 1, 1, 0},
		{"last state", table{a: []float32{1, 1}, b: []float32{1, 1}, h: []float32{1, 2}, last: []float32{3}, options: []string{"last_state"}}, 1, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.table.check(t)
			if got.Wrong != c.wrong || got.OutOfRange != c.outOfRange || got.Unwritten != c.unwritten {
				t.Errorf("%+v, first %v; want %d wrong, %d out of range, %d unwritten", got, got.First, c.wrong, c.outOfRange, c.unwritten)
			}
		})
	}
}

// A product that leaves float64 too comes back at a reset.
func TestReferenceComesBackFromBeyondFloat64(t *testing.T) {
	n := 20
	x := table{a: make([]float32, n), b: make([]float32, n), h: make([]float32, n)}
	for i := range x.a {
		x.a[i], x.b[i], x.h[i] = 1e30, 1, nan
	}
	x.a[n-2], x.h[n-2], x.a[n-1], x.h[n-1] = 0, 1, 1, 2
	if got := x.check(t); got.Wrong != 1 { // at the first step nothing has overflowed, and NaN is wrong
		t.Errorf("%+v, first %v; want 1 wrong", got, got.First)
	}
	x.h[n-1] = 3
	if got := x.check(t); got.Wrong != 2 {
		t.Errorf("%+v, first %v; want 2 wrong", got, got.First)
	}
}

// An error of underflow, grown by products that leave the range, is within the bound even in a serial loop that
// never overflows. Found by TestNoGroupingIsWrongOnWildData.
func TestUnderflowGrownOutOfRange(t *testing.T) {
	x := table{a: []float32{1, 0.5, 3e38, 3e38}, b: []float32{3 * 0x1p-149, 0, 0, 0}}
	x.h = serial(x.a, x.b, 0)
	if got := x.check(t); !finite(x.h[3]) || got.Wrong != 0 || got.OutOfRange != 1 {
		t.Errorf("%v: %+v, first %v", x.h, got, got.First)
	}
}

// Small results must not vanish in an absolute tolerance; what is lost when subnormals are flushed is tolerated,
// and counted.
func TestZerosPassOnlyForSubnormals(t *testing.T) {
	for h, want := range map[float32]Comparison{
		1e-4: {Checked: 1, Wrong: 1}, 1e-36: {Checked: 1, Wrong: 1}, 0x1p-127: {Checked: 1, Flushed: 1},
	} {
		got := table{a: []float32{0.5}, b: []float32{h}, h: []float32{0}}.check(t)
		if got.Checked != want.Checked || got.Wrong != want.Wrong || got.Flushed != want.Flushed {
			t.Errorf("%g: %+v", h, got)
		}
	}
}

func TestFirstPositionIsFirstInScanOrder(t *testing.T) {
	x := table{rows: 3, a: make([]float32, 12), b: make([]float32, 12), h: make([]float32, 12), options: []string{"reverse"}}
	for i := range x.b {
		x.b[i], x.h[i] = float32(i), float32(i)
	}
	x.h[5], x.h[6], x.h[9] = -1, -1, -1
	got := x.check(t)
	want := Position{Role: "h", Row: 1, Index: 2, Expected: 6, Got: -1}
	if got.First == nil {
		t.Fatal("nothing found")
	}
	want.Bounds = got.First.Bounds
	if *got.First != want || got.Wrong != 3 || !(got.First.Bounds > 1e4) {
		t.Errorf("%+v, first %v", got, got.First)
	}
}

func TestCheckRefusesBuffersOfTheWrongSize(t *testing.T) {
	p, err := NewAffineProblem(2, 3, FP32)
	if err != nil {
		t.Fatal(err)
	}
	_, err = affine{}.Check(p, map[string][]byte{"a": make([]byte, 24), "b": make([]byte, 20)}, testPoison, false)
	if err == nil || !strings.Contains(err.Error(), `"b" has 20 bytes; its shape takes 24`) {
		t.Error(err)
	}
}
