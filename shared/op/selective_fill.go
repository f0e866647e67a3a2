package op

import (
	"fmt"
	"slices"
)

// spot is where a value of a selective scan goes. Coordinates that its array lacks are 0; step is -1 for h0.
type spot struct {
	batch, step, channel, state int64
	length                      int64
	seed                        uint64
	bias                        float64 // of the channel, where delta is to leave room for it
}

// values makes the values of one array from 64 random bits and a spot.
type values func(x uint64, p spot) float64

// selectiveRegime is one kind of input. Arrays that it does not name are those of regime decay. argument is
// softplus's: delta is that less delta_bias.
type selectiveRegime struct {
	name     string
	argument values
	arrays   map[string]values
}

func findSelective(name string) *selectiveRegime {
	for i := range selectiveRegimes {
		if selectiveRegimes[i].name == name {
			return &selectiveRegimes[i]
		}
	}
	return nil
}

func (o selective) ParseCase(name string) (Case, error) {
	c, err := parseCase(o, name)
	if err != nil {
		return Case{}, err
	}
	if findSelective(c.Regime) == nil {
		return Case{}, unknownRegime(c, selectiveNames())
	}
	return c, nil
}

func selectiveNames() []string {
	var names []string
	for _, r := range selectiveRegimes {
		names = append(names, r.name)
	}
	return names
}

// inputOf finds an input array of a case, and its place in the op's list.
func inputOf(o Op, c Case, role string, dst []byte) (a Array, index int, err error) {
	arrays := o.Arrays(c.Problem)
	i := slices.IndexFunc(arrays, func(a Array) bool { return a.Role == role && !a.Output && a.Shape != nil })
	if i < 0 {
		return a, 0, fmt.Errorf("case %q has no input %q", c.Name, role)
	}
	if int64(len(dst)) != arrays[i].Bytes() {
		return a, 0, fmt.Errorf("case %q: input %q takes %d bytes; the buffer has %d", c.Name, role, arrays[i].Bytes(), len(dst))
	}
	return arrays[i], i, nil
}

func (o selective) Fill(c Case, role string, dst []byte) error {
	r := findSelective(c.Regime)
	if r == nil {
		return unknownRegime(c, selectiveNames())
	}
	array, i, err := inputOf(o, c, role, dst)
	if err != nil {
		return err
	}
	f := selectiveFiller{c: c, array: array, dst: dst, make: r.of(role), key: hash(c.Seed, uint64(i)), biased: c.Problem.Has(optBias)}
	for at, axis := range array.Axes {
		f.stride[slices.Index(o.Dims(), axis)] = span(array.Shape[at+1:])
	}
	inParallel((array.Elements()+fillSpan-1)/fillSpan, f.spans)
	return nil
}

// of is how a regime makes an array.
func (r *selectiveRegime) of(role string) values {
	if role == roleDelta {
		argument := r.argument
		if argument == nil {
			argument = selectiveRegimes[0].argument
		}
		return func(x uint64, p spot) float64 { return argument(x, p) - p.bias }
	}
	if make := r.arrays[role]; make != nil {
		return make
	}
	return selectiveRegimes[0].arrays[role]
}

// span is the product of a shape.
func span(shape []int64) int64 { return Array{Shape: shape}.Elements() }

// selectiveFiller makes one array of a case. stride is the distance of neighbours along each of the op's
// dimensions, or 0 along those that the array lacks.
type selectiveFiller struct {
	c      Case
	array  Array
	dst    []byte
	make   values
	key    uint64
	biased bool
	stride [4]int64
}

// spans makes the spans numbered [from, to).
func (f selectiveFiller) spans(from, to int64) {
	size := f.array.DType.Size()
	made := make([]float32, fillSpan)
	for n := from; n < to; n++ {
		lo, hi := n*fillSpan, min((n+1)*fillSpan, f.array.Elements())
		for i := lo; i < hi; i++ {
			made[i-lo] = float32(f.make(hash(f.key, uint64(i)), f.at(i)))
		}
		Encode(f.dst[lo*size:hi*size], made[:hi-lo], f.array.DType)
	}
}

// at is the spot of element i.
func (f selectiveFiller) at(i int64) spot {
	dims := f.c.Problem.Dims
	along := func(dim int, name string) int64 {
		if f.stride[dim] == 0 {
			return 0
		}
		return i / f.stride[dim] % dims[name]
	}
	p := spot{batch: along(0, dimBatch), step: along(1, dimLength), channel: along(2, dimChannels), state: along(3, dimState),
		length: dims[dimLength], seed: f.c.Seed}
	if f.array.Role == roleStart {
		p.step = -1
	}
	if f.biased {
		p.bias = float64(float32(biasOf(p)))
	}
	return p
}
