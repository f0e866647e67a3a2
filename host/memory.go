package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scanhost/host/internal/buffers"
	"scanhost/shared/contract"
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

// lostByCopying is what a run with copied memory does not check.
var lostByCopying = []string{
	"writes to inputs on the device are not seen",
	"poison and results pass through the plugin's own copies",
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

// exports asks the keeper.
func (k *runningKeeper) exports(ctx context.Context) (bool, error) {
	info, err := k.space.Info(ctx)
	return info.GetMemoryExport(), err
}
