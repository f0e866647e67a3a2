package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"scanhost/host/internal/discover"
	"scanhost/host/internal/machine"
	"scanhost/host/internal/npy"
	"scanhost/host/internal/scaffold"
	"scanhost/shared/op"
)

// problem makes a problem of what the headers say, and refuses what cannot be computed before anything is
// allocated. shape is the result's: that of a.
func (o *scanOptions) problem(plugin discover.Plugin) (p op.Problem, shape []int64, err error) {
	declared, ok := plugin.Manifest.Op(scaffold.Op)
	if !ok {
		return p, nil, fmt.Errorf("plugin %s does not compute %s, which scan needs", plugin.Name(), scaffold.Op)
	}
	p = op.Problem{Op: declared.Name, DType: op.DType(o.dtype)}
	if !slices.Contains(declared.DTypes, o.dtype) {
		return p, nil, fmt.Errorf("plugin %s computes in %s; dtype %q is not accepted", plugin.Name(), strings.Join(declared.DTypes, ", "), o.dtype)
	}
	a, err := npy.Peek(o.a, "a", p.DType)
	if err != nil {
		return p, nil, err
	}
	b, err := npy.Peek(o.b, "b", p.DType)
	if err != nil {
		return p, nil, err
	}
	if !slices.Equal(a.Shape, b.Shape) {
		return p, nil, fmt.Errorf("%s has shape %s and %s has shape %s; accepted are equal shapes", a.Source, shapeText(a.Shape), b.Source, shapeText(b.Shape))
	}
	rows, length := a.Matrix()
	p.Dims = map[string]int64{"rows": rows, "length": length}
	if p.Options, err = o.problemOptions(rows); err != nil {
		return p, nil, err
	}
	operation, err := op.Lookup(p.Op)
	if err == nil {
		err = operation.Validate(p)
	}
	if err == nil {
		err = o.fitsMemory(operation.Arrays(p))
	}
	if err == nil {
		err = o.checkOutputs()
	}
	return p, a.Shape, err
}

// problemOptions are those that the flags switch on, in the operation's order.
func (o *scanOptions) problemOptions(rows int64) ([]string, error) {
	var on []string
	if o.reverse {
		on = append(on, "reverse")
	}
	if o.h0 != "" {
		h0, err := npy.Peek(o.h0, "h0", op.FP32)
		if err != nil {
			return nil, err
		}
		if h0.Elements() != rows || len(h0.Shape) != 1 {
			return nil, fmt.Errorf("%s has shape %s; accepted is (%d,), one state for each row of %s", h0.Source, shapeText(h0.Shape), rows, o.a)
		}
		on = append(on, "h0")
	}
	if o.last != "" {
		on = append(on, "last_state")
	}
	return on, nil
}

func shapeText(shape []int64) string {
	text := strings.Trim(fmt.Sprint(shape), "[]")
	if len(shape) == 1 {
		return "(" + text + ",)"
	}
	return "(" + strings.ReplaceAll(text, " ", ", ") + ")"
}

// fitsMemory estimates: the host holds every array once as it was read or will be written, and once where the
// plugin sees it.
func (o *scanOptions) fitsMemory(arrays []op.Array) error {
	var need float64 // not an integer: a header can name sizes whose sum overflows
	for _, a := range arrays {
		if a.Shape != nil {
			need += 2 * float64(a.Elements()) * float64(a.DType.Size())
		}
	}
	have, err := machine.AvailableMemory()
	if err != nil {
		return err
	}
	if need > float64(have) {
		return fmt.Errorf("%s needs %.1f GB with all that belongs to it, and this machine has %.1f GB available", o.a, need/1e9, float64(have)/1e9)
	}
	return nil
}

// checkOutputs finds out beforehand what would spoil the writing: a place that cannot be written, or one
// that would overwrite an input or the other result.
func (o *scanOptions) checkOutputs() error {
	taken := []string{o.a, o.b, o.h0}
	for _, out := range []string{o.out, o.last} {
		if out == "" {
			continue
		}
		for _, t := range taken {
			if t != "" && sameFile(out, t) {
				return fmt.Errorf("%s would be overwritten by the result; accepted is a file that is not in use", t)
			}
		}
		if err := npy.CheckWritable(out); err != nil {
			return err
		}
		taken = append(taken, out)
	}
	return nil
}

// sameFile sees through links, and compares paths where a file is yet to be made.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(strings.Split(b, ".npz:")[0])
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}

// load reads the inputs and makes room for the outputs.
func (o *scanOptions) load(p op.Problem) (data map[string][]byte, notes []string, err error) {
	operation, err := op.Lookup(p.Op)
	if err != nil {
		return nil, nil, err
	}
	files := map[string]string{"a": o.a, "b": o.b, "h0": o.h0}
	data = map[string][]byte{}
	for _, array := range operation.Arrays(p) {
		if array.Shape == nil {
			continue
		}
		data[array.Role] = make([]byte, array.Bytes())
		if array.Output {
			continue
		}
		said, err := npy.Read(files[array.Role], array.Role, array.DType, data[array.Role])
		if err != nil {
			return nil, nil, err
		}
		notes = append(notes, said...)
	}
	return data, notes, nil
}
