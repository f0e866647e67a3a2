package op

import "math"

// checkFinite is the common case: finite inputs, a state within range, a value within its bound. It stops in
// front of the first element that is anything else, and returns how many it has dealt with. It is affineState.step
// and affineWalk.judge with every running scalar in a register, which is worth a factor of eight.
func (w *affineWalk) checkFinite(a, b, got []float32, at, step, left int) int {
	c := &w.bound
	perProduct, perValue, compound := c.perProduct, c.perValue, c.compound
	h, s, m, growth, decay, largest := w.state.h, w.state.s, w.state.m, w.state.growth, w.state.decay, w.state.largest
	worstErr, worstUnit := w.worstErr, w.worstUnit
	widest := c.widest(&w.state)
	if c.exact {
		perProduct, perValue, widest = 0, 0, 0
	}
	follow := !w.state.shrunk // decay matters until a product may have underflowed
	done := 0
	for ; done < left; done++ {
		x, y := float64(a[at]), float64(b[at])
		size := math.Abs(x)
		nextM := size*compound*m + size*s
		nextS := size*s + math.Abs(y)
		nextH := x*h + y
		nextGrowth := size * growth
		if nextGrowth < 1 {
			nextGrowth = 1
		}
		limit := perProduct*nextM + perValue*nextS + widest*nextGrowth
		diff := math.Abs(float64(got[at]) - nextH)
		// Written so that NaN, from an input or an output, stops it.
		if !(diff <= limit && nextS+limit <= largestFloat && nextGrowth <= c.overflow) || (got[at] == 0 && nextH != 0) {
			break
		}
		if follow {
			nextDecay := size * decay
			if nextDecay < decayLimit {
				break
			}
			decay = min(1, nextDecay)
		}
		if nextS > largest {
			if !follow { // the bound widens with it
				break
			}
			largest = nextS
		}
		h, s, m, growth = nextH, nextS, nextM, nextGrowth
		if diff*worstUnit > worstErr*limit {
			worstErr, worstUnit = diff, limit
		}
		at += step
	}
	w.state.h, w.state.s, w.state.m, w.state.growth, w.state.decay, w.state.largest = h, s, m, growth, decay, largest
	w.worstErr, w.worstUnit = worstErr, worstUnit
	w.found.Checked += int64(done)
	return done
}
