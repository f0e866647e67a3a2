package abitest

import (
	"fmt"
	"slices"
	"testing"

	"scanhost/shared/op"
	"scanhost/shared/plugin/registry"
)

// Modes of registry.Simt.
const (
	fast    = 0
	count   = 1
	explore = 2
)

var optionSets = [][]string{
	nil, {"reverse"}, {"h0"}, {"last_state"}, {"reverse", "h0"}, {"reverse", "last_state"}, {"h0", "last_state"},
	{"reverse", "h0", "last_state"},
}

// Suite is what every kernel must pass.
func (k Kernel) Suite(t *testing.T) {
	t.Run("values", k.values)
	t.Run("many rows", k.manyRows)
	t.Run("empty", k.empty)
	t.Run("ceiling", k.ceiling)
	t.Run("checked", k.checked)
}

// lengths are those around a warp and around the tile, and some of several tiles.
func (k Kernel) lengths() []int64 {
	all := []int64{1, 2, 3, 31, 32, 33, 63, 65, 127, 255, 256, 257, 1000, 1185, 2047, 2048}
	all = append(all, k.Tile-1, k.Tile, k.Tile+1, 2*k.Tile, 3*k.Tile+5, 7*k.Tile+2, 33*k.Tile-3)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(n int64) bool { return k.Longest > 0 && n > k.Longest })
}

// values meets every length with every regime, and both with every set of options and number of rows.
func (k Kernel) values(t *testing.T) {
	workspace := &Workspace{}
	regimes := []string{"exact", "position", "signs", "near1", "impulse", "resets", "nonfinite", "subnormal"}
	n := 0
	for _, length := range k.lengths() {
		for _, regime := range regimes {
			rows := []int64{1, 3}[n%2]
			options := optionSets[(n+n/len(regimes))%len(optionSets)]
			k.Run(t, k.Case(t, regime, rows, length, options...), workspace, registry.Simt{Mode: fast})
			n++
		}
	}
}

func (k Kernel) manyRows(t *testing.T) {
	workspace := &Workspace{}
	for i, length := range []int64{1, 7, 32, 100} {
		k.Run(t, k.Case(t, "exact", 70, length, optionSets[7-i]...), workspace, registry.Simt{Mode: fast})
	}
	k.Run(t, k.Case(t, "exact", 70000, 1, "h0", "last_state"), workspace, registry.Simt{Mode: fast})
}

// empty runs no scan: without elements the state stays what it was.
func (k Kernel) empty(t *testing.T) {
	for _, options := range optionSets {
		for _, shape := range [][2]int64{{0, 5}, {3, 0}, {300, 0}, {0, 0}} {
			k.Run(t, k.Case(t, "signs", shape[0], shape[1], options...), nil, registry.Simt{Mode: fast})
		}
	}
}

func (k Kernel) ceiling(t *testing.T) {
	kernel, o := k.find(t), operation(t)
	problem := func(length int64) registry.Problem {
		return k.problem(o, op.Problem{DType: k.dtype(), Dims: map[string]int64{"rows": 1, "length": length}})
	}
	if k.Longest == 0 {
		if _, status, text := kernel.Prepare(problem(1 << 36)); status != registry.OK {
			t.Errorf("length 2^36: status %d: %s; there should be no ceiling", status, text)
		}
		return
	}
	if _, status, text := kernel.Prepare(problem(k.Longest)); status != registry.OK {
		t.Errorf("length %d: status %d: %s", k.Longest, status, text)
	}
	_, status, text := kernel.Prepare(problem(k.Longest + 1))
	if want := fmt.Sprintf("length %d is over %d", k.Longest+1, k.Longest); status != registry.Unsupported || len(text) < len(want) || text[:len(want)] != want {
		t.Errorf("length %d: status %d, %q; wanted unsupported, %q...", k.Longest+1, status, text, want)
	}
}

// checked runs the instrumented copy: memory checks in a plain order, then schedules, which must all give the
// same bits.
func (k Kernel) checked(t *testing.T) {
	if !registry.Has(registry.SimtCheck) {
		t.Skip("built without the checked copy (go test -race leaves it out)")
	}
	workspace, checked := &Workspace{}, k
	checked.Copy = registry.SimtCheck
	for i, length := range []int64{1, 33, 700, 2*k.Tile + 3} {
		if k.Longest > 0 && length > k.Longest {
			continue
		}
		c := k.Case(t, "signs", 2, length, optionSets[7-i]...)
		plain := k.Run(t, c, workspace, registry.Simt{Mode: fast})
		counted := checked.Run(t, c, workspace, registry.Simt{Mode: count})
		if counted.Hash() != plain.Hash() {
			t.Errorf("%s: the checked copy gives other bits than the fast one", c.Name)
		}
		for seed := range uint64(10) {
			explored := checked.Run(t, c, workspace, registry.Simt{Mode: explore, Seed: seed, ResidentBlocks: 3})
			if explored.Hash() != plain.Hash() {
				t.Errorf("%s: schedule %d gives other bits", c.Name, seed)
			}
		}
	}
}

// Traffic asserts how many arrays of the problem's size a launch reads and writes, workspace included. What a
// kernel moves beside them (aggregates, tile records, states) may come to `beside` arrays each way.
func (k Kernel) Traffic(t *testing.T, rows, length int64, read, written, beside float64) {
	if !registry.Has(registry.SimtCheck) {
		t.Skip("built without the checked copy (go test -race leaves it out)")
	}
	k.Copy = registry.SimtCheck
	c := k.Case(t, "signs", rows, length)
	r := k.Run(t, c, nil, registry.Simt{Mode: count}).Report
	check := func(what string, perArray []uint64, scratch uint64, want float64) {
		for _, bytes := range perArray {
			scratch += bytes
		}
		got := float64(scratch) / float64(k.dtype().Size()*rows*length)
		if got < want || got > want+beside {
			t.Errorf("%s: %.3f arrays %s; %g and up to %g beside them expected", c.Name, got, what, want, beside)
		}
	}
	check("read", r.Read, r.WorkspaceRead, read)
	check("written", r.Written, r.WorkspaceWritten, written)
}
