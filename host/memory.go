package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scanhost/host/internal/buffers"
	"scanhost/shared/contract"
	"scanhost/shared/contract/keeperv1"
)

var memoryChoices = []string{"auto", "exported", "copied"}

// memoryFlag is --memory: where the arrays of a run on a GPU are.
type memoryFlag string

func (m *memoryFlag) add(cmd *cobra.Command) {
	*m = "auto"
	cmd.Flags().Var(m, "memory", `on a GPU: exported, the keeper's device memory, inputs read-only to plugins; copied, host memory that every plugin
copies to the GPU by itself, with fewer checks; auto, which is exported where the driver can`)
	completeWith(cmd, "memory", cobra.FixedCompletions(memoryChoices, cobra.ShellCompDirectiveNoFileComp))
}

func (m *memoryFlag) String() string { return string(*m) }
func (m *memoryFlag) Type() string   { return "name" }

func (m *memoryFlag) Set(s string) error {
	if !slices.Contains(memoryChoices, s) {
		return fmt.Errorf("%s are accepted", strings.Join(memoryChoices, ", "))
	}
	*m = memoryFlag(s)
	return nil
}

// lostByCopying is what a run with copied memory does not check. Guard bands and poison are on the device there too and
// show an honest kernel's mistakes, but it is the plugin's process that brings them there and back.
var lostByCopying = []string{
	"writes to inputs on the device, unless a result shows them",
	"whether the plugin's own copies of poison, guard bands and results are true",
	"stores beyond the guard bands, which may hit other memory of the plugin's and fault nothing",
}

// noExport is why a command that needs exported memory cannot run.
const noExport = "the driver cannot export device memory here (a container or an old driver)"

// choose decides where arrays are, given whether this GPU's memory can be exported.
func (m memoryFlag) choose(w workplace, exports bool) (workplace, error) {
	switch {
	case m == "exported" && !exports:
		return w, fmt.Errorf("memory exported: %s; --memory copied works, with fewer checks", noExport)
	case m == "copied" || !exports:
		w.space, w.needs, w.lost = buffers.Memfd{}, contract.CapabilityCopied, lostByCopying
	}
	return w, nil
}

// exportFinding completes doctor's finding about a GPU. Where memory cannot be exported the GPU is still of use, so no
// backend is said to need it.
func exportFinding(f finding, info *keeperv1.InfoResponse) finding {
	f.OK = info.MemoryExport
	f.Found = fmt.Sprintf("%s, CUDA runtime %s, %.1f of %.1f GB free; buffers can be exported: %v", info.Name, info.Runtime,
		float64(info.MemoryFreeBytes)/1e9, float64(info.MemoryBytes)/1e9, info.MemoryExport)
	if !f.OK {
		f.Backend = ""
		f.Fix = noExport + ": runs copy memory (--memory copied) and do not check " + strings.Join(lostByCopying, "; ") + "; bench cannot run"
	}
	return f
}

// exports asks the keeper.
func (k *runningKeeper) exports(ctx context.Context) (bool, error) {
	info, err := k.space.Info(ctx)
	return info.GetMemoryExport(), err
}
