package op

import (
	"fmt"
	"math"
	"sync"
)

// channelBlock is how many channels are walked side by side: rows of x, delta and y are read once for all of them.
const channelBlock = 16

// checkArrays refuses arrays whose sizes are not those of the problem.
func checkArrays(o Op, p Problem, arrays map[string][]byte) error {
	if err := o.Validate(p); err != nil {
		return err
	}
	for _, a := range o.Arrays(p) {
		if a.Shape == nil {
			continue
		}
		raw, ok := arrays[a.Role]
		if !ok || int64(len(raw)) != a.Bytes() {
			return fmt.Errorf("%s: array %q has %d bytes; its shape takes %d", o.Name(), a.Role, len(raw), a.Bytes())
		}
	}
	return nil
}

func (o selective) Check(p Problem, arrays map[string][]byte, poison uint32, _ bool) (Comparison, error) {
	if err := checkArrays(o, p, arrays); err != nil {
		return Comparison{}, err
	}
	blocks := (p.Dims[dimChannels] + channelBlock - 1) / channelBlock
	var lock sync.Mutex
	var total Comparison
	inParallel(p.Dims[dimBatch]*blocks, func(from, to int64) {
		w := newSelectiveWalk(p, arrays, poison)
		for i := from; i < to; i++ {
			w.block(i/blocks, i%blocks*channelBlock)
		}
		lock.Lock()
		defer lock.Unlock()
		total.merge(w.found)
	})
	return total, nil
}

// selectiveWalk compares blocks of channels, each step by step.
type selectiveWalk struct {
	bound                    selectiveBound
	length, channels, states int64
	poison                   uint32
	columns                  map[string]*column // absent arrays have none
	channel                  []*selectiveState
	decays                   [][]decay
	found                    Comparison
}

func newSelectiveWalk(p Problem, arrays map[string][]byte, poison uint32) *selectiveWalk {
	w := &selectiveWalk{length: p.Dims[dimLength], channels: p.Dims[dimChannels], states: p.Dims[dimState], poison: poison,
		columns: map[string]*column{}}
	w.bound = newSelectiveBound(w.length, w.states, p.DType)
	for _, a := range (selective{}).Arrays(p) {
		if a.Shape != nil {
			w.columns[a.Role] = newColumn(arrays[a.Role], a.DType)
		}
	}
	for range channelBlock {
		w.channel = append(w.channel, newSelectiveState(w.states))
		w.decays = append(w.decays, make([]decay, w.states))
	}
	return w
}

// span reads part of an array, or nil where the problem has none.
func (w *selectiveWalk) span(role string, lo, hi int64) []float32 {
	if c := w.columns[role]; c != nil {
		return c.span(lo, hi)
	}
	return nil
}

// block walks the channels from `first` on of one batch.
func (w *selectiveWalk) block(batch, first int64) {
	past := min(first+channelBlock, w.channels)
	for d := first; d < past; d++ {
		for n, log := range w.span(roleDecay, d*w.states, (d+1)*w.states) {
			w.decays[d-first][n] = newDecay(log)
		}
		row := batch*w.channels + d
		w.channel[d-first].start(w.decays[d-first], w.span(roleStart, row*w.states, (row+1)*w.states))
	}
	bias, skip := w.span(roleBias, first, past), w.span(roleSkip, first, past)
	for t := range w.length {
		w.step(batch, t, first, past, bias, skip)
	}
	if w.columns[roleLast] == nil {
		return
	}
	for d := first; d < past; d++ {
		w.last(batch*w.channels+d, w.channel[d-first])
	}
}

func (w *selectiveWalk) step(batch, t, first, past int64, bias, skip []float32) {
	at := (batch*w.length + t) * w.channels
	x, delta, z := w.span(roleX, at+first, at+past), w.span(roleDelta, at+first, at+past), w.span(roleGate, at+first, at+past)
	got := w.span(roleY, at+first, at+past)
	row := (batch*w.length + t) * w.states
	enter, leave := w.span(roleEnter, row, row+w.states), w.span(roleLeave, row, row+w.states)
	for i, value := range x {
		s := float64(delta[i])
		if bias != nil {
			s += float64(bias[i])
		}
		w.channel[i].step(&w.bound, w.decays[i], value, s, bias != nil, enter)
		o := w.channel[i].leave(&w.bound, leave)
		if skip != nil {
			o.skip(&w.bound, skip[i], value)
		}
		if z != nil {
			o.gate(&w.bound, z[i])
		}
		channel := first + int64(i)
		w.judge(roleY, &w.bound.affine, o, got[i], at+channel, batch*w.channels+channel, t)
	}
}

func (w *selectiveWalk) last(row int64, c *selectiveState) {
	for n, got := range w.span(roleLast, row*w.states, (row+1)*w.states) {
		o := output{value: c.h[n], bound: w.bound.of(c, n), kind: c.kind[n], spilled: c.spilled}
		w.judge(roleLast, &w.bound.last, o, got, row*w.states+int64(n), row, int64(n))
	}
}

// judge compares element i of an output, which is number `index` of a row.
func (w *selectiveWalk) judge(role string, storage *affineBound, o output, value float32, i, row, index int64) {
	got := float64(value)
	wrong := func(bounds float64) {
		w.found.note(Position{Role: role, Row: row, Index: index, Expected: o.value, Got: got, Bounds: bounds})
	}
	if value != value && w.columns[role].holds(i, w.poison) {
		w.found.Unwritten++
		wrong(math.Inf(1))
		return
	}
	if o.kind != clean {
		switch {
		case o.kind == loose:
			w.found.OutOfRange++
		case o.kind == isNaN && value == value, o.kind == infinite && finite(value):
			o.value = math.NaN()
			wrong(math.Inf(1))
		default:
			w.found.Checked++
		}
		return
	}
	limit := storage.stored(o.bound, o.value)
	spilled := o.spilled || math.Abs(o.value)+limit >= storage.storageMax
	if spilled && !finite(value) {
		w.found.OutOfRange++
		return
	}
	diff := math.Abs(got - o.value)
	switch {
	case !(diff <= limit):
		if w.columns[role].holds(i, w.poison) {
			w.found.Unwritten++
		}
		wrong(inUnits(diff, limit))
	case spilled:
		w.found.OutOfRange++
	default:
		w.found.Checked++
		w.found.Worst = max(w.found.Worst, diff/limit)
		if got == 0 && o.value != 0 && math.Abs(o.value) < smallestNormal {
			w.found.Flushed++
		}
	}
}

// note adds an element outside its bound. The first is that of the lowest row, and in a row the one met first.
func (c *Comparison) note(p Position) {
	c.Checked++
	c.Wrong++
	c.Worst = max(c.Worst, p.Bounds)
	if c.First == nil || p.Row < c.First.Row {
		c.First = &p
	}
}
