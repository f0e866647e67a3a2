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
	op      string
	files   map[string]*string // inputs by role, of every operation
	out     string
	last    string
	dtype   string
	reverse bool
	set     map[string]int64
}

func newScan(shared *sharedFlags) *cobra.Command {
	o := &scanOptions{sharedFlags: shared, files: map[string]*string{}}
	cmd := &cobra.Command{
		Use:   "scan --plugin NAME --INPUT FILE ... -o FILE",
		Short: "Run a kernel on your own arrays",
		Long: `scan computes an operation on your own arrays with one plugin, and says how far the result is from the float64
reference, in units of the derived bound: 1 is as far as a right kernel can be. The operation is the plugin's;
--op says which where it has several. Each input has a flag of its name:

  affine_scan     h[t] = a[t] * h[t-1] + b[t] along each row
                  a, b, h (rows, length); h0 and the last state (rows)
  selective_scan  h[t] = exp(d A) h[t-1] + d B[t] x[t], y[t] = (C[t] h[t] + D x[t]) silu(z[t]), where
                  d = softplus(delta[t] + delta_bias) and A = -exp(A_log)
                  x, delta, z, y (batch, length, channels); B, C (batch, length, state);
                  A_log (channels, state); D, delta_bias (channels); h0 and the last state
                  (batch, channels, state)

h0, D, z and delta_bias may be left out; so may the first dimension of an array where it is 1 in all of them.
Arrays are .npy files, or arrays in an .npz: the one named as its role, the only one, or the one in FILE.npz:NAME.
Values are converted to --dtype with a note where that rounds; bf16 comes as 16-bit words with --dtype bf16.
States and parameters are fp32. An empty array is valid, and so is its result.

Bad input is refused in one sentence with exit status 2, and nothing is written. Nothing is written either
where the kernel fails or its result is not within the bound; the status is then 1.`,
		Example: `  host scan --plugin lookback --a a.npy --b b.npy -o h.npy
  host scan --plugin lookback --a data.npz --b data.npz --h0 h0.npy --last last.npy -o h.npy
  host scan --plugin blelloch --a a.npy --b b.npy --reverse -o h.npy
  host scan --plugin selective_scan --x l.npz --delta l.npz --A_log l.npz --B l.npz --C l.npz --D l.npz -o y.npy`,
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
	flags.StringVar(&o.op, "op", "", "operation (default the plugin's)")
	for role, usage := range inputUsages() {
		o.files[role] = flags.String(role, "", usage)
	}
	flags.StringVarP(&o.out, "out", "o", "", "where the result goes, a .npy")
	flags.StringVar(&o.last, "last", "", "where the last states go, a .npy")
	flags.StringVar(&o.dtype, "dtype", string(op.FP32), "storage type of the main arrays: fp32, fp16, bf16")
	flags.BoolVar(&o.reverse, "reverse", false, "affine_scan: scan each row from its right end")
	flags.StringToInt64Var(&o.set, "set", nil, "choose a tunable's value: name=value")
	o.backend.add(cmd)
	o.memory.add(cmd)
	o.gpu.add(cmd, "GPU to compute on: a number or a UUID, as for run-all (default the first)")
	completeWith(cmd, "plugin", o.pluginNames)
	completeWith(cmd, "op", cobra.FixedCompletions(op.Names(), cobra.ShellCompDirectiveNoFileComp))
	completeWith(cmd, "dtype", cobra.FixedCompletions([]cobra.Completion{"fp32", "fp16", "bf16"}, cobra.ShellCompDirectiveNoFileComp))
}

func runScan(ctx context.Context, o *scanOptions, out, errOut io.Writer) error {
	plugin, err := o.check()
	if err != nil {
		return err
	}
	operation, err := o.operation(plugin)
	if err != nil {
		return err
	}
	problem, shape, err := o.problem(plugin, operation)
	if err != nil {
		return err
	}
	data, notes, err := o.load(operation, problem)
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
		if err := o.write(shape, operation.Arrays(problem), data); err != nil {
			return err
		}
	}
	if err := o.tell(out, result); err != nil {
		return err
	}
	switch result.Verdict {
	case judge.Pass:
		return nil
	case judge.Unsupported:
		return fmt.Errorf("plugin %s does not do this: %s", o.plugin, result.Detail)
	}
	return errFailed
}

// check looks at the flags alone.
func (o *scanOptions) check() (discover.Plugin, error) {
	if o.plugin == "" {
		return discover.Plugin{}, errors.New("scan needs --plugin NAME; see host scan --help")
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
func (o *scanOptions) write(shape []int64, arrays []op.Array, data map[string][]byte) error {
	for _, a := range arrays {
		var err error
		switch {
		case !a.Output || a.Shape == nil:
		case a.Option != "":
			err = npy.Write(o.last, a.Shape, a.DType, data[a.Role])
		default:
			err = npy.Write(o.out, shape, a.DType, data[a.Role])
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	if k.Verdict == judge.Unsupported {
		return nil // the error says why
	}
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
		fmt.Fprintf(out, "%s: the last states\n", o.last)
	}
	return nil
}
