package op

import (
	"fmt"
	"strconv"
	"strings"
)

// A case's name is its whole recipe, in letters that no shell touches:
//
//	affine_scan:near1:rows=3:length=2049:reverse+h0:fp32:seed=7
//
// operation, regime, dimensions in the op's order, options ("none" where there are none), dtype, seed.
const noOptions = "none"

func caseName(o Op, regime string, p Problem, seed uint64) string {
	parts := []string{o.Name(), regime}
	for _, d := range o.Dims() {
		parts = append(parts, fmt.Sprintf("%s=%d", d, p.Dims[d]))
	}
	options := noOptions
	if len(p.Options) > 0 {
		options = strings.Join(p.Options, "+")
	}
	return strings.Join(append(parts, options, string(p.DType), fmt.Sprintf("seed=%d", seed)), ":")
}

func newCase(o Op, regime string, p Problem, seed uint64) Case {
	return Case{Name: caseName(o, regime, p, seed), Regime: regime, Problem: p, Seed: seed}
}

// parseCase reads a name back; the regime is the op's to check.
func parseCase(o Op, name string) (Case, error) {
	parts := strings.Split(name, ":")
	dims := o.Dims()
	if len(parts) != len(dims)+5 || parts[0] != o.Name() {
		return Case{}, fmt.Errorf("case %q is not of the form %s", name, caseForm(o))
	}
	p := Problem{Op: o.Name(), Dims: map[string]int64{}, DType: DType(parts[len(dims)+3])}
	for i, d := range dims {
		n, err := strconv.ParseInt(strings.TrimPrefix(parts[2+i], d+"="), 10, 64)
		if err != nil || !strings.HasPrefix(parts[2+i], d+"=") {
			return Case{}, fmt.Errorf("case %q: found %q where %s=NUMBER belongs", name, parts[2+i], d)
		}
		p.Dims[d] = n
	}
	if options := parts[len(dims)+2]; options != noOptions {
		p.Options = strings.Split(options, "+")
	}
	last := parts[len(parts)-1]
	seed, err := strconv.ParseUint(strings.TrimPrefix(last, "seed="), 10, 64)
	if err != nil || !strings.HasPrefix(last, "seed=") {
		return Case{}, fmt.Errorf("case %q: found %q where seed=NUMBER belongs", name, last)
	}
	if err := o.Validate(p); err != nil {
		return Case{}, fmt.Errorf("case %q: %w", name, err)
	}
	return newCase(o, parts[1], p, seed), nil
}

func caseForm(o Op) string {
	form := o.Name() + ":REGIME"
	for _, d := range o.Dims() {
		form += ":" + d + "=NUMBER"
	}
	return form + ":OPTIONS:DTYPE:seed=NUMBER, where OPTIONS is " + noOptions + " or some of " + strings.Join(o.Options(), "+")
}
