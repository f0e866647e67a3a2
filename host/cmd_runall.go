package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"scanhost/host/internal/judge"
)

type runAllOptions struct {
	*sharedFlags
	judging judgingFlags
	results string
	bench   bool
}

func newRunAll(shared *sharedFlags) *cobra.Command {
	o := &runAllOptions{sharedFlags: shared}
	cmd := &cobra.Command{
		Use:   "run-all",
		Short: "Build, run and verify every kernel",
		Long: `run-all builds every plugin of role kernel, runs each in a process of its own and verifies it: a suite of
cases for each of its operations, compared with a float64 reference within a derived bound, repeated and
compared bit for bit, and on the simulated GPU run under many schedules with every access checked.

One plugin that does not build, hangs, crashes or is wrong costs its own row. Baselines are left alone.
On several GPUs as many kernels run at a time, one on each. --bench then times on one, the first of --gpu:
times of two devices are not comparable, even of one model.
Everything that was found is in results/<gpu or simt>/run-all.json, and the table beside it. With --bench the
kernels and the baselines are then timed as host bench does it by default.`,
		Example: `  host run-all
  host run-all --backend simt
  host run-all --gpu 0,2
  host run-all --bench
  host run-all --plugin-dir ~/kernels --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runRunAll(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.judging.add(cmd)
	cmd.Flags().StringVar(&o.results, "results", "", "folder for run-all.json and run-all.txt (default results/<gpu or simt> of the repository)")
	cmd.Flags().BoolVar(&o.bench, "bench", false, "then time kernels and baselines, as host bench does")
	return cmd
}

func runRunAll(ctx context.Context, o *runAllOptions, out, errOut io.Writer) error {
	plugins, err := o.kernels()
	if err != nil {
		return err
	}
	options, err := o.judging.options()
	if err != nil {
		return err
	}
	if o.bench && o.json {
		return errors.New("bench and json exclude each other: each of the two writes a result of its own; run host bench --json")
	}
	if o.bench && o.judging.memory == "copied" {
		return errors.New("bench and memory copied exclude each other: kernels are timed in memory that the keeper owns; run host bench")
	}
	verdict := judgePlugins(ctx, judging{
		name: "run-all", flags: o.judging, plugins: plugins, options: options, results: o.results, keep: true, json: o.json,
	}, out, errOut)
	if !o.bench || ctx.Err() != nil || verdict != nil && !errors.Is(verdict, errFailed) {
		return verdict
	}
	fmt.Fprintln(out)
	timed := defaultBench(o.sharedFlags)
	timed.results, timed.seed, timed.install = o.results, o.judging.seed, o.judging.install
	timed.gpu = o.judging.gpus[:min(1, len(o.judging.gpus))] // a comparison must be on one device
	if o.judging.backend == "simt" {
		timed.model = usualModel
	}
	if err := runBench(ctx, timed, out, errOut); err != nil {
		return err
	}
	return verdict
}

// judgingFlags are those of every command that judges.
type judgingFlags struct {
	backend   backendFlag
	memory    memoryFlag
	gpus      gpuFlag
	seed      uint64
	launches  int
	schedules int
	install   bool
}

func (f *judgingFlags) add(cmd *cobra.Command) {
	d := judge.DefaultOptions()
	f.backend.add(cmd)
	f.memory.add(cmd)
	f.gpus.add(cmd, "GPUs to verify on: numbers as CUDA_VISIBLE_DEVICES leaves them, or UUIDs, separated by commas (default all)")
	flags := cmd.Flags()
	flags.Uint64Var(&f.seed, "seed", d.Seed, "seed of the suite's random shapes and values")
	flags.IntVar(&f.launches, "launches", d.Launches, "launches of every case, compared bit for bit")
	addInstall(cmd, &f.install)
	flags.IntVar(&f.schedules, "schedules", d.Schedules, "schedules that the simulated GPU explores for a kernel's most telling case")
}

func (f *judgingFlags) options() (judge.Options, error) {
	o := judge.DefaultOptions()
	if err := atLeast("launches", f.launches, 1); err != nil {
		return o, err
	}
	if err := atLeast("schedules", f.schedules, 0); err != nil {
		return o, err
	}
	if f.launches > o.LongLaunches {
		o.LongLaunches = f.launches
	}
	o.Seed, o.Launches, o.Schedules = f.seed, f.launches, f.schedules
	return o, nil
}
