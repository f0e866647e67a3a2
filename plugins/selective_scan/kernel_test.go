package main

import (
	"fmt"
	"testing"

	"scanhost/shared/cuda/abitest"
	"scanhost/shared/plugin/registry"
)

func caseOf(regime string, batch, length, channels, state int, options, dtype string) string {
	return fmt.Sprintf("selective_scan:%s:batch=%d:length=%d:channels=%d:state=%d:%s:%s:seed=7", regime, batch, length, channels, state, options, dtype)
}

// Numbers of states on both sides of where another kernel takes over, and every storage type.
func TestStatesAroundEveryKernel(t *testing.T) {
	workspace := &abitest.Workspace{}
	for i, state := range []int{1, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 100, 255, 256} {
		dtype := []string{"fp32", "fp16", "bf16"}[i%3]
		name := caseOf("random", 2, 37, 33, state, "D+z+delta_bias+h0+last_state", dtype)
		abitest.Kernel{}.Run(t, abitest.Named(t, name), workspace, registry.Simt{})
	}
}

// A tile of eight steps, its neighbours, and no step.
func TestLengthsAroundATile(t *testing.T) {
	for length := range 18 {
		name := caseOf("position", 3, length, 129, 5, "D+h0+last_state", "fp32")
		abitest.Kernel{}.Run(t, abitest.Named(t, name), nil, registry.Simt{})
	}
}

func TestCheckedCopyGivesTheSameBits(t *testing.T) {
	if !registry.Has(registry.SimtCheck) {
		t.Skip("built without the checked copy (go test -race leaves it out)")
	}
	for _, state := range []int{2, 16, 80} {
		c := abitest.Named(t, caseOf("near1", 2, 21, 35, state, "z+delta_bias+last_state", "fp32"))
		plain := abitest.Kernel{}.Run(t, c, nil, registry.Simt{})
		checked := abitest.Kernel{Copy: registry.SimtCheck}
		for seed := range uint64(70) {
			explored := checked.Run(t, c, nil, registry.Simt{Mode: 2, Seed: seed, ResidentBlocks: 3})
			if explored.Hash() != plain.Hash() {
				t.Errorf("%s: schedule %d gives other bits", c.Name, seed)
			}
		}
	}
}

// x, delta, z and y move once, B and C once for every block of 128 channels, and nothing else but parameters: no
// array with a value for every state and step is in memory.
func TestTraffic(t *testing.T) {
	if !registry.Has(registry.SimtCheck) {
		t.Skip("built without the checked copy (go test -race leaves it out)")
	}
	const batch, length, channels, state = 1, 40, 256, 16
	c := abitest.Named(t, caseOf("decay", batch, length, channels, state, "z", "fp32"))
	r := abitest.Kernel{Copy: registry.SimtCheck}.Run(t, c, nil, registry.Simt{Mode: 1}).Report
	const array, wide = 4 * batch * length * channels, 4 * batch * length * state
	want := []uint64{array, array, array, 2 * wide, 2 * wide, 4 * channels * state, 0, 0, 0, 0, 0}
	for i, n := range want {
		if r.Read[i] != n {
			t.Errorf("array %d: %d bytes read; %d expected", i, r.Read[i], n)
		}
	}
	if r.Written[9] != array || r.WorkspaceRead+r.WorkspaceWritten != 0 {
		t.Errorf("%d bytes of y written, %d and %d of workspace moved", r.Written[9], r.WorkspaceRead, r.WorkspaceWritten)
	}
}
