package op

import "math"

// judge compares one element with the state; it is the whole rule, of which checkFinite inlines the common case.
func (w *affineWalk) judge(i int64, value float32) {
	s, got := &w.state, float64(value)
	if value != value && w.got.holds(i, w.poison) {
		w.found.Unwritten++
		w.wrong(i, got, math.Inf(1))
		return
	}
	if s.poisoned {
		w.judgePoisoned(i, got)
		return
	}
	if s.lost {
		w.found.OutOfRange++
		return
	}
	limit := w.bound.stored(w.bound.of(s), s.h)
	spilled := s.spilled || math.Abs(s.h)+limit >= w.bound.storageMax
	if spilled && !finite(value) {
		w.found.OutOfRange++
		return
	}
	expected := s.h
	if w.bound.exact {
		expected, limit = w.stored(s.h), 0
	}
	diff := math.Abs(got - expected)
	switch {
	case !(diff <= limit):
		if w.got.holds(i, w.poison) {
			w.found.Unwritten++
		}
		w.wrong(i, got, inUnits(diff, limit))
	case spilled:
		w.found.OutOfRange++
	default:
		w.found.Checked++
		w.worse(diff, limit)
		if got == 0 && expected != 0 && math.Abs(expected) < smallestNormal {
			w.found.Flushed++
		}
	}
}

// judgePoisoned is for steps from the first NaN or infinity of the inputs on, where no grouping gives a finite
// value and most must agree on which other it is.
func (w *affineWalk) judgePoisoned(i int64, got float64) {
	s := &w.state
	isNaN := got != got
	within := isNaN || math.IsInf(got, 0)
	switch {
	case s.nan || s.h != s.h && !s.loose && !s.spilled:
		within = isNaN
	case s.loose || s.spilled:
	default:
		// A tree multiplies its factors first; where they underflow, 0 times the infinity is NaN.
		within = got == s.h || isNaN && s.shrunk
	}
	if !within {
		w.wrong(i, got, math.Inf(1))
		return
	}
	w.found.Checked++
}

// stored is the value as the storage type holds it.
func (w *affineWalk) stored(h float64) float64 {
	if w.got.dtype == FP32 {
		return h
	}
	var raw [2]byte
	one := [1]float32{float32(h)}
	Encode(raw[:], one[:], w.got.dtype)
	Decode(one[:], raw[:], w.got.dtype)
	return float64(one[0])
}

func inUnits(diff, limit float64) float64 {
	if diff != diff || limit == 0 {
		return math.Inf(1)
	}
	return diff / limit
}

func (w *affineWalk) worse(diff, limit float64) {
	if diff*w.worstUnit > w.worstErr*limit {
		w.worstErr, w.worstUnit = diff, limit
	}
}

func (w *affineWalk) settleWorst() {
	if w.worstUnit > 0 {
		w.found.Worst = max(w.found.Worst, w.worstErr/w.worstUnit)
	}
}

// wrong notes an element outside its bound; the first one met is the one reported.
func (w *affineWalk) wrong(i int64, got, bounds float64) {
	w.found.Checked++
	w.found.Wrong++
	w.found.Worst = max(w.found.Worst, bounds)
	if w.found.First != nil {
		return
	}
	first := &Position{Role: w.role, Row: w.row, Expected: w.state.h, Got: got, Bounds: bounds}
	if w.role == roleH {
		first.Index = i - w.row*w.length
	}
	w.found.First = first
}
