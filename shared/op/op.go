// Package op holds the operations that kernels compute: their arrays and shapes, the float64 reference,
// the error bound derived for it, the least traffic any kernel must cause, and the inputs that tell a right
// kernel from a wrong one.
//
// Nothing here knows about processes, devices or files. The host judges with it; plugins do not see it.
package op

import (
	"fmt"
	"slices"
	"strings"
)

// DType is the storage type of a problem's main arrays. States are fp32 whatever the storage.
type DType string

const (
	FP32 DType = "fp32"
	FP16 DType = "fp16"
	BF16 DType = "bf16"
)

// Size is the bytes of one element.
func (d DType) Size() int64 {
	if d == FP32 {
		return 4
	}
	return 2
}

// Problem is what one launch computes: everything but the values.
type Problem struct {
	Op      string           `json:"op"`
	DType   DType            `json:"dtype"`
	Dims    map[string]int64 `json:"dims"`    // by the op's dimension names
	Options []string         `json:"options"` // those that are on, in the op's order
}

// NewProblem puts options in the op's order and refuses what is none of its problems.
func NewProblem(o Op, dims map[string]int64, dtype DType, options ...string) (Problem, error) {
	p := Problem{Op: o.Name(), DType: dtype, Dims: dims, Options: inOrder(o, options)}
	return p, o.Validate(p)
}

// Has says whether an option is on.
func (p Problem) Has(option string) bool { return slices.Contains(p.Options, option) }

// with is a problem with some other dimensions.
func (p Problem) with(dims map[string]int64) Problem {
	all := map[string]int64{}
	for _, from := range []map[string]int64{p.Dims, dims} {
		for name, n := range from {
			all[name] = n
		}
	}
	p.Dims = all
	return p
}

// Array is one array of a problem.
type Array struct {
	Role   string
	DType  DType
	Axes   []string // the op's dimensions that it has
	Shape  []int64  // row-major; nil where the problem has no such array
	Output bool
	Option string // with which alone the problem has it; empty: always
}

// Elements is the product of the shape.
func (a Array) Elements() int64 {
	n := int64(1)
	for _, d := range a.Shape {
		n *= d
	}
	return n
}

// Bytes is the size of the array in memory.
func (a Array) Bytes() int64 { return a.Elements() * a.DType.Size() }

// Case is a problem with its inputs. Name holds everything needed to make it again: ParseCase(Name)
// gives an equal case on any machine.
type Case struct {
	Name    string  `json:"name"`
	Regime  string  `json:"regime"`
	Problem Problem `json:"problem"`
	Seed    uint64  `json:"seed"`
}

// Position is one element of an output that is not what it should be.
type Position struct {
	Role     string  `json:"role"`
	Row      int64   `json:"row"`
	Index    int64   `json:"index"` // along the length; "first" is by row, then in scan order
	Expected float64 `json:"expected"`
	Got      float64 `json:"got"`
	Bounds   float64 `json:"bounds"` // |got - expected| in units of the bound; +Inf for NaN where none is due, and for any error where equality is demanded
}

func (p Position) String() string {
	return fmt.Sprintf("%s[%d,%d]: expected %.9g, got %.9g (%.3g bounds)", p.Role, p.Row, p.Index, p.Expected, p.Got, p.Bounds)
}

// Comparison is what Check found.
type Comparison struct {
	Checked    int64     `json:"checked"`           // elements compared
	Worst      float64   `json:"worst_bounds"`      // largest error in units of the bound
	Wrong      int64     `json:"wrong"`             // elements outside the bound
	Unwritten  int64     `json:"unwritten"`         // of those, elements that still hold the poison
	OutOfRange int64     `json:"out_of_range"`      // positions where a correct tree may overflow: neither pass nor fail
	Flushed    int64     `json:"flushed,omitempty"` // zeros within the bound where a subnormal is due: the kernel flushes
	First      *Position `json:"first,omitempty"`
}

// Limits narrows a suite to what one kernel accepts.
type Limits struct {
	MaxLength int64    // 0: none
	DTypes    []DType  // storage types accepted; none given: fp32
	Options   []string // options supported; none given: none
	Elements  int64    // largest rows * length; what the machine at hand can bear. 0: the suite's own cap
}

// Op is one operation.
type Op interface {
	Name() string
	Dims() []string    // names of the dimensions, in ABI order; "length" is the scanned one
	Options() []string // names of the options, in ABI order
	// Validate refuses a problem that is not one of this op's, in one sentence.
	Validate(Problem) error
	// Arrays lists every array of the op in ABI order; those that the problem lacks have a nil Shape.
	Arrays(Problem) []Array
	// Part is the problem that `count` entries of the outermost dimension make by themselves, and by how much its
	// Positions' rows are lower where `first` is the first of them.
	Part(p Problem, first, count int64) (part Problem, rows int64)
	// Outermost is the dimension of Part: the first axis of every array that has it.
	Outermost() string
	// Miniature is a problem of about so many elements of the main arrays that has the same traffic for each as p.
	Miniature(p Problem, elements int64) Problem
	// Usual are the shapes to time where none is asked for; nil where an array's size and a length decide.
	Usual() []map[string]int64
	// MinimumTraffic is the bytes that any kernel must read and write.
	MinimumTraffic(Problem) (read, written int64)
	// Suite is the cases that judge a kernel: deterministic for equal limits and seed. Cases over the
	// kernel's ceiling are included, since a kernel must refuse them, and are last.
	Suite(limits Limits, seed uint64) []Case
	// ParseCase makes a case again from its name.
	ParseCase(name string) (Case, error)
	// Fill writes the case's values for one input array into dst, little-endian.
	Fill(c Case, role string, dst []byte) error
	// Check compares outputs with the reference, computed as it goes. arrays is by role; poison is the
	// 32-bit pattern that outputs held before the launch. exact demands equality (Case.Exact).
	Check(p Problem, arrays map[string][]byte, poison uint32, exact bool) (Comparison, error)
}

var ops = map[string]Op{}

// Lookup finds an operation by name.
func Lookup(name string) (Op, error) {
	if o, ok := ops[name]; ok {
		return o, nil
	}
	return nil, fmt.Errorf("operation %q is not known; known are %s", name, strings.Join(Names(), ", "))
}

// Names lists the operations, sorted.
func Names() []string {
	names := make([]string, 0, len(ops))
	for n := range ops {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
