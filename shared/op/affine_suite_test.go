package op

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var ceilings = []int64{2048, 1 << 22, 0}

func suiteFor(ceiling int64) []Case {
	return affine{}.Suite(Limits{MaxLength: ceiling, Options: affine{}.Options()}, 1)
}

func elements(c Case) int64 { return c.Problem.Dims["rows"] * c.Problem.Dims["length"] }

// Enough cases to judge by, few enough elements for a simulated GPU, each once, the refusals last.
func TestSuiteForEveryCeiling(t *testing.T) {
	for _, ceiling := range ceilings {
		suite := suiteFor(ceiling)
		seen, total, refused := map[string]bool{}, int64(0), 0
		for _, c := range suite {
			if seen[c.Name] {
				t.Errorf("%d: %s twice", ceiling, c.Name)
			}
			seen[c.Name] = true
			switch over := ceiling > 0 && c.Problem.Dims["length"] > ceiling; {
			case over:
				refused++
			case refused > 0:
				t.Errorf("%d: %s after a case over the ceiling", ceiling, c.Name)
			default:
				total += elements(c)
			}
		}
		t.Logf("ceiling %d: %d cases, %d to be refused, %d elements", ceiling, len(suite), refused, total)
		if len(suite)-refused < 60 || total > 40e6 || (refused < 2) != (ceiling == 0) {
			t.Errorf("ceiling %d: %d cases, %d to be refused, %d elements", ceiling, len(suite), refused, total)
		}
	}
}

func TestSuiteHoldsTheShapesThatMatter(t *testing.T) {
	lengths, rows := map[int64]bool{}, map[int64]bool{}
	for _, c := range suiteFor(0) {
		lengths[c.Problem.Dims["length"]], rows[c.Problem.Dims["rows"]] = true, true
	}
	for _, n := range []int64{
		0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 65537, 1<<20 + 1, 1 << 22, 32768 * 256,
	} {
		if !lengths[n] {
			t.Errorf("no case of length %d", n)
		}
	}
	for _, n := range []int64{0, 1, 3, 70, 65537} {
		if !rows[n] {
			t.Errorf("no case of %d rows", n)
		}
	}
}

func TestSuiteHoldsEveryRegimeAndOption(t *testing.T) {
	for _, ceiling := range ceilings {
		met := map[string]bool{}
		for _, c := range suiteFor(ceiling) {
			for _, o := range c.Problem.Options {
				met[c.Regime+" "+o] = true
			}
			met[c.Regime+" "+fmt.Sprint(len(c.Problem.Options))] = true
		}
		for _, r := range affineRegimes {
			for _, what := range append(affine{}.Options(), "0", "3") {
				if !r.solo && !met[r.name+" "+what] {
					t.Errorf("ceiling %d: no case of %s with %s", ceiling, r.name, what)
				}
			}
		}
	}
}

func TestSuiteStaysWithinLimits(t *testing.T) {
	for _, c := range (affine{}).Suite(Limits{MaxLength: 1000, Elements: 5000, Options: []string{"last_state", "mystery"}, DTypes: []DType{BF16}}, 3) {
		if c.Problem.DType != BF16 || elements(c) > 5000 || c.Problem.Has("reverse") || c.Problem.Has("h0") || c.Problem.Has("mystery") {
			t.Error(c.Name)
		}
	}
}

// A name is all that a replay needs: letters no shell touches, and the whole case in them.
func TestNamesMakeTheirCaseAgain(t *testing.T) {
	plain := regexp.MustCompile(`^[a-z0-9_:=+]+$`)
	for _, c := range (affine{}).Suite(Limits{Options: affine{}.Options(), DTypes: []DType{FP32, FP16, BF16}}, 1<<63) {
		again, err := affine{}.ParseCase(c.Name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, again); diff != "" || !plain.MatchString(c.Name) {
			t.Errorf("%s: %s", c.Name, diff)
		}
	}
}

func TestSuiteIsTheSameEachTime(t *testing.T) {
	if diff := cmp.Diff(suiteFor(0), suiteFor(0)); diff != "" {
		t.Error(diff)
	}
	other := affine{}.Suite(Limits{Options: affine{}.Options()}, 2)
	if cmp.Equal(suiteFor(0), other) {
		t.Error("another seed gives the same suite")
	}
}

func TestParseCaseRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"":                              "not of the form affine_scan:REGIME:rows=NUMBER:length=NUMBER:OPTIONS:DTYPE:seed=NUMBER",
		"affine_scan:near1:rows=1:fp32": "not of the form",
		"affine_scan:odd:rows=1:length=1:none:fp32:seed=1":                     `regime "odd" is not known`,
		"affine_scan:near1:length=1:rows=1:none:fp32:seed=1":                   "where rows=NUMBER belongs",
		"affine_scan:near1:rows=x:length=1:none:fp32:seed=1":                   "where rows=NUMBER belongs",
		"affine_scan:near1:rows=-1:length=1:none:fp32:seed=1":                  "rows is -1",
		"affine_scan:near1:rows=1:length=1:h0+reverse:fp32:seed=1":             "out of order",
		"affine_scan:near1:rows=1:length=1:none:fp64:seed=1":                   `dtype "fp64"`,
		"affine_scan:near1:rows=1:length=1:none:fp32:seed=-1":                  "where seed=NUMBER belongs",
		"affine_scan:near1:rows=4294967296:length=4294967296:none:fp32:seed=1": "too large",
	} {
		if _, err := (affine{}).ParseCase(name); err == nil || !regexp.MustCompile(regexp.QuoteMeta(want)).MatchString(err.Error()) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}

func TestPairwiseMeetsEveryPair(t *testing.T) {
	sizes := []int{16, 8, 3, 8, 2, 1}
	cases := pairwise(sizes)
	for f := range sizes {
		for g := range f {
			for v := range sizes[f] {
				for w := range sizes[g] {
					if !slices.ContainsFunc(cases, func(c []int) bool { return c[f] == v && c[g] == w }) {
						t.Errorf("value %d of factor %d never meets %d of %d", v, f, w, g)
					}
				}
			}
		}
	}
	if least := 16 * 8; len(cases) < least || len(cases) > least*5/4 {
		t.Errorf("%d cases; at least %d are needed", len(cases), least)
	}
}
