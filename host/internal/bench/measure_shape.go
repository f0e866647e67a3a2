package bench

import (
	"context"
	"fmt"
	"strings"

	"scanhost/host/internal/buffers"
	"scanhost/shared/contract/kernelv1"
	"scanhost/shared/op"
)

// How the rotating sets are laid out.
const (
	l2Multiples = 4    // that the rotating sets are at least as large as, so that nothing survives in L2
	leastInputs = 2    // sets of inputs
	mostInputs  = 64   // sets of inputs: more would make small problems slow to verify
	mostSlots   = 1024 // outputs: a Prepare message names them all
	longestSpan = shortestSpan + spanSpread + warmSpan
)

// shape is one problem of a sweep, on memory that is shared by all shapes.
type shape struct {
	problem    op.Problem
	op         op.Op
	arrays     []op.Array
	arrayBytes int64 // of the largest array
}

func newShape(p op.Problem) (shape, error) {
	o, err := op.Lookup(p.Op)
	if err != nil {
		return shape{}, err
	}
	s := shape{problem: p, op: o}
	for _, a := range o.Arrays(p) {
		if a.Shape != nil {
			s.arrays = append(s.arrays, a)
			s.arrayBytes = max(s.arrayBytes, a.Bytes())
		}
	}
	return s, o.Validate(p)
}

// of lists the inputs, or the outputs.
func (s shape) of(output bool) []op.Array {
	var out []op.Array
	for _, a := range s.arrays {
		if a.Output == output {
			out = append(out, a)
		}
	}
	return out
}

func roundUp(n, multiple int64) int64 { return (n + multiple - 1) / multiple * multiple }

// inputStride is the distance of two sets of inputs.
func (s shape) inputStride() (stride int64) {
	for _, a := range s.of(false) {
		stride += roundUp(a.Bytes(), buffers.SlotAlignment)
	}
	return stride
}

// slotStride is the distance of two outputs, with the guard band between them.
func (s shape) slotStride() (stride int64) {
	for _, a := range s.of(true) {
		stride += roundUp(a.Bytes()+buffers.GuardBytes, buffers.SlotAlignment)
	}
	return stride
}

// inputSets is how many sets of inputs rotate.
func (s shape) inputSets(l2 int64) int {
	n := int64(leastInputs)
	if each := s.bytes(false) + s.bytes(true); each > 0 {
		n = max(n, (l2Multiples*l2+each-1)/each)
	}
	return int(min(n, mostInputs))
}

func (s shape) bytes(output bool) (n int64) {
	for _, a := range s.of(output) {
		n += a.Bytes()
	}
	return n
}

// slotsWanted is as many outputs as the longest batch can fill at the memory's peak.
func (s shape) slotsWanted(gpu GPU) int64 {
	sets := int64(s.inputSets(gpu.L2Bytes))
	read, written := s.op.MinimumTraffic(s.problem)
	fastest := float64(read+written) / max(gpu.Peak, 1)
	n := int64(mostSlots)
	if fastest > 0 {
		n = min(n, int64(longestSpan/fastest)+1)
	}
	return max(sets, n/sets*sets)
}

// outputBytes is what an arena of outputs needs for the slots.
func (s shape) outputBytes(slots int64) int64 { return slots*s.slotStride() + 2*buffers.GuardBytes }

// String is the shape as people say it.
func (s shape) String() string {
	var dims []string
	for _, d := range s.op.Dims() {
		dims = append(dims, fmt.Sprintf("%s %d", d, s.problem.Dims[d]))
	}
	return fmt.Sprintf("%s, %s", strings.Join(dims, ", "), size(s.arrayBytes))
}

func size(bytes int64) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%.4g MiB", float64(bytes)/(1<<20))
	case bytes >= 1<<10:
		return fmt.Sprintf("%.4g KiB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%d B", bytes)
}

// contents are the inputs of shapes with arrays of equal sizes, kept on the host to compare with. Such shapes read the
// same bytes, each as its own rows.
type contents struct {
	sets [][][]byte // set, input, bytes
}

// inputKey is equal for shapes that can have the same contents.
func (s shape) inputKey() string {
	key := s.problem.Op
	for _, a := range s.of(false) {
		key += fmt.Sprintf(" %s:%s:%d", a.Role, a.DType, a.Bytes())
	}
	return key
}

// regime is what timed kernels get: ordinary values, far from the subnormal range.
const regime = "decay"

func makeContents(s shape, sets int, seed uint64) (contents, error) {
	var c contents
	for set := range sets {
		var made [][]byte
		what, err := s.op.ParseCase(caseName(s, seed+uint64(set)))
		if err != nil {
			return c, err
		}
		for _, a := range s.of(false) {
			dst := make([]byte, a.Bytes())
			if err := s.op.Fill(what, a.Role, dst); err != nil {
				return c, err
			}
			made = append(made, dst)
		}
		c.sets = append(c.sets, made)
	}
	return c, nil
}

