package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scanhost/host/internal/judge"
	"scanhost/host/internal/report"
)

func newBits(shared *sharedFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "bits RUN.json RUN.json",
		Short: "Say whether two runs gave the same bits, case by case",
		Long: `bits reads two results of run-all and says for each kernel how many of the cases that both have left
equal outputs, bit for bit, all NaNs being one. Every rounding of a kernel is written out and contraction is off
in both compilers, so a kernel whose grouping does not depend on timing gives the same bits on a GPU and on the
simulated one. Exponentials are the exception: a GPU has an instruction for them (selective_scan).

Exit status: 0 all are equal, 1 some differ, 2 a file is no result of run-all, or nothing is in both.`,
		Example: `  host bits results/simt/run-all.json results/h200/run-all.json`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runBits(args[0], args[1], shared, cmd.OutOrStdout())
		},
	}
}

func runBits(oldPath, newPath string, shared *sharedFlags, out io.Writer) error {
	older, err := judge.LoadRun(oldPath)
	if err != nil {
		return err
	}
	newer, err := judge.LoadRun(newPath)
	if err != nil {
		return err
	}
	agreements, err := judge.CompareBits(older, newer)
	if err != nil {
		return err
	}
	if shared.json {
		err = report.JSON(out, agreements)
	} else {
		showBits(out, agreements)
		showMissing(out, oldPath, missing(newer, older))
		showMissing(out, newPath, missing(older, newer))
	}
	for _, a := range agreements {
		if a.Different > 0 && err == nil {
			err = errFailed
		}
	}
	return err
}

func showBits(out io.Writer, agreements []judge.Agreement) {
	for _, a := range agreements {
		fmt.Fprintf(out, "%-24s %s and %s: %d of %d outputs are the same bits", a.Plugin, a.Old, a.New, a.Equal, a.Equal+a.Different)
		if a.First != "" {
			fmt.Fprintf(out, "; first other: %s", a.First)
		}
		if !a.Sources && a.Old == a.New {
			fmt.Fprint(out, " (built from other sources)")
		}
		fmt.Fprintln(out)
	}
}

// missing are the kernels of one run that the other has no row of.
func missing(in, from judge.Run) []string {
	var names []string
	for _, k := range in.Kernels {
		if !slices.ContainsFunc(from.Kernels, func(o judge.KernelResult) bool { return o.Plugin == k.Plugin && o.Op == k.Op }) {
			names = append(names, k.Plugin)
		}
	}
	return names
}

func showMissing(out io.Writer, path string, names []string) {
	if len(names) > 0 {
		fmt.Fprintf(out, "not in %s: %s\n", path, strings.Join(names, ", "))
	}
}
