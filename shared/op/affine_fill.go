package op

import (
	"fmt"
	"strings"
)

// hash is the output function of splitmix64 over two words: 64 well mixed bits for every place, in any order.
func hash(key, counter uint64) uint64 {
	z := key + (counter+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (o affine) ParseCase(name string) (Case, error) {
	c, err := parseCase(o, name)
	if err != nil {
		return Case{}, err
	}
	if findRegime(c.Regime) == nil {
		return Case{}, unknownRegime(c, regimeNames())
	}
	return c, nil
}

func unknownRegime(c Case, known []string) error {
	return fmt.Errorf("case %q: regime %q is not known; known are %s", c.Name, c.Regime, strings.Join(known, ", "))
}

func regimeNames() []string {
	var names []string
	for _, r := range affineRegimes {
		names = append(names, r.name)
	}
	return names
}

const fillSpan = 4096 // elements made at a time, for the cache

func (o affine) Fill(c Case, role string, dst []byte) error {
	r := findRegime(c.Regime)
	if r == nil {
		return unknownRegime(c, regimeNames())
	}
	array, i, err := inputOf(o, c, role, dst)
	if err != nil {
		return err
	}
	f := filler{c: c, dtype: array.DType, dst: dst, length: 1, make: r.a, key: hash(c.Seed, uint64(i))}
	switch role {
	case roleB:
		f.make = r.b
	case roleStart:
		f.make = r.b
		if r.start != nil {
			f.make = r.start
		}
		f.start = true
	}
	if !f.start {
		f.length = c.Problem.Dims[dimLength]
	}
	inParallel(c.Problem.Dims[dimRows]*((f.length+fillSpan-1)/fillSpan), f.spans)
	return nil
}

// filler makes one array of a case.
type filler struct {
	c      Case
	dtype  DType
	dst    []byte
	length int64 // elements per row of this array
	start  bool  // the array is h0
	make   func(uint64, place) float64
	key    uint64
}

// spans makes the spans numbered [from, to), counted row by row.
func (f filler) spans(from, to int64) {
	perRow := (f.length + fillSpan - 1) / fillSpan
	values := make([]float32, min(f.length, fillSpan))
	for n := from; n < to; n++ {
		row, lo := n/perRow, n%perRow*fillSpan
		hi := min(lo+fillSpan, f.length)
		f.span(values[:hi-lo], row, lo)
		at := (row*f.length + lo) * f.dtype.Size()
		out := f.dst[at : at+(hi-lo)*f.dtype.Size()]
		if direct := floats(out); f.dtype == FP32 && direct != nil {
			copy(direct, values)
			continue
		}
		Encode(out, values[:hi-lo], f.dtype)
	}
}

func (f filler) span(values []float32, row, lo int64) {
	p := place{row: row, length: f.c.Problem.Dims[dimLength], seed: f.c.Seed}
	key := hash(f.key, uint64(row))
	reverse := f.c.Problem.Has(optReverse)
	for i := range values {
		switch {
		case f.start:
			p.step = -1
		case reverse:
			p.step = f.length - 1 - lo - int64(i)
		default:
			p.step = lo + int64(i)
		}
		values[i] = float32(f.make(hash(key, uint64(p.step)), p))
	}
}
