package op

import "math"

// Constants of the error bound; docs/error-bounds.md derives it.
const (
	unitRoundoff   = 0x1p-24
	smallestNormal = 0x1p-126
	largestFloat   = math.MaxFloat32
	// A product below this may have been rounded into the subnormals on its way.
	decayLimit = 8 * smallestNormal
	// A float64 state beyond this is given up until a reset: its bound would overflow next.
	largestState = 1e290
)

// affineBound is what the bound of one problem needs besides the running scalars.
type affineBound struct {
	perProduct  float64 // factor of M
	perValue    float64 // factor of S
	underflow   float64 // eta before growth
	compound    float64 // (1+u)^2: what two more roundings make of the earlier ones
	overflow    float64 // a sum or a product up to here cannot overflow, however it is rounded on its way
	storage     float64 // u_out
	storageTiny float64 // half the smallest subnormal of the storage type
	storageMax  float64 // values from here on round to infinity in the storage type
	exact       bool
}

func newAffineBound(length int64, dtype DType, exact bool) affineBound {
	tree := math.Expm1(lengthRoundings(length) * math.Log1p(unitRoundoff)) // (1+u)^R - 1
	slack := 1 + unitRoundoff                                              // the float64 reference's own error is far below this
	drift := math.Exp(2 * unitRoundoff * float64(length))                  // what the roundings of a whole row make of a product
	b := affineBound{
		perProduct: (2*unitRoundoff + unitRoundoff*unitRoundoff) * (1 + tree) * slack,
		perValue:   tree * slack,
		underflow:  smallestNormal * (1 + float64(length+2)*0x1p-22) * drift,
		compound:   (1 + unitRoundoff) * (1 + unitRoundoff),
		overflow:   largestFloat / drift,
		storageMax: math.Inf(1),
		exact:      exact,
	}
	switch dtype {
	case FP16:
		b.storage, b.storageTiny, b.storageMax = 0x1p-11, 0x1p-25, 65520
	case BF16:
		b.storage, b.storageTiny, b.storageMax = 0x1p-8, 0x1p-134, 0x1.ffp127
	}
	return b
}

// affineState is the running scalars of one row. Everything ends at the current step:
type affineState struct {
	h        float64 // the exact state
	s        float64 // S: the same sum with every term made positive
	m        float64 // M: terms weighted by the number of factors they went through
	growth   float64 // largest product of consecutive |a|, at least 1
	decay    float64 // smallest product of consecutive non-zero |a|, at most 1
	largest  float64 // largest S of the row so far
	shrunk   bool    // some product of consecutive a may have underflowed
	spilled  bool    // some product or partial sum may have overflowed: a right tree may give Inf or NaN from here to the end of the row
	lost     bool    // the state left float64 as well; nothing is known until a reset
	poisoned bool    // a NaN or an infinity was read
	nan      bool    // of those, a NaN: the result can only be NaN
	loose    bool    // of those, an infinite a: whether a grouping gives Inf or NaN depends on its order
}

func newAffineState(start float32) affineState {
	s := affineState{h: float64(start), s: math.Abs(float64(start)), growth: 1, decay: 1}
	s.largest = s.s
	if !finite(start) {
		s.poisoned, s.nan, s.s, s.largest = true, start != start, 0, 0
	}
	return s
}

func finite(v float32) bool { return v-v == 0 }

// step goes on by one element that is finite. The caller has dealt with a poisoned state.
func (s *affineState) step(b *affineBound, a, x float64) {
	size := math.Abs(a)
	s.m = size*(b.compound*s.m) + size*s.s
	s.s = size*s.s + math.Abs(x)
	s.h = a*s.h + x
	s.products(b, size)
	s.largest = max(s.largest, s.s)
	s.spilled = s.spilled || s.s+b.of(s) > largestFloat
	s.lost = s.s > largestState || s.m > largestState || s.growth > largestState
}

// products follows the products of consecutive |a| that end here.
func (s *affineState) products(b *affineBound, size float64) {
	s.growth = max(1, size*s.growth)
	s.spilled = s.spilled || s.growth > b.overflow
	s.decay = min(1, size*s.decay)
	if s.decay == 0 {
		s.decay = 1
	}
	if s.decay < decayLimit {
		s.shrunk = true
	}
}

// of is the bound on the error of the fp32 state.
func (b *affineBound) of(s *affineState) float64 {
	return b.perProduct*s.m + b.perValue*s.s + b.widest(s)*s.growth
}

// widest is what underflow can add to an error, before growth.
func (b *affineBound) widest(s *affineState) float64 {
	if s.shrunk {
		return b.underflow * (1 + s.largest)
	}
	return b.underflow
}

// stored widens a bound by the rounding to the storage type.
func (b *affineBound) stored(bound, h float64) float64 {
	if b.storage == 0 {
		return bound
	}
	return bound*(1+b.storage) + b.storage*math.Abs(h) + b.storageTiny
}

// reset starts over after a == 0 has cut the state off from whatever it had become.
func (s *affineState) reset(x float64) {
	s.h, s.s, s.m, s.growth, s.decay, s.lost = x, math.Abs(x), 0, 1, 1, false
	s.largest = max(s.largest, s.s)
}

// poison goes on by one element once a NaN or an infinity has been read. S then follows the finite inputs only:
// it says whether their sum can overflow, which turns an infinity of the other sign into a NaN.
func (s *affineState) poison(b *affineBound, a, x float64) {
	s.poisoned = true
	s.nan = s.nan || a != a || x != x
	s.loose = s.loose || math.IsInf(a, 0)
	s.h = a*s.h + x
	size := math.Abs(a)
	if s.nan || s.loose {
		return
	}
	s.s *= size
	if !math.IsInf(x, 0) {
		s.s += math.Abs(x)
	}
	s.products(b, size)
	s.spilled = s.spilled || s.s > b.overflow/2
}
