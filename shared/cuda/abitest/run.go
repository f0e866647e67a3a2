// Package abitest tests a compiled kernel in the test's own process, through the C ABI of abi.h.
//
// A plugin's test imports it and makes a few calls; the kernel's copies are in the test binary because they are
// in the plugin's package:
//
//	func TestKernel(t *testing.T) {
//		abitest.Kernel{Longest: 2048, Tile: 2048}.Suite(t)
//	}
//
// Cases are named and judged as package op does; Suite and its parts are for affine_scan, Named and Run for any. On top of the values every run checks that inputs and guard
// bands are as they were. There is no plugin process here and no host: what those add is tested there.
package abitest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"scanhost/shared/contract"
	"scanhost/shared/op"
	"scanhost/shared/plugin/registry"
)

// Kernel is the one kernel linked into this test, and what it says of itself.
type Kernel struct {
	Copy    registry.Copy // SimtFast when 0
	DType   op.DType      // storage type of the cases that this package makes; fp32 when ""
	Tuning  []int64       // in plugin.toml's order
	Longest int64         // ceiling of the length; 0: none
	Tile    int64         // elements that one block scans: lengths around it are tested
}

// Outcome is what one batch left.
type Outcome struct {
	Report  registry.Report
	Outputs map[string][]byte // by role
}

// Hash covers every output.
func (o Outcome) Hash() string {
	h := sha256.New()
	for _, role := range slices.Sorted(func(yield func(string) bool) {
		for role := range o.Outputs {
			if !yield(role) {
				return
			}
		}
	}) {
		h.Write(o.Outputs[role])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Case is a case of affine_scan, fp32, in package op's words.
func Case(t testing.TB, regime string, rows, length int64, options ...string) op.Case {
	t.Helper()
	return Kernel{}.Case(t, regime, rows, length, options...)
}

// Named is the case of any operation that a name says.
func Named(t testing.TB, name string) op.Case {
	t.Helper()
	operation, _, _ := strings.Cut(name, ":")
	c, err := operationOf(t, operation).ParseCase(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Case is a case of affine_scan in the kernel's storage type.
func (k Kernel) Case(t testing.TB, regime string, rows, length int64, options ...string) op.Case {
	t.Helper()
	named := "none"
	if len(options) > 0 {
		named = strings.Join(options, "+")
	}
	o := operation(t)
	c, err := o.ParseCase(fmt.Sprintf("affine_scan:%s:rows=%d:length=%d:%s:%s:seed=7", regime, rows, length, named, k.dtype()))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (k Kernel) dtype() op.DType { return cmp.Or(k.DType, op.FP32) }

func operation(t testing.TB) op.Op { return operationOf(t, "affine_scan") }

func operationOf(t testing.TB, name string) op.Op {
	t.Helper()
	o, err := op.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (k Kernel) find(t testing.TB) registry.Kernel { return k.findOf(t, "affine_scan") }

// findOf is the linked kernel of an operation.
func (k Kernel) findOf(t testing.TB, name string) registry.Kernel {
	t.Helper()
	kind := k.Copy
	if kind == 0 {
		kind = registry.SimtFast
	}
	found, err := registry.Find(name, kind)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (k Kernel) problem(o op.Op, p op.Problem) registry.Problem {
	out := registry.Problem{DType: int32(contract.DTypeToProto(p.DType)), Tuning: k.Tuning}
	for _, d := range o.Dims() {
		out.Dims = append(out.Dims, p.Dims[d])
	}
	for i, name := range o.Options() {
		if p.Has(name) {
			out.Options |= 1 << i
		}
	}
	return out
}

// Run launches a case once and checks everything about the result. workspace may be nil.
func (k Kernel) Run(t testing.TB, c op.Case, workspace *Workspace, simt registry.Simt) Outcome {
	t.Helper()
	outcome := k.Launch(t, c, workspace, simt)
	if outcome.Report.Status != registry.OK {
		t.Fatalf("%s: status %d: %s", c.Name, outcome.Report.Status, outcome.Report.Text)
	}
	return outcome
}

// Launch is Run, but leaves it to the caller what to say to a report that is not OK. Values are checked only
// if it is.
func (k Kernel) Launch(t testing.TB, c op.Case, workspace *Workspace, simt registry.Simt) Outcome {
	t.Helper()
	o, kernel := operationOf(t, c.Problem.Op), k.findOf(t, c.Problem.Op)
	problem := k.problem(o, c.Problem)
	scratch, status, text := kernel.Prepare(problem)
	if status != registry.OK {
		t.Fatalf("%s: prepare: status %d: %s", c.Name, status, text)
	}
	if workspace == nil {
		workspace = &Workspace{}
	}
	workspace.reserve(t, scratch)
	a := newArrays(t, o, c)
	pointer := workspace.memory.pointer()
	report := kernel.Launch(problem, [][]registry.Array{a.set}, 0, 1, pointer, uint64(len(workspace.memory.body)), simt)
	outcome := Outcome{Report: report, Outputs: a.outputs()}
	a.checkSurroundings(t, c, workspace)
	if report.Status == registry.OK {
		a.checkValues(t, o, c)
	}
	return outcome
}

// arrays are the arrays of one case in memory.
type arrays struct {
	set    []registry.Array
	memory map[string]guarded
	before map[string][]byte // inputs as they were made
}

func newArrays(t testing.TB, o op.Op, c op.Case) *arrays {
	t.Helper()
	all := &arrays{memory: map[string]guarded{}, before: map[string][]byte{}}
	for _, a := range o.Arrays(c.Problem) {
		if a.Shape == nil {
			all.set = append(all.set, registry.Array{})
			continue
		}
		g := newGuarded(t, a.Bytes(), poison)
		all.memory[a.Role] = g
		all.set = append(all.set, g.array(a.Output))
		if a.Output {
			continue
		}
		if err := o.Fill(c, a.Role, g.body); err != nil {
			t.Fatal(err)
		}
		all.before[a.Role] = bytes.Clone(g.body)
	}
	return all
}

func (a *arrays) outputs() map[string][]byte {
	out := map[string][]byte{}
	for role, g := range a.memory {
		if _, input := a.before[role]; !input {
			out[role] = bytes.Clone(g.body)
		}
	}
	return out
}

func (a *arrays) checkSurroundings(t testing.TB, c op.Case, workspace *Workspace) {
	t.Helper()
	for role, g := range a.memory {
		if err := g.damage(); err != nil {
			t.Errorf("%s: array %s was %v", c.Name, role, err)
		}
	}
	for role, was := range a.before {
		if !bytes.Equal(was, a.memory[role].body) {
			t.Errorf("%s: input %s was changed", c.Name, role)
		}
	}
	if len(workspace.memory.all) > 0 {
		if err := workspace.memory.damage(); err != nil {
			t.Errorf("%s: the workspace was %v", c.Name, err)
		}
	}
}

func (a *arrays) checkValues(t testing.TB, o op.Op, c op.Case) {
	t.Helper()
	bodies := map[string][]byte{}
	for role, g := range a.memory {
		bodies[role] = g.body
	}
	found, err := o.Check(c.Problem, bodies, poison, c.Exact())
	if err != nil {
		t.Fatal(err)
	}
	if found.First != nil {
		t.Errorf("%s: %d of %d wrong, %d unwritten; first %v", c.Name, found.Wrong, found.Checked, found.Unwritten, found.First)
	}
}
