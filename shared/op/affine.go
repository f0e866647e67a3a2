package op

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The affine scan: h[t] = a[t]*h[t-1] + b[t] along every row, from h[-1] = h0, or 0 where h0 is absent.
// Arrays are row-major (rows, length). With "reverse" the scan runs from the end of the row to its start;
// "h0" gives every row a start state; "last_state" asks for the state after the last step, in fp32.
type affine struct{}

const (
	affineName   = "affine_scan"
	optReverse   = "reverse"
	optStart     = "h0"
	optLast      = "last_state"
	roleA        = "a"
	roleB        = "b"
	roleStart    = "h0"
	roleH        = "h"
	roleLast     = "last_state"
	largestBytes = int64(1) << 46 // of one array; keeps every product of sizes inside int64
	dimRows      = "rows"
	dimLength    = "length"
	sizeOfState  = 4
)

func init() { ops[affineName] = affine{} }

// NewAffineProblem is an affine scan over rows of the given length, for arrays that do not come from a suite.
func NewAffineProblem(rows, length int64, dtype DType, options ...string) (Problem, error) {
	return NewProblem(affine{}, map[string]int64{dimRows: rows, dimLength: length}, dtype, options...)
}

// inOrder sorts options as an op lists them; unknown ones go last, for Validate to refuse.
func inOrder(o Op, options []string) []string {
	sorted := slices.Clone(options)
	known := o.Options()
	slices.SortStableFunc(sorted, func(x, y string) int {
		return int(uint(slices.Index(known, x))>>1) - int(uint(slices.Index(known, y))>>1)
	})
	return sorted
}

func (affine) Name() string      { return affineName }
func (affine) Dims() []string    { return []string{dimRows, dimLength} }
func (affine) Options() []string { return []string{optReverse, optStart, optLast} }

func (o affine) Validate(p Problem) error { return validProblem(o, p) }

func validOptions(o Op, options []string) error {
	known, last := o.Options(), -1
	for _, option := range options {
		at := slices.Index(known, option)
		if at < 0 {
			return fmt.Errorf("%s: option %q is not known; accepted are %s", o.Name(), option, strings.Join(known, ", "))
		}
		if at <= last {
			return fmt.Errorf("%s: option %q is out of order or given twice; the order is %s", o.Name(), option, strings.Join(known, ", "))
		}
		last = at
	}
	return nil
}

func (affine) Arrays(p Problem) []Array {
	full, row := []string{dimRows, dimLength}, []string{dimRows}
	return shaped([]Array{
		{Role: roleA, DType: p.DType, Axes: full},
		{Role: roleB, DType: p.DType, Axes: full},
		{Role: roleStart, DType: FP32, Axes: row, Option: optStart},
		{Role: roleH, DType: p.DType, Axes: full, Output: true},
		{Role: roleLast, DType: FP32, Axes: row, Output: true, Option: optLast},
	}, p)
}

func (affine) Outermost() string { return dimRows }

func (affine) Part(p Problem, first, count int64) (Problem, int64) {
	return p.with(map[string]int64{dimRows: count}), first
}

// Miniature keeps the length up to a number of elements: what a tile adds is the same for every tile.
func (affine) Miniature(p Problem, elements int64) Problem {
	length := min(p.Dims[dimLength], elements)
	return p.with(map[string]int64{dimRows: max(1, elements/max(1, length)), dimLength: length})
}

func (affine) Usual() []map[string]int64 { return nil }

// MinimumTraffic counts a, b and h once each, and the states. Without h0 the first a of a row decides nothing,
// so a kernel need not read it.
func (affine) MinimumTraffic(p Problem) (read, written int64) {
	rows, length := p.Dims[dimRows], p.Dims[dimLength]
	array := rows * length * p.DType.Size()
	read, written = 2*array, array
	switch {
	case p.Has(optStart):
		read += rows * sizeOfState
	case length > 0:
		read -= rows * p.DType.Size()
	}
	if p.Has(optLast) {
		written += rows * sizeOfState
	}
	return read, written
}

// lengthRoundings is R of docs/error-bounds.md: how many roundings, beyond those that the length itself
// forces, the judge grants to a tree over a row.
func lengthRoundings(length int64) float64 {
	if length < 2 {
		return 4
	}
	return 4 + 2*math.Ceil(math.Log2(float64(length)))
}
