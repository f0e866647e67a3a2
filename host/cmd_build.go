package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"scanhost/host/internal/discover"
	"scanhost/host/internal/report"
)

type buildOptions struct {
	*sharedFlags
	backend backendFlag
	archs   []string
}

func newBuild(shared *sharedFlags) *cobra.Command {
	o := &buildOptions{sharedFlags: shared}
	cmd := &cobra.Command{
		Use:   "build [NAME...]",
		Short: "Build plugins without running them",
		Long: `build compiles the plugins it is given, or every kernel, and says where the executables are. Baselines are
built where they are named: what they need need not be here. run-all and verify build by themselves; build is
for seeing a compiler's errors, and for compiling with nvcc on a machine that has no GPU, where --arch says
what for.

A plugin in Python that is named here gets an environment of its own where no installed Python has what it
needs: pip downloads the packages that its requirements pin by hash. Only this and --install of other commands do.

A plugin that does not build costs its own row. Exit status 1 says that some did not.`,
		Example: `  host build
  host build lookback --backend simt
  host build torch_hillis_steele
  host build --backend cuda --arch sm_80,sm_90,sm_120`,
		ValidArgsFunction: o.pluginNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runBuild(cmd.Context(), o, args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.backend.add(cmd)
	cmd.Flags().StringSliceVar(&o.archs, "arch", nil, "architectures for nvcc, such as sm_80,sm_90 (default: those of the GPUs that are present)")
	return cmd
}

// builtRow is one plugin in build --json.
type builtRow struct {
	Plugin     string   `json:"plugin"`
	Executable []string `json:"executable,omitempty"`
	Hash       string   `json:"hash,omitempty"`
	Took       int64    `json:"took_ns"`
	Error      string   `json:"error,omitempty"`
}

func runBuild(ctx context.Context, o *buildOptions, names []string, out, errOut io.Writer) error {
	plugins, err := o.choose(names)
	if len(names) == 0 {
		plugins, err = o.kernels()
	}
	if err != nil {
		return err
	}
	backend, err := o.backend.resolve(ctx)
	if err != nil {
		return err
	}
	if len(o.archs) > 0 && backend != "cuda" {
		return fmt.Errorf("arch %s is for nvcc, and the backend is %s; add --backend cuda", strings.Join(o.archs, ","), backend)
	}
	progress := report.NewProgress(errOut)
	built, keeper, err := discover.Build(ctx, discover.BuildRequest{Plugins: plugins, Backend: backend, Archs: o.archs, Install: len(names) > 0,
		Progress: func(line string) { progress.Note("%s", line) }})
	if err != nil {
		return err
	}
	if keeper != nil {
		built = append(built, *keeper)
	}
	return showBuilt(built, o.json, out)
}

func showBuilt(built []discover.Built, asJSON bool, out io.Writer) error {
	rows := make([]builtRow, len(built))
	var table [][]string
	failed := false
	for i, b := range built {
		rows[i] = rowOfBuilt(b)
		said := strings.Join(b.Executable, " ")
		if b.Err != nil {
			failed = true
			said = b.Err.Error()
		}
		table = append(table, []string{rows[i].Plugin, report.Duration(b.Took), said})
	}
	if asJSON {
		if err := report.JSON(out, rows); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(out, report.Grid([]string{"plugin", "time", "executable"}, table, 1))
	}
	if failed {
		return errFailed
	}
	return nil
}

func rowOfBuilt(b discover.Built) builtRow {
	r := builtRow{Plugin: b.Plugin.Name(), Executable: b.Executable, Hash: b.Hash, Took: int64(b.Took)}
	if b.Err != nil {
		r.Error = buildReason(b.Err)
	}
	return r
}
