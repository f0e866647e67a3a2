package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"scanhost/host/internal/bench"
	"scanhost/host/internal/report"
)

type reportOptions struct {
	*sharedFlags
	baseline string
	spec     string
	save     string
	brief    bool
}

func newReport(shared *sharedFlags) *cobra.Command {
	o := &reportOptions{sharedFlags: shared}
	cmd := &cobra.Command{
		Use:   "report RESULT.json",
		Short: "Show a benchmark again: tables, verdicts, figures",
		Long: `report reads a result of host bench and computes all that is shown from its samples: times, the part of the
ceiling, the model beside them, and who beat whom. It needs no GPU. With --spec it judges the result by a list
of bars instead, and with --save it writes text, CSV and figures.

Exit status: 0, or 1 where a bar fails, or 2 where a file cannot be used.`,
		Example: `  host report results/h200/bench.json
  host report results/h200/bench.json --baseline multiblock
  host report results/h200/bench.json --spec docs/bars.toml
  host report results/h200/bench.json --save figures/h200`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runReport(args[0], o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.baseline, "baseline", "", "compare every contender with this one (default: the one that it improves on)")
	flags.StringVar(&o.spec, "spec", "", "judge by the bars in this file")
	flags.StringVar(&o.save, "save", "", "also write PATH.json, PATH.txt, PATH.csv and figures")
	flags.BoolVar(&o.brief, "brief", false, "leave out the line for each cell")
	return cmd
}

func runReport(path string, o *reportOptions, out, errOut io.Writer) error {
	sweep, err := bench.Load(path)
	if err != nil {
		return err
	}
	if o.save != "" {
		paths, err := report.SaveSweep(o.save, sweep, o.baseline)
		if err != nil {
			return err
		}
		fmt.Fprintln(errOut, "results:", paths[0])
	}
	if o.spec != "" {
		return judgeBySpec(sweep, o, out)
	}
	if o.json {
		rivals, err := sweep.Rivals(o.baseline)
		if err != nil {
			return err
		}
		return report.JSON(out, rivals)
	}
	extent := report.Full
	if o.brief {
		extent = report.Brief
	}
	return report.SweepText(out, sweep, o.baseline, extent, report.StyleOf(out))
}

func judgeBySpec(sweep bench.Sweep, o *reportOptions, out io.Writer) error {
	spec, err := bench.LoadSpec(o.spec)
	if err != nil {
		return err
	}
	judgements := spec.Judge(sweep)
	if o.json {
		err = report.JSON(out, judgements)
	} else {
		report.SpecText(out, judgements, report.StyleOf(out))
	}
	if err == nil && slices.ContainsFunc(judgements, bench.Judgement.Broken) {
		err = errFailed
	}
	return err
}
