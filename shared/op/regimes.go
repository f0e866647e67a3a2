package op

import "math"

// place is where a value goes: its row, its position in scan order (0 is the first step, whichever way the scan
// runs; -1 is the start state), the length of the row and the seed of the case.
type place struct {
	row, step, length int64
	seed              uint64
}

// regime is one kind of input to the affine scan. a and b make a value from 64 random bits and a place, so that
// any part of an array can be filled by itself and in any order. h0 is drawn by start, or by b where it is nil.
type regime struct {
	name  string
	exact bool // every grouping is exact in fp32, so equality is demanded
	solo  bool // not combined with everything else: only where a suite asks for it by name
	a, b  func(x uint64, p place) float64
	start func(x uint64, p place) float64
}

// affineRegimes is what tells a right kernel from a wrong one. No regime has constant a and b together: constant
// maps commute, and would hide operands in the wrong order.
var affineRegimes = []regime{
	{name: "decay", a: between(0.9, 1), b: bell},
	// b is positive, so that h is as large as its bound's S, and a carry lost anywhere shows.
	{name: "near1", a: between(1-2e-5, 1), b: between(0.25, 1.75)},
	// Small results: what an absolute tolerance would let pass as zeros.
	{name: "near0", a: between(-1e-3, 1e-3), b: scaled(1e-4)},
	{name: "zero", a: constant(0), b: bell},
	{name: "one", a: constant(1), b: bell},
	{name: "negative", a: between(-1, -0.3), b: bell},
	{name: "signs", a: between(-1.05, 1.05), b: bell},
	{name: "growing", a: growing, b: bell},
	{name: "resets", a: resets, b: bell},
	{name: "mixed", a: constant(1), b: mixedMagnitudes},
	{name: "subnormal", a: between(0.4, 1), b: scaled(0x1p-126), start: constant(0x1p-126)},
	{name: "nonfinite", a: nonfiniteA, b: nonfiniteB, start: nonfiniteStart},
	{name: "exact", exact: true, a: unitsWithResets, b: integers},
	{name: "impulse", exact: true, a: units, b: impulse, start: constant(0)},
	{name: "position", exact: true, a: alternating, b: positionCode},
	{name: "random", a: randomA, b: randomB},
	{name: "chain", exact: true, solo: true, a: units, b: integers},
}

// Exact says whether every grouping of the case is exact, so that results are compared for equality.
func (c Case) Exact() bool {
	r := findRegime(c.Regime)
	return c.Problem.Op == affineName && r != nil && r.exact
}

func findRegime(name string) *regime {
	for i := range affineRegimes {
		if affineRegimes[i].name == name {
			return &affineRegimes[i]
		}
	}
	return nil
}

// uniform is in [0, 1).
func uniform(x uint64) float64 { return float64(x>>11) * 0x1p-53 }

// bell has mean 0 and deviation 1 and lies within 3.5: the sum of four uniform values.
func bell(x uint64, _ place) float64 {
	sum := x&0xffff + x>>16&0xffff + x>>32&0xffff + x>>48
	return (float64(sum) - 2*0xffff) * (math.Sqrt2 * 1.224744871391589 / 0xffff)
}

func between(lo, hi float64) func(uint64, place) float64 {
	return func(x uint64, _ place) float64 { return lo + (hi-lo)*uniform(x) }
}

func constant(v float64) func(uint64, place) float64 {
	return func(uint64, place) float64 { return v }
}

func scaled(unit float64) func(uint64, place) float64 {
	return func(x uint64, p place) float64 { return unit * bell(x, p) }
}

// growing leaves fp32's range after some 1,800 steps, so that short rows grow and long ones are labelled.
func growing(x uint64, _ place) float64 { return sign(x) * (1 + 0.1*uniform(x)) }

func sign(x uint64) float64 {
	if x&1 == 0 {
		return 1
	}
	return -1
}

func resets(x uint64, _ place) float64 {
	if x%97 == 0 {
		return 0
	}
	return 0.99 + 0.02*uniform(x)
}

// mixedMagnitudes has small values first and large ones later, so that a result formed by subtracting from a
// total has lost the small ones.
func mixedMagnitudes(x uint64, p place) float64 {
	if p.step < p.length/2 {
		return 0.5 + uniform(x)
	}
	return 1e8 * (0.5 + uniform(x))
}

func units(x uint64, _ place) float64 { return sign(x) }

// unitsWithResets restarts within every other row, and leaves the rest unbroken.
func unitsWithResets(x uint64, p place) float64 {
	if (uint64(p.row)+p.seed)%2 == 0 && x>>8%61 == 0 {
		return 0
	}
	return sign(x)
}

// integers are as large as keeps every sum of a row below 2^24.
func integers(x uint64, p place) float64 {
	most := uint64(min(1000, max(1, ((1<<24)-1)/(p.length+1))))
	return float64(x>>8%(2*most+1)) - float64(most)
}

// impulse is one value at the first step of the row and nothing after it: history must reach the end.
func impulse(x uint64, p place) float64 {
	if p.step == 0 {
		return float64(1 + x%1000)
	}
	return 0
}

// alternating keeps the step before, or the start state, at every even step and restarts at every odd one.
func alternating(_ uint64, p place) float64 { return float64(1 - p.step&1) }

// positionCode differs from its neighbours in row and step, so that a value in the wrong place shows.
func positionCode(_ uint64, p place) float64 { return float64((p.step + 2 + p.row*8191) % (1 << 22)) }

// randomA draws a kind of decay for the row, then a value of that kind.
func randomA(x uint64, p place) float64 {
	kind := hash(p.seed, uint64(p.row))
	lowest := [...]float64{0, 0.5, 0.9, 0.999, 0.99999}[kind%5]
	if kind>>8%4 == 0 && x>>3%29 == 0 {
		return 0
	}
	v := lowest + (1-lowest)*uniform(x)
	if kind>>16%3 == 0 {
		v *= sign(x)
	}
	return v
}

func randomB(x uint64, p place) float64 {
	kind := hash(p.seed, uint64(p.row))
	unit := [...]float64{1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1e3, 1e4}[kind>>24%9]
	return unit * bell(x, p)
}
