package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scanhost/host/internal/discover"
	"scanhost/host/internal/judge"
	"scanhost/shared/contract"
	"scanhost/shared/op"
)

type verifyOptions struct {
	*sharedFlags
	judging  judgingFlags
	plugins  []string
	cases    []string
	replay   string
	schedule uint64
	wrap     string
	scale    float64
	set      map[string]int64
	results  string
}

func newVerify(shared *sharedFlags) *cobra.Command {
	o := &verifyOptions{sharedFlags: shared}
	cmd := &cobra.Command{
		Use:   "verify --plugin NAME",
		Short: "Verify some plugins, or repeat one case",
		Long: `verify does for the plugins it is given what run-all does for all: builds them and runs their suites.

--case and --replay run given cases instead. A case's name is its whole recipe, the same on every machine:
operation, regime, dimensions, options, dtype and seed. A failure prints the command that replays it, with
the schedule's seed where the simulated GPU found it.

--wrap runs the plugin's process under a tool such as compute-sanitizer, ncu or cuda-gdb. Tools are slow, so
deadlines are then 20 times as long; --deadline-scale says otherwise, and 0 switches them off.`,
		Example: `  host verify --plugin lookback
  host verify --plugin lookback --plugin lookback_warp --launches 100
  host verify --plugin lookback_items --set items=4
  host verify --plugin lookback --case affine_scan:near1:rows=3:length=2049:reverse+h0:fp32:seed=7
  host verify --plugin lookback --wrap "compute-sanitizer --tool memcheck"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.wrap != "" && !cmd.Flags().Changed("deadline-scale") {
				o.scale = wrappedScale
			}
			return runVerify(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.add(cmd)
	return cmd
}

// wrappedScale is what memcheck costs a kernel, with room.
const wrappedScale = 20

func (o *verifyOptions) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&o.plugins, "plugin", nil, "plugin to verify (repeatable)")
	flags.StringArrayVar(&o.cases, "case", nil, "run this case instead of the suite (repeatable)")
	flags.StringVar(&o.replay, "replay", "", "repeat this case, as a failure's replay command says it")
	flags.Uint64Var(&o.schedule, "schedule-seed", 0, "on the simulated GPU run each case under this one schedule")
	flags.StringVar(&o.wrap, "wrap", "", "command that runs the plugin's process, as a prefix of its command line")
	flags.Float64Var(&o.scale, "deadline-scale", 1, "multiply every deadline; 0: none")
	flags.StringToInt64Var(&o.set, "set", nil, "choose a tunable's value: name=value")
	flags.StringVar(&o.results, "results", "", "folder for verify.json and verify.txt")
	o.judging.add(cmd)
	cmd.MarkFlagsMutuallyExclusive("case", "replay")
	completeWith(cmd, "plugin", o.pluginNames)
}

func runVerify(ctx context.Context, o *verifyOptions, out, errOut io.Writer) error {
	if len(o.plugins) == 0 {
		return errors.New("verify needs --plugin NAME; host list shows the names, host run-all verifies every kernel")
	}
	plugins, err := o.choose(o.plugins)
	if err != nil {
		return err
	}
	options, err := o.options(plugins)
	if err != nil {
		return err
	}
	return judgePlugins(ctx, judging{
		name: "verify", flags: o.judging, plugins: plugins, options: options, results: o.results, keep: o.results != "", json: o.json,
	}, out, errOut)
}

func (o *verifyOptions) options(plugins []discover.Plugin) (judge.Options, error) {
	options, err := o.judging.options()
	if err != nil {
		return options, err
	}
	names := o.cases
	if o.replay != "" {
		names = []string{o.replay}
	}
	if options.Cases, err = parseCases(names); err != nil {
		return options, err
	}
	if options.Wrap, err = wrapper(o.wrap); err != nil {
		return options, err
	}
	if o.scale < 0 {
		return options, fmt.Errorf("deadline-scale is %g; 0 (no deadlines) or more is accepted", o.scale)
	}
	options.Deadlines.Scale, options.Deadlines.Off = o.scale, o.scale == 0
	options.ScheduleSeed, options.Tuning = o.schedule, o.set
	return options, checkTuning(plugins, o.set)
}

// parseCases makes cases from their names, which begin with the operation's.
func parseCases(names []string) ([]op.Case, error) {
	var cases []op.Case
	for _, name := range names {
		operation, _, _ := strings.Cut(name, ":")
		o, err := op.Lookup(operation)
		if err != nil {
			return nil, fmt.Errorf("case %q: %w", name, err)
		}
		c, err := o.ParseCase(name)
		if err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// wrapper splits a command line at blanks, without a shell's rules and so without a shell's surprises.
func wrapper(line string) ([]string, error) {
	if i := strings.IndexAny(line, "'\"\\`$"); i >= 0 {
		return nil, fmt.Errorf("wrap has %q, which is not understood; put what needs quoting into a script and wrap with that", line[i])
	}
	argv := strings.Fields(line)
	if len(argv) > 0 {
		if _, err := exec.LookPath(argv[0]); err != nil {
			return nil, fmt.Errorf("wrap: %s is not to be found on PATH", argv[0])
		}
	}
	return argv, nil
}

// checkTuning refuses a value that no plugin could be asked for.
func checkTuning(plugins []discover.Plugin, set map[string]int64) error {
	for name, value := range set {
		for _, p := range plugins {
			if p.Err != nil {
				continue
			}
			i := slices.IndexFunc(p.Manifest.Tunables, func(t contract.Tunable) bool { return t.Name == name })
			if i < 0 {
				return fmt.Errorf("plugin %s has no tunable %q; it has %s", p.Name(), name, tunableNames(p))
			}
			if t := p.Manifest.Tunables[i]; !slices.Contains(t.Values, value) {
				return fmt.Errorf("plugin %s: %s is %d; accepted are %v", p.Name(), name, value, t.Values)
			}
		}
	}
	return nil
}

func tunableNames(p discover.Plugin) string {
	if len(p.Manifest.Tunables) == 0 {
		return "none"
	}
	names := make([]string, len(p.Manifest.Tunables))
	for i, t := range p.Manifest.Tunables {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

func atLeast(flag string, value, least int) error {
	if value < least {
		return fmt.Errorf("%s is %d; %d or more is accepted", flag, value, least)
	}
	return nil
}
