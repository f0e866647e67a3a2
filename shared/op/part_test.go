package op

import (
	"slices"
	"testing"
)

// A part of a problem is judged as the whole is: what is wrong in it is found there, at the same place.
func TestPartsAreJudgedLikeTheWhole(t *testing.T) {
	for name, rows := range map[string]int64{
		"affine_scan:near1:rows=5:length=7:h0+last_state:fp32:seed=3":                          2,
		"selective_scan:decay:batch=5:length=4:channels=3:state=2:D+h0+last_state:bf16:seed=3": 2 * 3,
	} {
		o, c := caseOfAnyOp(t, name)
		whole := map[string][]byte{}
		for _, a := range o.Arrays(c.Problem) {
			if a.Shape == nil {
				continue
			}
			whole[a.Role] = make([]byte, a.Bytes()) // outputs of zeros, wrong everywhere
			if !a.Output {
				if err := o.Fill(c, a.Role, whole[a.Role]); err != nil {
					t.Fatal(err)
				}
			}
		}
		all, err := o.Check(c.Problem, whole, testPoison, false)
		if err != nil {
			t.Fatal(err)
		}
		const first, count = 2, 2
		part, shift := o.Part(c.Problem, first, count)
		sliced := map[string][]byte{}
		for _, a := range o.Arrays(c.Problem) {
			sliced[a.Role] = whole[a.Role]
			if a.Shape != nil && slices.Contains(a.Axes, o.Outermost()) {
				each := a.Bytes() / c.Problem.Dims[o.Outermost()]
				sliced[a.Role] = whole[a.Role][first*each : (first+count)*each]
			}
		}
		got, err := o.Check(part, sliced, testPoison, false)
		if err != nil || got.Checked*5 != all.Checked*count || got.First == nil {
			t.Fatalf("%s: %+v, %v; the whole has %+v", name, got, err, all)
		}
		if got.First.Row != 0 || shift != rows || c.Problem.Dims[o.Outermost()] != 5 {
			t.Errorf("%s: first wrong row %d, shifted by %d; want 0 and %d. The whole has %v", name, got.First.Row, shift, rows, c.Problem.Dims)
		}
	}
}

func TestMiniaturesAreSmallProblemsOfTheSameOp(t *testing.T) {
	for _, name := range []string{
		"affine_scan:near1:rows=500:length=70000:h0:fp32:seed=3", "affine_scan:near1:rows=500:length=0:h0:fp32:seed=3",
		"selective_scan:decay:batch=64:length=65536:channels=2048:state=16:D:bf16:seed=3",
		"selective_scan:decay:batch=1:length=1:channels=1:state=256:D:bf16:seed=3",
	} {
		o, c := caseOfAnyOp(t, name)
		small := o.Miniature(c.Problem, 1<<15)
		if err := o.Validate(small); err != nil || o.Arrays(small)[0].Elements() > 1<<17 || small.DType != c.Problem.DType {
			t.Errorf("%s: %+v, %v", name, small, err)
		}
		if c.Problem.Dims[dimLength] > 60000 && o.Arrays(small)[0].Elements() < 1<<14 {
			t.Errorf("%s: %+v is too small to count on", name, small)
		}
	}
}

func caseOfAnyOp(t *testing.T, name string) (Op, Case) {
	t.Helper()
	for _, operation := range Names() {
		o, err := Lookup(operation)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := o.ParseCase(name); err == nil {
			return o, c
		}
	}
	t.Fatalf("%s is no case of any operation", name)
	return nil, Case{}
}
