package op

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawCase is a small case of any regime whose every grouping stays finite, or of any regime at all.
func drawCase(t *rapid.T) Case {
	names := slices.DeleteFunc(regimeNames(), func(n string) bool { return n == "chain" })
	options := subsets(affine{}.Options())
	p := Problem{
		Op: affineName, DType: rapid.SampledFrom([]DType{FP32, FP16, BF16}).Draw(t, "dtype"),
		Dims:    map[string]int64{"rows": rapid.Int64Range(0, 5).Draw(t, "rows"), "length": rapid.Int64Range(0, 700).Draw(t, "length")},
		Options: options[rapid.IntRange(0, len(options)-1).Draw(t, "options")],
	}
	return newCase(affine{}, rapid.SampledFrom(names).Draw(t, "regime"), p, rapid.Uint64().Draw(t, "seed"))
}

// bracketed evaluates a random bracketing of every prefix, each its own.
func bracketed(t *rapid.T) scanner {
	splits := rapid.Uint64().Draw(t, "splits")
	var node func(m []pair, key uint64) pair
	node = func(m []pair, key uint64) pair {
		if len(m) == 1 {
			return m[0]
		}
		at := 1 + int(hash(key, 0)%uint64(len(m)-1))
		return combine(node(m[:at], hash(key, 1)), node(m[at:], hash(key, 2)))
	}
	return func(a, b []float32, h0 float32) []float32 {
		m, out := maps(a, b), make([]float32, len(a))
		for i := range m {
			out[i] = apply(node(m[:i+1], hash(splits, uint64(i))), h0)
		}
		return out
	}
}

func TestAnyBracketingIsWithinTheBound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := drawCase(r)
		c.Problem.Dims["length"] %= 150 // each prefix anew is quadratic
		if got := judged(t, c, bracketed(r)); got.Wrong > 0 {
			r.Fatalf("%s: %+v, first %v", caseName(affine{}, c.Regime, c.Problem, c.Seed), got, got.First)
		}
	})
}

// naive is the reference as anyone would write it: arrays the size of the row, one line per definition.
func naive(a, b []float32, h0 float64) (h, s, m []float64) {
	h, s, m = make([]float64, len(a)), make([]float64, len(a)), make([]float64, len(a))
	ph, ps, pm := h0, math.Abs(h0), 0.0
	for t := range a {
		size := math.Abs(float64(a[t]))
		h[t] = float64(a[t])*ph + float64(b[t])
		s[t] = size*ps + math.Abs(float64(b[t]))
		m[t] = size * (pm + ps)
		ph, ps, pm = h[t], s[t], m[t]
	}
	return h, s, m
}

// One element moved by 10 bounds is caught, and by half a bound is not, wherever it is.
func TestOneElementMovedIsCaught(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := drawCase(r)
		c.Problem.DType, c.Problem.Options = FP32, nil
		c.Regime = rapid.SampledFrom([]string{"decay", "near1", "near0", "zero", "one", "negative", "signs", "resets", "mixed", "random"}).Draw(r, "finite regime")
		rows, length := max(1, c.Problem.Dims["rows"]), max(1, c.Problem.Dims["length"])
		c.Problem.Dims = map[string]int64{"rows": rows, "length": length}
		arrays := arraysOf(t, c)
		run(c, arrays, serial)
		row, i := rapid.Int64Range(0, rows-1).Draw(r, "row"), rapid.Int64Range(0, length-1).Draw(r, "i")
		a, b, out := floats(arrays["a"])[row*length:], floats(arrays["b"])[row*length:], floats(arrays["h"])
		h, s, m := naive(a[:length], b[:length], 0)
		bound := unitRoundoff * (2*m[i] + lengthRoundings(length)*s[i])
		for _, moved := range []struct {
			by    float64
			wrong int64
		}{{10, 1}, {-10, 1}, {0.5, 0}, {-0.5, 0}} {
			out[row*length+i] = float32(h[i] + moved.by*bound)
			if got := check(t, c, arrays); got.Wrong != moved.wrong {
				r.Fatalf("%s: moved by %g bounds gives %+v", c.Regime, moved.by, got)
			}
		}
	})
}

// The streaming state is the naive one, with M's second-order terms on top.
func TestStateIsTheNaiveOne(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(r, "n")
		a := rapid.SliceOfN(rapid.Float32Range(-1.2, 1.2), n, n).Draw(r, "a")
		b := rapid.SliceOfN(rapid.Float32Range(-10, 10), n, n).Draw(r, "b")
		h0 := rapid.Float32Range(-5, 5).Draw(r, "h0")
		h, s, m := naive(a, b, float64(h0))
		bound, state := newAffineBound(int64(n), FP32, false), newAffineState(h0)
		for i := range a {
			state.step(&bound, float64(a[i]), float64(b[i]))
			if state.h != h[i] || state.s != s[i] || state.m < m[i]*(1-1e-12) || state.m > m[i]*(1+1e-4) {
				r.Fatalf("step %d: %+v; naive %g %g %g", i, state, h[i], s[i], m[i])
			}
		}
	})
}

// The comparison's fast path gives what its rule, applied element by element, gives.
func TestFastPathIsTheRule(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := drawCase(r)
		c.Problem.DType, c.Problem.Options = FP32, slices.DeleteFunc(c.Problem.Options, func(o string) bool { return o != "reverse" })
		arrays := arraysOf(t, c)
		run(c, arrays, tree)
		rows, length := c.Problem.Dims["rows"], c.Problem.Dims["length"]
		if n := rows * length; n > 0 {
			at := rapid.Int64Range(0, n-1).Draw(r, "at")
			floats(arrays["h"])[at] *= rapid.SampledFrom([]float32{1, 1.001, 0, nan, poison}).Draw(r, "factor")
		}
		var want Comparison
		for row := range rows {
			w := newAffineWalk(c.Problem, arrays, testPoison, c.Exact())
			w.row, w.role, w.got, w.state = row, roleH, w.h, newAffineState(0)
			for i := range length {
				at := row*length + i
				if w.reverse {
					at = (row+1)*length - 1 - i
				}
				a, b, h := w.a.span(at, at+1)[0], w.b.span(at, at+1)[0], w.h.span(at, at+1)[0]
				if i == 0 && !finite(a) {
					w.ignoredFactor(at, b, h)
					continue
				}
				w.oneStep(a, b)
				w.judge(at, h)
			}
			w.settleWorst()
			want.merge(w.found)
		}
		got := check(t, c, arrays)
		if (got.First == nil) != (want.First == nil) || got.First != nil && got.First.String() != want.First.String() {
			r.Fatalf("first %v, by the rule %v", got.First, want.First)
		}
		got.First, want.First = nil, nil
		if math.Abs(got.Worst-want.Worst) <= 1e-9*want.Worst {
			got.Worst = want.Worst
		}
		if got != want {
			r.Fatalf("%s: %+v, by the rule %+v", c.Regime, got, want)
		}
	})
}
