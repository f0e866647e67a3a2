package op

import "sync"

// checkSpan is how many elements are widened at a time.
const checkSpan = 4096

func (o affine) Check(p Problem, arrays map[string][]byte, poison uint32, exact bool) (Comparison, error) {
	if err := checkArrays(o, p, arrays); err != nil {
		return Comparison{}, err
	}
	var lock sync.Mutex
	var total Comparison
	inParallel(p.Dims[dimRows], func(from, to int64) {
		w := newAffineWalk(p, arrays, poison, exact)
		for row := from; row < to; row++ {
			w.checkRow(row)
		}
		lock.Lock()
		defer lock.Unlock()
		total.merge(w.found)
	})
	return total, nil
}

// merge adds what another part of the rows gave. The first wrong position is that of the lowest row.
func (c *Comparison) merge(d Comparison) {
	c.Checked += d.Checked
	c.Wrong += d.Wrong
	c.Unwritten += d.Unwritten
	c.OutOfRange += d.OutOfRange
	c.Flushed += d.Flushed
	c.Worst = max(c.Worst, d.Worst)
	if d.First != nil && (c.First == nil || d.First.Row < c.First.Row) {
		c.First = d.First
	}
}

// affineWalk compares rows, one after the other, in scan order.
type affineWalk struct {
	bound     affineBound
	dtype     DType
	length    int64
	reverse   bool
	poison    uint32
	a, b, h   *column
	start     *column // nil where absent
	last      *column
	state     affineState
	row       int64
	role      string // of the output being compared
	got       *column
	found     Comparison
	worstErr  float64 // found.Worst as a fraction, so that the loop needs no division
	worstUnit float64
}

func newAffineWalk(p Problem, arrays map[string][]byte, poison uint32, exact bool) *affineWalk {
	w := &affineWalk{
		bound: newAffineBound(p.Dims[dimLength], p.DType, exact), dtype: p.DType, length: p.Dims[dimLength],
		reverse: p.Has(optReverse), poison: poison, worstUnit: 1,
		a: newColumn(arrays[roleA], p.DType), b: newColumn(arrays[roleB], p.DType), h: newColumn(arrays[roleH], p.DType),
	}
	if p.Has(optStart) {
		w.start = newColumn(arrays[roleStart], FP32)
	}
	if p.Has(optLast) {
		w.last = newColumn(arrays[roleLast], FP32)
	}
	return w
}

func (w *affineWalk) checkRow(row int64) {
	w.row, w.role, w.got = row, roleH, w.h
	start := float32(0)
	if w.start != nil {
		start = w.start.span(row, row+1)[0]
	}
	w.state = newAffineState(start)
	for done := int64(0); done < w.length; done += checkSpan {
		n := min(checkSpan, w.length-done)
		lo := row*w.length + done
		if w.reverse {
			lo = (row+1)*w.length - done - n
		}
		w.checkSpan(lo, n, done == 0)
	}
	if w.last != nil {
		w.checkLast(row)
	}
	w.settleWorst()
}

// checkLast compares the last state, which is fp32 whatever the storage type.
func (w *affineWalk) checkLast(row int64) {
	w.role, w.got = roleLast, w.last
	arrayBound := w.bound
	w.bound = newAffineBound(w.length, FP32, w.bound.exact)
	w.judge(row, w.last.span(row, row+1)[0])
	w.bound = arrayBound
}

// checkSpan compares n elements from lo on, in scan order.
func (w *affineWalk) checkSpan(lo, n int64, first bool) {
	a, b, h := w.a.span(lo, lo+n), w.b.span(lo, lo+n), w.h.span(lo, lo+n)
	at, step := 0, 1
	if w.reverse {
		at, step = int(n)-1, -1
	}
	left := int(n)
	if first && w.start == nil && !finite(a[at]) {
		w.ignoredFactor(lo+int64(at), b[at], h[at])
		at, left = at+step, left-1
	}
	for left > 0 {
		if w.dtype == FP32 && !w.state.spilled && !w.state.poisoned {
			done := w.checkFinite(a, b, h, at, step, left)
			at, left = at+done*step, left-done
		}
		if left > 0 {
			w.oneStep(a[at], b[at])
			w.judge(lo+int64(at), h[at])
			at, left = at+step, left-1
		}
	}
}

// ignoredFactor is a first step whose a is NaN or infinite and multiplies no start state: a kernel may leave it
// out, or form 0 times it. Either is accepted, to the end of the row.
func (w *affineWalk) ignoredFactor(i int64, b, got float32) {
	w.oneStep(0, b)
	w.state.spilled = true
	w.judge(i, got)
}

func (w *affineWalk) oneStep(a, b float32) {
	s := &w.state
	switch {
	case s.poisoned || !finite(a) || !finite(b):
		s.poison(&w.bound, float64(a), float64(b))
	case s.lost && a == 0:
		s.reset(float64(b))
	case !s.lost:
		s.step(&w.bound, float64(a), float64(b))
	}
}
