package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"scanhost/host/internal/bench"
	"scanhost/host/internal/discover"
	"scanhost/shared/op"
)

// benchOptions are those of bench and of run-all --bench.
type benchOptions struct {
	*sharedFlags
	plugins   []string
	op        string
	shapes    []string
	options   []string
	swept     bool // the sweep's own flags were given
	lengths   []int64
	rows      int64
	arrayMB   []float64
	dtype     string
	set       []string
	samples   int
	restarts  int
	seed      uint64
	baseline  string
	gpu       gpuFlag
	spec      string
	selfTest  bool
	calibrate bool
	resume    bool
	results   string
	model     string
	install   bool
}

func newBench(shared *sharedFlags) *cobra.Command {
	o := &benchOptions{sharedFlags: shared}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Time kernels against each other and against the memory's bandwidth",
		Long: `bench times every kernel, and the baselines beside them, on a range of shapes. All of them stay alive and take
turns, so that a difference between two is not the weather's. The clock is the host's, from outside of what it
times; the plugin's own device events are only compared with it. Every timed launch writes to an output of its
own, full of poison before and compared after, and a time that the memory cannot deliver is called impossible.

Before anything is measured the traffic model's time is written down: the arrays that the kernel declares to
read and write, over the bandwidth of a plain stream. Without a GPU, or with --model, there is only the model,
beside the traffic that the simulated GPU counts.

Everything is timed on one GPU, the first that CUDA_VISIBLE_DEVICES leaves or the one of --gpu: two of one model
need not be equally fast, and a ratio across them would measure that.

Results are in results/<gpu>/bench.json with every sample. Ctrl-C keeps what is finished in bench.partial.json,
and --resume goes on from there.`,
		Example: `  host bench
  host bench --plugin lookback_items --L 2048,65536 --set items=4,8,16
  host bench --array-mb 768 --baseline torch_hillis_steele
  host bench --model rtx4050
  host bench --op selective_scan --shape batch=8,length=2048,channels=1536,state=16
  host bench --self-test`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, flag := range sweepFlags {
				o.swept = o.swept || cmd.Flags().Changed(flag)
			}
			return runBench(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.add(cmd)
	return cmd
}

func (o *benchOptions) add(cmd *cobra.Command) {
	d := bench.DefaultOptions()
	flags := cmd.Flags()
	flags.StringArrayVar(&o.plugins, "plugin", nil, "plugin to time (repeatable; default all, baselines too)")
	flags.StringVar(&o.op, "op", "affine_scan", "operation to time")
	flags.StringArrayVar(&o.shapes, "shape", nil, "shape to time, such as batch=8,length=2048,channels=1536,state=16 (repeatable; default the operation's usual ones)")
	flags.StringSliceVar(&o.options, "option", nil, "options of the operation that are on, such as D,z")
	flags.Int64SliceVar(&o.lengths, "L", nil, "row lengths (default 512 to 4194304 in powers of two)")
	flags.Int64Var(&o.rows, "rows", 0, "rows of every shape, instead of --array-mb")
	flags.Float64SliceVar(&o.arrayMB, "array-mb", []float64{96, 768}, "sizes of one array in MB of 2^20 bytes; rows follow from them")
	flags.StringVar(&o.dtype, "dtype", "fp32", "storage type: fp32, fp16 or bf16")
	flags.StringArrayVar(&o.set, "set", nil, "values of a tunable to time beside each other: name=value,value (repeatable)")
	flags.IntVar(&o.samples, "samples", d.Samples, "timed batches of a kernel on a shape; a slow one gets fewer")
	flags.IntVar(&o.restarts, "restarts", d.Restarts, "processes of every kernel for a shape, one after another: shows what a process's placement is worth")
	flags.Uint64Var(&o.seed, "seed", d.Seed, "seed of orders, batch sizes and values")
	flags.StringVar(&o.baseline, "baseline", "", "compare every kernel with this one (default: with the one it improves on)")
	o.gpu.add(cmd, "the one GPU to time on: a number or a UUID, as for run-all (default the first)")
	flags.StringVar(&o.spec, "spec", "", "judge the result by the bars in this file")
	flags.BoolVar(&o.selfTest, "self-test", false, "time kernels against themselves and count false differences")
	flags.BoolVar(&o.calibrate, "calibrate", false, "compare the host's clock with device events and with kernels of known length")
	flags.BoolVar(&o.resume, "resume", false, "go on with bench.partial.json")
	flags.StringVar(&o.results, "results", "", "folder for bench.json and the rest (default results/<gpu> of the repository)")
	flags.StringVar(&o.model, "model", "", "measure nothing: the model's times for this GPU, such as h200 or rtx4050")
	addInstall(cmd, &o.install)
	cmd.MarkFlagsMutuallyExclusive("rows", "array-mb")
	for _, flag := range sweepFlags {
		cmd.MarkFlagsMutuallyExclusive("shape", flag)
	}
	completeWith(cmd, "op", cobra.FixedCompletions(op.Names(), cobra.ShellCompDirectiveNoFileComp))
	cmd.MarkFlagsMutuallyExclusive("self-test", "calibrate", "model", "resume")
	completeWith(cmd, "plugin", o.pluginNames)
	completeWith(cmd, "baseline", o.pluginNames)
	completeWith(cmd, "dtype", cobra.FixedCompletions([]string{"fp32", "fp16", "bf16"}, cobra.ShellCompDirectiveNoFileComp))
	completeWith(cmd, "model", cobra.FixedCompletions(bench.KnownGPUs(), cobra.ShellCompDirectiveNoFileComp))
}

// defaultBench is bench without any flag.
func defaultBench(shared *sharedFlags) *benchOptions {
	o := &benchOptions{sharedFlags: shared}
	o.add(&cobra.Command{}) // flags set their defaults when they are made
	return o
}

// runBench measures where there is a GPU and predicts elsewhere.
func runBench(ctx context.Context, o *benchOptions, out, errOut io.Writer) error {
	problems, err := o.problems()
	if err != nil {
		return err
	}
	plugins, err := o.chosen()
	if err != nil {
		return err
	}
	if err := atLeast("samples", o.samples, 1); err != nil {
		return err
	}
	if err := atLeast("restarts", o.restarts, 1); err != nil {
		return err
	}
	j := benching{options: o, plugins: plugins, problems: problems, out: out, errOut: errOut}
	if o.spec != "" {
		spec, err := bench.LoadSpec(o.spec)
		if err != nil {
			return err
		}
		j.spec = &spec
	}
	if o.model != "" || autoBackend(ctx) != "cuda" {
		return j.predict(ctx)
	}
	if j.device, err = o.gpu.chooseOne(ctx, "cuda"); err != nil {
		return err
	}
	switch {
	case o.selfTest:
		return j.selfTest(ctx)
	case o.calibrate:
		return j.calibrate(ctx)
	}
	return j.measure(ctx)
}

// chosen are the named plugins, or all that compute the operation. What cannot be read costs its own row.
func (o *benchOptions) chosen() ([]discover.Plugin, error) {
	if len(o.plugins) > 0 {
		names := o.plugins
		if o.baseline != "" {
			names = append(names[:len(names):len(names)], o.baseline)
		}
		named, err := o.choose(unique(names))
		for _, p := range named {
			if !o.computes(p) {
				return nil, fmt.Errorf("plugin %s does not compute %s; --op names an operation that it does", p.Name(), o.op)
			}
		}
		return named, err
	}
	all, err := o.find()
	all = slices.DeleteFunc(all, func(p discover.Plugin) bool { return !o.computes(p) })
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("there is no plugin of %s to time: run inside the scanhost repository, or say --plugin-dir DIR", o.op)
	}
	return all, err
}

func (o *benchOptions) computes(p discover.Plugin) bool {
	_, ok := p.Manifest.Op(o.op)
	return ok || p.Err != nil
}

func unique(names []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, n := range names {
		if !seen[n] {
			out = append(out, n)
		}
		seen[n] = true
	}
	return out
}

func newSweep(seed uint64, environment map[string]string) *bench.Sweep {
	return &bench.Sweep{Schema: bench.Schema, Command: append([]string{"host"}, os.Args[1:]...), Started: time.Now().UTC(), Seed: seed,
		Environment: environment}
}
