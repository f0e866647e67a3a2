package op

import "math"

// Rows of the nonfinite regime: every other row is clean and must stay so, the others hold a NaN or an infinity
// from some step on, or throughout.
const (
	cleanRow = iota
	nanInB
	allInfinite // a = 1, b = +Inf: every state is +Inf, and no grouping may make a NaN of it
	nanInA
	negativeInfinity
	infinityInA
	opposedInfinities
	nanStart
	dirtyKinds = nanStart
)

func nonfiniteKind(p place) uint64 {
	n := uint64(p.row) + p.seed
	if n%2 == 1 {
		return cleanRow
	}
	return 1 + n/2%dirtyKinds
}

// dirtyStep is the step at which a dirty row turns.
func dirtyStep(p place) int64 {
	return p.length/4 + int64(hash(p.seed, uint64(p.row))%uint64(p.length/2+1))
}

func nonfiniteA(x uint64, p place) float64 {
	kind := nonfiniteKind(p)
	switch {
	case kind == allInfinite:
		return 1
	case kind == nanInA && p.step == dirtyStep(p):
		return math.NaN()
	case kind == infinityInA && p.step == dirtyStep(p):
		return math.Inf(1)
	}
	return 0.9 + 0.1*uniform(x)
}

func nonfiniteB(x uint64, p place) float64 {
	turn := dirtyStep(p)
	switch kind := nonfiniteKind(p); {
	case kind == allInfinite:
		return math.Inf(1)
	case kind == nanInB && p.step == turn:
		return math.NaN()
	case kind == negativeInfinity && p.step == turn, kind == opposedInfinities && p.step == turn+2:
		return math.Inf(-1)
	case kind == opposedInfinities && p.step == turn:
		return math.Inf(1)
	}
	return bell(x, p)
}

func nonfiniteStart(x uint64, p place) float64 {
	if nonfiniteKind(p) == nanStart {
		return math.NaN()
	}
	return bell(x, p)
}
