package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"scanhost/host/internal/discover"
	"scanhost/host/internal/judge"
	"scanhost/host/internal/npy"
	"scanhost/host/internal/report"
	"scanhost/shared/op"
)

type scanOptions struct {
	*sharedFlags
	backend backendFlag
	memory  memoryFlag
	gpu     gpuFlag
	plugin  string
	a, b    string
	h0      string
	out     string
	last    string
	dtype   string
	reverse bool
	set     map[string]int64
}

func newScan(shared *sharedFlags) *cobra.Command {
	o := &scanOptions{sharedFlags: shared}
	cmd := &cobra.Command{
		Use:   "scan --plugin NAME --a FILE --b FILE -o FILE",
		Short: "Run a kernel on your own arrays",
		Long: `scan computes h[t] = a[t] * h[t-1] + b[t] along each row of your own arrays with one plugin, and says how far
the result is from the float64 reference, in units of the derived bound: 1 is as far as a right kernel can be.

Arrays are .npy files, or arrays in an .npz: the one named as its role (a, b, h0), the only one, or the one in
FILE.npz:NAME. One dimension is one row, two are (rows, length). Values are converted to --dtype with a note
where that rounds; bf16 comes as 16-bit words with --dtype bf16. An empty array is valid, and so is its result.

Bad input is refused in one sentence with exit status 2, and nothing is written. Nothing is written either
where the kernel fails or its result is not within the bound; the status is then 1.`,
		Example: `  host scan --plugin lookback --a a.npy --b b.npy -o h.npy
  host scan --plugin lookback --a data.npz --b data.npz --h0 h0.npy --last last.npy -o h.npy
  host scan --plugin blelloch --a a.npy --b b.npy --reverse -o h.npy`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runScan(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.add(cmd)
	return cmd
}

func (o *scanOptions) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.plugin, "plugin", "", "plugin that computes")
	flags.StringVar(&o.a, "a", "", "factors: .npy or .npz")
	flags.StringVar(&o.b, "b", "", "summands, of the same shape")
	flags.StringVar(&o.h0, "h0", "", "state before the first element, one for each row (default 0)")
	flags.StringVarP(&o.out, "out", "o", "", "where the result goes, a .npy")
	flags.StringVar(&o.last, "last", "", "where the last state of each row goes, a .npy")
	flags.StringVar(&o.dtype, "dtype", string(op.FP32), "type in which the kernel computes on a, b and h: fp32, fp16, bf16")
	flags.BoolVar(&o.reverse, "reverse", false, "scan each row from its right end")
	flags.StringToInt64Var(&o.set, "set", nil, "choose a tunable's value: name=value")
	o.backend.add(cmd)
	o.memory.add(cmd)
	o.gpu.add(cmd, "GPU to compute on: a number or a UUID, as for run-all (default the first)")
	completeWith(cmd, "plugin", o.pluginNames)
	completeWith(cmd, "dtype", cobra.FixedCompletions([]cobra.Completion{"fp32", "fp16", "bf16"}, cobra.ShellCompDirectiveNoFileComp))
}

func runScan(ctx context.Context, o *scanOptions, out, errOut io.Writer) error {
	plugin, err := o.check()
	if err != nil {
		return err
	}
	problem, shape, err := o.problem(plugin)
	if err != nil {
		return err
	}
	data, notes, err := o.load(problem)
	if err != nil {
		return err
	}
	progress := report.NewProgress(errOut)
	for _, n := range notes {
		progress.Note("%s", n)
	}
	result, err := o.compute(ctx, plugin, problem, data, progress)
	if err != nil {
		return err
	}
	if result.Verdict == judge.Pass {
		if err := o.write(shape, problem, data); err != nil {
			return err
		}
	}
	if err := o.tell(out, result); err != nil {
		return err
	}
	if result.Verdict != judge.Pass {
		return errFailed
	}
	return nil
}

// check looks at the flags alone.
func (o *scanOptions) check() (discover.Plugin, error) {
	for _, f := range []struct{ name, value, example string }{
		{"--plugin", o.plugin, "NAME"}, {"--a", o.a, "a.npy"}, {"--b", o.b, "b.npy"}, {"-o", o.out, "h.npy"},
	} {
		if f.value == "" {
			return discover.Plugin{}, fmt.Errorf("scan needs %s %s; see host scan --help", f.name, f.example)
		}
	}
	plugins, err := o.choose([]string{o.plugin})
	if err != nil {
		return discover.Plugin{}, err
	}
	p := plugins[0]
	if p.Err != nil {
		return p, p.Err
	}
	return p, checkTuning(plugins, o.set)
}

// compute builds the plugin and lets the judge run it once.
func (o *scanOptions) compute(ctx context.Context, p discover.Plugin, problem op.Problem, data map[string][]byte,
	progress *report.Progress) (result judge.KernelResult, err error) {
	backend, err := o.backend.resolveToRun(ctx)
	if err != nil {
		return result, err
	}
	device, err := o.gpu.chooseOne(ctx, backend)
	if err != nil {
		return result, err
	}
	built, err := buildTargets(ctx, discover.BuildRequest{Plugins: []discover.Plugin{p}, Backend: backend}, progress)
	if err != nil {
		return result, err
	}
	place, err := built.workplace(ctx, o.memory, device, progress.Note)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, place.close()) }()
	options := judge.DefaultOptions()
	options.Tuning = o.set
	return place.engine(options).Scan(ctx, built.targets[0], problem, data)
}

// write puts the results down; their places were found writable before the kernel ran.
func (o *scanOptions) write(shape []int64, p op.Problem, data map[string][]byte) error {
	if err := npy.Write(o.out, shape, p.DType, data["h"]); err != nil {
		return err
	}
	if o.last == "" {
		return nil
	}
	return npy.Write(o.last, []int64{p.Dims["rows"]}, op.FP32, data["last_state"])
}

// scanned is scan --json.
type scanned struct {
	Result judge.KernelResult `json:"result"`
	Out    string             `json:"out,omitempty"`
	Last   string             `json:"last,omitempty"`
}

func (o *scanOptions) tell(out io.Writer, k judge.KernelResult) error {
	passed := k.Verdict == judge.Pass
	if o.json {
		s := scanned{Result: k}
		if passed {
			s.Out, s.Last = o.out, o.last
		}
		return report.JSON(out, s)
	}
	fmt.Fprint(out, report.Lost(k))
	if !passed {
		report.Failures(out, judge.Run{Kernels: []judge.KernelResult{k}}, report.StyleOf(out))
		fmt.Fprintln(out, "nothing was written")
		return nil
	}
	c := k.Cases[0].Comparison
	fmt.Fprintf(out, "%s: %d elements, at most %.3f bounds from the float64 reference, %s on %s\n", o.out, c.Checked, c.Worst,
		report.Duration(k.Time), k.Backend)
	if c.OutOfRange > 0 {
		fmt.Fprintf(out, "%d elements are out of range: a right kernel may overflow there, and they were not judged\n", c.OutOfRange)
	}
	if o.last != "" {
		fmt.Fprintf(out, "%s: the last state of each row\n", o.last)
	}
	return nil
}
