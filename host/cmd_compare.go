package main

import (
	"io"

	"github.com/spf13/cobra"

	"scanhost/host/internal/bench"
	"scanhost/host/internal/report"
)

func newCompare(shared *sharedFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "compare OLD.json NEW.json",
		Short: "Say what got faster or slower between two benchmarks",
		Long: `compare reads two results of host bench and says for each kernel and shape that both have whether the new one is
better, worse, or no different, with the interval of the ratio of times. A difference inside the A/A noise of
either run is none, and verdicts are corrected for the number of rows. Results of different GPUs are compared
by the part of each one's own ceiling, which the report says.

Exit status: 0 nothing got worse, 1 something did, 2 a file is no benchmark, or nothing is in both.`,
		Example: `  host compare old.json new.json
  host compare old.json new.json --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCompare(args[0], args[1], shared, cmd.OutOrStdout())
		},
	}
}

func runCompare(oldPath, newPath string, shared *sharedFlags, out io.Writer) error {
	older, err := bench.Load(oldPath)
	if err != nil {
		return err
	}
	newer, err := bench.Load(newPath)
	if err != nil {
		return err
	}
	c, err := bench.CompareSweeps(older, newer)
	if err != nil {
		return err
	}
	c.Old, c.New = oldPath, newPath
	if shared.json {
		err = report.JSON(out, c)
	} else {
		report.ComparisonText(out, c, report.StyleOf(out))
	}
	if err == nil && c.Regressed() {
		err = errFailed
	}
	return err
}
