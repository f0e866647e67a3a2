package op

import (
	"slices"
	"testing"
)

const testPoison = 0xffa5c3d1

// arraysOf fills the inputs of a case and leaves its outputs poisoned.
func arraysOf(t testing.TB, c Case) map[string][]byte {
	t.Helper()
	arrays := map[string][]byte{}
	for _, a := range (affine{}).Arrays(c.Problem) {
		if a.Shape == nil {
			continue
		}
		raw := make([]byte, a.Bytes())
		if a.Output {
			for i := range raw {
				raw[i] = byte(uint32(testPoison) >> (8 * (i % 4)))
			}
		} else if err := (affine{}).Fill(c, a.Role, raw); err != nil {
			t.Fatal(err)
		}
		arrays[a.Role] = raw
	}
	return arrays
}

// run computes the outputs of a case with a scanner.
func run(c Case, arrays map[string][]byte, scan scanner) {
	p := c.Problem
	rows, length := p.Dims["rows"], p.Dims["length"]
	a, b := newColumn(arrays["a"], p.DType), newColumn(arrays["b"], p.DType)
	for row := range rows {
		ra, rb := slices.Clone(a.span(row*length, (row+1)*length)), slices.Clone(b.span(row*length, (row+1)*length))
		if p.Has("reverse") {
			slices.Reverse(ra)
			slices.Reverse(rb)
		}
		start := float32(0)
		if p.Has("h0") {
			start = newColumn(arrays["h0"], FP32).span(row, row+1)[0]
		}
		h := scan(ra, rb, start)
		last := start
		if length > 0 {
			last = h[length-1]
		}
		if p.Has("last_state") {
			Encode(arrays["last_state"][4*row:4*row+4], []float32{last}, FP32)
		}
		if p.Has("reverse") {
			slices.Reverse(h)
		}
		size := p.DType.Size()
		Encode(arrays["h"][row*length*size:(row+1)*length*size], h, p.DType)
	}
}

func check(t testing.TB, c Case, arrays map[string][]byte) Comparison {
	t.Helper()
	got, err := affine{}.Check(c.Problem, arrays, testPoison, c.Exact())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func judged(t testing.TB, c Case, scan scanner) Comparison {
	t.Helper()
	arrays := arraysOf(t, c)
	run(c, arrays, scan)
	return check(t, c, arrays)
}

func caseNamed(t testing.TB, name string) Case {
	t.Helper()
	c, err := affine{}.ParseCase(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
