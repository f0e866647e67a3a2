package op

import "math"

// selectiveRegimes is what tells a right selective scan from a wrong one. Values of x stay below fp16's largest.
// Regimes with positive x, B and C have results as large as their bound's sums, so that lost history shows.
var selectiveRegimes = []selectiveRegime{
	// As in a trained layer: A about -1 to -N, steps of 0.001 to 0.1.
	{name: "decay", argument: usualArgument, arrays: map[string]values{
		roleX: usual(1), roleGate: usual(1.5), roleEnter: usual(1), roleLeave: usual(1), roleStart: usual(1),
		roleDecay: func(x uint64, p spot) float64 { return math.Log(float64(p.state+1)) + 0.1*bell(x, place{}) },
		roleSkip:  flat(0.5, 1.5), roleBias: func(_ uint64, p spot) float64 { return biasOf(p) },
	}},
	// Factors near 1: history reaches far, and every part of it counts.
	{name: "near1", argument: flat(-8, -6), arrays: positive(map[string]values{roleDecay: flat(-4, -2)})},
	// Factors near 0, whose products underflow.
	{name: "forgets", argument: flat(1, 4), arrays: map[string]values{roleDecay: flat(1, 3)}},
	// softplus is e^s here, and log(1 + e^s) in fp32 is 0.
	{name: "lower_tail", argument: flat(-30, -15), arrays: map[string]values{roleDecay: flat(14, 24), roleX: usual(1e4)}},
	// softplus is s, also where e^s overflows.
	{name: "upper_tail", argument: flat(15, 150), arrays: map[string]values{roleDecay: flat(-8, -5)}},
	// One value at the first step and nothing after it, hardly decaying: history must reach the end.
	{name: "impulse", argument: flat(-3, 0), arrays: positive(map[string]values{roleX: firstOnly, roleStart: level(0), roleDecay: flat(-20, -18)})},
	// No history at all, and values that say where they belong.
	{name: "position", argument: flat(2, 3), arrays: map[string]values{
		roleDecay: level(5), roleX: func(_ uint64, p spot) float64 { return float64((p.step+p.channel*131+p.batch*8191)%1999 + 2) },
		roleEnter: func(_ uint64, p spot) float64 { return float64(1 + (p.state+p.step+p.batch)%7) },
		roleLeave: func(_ uint64, p spot) float64 { return float64(1 + (3*p.state+p.step+p.batch)%5) },
		roleSkip:  func(_ uint64, p spot) float64 { return float64(1 + p.channel%3) },
	}},
	// A step so long that the state is forgotten, between steps that keep it.
	{name: "resets", argument: resetArgument, arrays: positive(map[string]values{roleDecay: flat(0, 2)})},
	// Small values first and large ones later: a result formed by subtracting from a total has lost the small ones.
	{name: "mixed", argument: flat(-12, -8), arrays: positive(map[string]values{roleX: lateGrowth})},
	// Small results, which an absolute tolerance would let pass as zeros; the gate in its lower tail.
	{name: "near0", arrays: map[string]values{roleX: usual(1e-4), roleEnter: usual(1e-2), roleLeave: usual(1e-2), roleGate: flat(-20, -5)}},
	{name: "gates", arrays: map[string]values{roleGate: flat(-100, 100)}},
	{name: "subnormal", arrays: map[string]values{roleX: usual(0x1p-124), roleStart: usual(0x1p-126)}},
	// exp(A_log) leaves fp32 where softplus is 0: the factor is a limit, and never NaN (0 times an infinity).
	{name: "extreme", argument: flat(-220, -180), arrays: map[string]values{roleDecay: extremeDecay}},
	{name: "nonfinite", argument: dirtyArgument, arrays: map[string]values{
		roleX: dirty(roleX), roleGate: dirty(roleGate), roleEnter: dirty(roleEnter), roleLeave: dirty(roleLeave),
		roleDecay: dirty(roleDecay), roleSkip: dirty(roleSkip), roleStart: dirty(roleStart),
	}},
	{name: "random", argument: randomArgument, arrays: map[string]values{roleX: randomX, roleDecay: flat(-4, 4), roleGate: usual(4)}},
}

func usual(unit float64) values {
	return func(x uint64, _ spot) float64 { return unit * bell(x, place{}) }
}

func flat(lo, hi float64) values {
	return func(x uint64, _ spot) float64 { return lo + (hi-lo)*uniform(x) }
}

func level(v float64) values { return func(uint64, spot) float64 { return v } }

