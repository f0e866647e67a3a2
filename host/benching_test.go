package main

import (
	"reflect"
	"strings"
	"testing"

	"scanhost/host/internal/bench"
	"scanhost/host/internal/judge"
	"scanhost/shared/contract"
	"scanhost/shared/op"
)

// Two contenders of one name would share a column, and neither would have it.
func TestSetNamesEachValueOnce(t *testing.T) {
	asked, err := parseSet([]string{"items=2,4,2", "items=4,8"})
	if want := map[string][]int64{"items": {2, 4, 8}}; err != nil || !reflect.DeepEqual(asked, want) {
		t.Errorf("%v, %v; %v expected", asked, err, want)
	}
}

func TestBaselineIsRefusedBeforeMeasuring(t *testing.T) {
	entries := []bench.Entry{{Contender: bench.Contender{Name: "lookback"}}, {Contender: bench.Contender{Name: "row_stream[groups=1]"}}}
	for _, accepted := range []string{"", "lookback", "row_stream[groups=1]"} {
		if err := checkBaseline(entries, accepted); err != nil {
			t.Errorf("%q: %v", accepted, err)
		}
	}
	err := checkBaseline(entries, "nosuch")
	if want := `baseline is "nosuch"; what is timed is lookback, row_stream[groups=1]`; err == nil || err.Error() != want {
		t.Errorf("%v; %s expected", err, want)
	}
}

// What a manifest refuses gets no predicted time.
func TestLimitsOfAManifest(t *testing.T) {
	limit := limits([]judge.Target{{Manifest: contract.Manifest{Name: "short", Ops: []contract.Op{
		{Name: "affine_scan", DTypes: []string{"fp32"}, MaxLength: 2048}}}}})
	for _, c := range []struct {
		dtype  op.DType
		length int64
		want   string
	}{{op.FP32, 2048, ""}, {op.FP32, 2049, "length 2049 is over 2048"}, {op.FP16, 5, "dtype is fp16; fp32 is accepted"}} {
		got := limit(bench.Contender{Plugin: "short"}, op.Problem{Op: "affine_scan", DType: c.dtype, Dims: map[string]int64{"rows": 1, "length": c.length}})
		if got != c.want {
			t.Errorf("%s, length %d: %q; %q expected", c.dtype, c.length, got, c.want)
		}
	}
}

func TestSpecNeedsMeasuredTimes(t *testing.T) {
	out, errOut := &strings.Builder{}, &strings.Builder{}
	j := benching{options: &benchOptions{model: "h200"}, spec: &bench.Spec{}, out: out, errOut: errOut}
	if err := j.predict(t.Context()); err == nil || !strings.Contains(err.Error(), "a spec judges measured times") {
		t.Errorf("%v", err)
	}
}
