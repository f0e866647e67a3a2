package op

import "math"

// Right ways to group a scan, in fp32, and wrong ones that have been shipped. Each works on one row in scan order.

type pair struct{ a, b float32 }

// fused is fmaf: one rounding. float64 holds the product of two fp32 exactly, and the sum is rounded to odd there
// before the rounding to fp32, which makes the two roundings one.
func fused(x, y, z float32) float32 {
	product, addend := float64(x)*float64(y), float64(z)
	sum := product + addend
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return float32(sum)
	}
	tail := sum - product
	rest := (product - (sum - tail)) + (addend - tail)
	if rest != 0 && math.Float64bits(sum)&1 == 0 {
		if (rest > 0) == (sum > 0) {
			sum = math.Float64frombits(math.Float64bits(sum) + 1)
		} else {
			sum = math.Float64frombits(math.Float64bits(sum) - 1)
		}
	}
	return float32(sum)
}

func combine(l, r pair) pair          { return pair{l.a * r.a, fused(r.a, l.b, r.b)} }
func separate(l, r pair) pair         { return pair{l.a * r.a, float32(r.a*l.b) + r.b} }
func swapped(l, r pair) pair          { return combine(r, l) }
func apply(m pair, h float32) float32 { return fused(m.a, h, m.b) }

type scanner func(a, b []float32, h0 float32) []float32

func serial(a, b []float32, h float32) []float32 {
	out := make([]float32, len(a))
	for i := range a {
		h = fused(a[i], h, b[i])
		out[i] = h
	}
	return out
}

// serialUnfused rounds the product and the sum.
func serialUnfused(a, b []float32, h float32) []float32 {
	out := make([]float32, len(a))
	for i := range a {
		h = float32(a[i]*h) + b[i]
		out[i] = h
	}
	return out
}

func maps(a, b []float32) []pair {
	m := make([]pair, len(a))
	for i := range m {
		m[i] = pair{a[i], b[i]}
	}
	return m
}

// inclusive is the recursive tree: halve, scan the pairs, fill in the rest. Every product is formed first.
func inclusive(m []pair, op func(l, r pair) pair) []pair {
	if len(m) < 2 {
		return m
	}
	half := make([]pair, len(m)/2)
	for i := range half {
		half[i] = op(m[2*i], m[2*i+1])
	}
	half = inclusive(half, op)
	out := make([]pair, len(m))
	out[0] = m[0]
	for i := 1; i < len(m); i++ {
		if i%2 == 1 {
			out[i] = half[i/2]
		} else {
			out[i] = op(half[i/2-1], m[i])
		}
	}
	return out
}

func tree(a, b []float32, h0 float32) []float32 { return applied(inclusive(maps(a, b), combine), h0) }
func treeUnfused(a, b []float32, h0 float32) []float32 {
	return applied(inclusive(maps(a, b), separate), h0)
}
func treeSwapped(a, b []float32, h0 float32) []float32 {
	return applied(inclusive(maps(a, b), swapped), h0)
}

func applied(prefix []pair, h0 float32) []float32 {
	out := make([]float32, len(prefix))
	for i, m := range prefix {
		out[i] = apply(m, h0)
	}
	return out
}

// tiled scans tiles by trees and hands each the state that carry gives for it.
func tiled(tile int, carries func(aggregates []pair, h0 float32) []float32) scanner {
	return func(a, b []float32, h0 float32) []float32 {
		var aggregates []pair
		var prefixes [][]pair
		for lo := 0; lo < len(a); lo += tile {
			hi := min(lo+tile, len(a))
			prefix := inclusive(maps(a[lo:hi], b[lo:hi]), combine)
			prefixes = append(prefixes, prefix)
			aggregates = append(aggregates, prefix[len(prefix)-1])
		}
		var out []float32
		for t, carry := range carries(aggregates, h0) {
			out = append(out, applied(prefixes[t], carry)...)
		}
		return out
	}
}

// folded walks the tiles in ascending order: what a look-back does from the nearest inclusive prefix on.
func folded(aggregates []pair, h0 float32) []float32 {
	carries := make([]float32, len(aggregates))
	for t := range carries {
		carries[t] = h0
		h0 = apply(aggregates[t], h0)
	}
	return carries
}

// spine scans the aggregates by a tree: the three-launch kernel.
func spine(aggregates []pair, h0 float32) []float32 {
	if len(aggregates) == 0 {
		return nil
	}
	return append([]float32{h0}, applied(inclusive(aggregates[:len(aggregates)-1], combine), h0)...)
}

// dropped loses the carry into one tile.
func dropped(at func(tiles int) int) func([]pair, float32) []float32 {
	return func(aggregates []pair, h0 float32) []float32 {
		carries := folded(aggregates, h0)
		carries[at(len(carries))] = 0
		return carries
	}
}

// truncated stops its look-back after k tiles and takes the state before them for 0.
func truncated(k int) func([]pair, float32) []float32 {
	return func(aggregates []pair, h0 float32) []float32 {
		carries := make([]float32, len(aggregates))
		for t := range carries {
			h := float32(0)
			if t < k {
				h = h0
			}
			for i := max(0, t-k); i < t; i++ {
				h = apply(aggregates[i], h)
			}
			carries[t] = h
		}
		return carries
	}
}