// positive completes a regime by x, B, C, D, z and h0 above 0.
func positive(arrays map[string]values) map[string]values {
	for _, role := range []string{roleX, roleEnter, roleLeave, roleSkip, roleGate, roleStart} {
		if arrays[role] == nil {
			arrays[role] = flat(0.25, 1.75)
		}
	}
	return arrays
}

// biasOf is the delta_bias of a channel.
func biasOf(p spot) float64 { return flat(-4, 4)(hash(p.seed^0xb1a5, uint64(p.channel)), p) }

// usualArgument gives steps of 0.001 to 0.1 by channel, as layers are initialised.
func usualArgument(x uint64, p spot) float64 {
	step := math.Exp(flat(math.Log(1e-3), math.Log(0.1))(hash(p.seed^0x57e9, uint64(p.channel)), p))
	return math.Log(math.Expm1(step)) + 0.5*bell(x, place{})
}

func firstOnly(x uint64, p spot) float64 {
	if p.step == 0 {
		return 1 + uniform(x)
	}
	return 0
}

func resetArgument(x uint64, _ spot) float64 {
	if x%23 == 0 {
		return 60
	}
	return -8 + 2*uniform(x)
}

func lateGrowth(x uint64, p spot) float64 {
	if p.step < p.length/2 {
		return 0.5 + uniform(x)
	}
	return 1e4 * (0.5 + uniform(x))
}

// extremeDecay overflows fp32 for every other state.
func extremeDecay(x uint64, p spot) float64 {
	if p.state%2 == 1 {
		return uniform(x)
	}
	return 80 + 30*uniform(x)
}

func randomArgument(x uint64, p spot) float64 {
	kind := hash(p.seed^0xa49, uint64(p.channel))
	middle := [...]float64{-20, -9, -6, -4, -2, 0, 3, 10}[kind%8]
	return middle + bell(x, place{})
}

func randomX(x uint64, p spot) float64 {
	kind := hash(p.seed^0xa49, uint64(p.channel))
	return [...]float64{1e-3, 0.1, 1, 10, 1e3}[kind>>8%5] * bell(x, place{})
}

// What is not finite in a channel of the regime nonfinite. Channels without, and everything before the step at which
// a channel turns, must stay clean.
const (
	dirtyNone = iota
	dirtyX
	dirtyLargeX
	dirtyDelta
	dirtyLargeDelta
	dirtyFlatDelta // -Inf: softplus is 0, and the state stays what it is
	dirtySkip
	dirtyGate
	dirtyLowGate
	dirtyStart
	dirtyDecay
	dirtyChannels
)

// dirtySpot says what kind of channel a spot's is, and whether it turns there.
func dirtySpot(p spot) (kind uint64, turns bool) {
	n := uint64(p.channel) + p.seed
	if n%2 == 1 {
		return dirtyNone, false
	}
	return 1 + (n/2)%(dirtyChannels-1), p.step == p.length/3
}

func dirtyArgument(x uint64, p spot) float64 {
	switch kind, turns := dirtySpot(p); {
	case turns && kind == dirtyDelta:
		return math.NaN()
	case turns && kind == dirtyLargeDelta:
		return math.Inf(1)
	case turns && kind == dirtyFlatDelta:
		return math.Inf(-1)
	}
	return usualArgument(x, p)
}

// dirty is an array of the regime nonfinite. B and C are those of every channel of a batch: they turn in batches of
// odd number, near the end, so that the channels' own kinds are seen before.
func dirty(role string) values {
	return func(x uint64, p spot) float64 {
		kind, turns := dirtySpot(p)
		late := p.batch%2 == 1 && p.state == 0 && p.step == p.length-1-int64(p.seed%3)
		switch {
		case role == roleX && turns && kind == dirtyX, role == roleGate && turns && kind == dirtyGate,
			role == roleSkip && kind == dirtySkip, role == roleStart && kind == dirtyStart && p.state == 0,
			role == roleDecay && kind == dirtyDecay && p.state == 0, role == roleLeave && late:
			return math.NaN()
		case role == roleX && turns && kind == dirtyLargeX, role == roleEnter && late:
			return math.Inf(1)
		case role == roleGate && turns && kind == dirtyLowGate:
			return math.Inf(-1)
		}
		return selectiveUsual(role)(x, p)
	}
}

// selectiveUsual is a function, since the table cannot name itself.
func selectiveUsual(role string) values {
	switch role {
	case roleDecay:
		return flat(0, 2)
	case roleSkip:
		return flat(0.5, 1.5)
	}
	return usual(1)
}
