package op

import (
	"fmt"
	"slices"
	"strings"
)

// The selective scan, Mamba's S6 recurrence. For every batch and channel, from h[-1] = h0, or 0 where h0 is absent,
//
//	d[t] = softplus(delta[t] + delta_bias)         A[n] = -exp(A_log[n])
//	h[t,n] = exp(d[t]*A[n])*h[t-1,n] + d[t]*B[t,n]*x[t]
//	y[t] = (sum over n of C[t,n]*h[t,n] + D*x[t]) * silu(z[t])
//
// x, delta, z and y are (batch, length, channels); B and C (batch, length, state); A_log (channels, state); D and
// delta_bias (channels); h0 and last_state (batch, channels, state). Parameters and states are fp32 whatever the
// storage type. D, z, delta_bias, h0 and last_state are options. B and C vary in time.
type selective struct{}

const (
	selectiveName = "selective_scan"
	optSkip       = "D"
	optGate       = "z"
	optBias       = "delta_bias"
	roleX         = "x"
	roleDelta     = "delta"
	roleDecay     = "A_log"
	roleEnter     = "B"
	roleLeave     = "C"
	roleSkip      = "D"
	roleGate      = "z"
	roleBias      = "delta_bias"
	roleY         = "y"
	dimBatch      = "batch"
	dimChannels   = "channels"
	dimState      = "state"
	mostStates    = 256
)

func init() { ops[selectiveName] = selective{} }

func (selective) Name() string { return selectiveName }
func (selective) Dims() []string {
	return []string{dimBatch, dimLength, dimChannels, dimState}
}
func (selective) Options() []string {
	return []string{optSkip, optGate, optBias, optStart, optLast}
}

func (o selective) Validate(p Problem) error {
	if err := validProblem(o, p); err != nil {
		return err
	}
	if n := p.Dims[dimState]; n < 1 || n > mostStates {
		return fmt.Errorf("%s: state is %d; accepted are 1 to %d", selectiveName, n, mostStates)
	}
	return nil
}

// validProblem is what every op demands: its name, a known type, all dimensions and no other, sizes that an int64
// can count, and options in order.
func validProblem(o Op, p Problem) error {
	if p.Op != o.Name() {
		return fmt.Errorf("problem is of operation %q; this one is %s", p.Op, o.Name())
	}
	if !slices.Contains([]DType{FP32, FP16, BF16}, p.DType) {
		return fmt.Errorf("%s: dtype %q is not known; accepted are fp32, fp16, bf16", o.Name(), p.DType)
	}
	names := o.Dims()
	for name := range p.Dims {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s: dimension %q is not known; it has %s", o.Name(), name, strings.Join(names, ", "))
		}
	}
	for _, name := range names {
		n, ok := p.Dims[name]
		if !ok {
			return fmt.Errorf("%s: dimension %q is missing", o.Name(), name)
		}
		if n < 0 {
			return fmt.Errorf("%s: %s is %d; accepted are 0 and more", o.Name(), name, n)
		}
	}
	if err := validOptions(o, p.Options); err != nil {
		return err
	}
	for _, a := range o.Arrays(p) {
		if tooLarge(a.Shape) {
			return fmt.Errorf("%s: %s of shape %v is too large; an array may hold up to %d bytes", o.Name(), a.Role, a.Shape, largestBytes)
		}
	}
	return nil
}

func tooLarge(shape []int64) bool {
	room := largestBytes / 4
	for _, n := range shape {
		if n > room {
			return true
		}
		room /= max(n, 1)
	}
	return false
}

func (selective) Arrays(p Problem) []Array {
	step := []string{dimBatch, dimLength, dimChannels}
	state := []string{dimBatch, dimLength, dimState}
	states := []string{dimBatch, dimChannels, dimState}
	// The largest come first: a benchmark's ceiling streams those.
	arrays := []Array{
		{Role: roleX, DType: p.DType, Axes: step},
		{Role: roleDelta, DType: p.DType, Axes: step},
		{Role: roleGate, DType: p.DType, Axes: step, Option: optGate},
		{Role: roleEnter, DType: p.DType, Axes: state},
		{Role: roleLeave, DType: p.DType, Axes: state},
		{Role: roleDecay, DType: FP32, Axes: []string{dimChannels, dimState}},
		{Role: roleSkip, DType: FP32, Axes: []string{dimChannels}, Option: optSkip},
		{Role: roleBias, DType: FP32, Axes: []string{dimChannels}, Option: optBias},
		{Role: roleStart, DType: FP32, Axes: states, Option: optStart},
		{Role: roleY, DType: p.DType, Axes: step, Output: true},
		{Role: roleLast, DType: FP32, Axes: states, Output: true, Option: optLast},
	}
	return shaped(arrays, p)
}

// shaped gives arrays the shapes that their axes have in a problem; those of an option that is off get none.
func shaped(arrays []Array, p Problem) []Array {
	for i := range arrays {
		a := &arrays[i]
		if a.Option != "" && !p.Has(a.Option) {
			continue
		}
		a.Shape = []int64{}
		for _, axis := range a.Axes {
			a.Shape = append(a.Shape, p.Dims[axis])
		}
	}
	return arrays
}

func (selective) Outermost() string { return dimBatch }

func (selective) Part(p Problem, first, count int64) (Problem, int64) {
	return p.with(map[string]int64{dimBatch: count}), first * p.Dims[dimChannels]
}

// Miniature keeps the channels that a kernel may share B and C among, and the number of states, since both decide
// how often these are read. Few steps are enough, but so many that A_log, read once, is little beside them.
func (selective) Miniature(p Problem, elements int64) Problem {
	channels := min(p.Dims[dimChannels], 256)
	length := min(p.Dims[dimLength], max(elements/max(1, channels), min(32*p.Dims[dimState], 512)))
	return p.with(map[string]int64{dimBatch: 1, dimLength: length, dimChannels: channels})
}

// Usual are shapes of Mamba's layers, from few channels to many and from short sequences to long ones.
func (selective) Usual() []map[string]int64 {
	var shapes []map[string]int64
	for _, s := range [][3]int64{{16, 256, 2048}, {8, 1536, 2048}, {8, 2048, 4096}, {1, 2048, 65536}, {64, 1536, 512}} {
		shapes = append(shapes, map[string]int64{dimBatch: s[0], dimChannels: s[1], dimLength: s[2], dimState: 16})
	}
	return shapes
}

// MinimumTraffic counts every array once. The states stay on the chip.
func (o selective) MinimumTraffic(p Problem) (read, written int64) {
	for _, a := range o.Arrays(p) {
		switch {
		case a.Shape == nil:
		case a.Output:
			written += a.Bytes()
		default:
			read += a.Bytes()
		}
	}
	return read, written
}
