package op

import (
	"slices"
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	o, err := Lookup("affine_scan")
	if err != nil || o.Name() != "affine_scan" || !slices.Contains(Names(), "affine_scan") {
		t.Error(o, err)
	}
	if _, err := Lookup("scan"); err == nil || !strings.Contains(err.Error(), `"scan" is not known; known are affine_scan`) {
		t.Error(err)
	}
}

func TestValidateRefuses(t *testing.T) {
	for want, change := range map[string]func(*Problem){
		`operation "other"`:       func(p *Problem) { p.Op = "other" },
		`dtype "fp8"`:             func(p *Problem) { p.DType = "fp8" },
		`dimension "rows" is m`:   func(p *Problem) { delete(p.Dims, "rows") },
		`dimension "depth"`:       func(p *Problem) { p.Dims["depth"] = 1 },
		"length is -1":            func(p *Problem) { p.Dims["length"] = -1 },
		"too large":               func(p *Problem) { p.Dims["rows"], p.Dims["length"] = 1<<40, 1<<40 },
		"a of shape [0 9":         func(p *Problem) { p.Dims["rows"], p.Dims["length"] = 0, 9e18 },
		`option "inverse"`:        func(p *Problem) { p.Options = []string{"inverse"} },
		`option "h0" is out of o`: func(p *Problem) { p.Options = []string{"h0", "h0"} },
	} {
		p, err := NewAffineProblem(2, 3, FP32)
		if err != nil {
			t.Fatal(err)
		}
		change(&p)
		if err := (affine{}).Validate(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestNewAffineProblemOrdersOptions(t *testing.T) {
	p, err := NewAffineProblem(2, 3, FP32, "last_state", "reverse")
	if err != nil || !slices.Equal(p.Options, []string{"reverse", "last_state"}) {
		t.Error(p, err)
	}
	if _, err := NewAffineProblem(2, 3, FP32, "reverse", "sideways"); err == nil || !strings.Contains(err.Error(), `"sideways" is not known`) {
		t.Error(err)
	}
}

func TestArraysAndTraffic(t *testing.T) {
	for _, c := range []struct {
		dtype         DType
		options       []string
		present       string
		read, written int64
	}{
		{FP32, nil, "a b h", 2*24 - 2*4, 24},
		{FP32, []string{"h0", "last_state"}, "a b h0 h last_state", 2*24 + 8, 24 + 8},
		{BF16, []string{"reverse", "h0"}, "a b h0 h", 2*12 + 8, 12},
	} {
		p, err := NewAffineProblem(2, 3, c.dtype, c.options...)
		if err != nil {
			t.Fatal(err)
		}
		var present []string
		for _, a := range (affine{}).Arrays(p) {
			if a.Shape != nil {
				present = append(present, a.Role)
			}
		}
		read, written := affine{}.MinimumTraffic(p)
		if got := strings.Join(present, " "); got != c.present || read != c.read || written != c.written {
			t.Errorf("%v: %s, %d read, %d written; want %+v", c.options, got, read, written, c)
		}
	}
}
