package op

import "math"

// What the bound of docs/error-bounds.md grants the operations of a selective scan beside plain arithmetic.
const (
	// Of a hardware exponential, of a logarithm and of a division: 2^-22 of the result.
	functionError = 0x1p-22
	// Makes up for terms of second order in errors that are themselves below 2^-12.
	secondOrder = 1 + 0x1p-10
)

// expError is the relative error of exp(v): the instruction's own, and the rounding of v*log2(e) to fp32.
func expError(v float64) float64 {
	return functionError + (1+2*math.Abs(v))*unitRoundoff
}

// softplus is log(1 + e^s) and the relative error granted to it. rounded says that s itself was rounded.
func softplus(s float64, rounded bool) (value, relative float64) {
	w := math.Exp(-math.Abs(s)) // 0 for an infinite s
	value = max(s, 0) + math.Log1p(w)
	if value == 0 {
		return 0, 0
	}
	small := w / (1 + w)
	relative = functionError + 2*unitRoundoff
	if small > 0 {
		relative += small / value * expError(s)
	}
	if rounded {
		slope := small
		if s > 0 {
			slope = 1 / (1 + w)
		}
		relative += slope / value * math.Abs(s) * unitRoundoff
	}
	return value, relative * secondOrder
}

// silu is z/(1 + e^-z) and its relative error.
func silu(z float64) (value, relative float64) {
	w := math.Exp(-math.Abs(z))
	above, below := 1/(1+w), w/(1+w) // logistic of |z| and -|z|
	if z < 0 {
		above, below = below, above
	}
	if below > 0 { // else the exponential is nothing beside the 1
		relative = below * expError(z)
	}
	return z * above, (relative + functionError + 3*unitRoundoff) * secondOrder
}

// selectiveBound is what the bound needs besides the running scalars.
type selectiveBound struct {
	affine   affineBound
	last     affineBound // of fp32 whatever the storage
	compound float64     // (1+u)^2
	extra    float64     // (1+u)^2 - 1
	sum      float64     // (1+u)^(N+2) - 1: products, sum and skip in any order
	states   float64
}

func newSelectiveBound(length, states int64, dtype DType) selectiveBound {
	return selectiveBound{affine: newAffineBound(length, dtype, false), last: newAffineBound(length, FP32, false),
		compound: (1 + unitRoundoff) * (1 + unitRoundoff), extra: 2*unitRoundoff + unitRoundoff*unitRoundoff,
		sum: math.Expm1(float64(states+2) * math.Log1p(unitRoundoff)), states: float64(states)}
}

// What is known of a value once inputs that are no finite numbers have met it, in order of what prevails.
const (
	clean    uint8 = iota
	infinite       // infinity or NaN, as the order of operations has it
	loose          // anything
	isNaN
)

// kindOf is what a NaN or an infinity among factors and summands makes of the result.
func kindOf(v float32) uint8 {
	switch {
	case v != v:
		return isNaN
	case !finite(v):
		return infinite
	}
	return clean
}

// decay is one factor of a channel, as read and as computed.
type decay struct {
	rate     float64 // exp(A_log), 1e300 at most
	relative float64 // its error; infinite where fp32 does not hold it
	kind     uint8
}

func newDecay(log float32) decay {
	switch {
	case log != log:
		return decay{kind: isNaN}
	case !finite(log):
		return decay{kind: loose}
	}
	d := decay{rate: min(math.Exp(float64(log)), 1e300), relative: expError(float64(log))}
	if d.rate > largestFloat {
		d.relative = math.Inf(1)
	}
	return d
}

// factor is exp(-d*rate) and its absolute error. Right factors lie in [0, 1], so no error is larger than 1.
func (d decay) factor(step, relative float64) (a, err float64) {
	v := min(step*d.rate, 1e300)
	a = math.Exp(-v)
	off := d.rate * smallestNormal // d may have been flushed to zero
	if v > 0 {
		off += v * (relative + d.relative + unitRoundoff)
	}
	own := expError(v)
	if off < 0.25 {
		return a, a*(off*(1+off)*(1+own)+own) + smallestNormal
	}
	if math.IsInf(d.relative, 1) {
		return a, 1
	}
	return a, min(1, math.Exp(min(0, off-v))*(1+own)) + smallestNormal
}

// selectiveState is the running scalars of one channel, by state.
type selectiveState struct {
	h, s, m []float64 // as in affineState
	kind    []uint8
	largest float64 // S so far
	spilled bool    // something may have overflowed
}

func newSelectiveState(states int64) *selectiveState {
	n := int(states)
	return &selectiveState{h: make([]float64, n), s: make([]float64, n), m: make([]float64, n), kind: make([]uint8, n)}
}

