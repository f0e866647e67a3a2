package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"scanhost/shared/op"
)

// Lengths of the published sweep.
const (
	shortestLength = 512
	longestLength  = 4 << 20
)

// sweepFlags make the shapes of an operation whose shapes are a length and the size of an array.
var sweepFlags = []string{"L", "rows", "array-mb"}

// problems are the shapes: those asked for, the operation's usual ones, or every length at every array size.
func (o *benchOptions) problems() ([]op.Problem, error) {
	operation, err := op.Lookup(o.op)
	if err != nil {
		return nil, err
	}
	shapes := operation.Usual()
	switch {
	case shapes != nil && o.swept:
		return nil, fmt.Errorf("flags L, rows and array-mb say nothing of %s; --shape %s is accepted", o.op, shapeForm(operation))
	case len(o.shapes) > 0:
		shapes, err = parseShapes(operation, o.shapes)
	case shapes == nil:
		shapes, err = o.sweep()
	}
	if err != nil {
		return nil, err
	}
	var problems []op.Problem
	for _, dims := range shapes {
		p, err := op.NewProblem(operation, dims, op.DType(o.dtype), o.options...)
		if err != nil {
			return nil, err
		}
		problems = append(problems, p)
	}
	return problems, nil
}

func shapeForm(o op.Op) string { return strings.Join(o.Dims(), "=N,") + "=N" }

// parseShapes reads shapes as dim=N,dim=N. Which dimensions there are is the operation's to check.
func parseShapes(o op.Op, texts []string) ([]map[string]int64, error) {
	var shapes []map[string]int64
	for _, text := range texts {
		dims := map[string]int64{}
		for _, part := range strings.Split(text, ",") {
			name, value, _ := strings.Cut(part, "=")
			n, err := strconv.ParseInt(value, 10, 64)
			_, twice := dims[name]
			if err != nil || n < 1 || twice || !slices.Contains(o.Dims(), name) {
				return nil, fmt.Errorf("shape is %q, and %q is no dimension of at least 1 or is given twice; %s is accepted", text, part, shapeForm(o))
			}
			dims[name] = n
		}
		shapes = append(shapes, dims)
	}
	return shapes, nil
}

// sweep is every length at every array size, or with so many rows.
func (o *benchOptions) sweep() ([]map[string]int64, error) {
	lengths := o.lengths
	if len(lengths) == 0 {
		for l := int64(shortestLength); l <= longestLength; l *= 2 {
			lengths = append(lengths, l)
		}
	}
	for _, l := range lengths {
		if l < 1 {
			return nil, fmt.Errorf("length is %d; 1 or more is accepted", l)
		}
	}
	var shapes []map[string]int64
	add := func(rows, length int64) {
		shapes = append(shapes, map[string]int64{"rows": rows, "length": length})
	}
	if o.rows != 0 {
		if o.rows < 1 {
			return nil, fmt.Errorf("rows is %d; 1 or more is accepted", o.rows)
		}
		for _, l := range lengths {
			add(o.rows, l)
		}
		return shapes, nil
	}
	for _, mb := range o.arrayMB {
		if !(mb > 0 && mb < 1<<24) {
			return nil, fmt.Errorf("array-mb is %g; more than 0 is accepted", mb)
		}
		for _, l := range lengths {
			add(max(1, int64(mb*(1<<20))/op.DType(o.dtype).Size()/l), l)
		}
	}
	return shapes, nil
}
