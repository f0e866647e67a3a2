package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"scanhost/host/internal/discover"
	"scanhost/host/internal/machine"
	"scanhost/host/internal/npy"
	"scanhost/shared/op"
)

// inputUsages are the inputs of every operation, by role, with what their flags say.
func inputUsages() map[string]string {
	usages := map[string]string{}
	for _, name := range op.Names() {
		o, err := op.Lookup(name)
		if err != nil {
			continue
		}
		for _, a := range o.Arrays(op.Problem{}) {
			if a.Output {
				continue
			}
			usage := fmt.Sprintf("%s: (%s)", name, strings.Join(a.Axes, ", "))
			if a.Option != "" {
				usage += ", may be left out"
			}
			if before, ok := usages[a.Role]; ok {
				usage = before + "; " + usage
			}
			usages[a.Role] = usage
		}
	}
	return usages
}

// operation is the one that --op says, or the plugin's only one. Flags that it has no use for are refused.
func (o *scanOptions) operation(plugin discover.Plugin) (op.Op, error) {
	name := o.op
	if ops := plugin.Manifest.Ops; name == "" && len(ops) > 1 {
		return nil, fmt.Errorf("plugin %s computes %d operations; --op says which", plugin.Name(), len(ops))
	} else if name == "" {
		name = ops[0].Name
	}
	operation, err := op.Lookup(name)
	if err != nil {
		return nil, err
	}
	if _, ok := plugin.Manifest.Op(name); !ok {
		return nil, fmt.Errorf("plugin %s does not compute %s", plugin.Name(), name)
	}
	if o.reverse && !slices.Contains(operation.Options(), "reverse") {
		return nil, fmt.Errorf("%s has no option reverse; its options are %s", name, strings.Join(operation.Options(), ", "))
	}
	var inputs []string
	for _, a := range operation.Arrays(op.Problem{}) {
		switch {
		case a.Output && a.Option == "" && o.out == "":
			return nil, fmt.Errorf("scan needs -o %s.npy; see host scan --help", a.Role)
		case a.Output:
		case a.Option == "" && *o.files[a.Role] == "":
			return nil, fmt.Errorf("%s needs --%s %s.npy; see host scan --help", name, a.Role, a.Role)
		default:
			inputs = append(inputs, a.Role)
		}
	}
	for _, role := range slices.Sorted(maps.Keys(o.files)) {
		if *o.files[role] != "" && !slices.Contains(inputs, role) {
			return nil, fmt.Errorf("%s has no input %s; its inputs are %s", name, role, strings.Join(inputs, ", "))
		}
	}
	return operation, nil
}

// problem makes a problem of what the headers say, and refuses what cannot be computed before anything is
// allocated. shape is the result's: that of the first input.
func (o *scanOptions) problem(plugin discover.Plugin, operation op.Op) (p op.Problem, shape []int64, err error) {
	declared, _ := plugin.Manifest.Op(operation.Name())
	dtype := op.DType(o.dtype)
	if !slices.Contains(declared.DTypes, o.dtype) {
		return p, nil, fmt.Errorf("plugin %s computes in %s; dtype %q is not accepted", plugin.Name(), strings.Join(declared.DTypes, ", "), o.dtype)
	}
	var options []string
	if o.reverse {
		options = append(options, "reverse")
	}
	found := sizes{dims: map[string]int64{}, outermost: operation.Outermost()}
	for _, a := range operation.Arrays(op.Problem{DType: dtype}) {
		given := o.last != "" // of outputs, only the last state may be left out
		if !a.Output {
			if given = *o.files[a.Role] != ""; given {
				if err := found.read(*o.files[a.Role], a); err != nil {
					return p, nil, err
				}
			}
		}
		if given && a.Option != "" {
			options = append(options, a.Option)
		}
	}
	if p, err = op.NewProblem(operation, found.dims, dtype, options...); err == nil {
		err = o.fitsMemory(found.first.Source, operation.Arrays(p))
	}
	if err == nil {
		err = o.checkOutputs()
	}
	return p, found.first.Shape, err
}

// sizes is what the headers have said of an operation's dimensions so far.
type sizes struct {
	dims      map[string]int64
	outermost string
	first     npy.Info // of the first array
}

// read takes the dimensions of one array, which must agree with those before.
func (s *sizes) read(path string, a op.Array) error {
	info, err := npy.Peek(path, a.Role, a.DType)
	if err != nil {
		return err
	}
	shape := info.Shape
	if len(shape)+1 == len(a.Axes) && a.Axes[0] == s.outermost {
		shape = append([]int64{1}, shape...)
	}
	agrees := len(shape) == len(a.Axes)
	for i, axis := range a.Axes {
		if known, ok := s.dims[axis]; agrees && ok {
			agrees = shape[i] == known
		}
	}
	if !agrees {
		return s.refuse(info, a)
	}
	for i, axis := range a.Axes {
		s.dims[axis] = shape[i]
	}
	if s.first.Source == "" {
		s.first = info
	}
	return nil
}

// refuse says which shape would do, by name where nothing is known of a dimension.
func (s *sizes) refuse(info npy.Info, a op.Array) error {
	wanted, names := make([]string, len(a.Axes)), "("+strings.Join(a.Axes, ", ")+")"
	for i, axis := range a.Axes {
		wanted[i] = axis
		if n, ok := s.dims[axis]; ok {
			wanted[i] = fmt.Sprint(n)
		}
	}
	if s.first.Source == "" {
		return fmt.Errorf("%s has shape %s; accepted is %s", info.Source, shapeText(info.Shape), names)
	}
	accepted := strings.Join(wanted, ", ")
	if len(wanted) == 1 {
		accepted += ","
	}
	return fmt.Errorf("%s has shape %s; accepted is (%s), which is %s as %s has it", info.Source, shapeText(info.Shape), accepted, names, s.first.Source)
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
func (o *scanOptions) fitsMemory(file string, arrays []op.Array) error {
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
		return fmt.Errorf("%s needs %.1f GB with all that belongs to it, and this machine has %.1f GB available", file, need/1e9, float64(have)/1e9)
	}
	return nil
}

// checkOutputs finds out beforehand what would spoil the writing: a place that cannot be written, or one
// that would overwrite an input or the other result.
func (o *scanOptions) checkOutputs() error {
	var taken []string
	for _, role := range slices.Sorted(maps.Keys(o.files)) {
		taken = append(taken, *o.files[role])
	}
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
func (o *scanOptions) load(operation op.Op, p op.Problem) (data map[string][]byte, notes []string, err error) {
	data = map[string][]byte{}
	for _, array := range operation.Arrays(p) {
		if array.Shape == nil {
			continue
		}
		data[array.Role] = make([]byte, array.Bytes())
		if array.Output {
			continue
		}
		said, err := npy.Read(*o.files[array.Role], array.Role, array.DType, data[array.Role])
		if err != nil {
			return nil, nil, err
		}
		notes = append(notes, said...)
	}
	return data, notes, nil
}