func (c *selectiveState) start(decays []decay, h0 []float32) {
	c.largest, c.spilled = 0, false
	for n := range c.h {
		c.h[n], c.s[n], c.m[n], c.kind[n] = 0, 0, 0, decays[n].kind
		if h0 == nil {
			continue
		}
		if k := kindOf(h0[n]); k != clean {
			c.kind[n] = max(c.kind[n], k)
			continue
		}
		c.h[n] = float64(h0[n])
		c.s[n] = math.Abs(c.h[n])
		c.largest = max(c.largest, c.s[n])
	}
}

// step goes on by one step: x, softplus's argument, and B.
func (c *selectiveState) step(b *selectiveBound, decays []decay, x float32, s float64, rounded bool, enter []float32) {
	all := kindOf(x)
	switch {
	case s != s:
		all = isNaN
	case math.IsInf(s, 1):
		all = max(all, infinite)
	}
	if all != clean {
		for n := range c.kind {
			c.kind[n] = max(c.kind[n], all, kindOf(enter[n]))
		}
		return
	}
	d, relative := softplus(s, rounded)
	value := float64(x)
	for n, e := range enter {
		if c.kind[n] == clean {
			c.kind[n] = kindOf(e)
		} else {
			c.kind[n] = max(c.kind[n], kindOf(e))
		}
		if c.kind[n] != clean {
			continue
		}
		a, off := decays[n].factor(d, relative)
		in := float64(e)
		sizeX, sizeB := math.Abs(value), math.Abs(in)
		add := d * in * value
		size := math.Abs(add)
		unsure := size*(relative+2*unitRoundoff)*secondOrder + smallestNormal*(1+d+sizeB+sizeX+sizeB*sizeX)
		c.m[n] = (a+off)*b.compound*c.m[n] + (a*b.extra+off*b.compound)*c.s[n] + unsure
		c.s[n] = a*c.s[n] + size
		c.h[n] = a*c.h[n] + add
		c.largest = max(c.largest, c.s[n])
		if max(d*sizeX, d*sizeB, sizeX*sizeB, c.s[n]+c.m[n]) > b.affine.overflow {
			c.spilled = true
		}
	}
	c.spilled = c.spilled || s > largestFloat
}

// of is the bound on the error of state n.
func (b *selectiveBound) of(c *selectiveState, n int) float64 {
	tree := b.affine.perValue
	return (1+tree)*c.m[n] + tree*c.s[n] + b.affine.underflow*(1+c.largest)
}

// output is one y before it is stored, what its error may be, and what is known of it otherwise.
type output struct {
	value, bound float64
	kind         uint8
	spilled      bool
}

// leave sums the states up.
func (c *selectiveState) leave(b *selectiveBound, leave []float32) output {
	o := output{spilled: c.spilled}
	weight := 0.0
	for n, w := range leave {
		o.kind = max(o.kind, c.kind[n], kindOf(w))
		if o.kind != clean {
			continue
		}
		size, e := math.Abs(float64(w)), b.of(c, n)
		o.value += float64(w) * c.h[n]
		o.bound += size * e
		weight += size * (math.Abs(c.h[n]) + e)
	}
	o.weigh(b, weight)
	return o
}

func (o *output) weigh(b *selectiveBound, weight float64) {
	o.bound += b.sum*weight + smallestNormal*(b.states+2)
	o.spilled = o.spilled || weight+o.bound > b.affine.overflow
}

// skip adds D*x.
func (o *output) skip(b *selectiveBound, d, x float32) {
	o.kind = max(o.kind, kindOf(d), kindOf(x))
	if o.kind != clean {
		return
	}
	product := float64(d) * float64(x)
	o.value += product
	o.bound += b.sum * math.Abs(product)
	o.spilled = o.spilled || math.Abs(product)+o.bound+math.Abs(o.value) > b.affine.overflow
}

// gate multiplies by silu(z).
func (o *output) gate(b *selectiveBound, z float32) {
	switch k := kindOf(z); {
	case k == infinite && z < 0: // z/(1 + e^-z) is NaN, and a limit of 0 is as right
		o.kind = max(o.kind, loose)
	default:
		o.kind = max(o.kind, k)
	}
	if o.kind != clean {
		return
	}
	g, relative := silu(float64(z))
	whole, size := math.Abs(o.value)+o.bound, math.Abs(float64(z))
	o.spilled = o.spilled || whole*max(size, 1) > b.affine.overflow
	grown := relative + unitRoundoff + relative*unitRoundoff
	o.bound = math.Abs(g)*(o.bound*(1+grown)+math.Abs(o.value)*grown) + smallestNormal*(1+size*whole)
	o.value *= g
}
