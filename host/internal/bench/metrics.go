package bench

import (
	"fmt"
	"slices"
	"strings"

	"scanhost/shared/op"
)

// What a sweep's times mean. Rates are effective: the bytes that any kernel must move (the op's minimum, not what
// this kernel declares) over the time, so that a kernel that moves more does not look faster for it.

// Ceiling of an array size.
func (s Sweep) Ceiling(arrayBytes int64) (Ceiling, bool) {
	i := slices.IndexFunc(s.Ceilings, func(c Ceiling) bool { return c.ArrayBytes == arrayBytes && c.Stream > 0 })
	if i < 0 {
		return Ceiling{}, false
	}
	return s.Ceilings[i], true
}

// Seconds is the cell's time, or the model's where the sweep was made without a GPU.
func (s Sweep) Seconds(c Cell) float64 {
	if s.Predicted {
		return c.Predicted
	}
	if !c.Timed() {
		return 0
	}
	return c.Time.Seconds
}

// Rate is the effective bytes per second of a cell, or 0 where it has no time.
func (s Sweep) Rate(c Cell) float64 { return rate(c, s.Seconds(c)) }

func rate(c Cell, seconds float64) float64 {
	o, err := op.Lookup(c.Problem.Op)
	if err != nil || seconds <= 0 {
		return 0
	}
	read, written := o.MinimumTraffic(c.Problem)
	return float64(read+written) / seconds
}

// OfPeak is the rate as a part of the theoretical bandwidth, or 0.
func (s Sweep) OfPeak(c Cell) float64 {
	if s.GPU.Peak <= 0 {
		return 0
	}
	return s.Rate(c) / s.GPU.Peak
}

// OfCeiling is the rate as a part of the ceiling measured in the same run, or 0.
func (s Sweep) OfCeiling(c Cell) float64 {
	ceiling, ok := s.Ceiling(c.ArrayBytes)
	if !ok {
		return 0
	}
	return s.Rate(c) / ceiling.Stream
}

// intercept is what the cells of one run have in common: the price of a batch, whatever is in it.
func (s Sweep) intercept() float64 {
	var all []float64
	for _, c := range s.Cells {
		if c.Timed() {
			all = append(all, c.Intercept)
		}
	}
	return orZero(Median(all))
}

// Length is L, the length of the scan.
func (c Cell) Length() int64 { return c.Problem.Dims["length"] }

// Shape is the problem's dimensions in the op's order, and its options.
func (c Cell) Shape() string {
	var parts []string
	if o, err := op.Lookup(c.Problem.Op); err == nil {
		for _, name := range o.Dims() {
			parts = append(parts, fmt.Sprintf("%s=%d", name, c.Problem.Dims[name]))
		}
	}
	if len(c.Problem.Options) > 0 {
		parts = append(parts, strings.Join(c.Problem.Options, "+"))
	}
	return strings.Join(parts, " ")
}

// Name says what was timed, for people.
func (c Cell) Name() string {
	return fmt.Sprintf("%s, %s %s %s", c.Contender, c.Problem.Op, c.Problem.DType, c.Shape())
}

// Megabytes of an array, 2^20 bytes each.
func Megabytes(bytes int64) string {
	if bytes%mib == 0 {
		return fmt.Sprintf("%d MB", bytes/mib)
	}
	return fmt.Sprintf("%.3g MB", float64(bytes)/mib)
}