func caseName(s shape, seed uint64) string {
	parts := []string{s.problem.Op, regime}
	for _, d := range s.op.Dims() {
		parts = append(parts, fmt.Sprintf("%s=%d", d, s.problem.Dims[d]))
	}
	options := "none"
	if len(s.problem.Options) > 0 {
		options = strings.Join(s.problem.Options, "+")
	}
	return strings.Join(append(parts, options, string(s.problem.DType), fmt.Sprintf("seed=%d", seed)), ":")
}

// keeperGround is the ground of a shape in the keeper's memory.
type keeperGround struct {
	shape
	from, to  *buffers.Arena
	contents  contents
	slotCount int
	seed      uint64
}

func (g *keeperGround) slots() int  { return g.slotCount }
func (g *keeperGround) inputs() int { return len(g.contents.sets) }

// write puts the inputs where plugins read them.
func (g *keeperGround) write() error {
	for set, arrays := range g.contents.sets {
		at := int64(set) * g.inputStride()
		for i, a := range g.of(false) {
			if err := g.from.Write(at, arrays[i]); err != nil {
				return fmt.Errorf("writing %s: %w", a.Role, err)
			}
			at += roundUp(a.Bytes(), buffers.SlotAlignment)
		}
	}
	return nil
}

// part is the slots of one output.
func (g *keeperGround) part(output, count int) buffers.Slots {
	outputs := g.of(true)
	at := int64(buffers.GuardBytes)
	for _, a := range outputs[:output] {
		at += roundUp(a.Bytes()+buffers.GuardBytes, buffers.SlotAlignment)
	}
	return buffers.Slots{Offset: at, Stride: g.slotStride(), Bytes: outputs[output].Bytes(), Count: count}
}

func (g *keeperGround) poison(ctx context.Context, count int) error {
	whole := g.part(0, count)
	whole.Bytes = g.slotStride() - buffers.GuardBytes
	return g.to.Poison(ctx, whole)
}

func (g *keeperGround) inspect(ctx context.Context, count int) (look, error) {
	seen := look{prints: make([]uint64, count)}
	for i, a := range g.of(true) {
		got, err := g.to.Inspect(ctx, g.part(i, count))
		if err != nil {
			return seen, err
		}
		if !got.Intact && seen.broken == "" {
			seen.broken = fmt.Sprintf("byte %d of %s was written in launch %d; the array has %d", got.FirstBad, a.Role, got.BadSlot, a.Bytes())
		}
		for slot, h := range got.Hashes {
			seen.prints[slot] = seen.prints[slot]*0x9E3779B97F4A7C15 + h
		}
	}
	return seen, nil
}

// sets are the buffers of every slot, as plugins get them.
func (g *keeperGround) sets() []*kernelv1.BufferSet {
	var out []*kernelv1.BufferSet
	for slot := range g.slotCount {
		set := &kernelv1.BufferSet{}
		at, i := int64(slot%g.inputs())*g.inputStride(), 0
		for _, a := range g.arrays {
			if a.Output {
				set.Buffers = append(set.Buffers, g.to.Message(a, g.part(i, 1).Offset+int64(slot)*g.slotStride()))
				i++
				continue
			}
			set.Buffers = append(set.Buffers, g.from.Message(a, at))
			at += roundUp(a.Bytes(), buffers.SlotAlignment)
		}
		out = append(out, set)
	}
	return out
}

// streamSets are the same places for a stream: the first arrays of each kind, which are the large ones.
func (g *keeperGround) streamSets(reads, writes int) []buffers.StreamSet {
	var out []buffers.StreamSet
	for slot := range g.slotCount {
		var set buffers.StreamSet
		for r := range reads {
			set.Reads = append(set.Reads, int64(slot%g.inputs())*g.inputStride()+int64(r)*roundUp(g.arrayBytes, buffers.SlotAlignment))
		}
		for w := range writes {
			set.Writes = append(set.Writes, g.part(w, 1).Offset+int64(slot)*g.slotStride())
		}
		out = append(out, set)
	}
	return out
}

// label says where the caches flatter.
func (g *keeperGround) label(l2 int64) string {
	rotating := int64(g.inputs())*g.bytes(false) + int64(g.slotCount)*g.bytes(true)
	switch {
	case rotating <= l2:
		return "fits in L2"
	case rotating < l2Multiples*l2:
		return fmt.Sprintf("rotates through %.1f times L2", float64(rotating)/float64(l2))
	}
	return ""
}
