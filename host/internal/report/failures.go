package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"scanhost/host/internal/judge"
)

// shownCases bounds a kernel's failures on the screen: one that fails everywhere would hide the others.
const shownCases = 5

// Failures says for each kernel that did not pass what went wrong first, where, and how to see it again.
func Failures(w io.Writer, run judge.Run, s Style) {
	for _, k := range run.Kernels {
		if k.Verdict.Failure() {
			fmt.Fprintln(w)
			kernelFailure(w, k, s)
		}
	}
}

func kernelFailure(w io.Writer, k judge.KernelResult, s Style) {
	line := k.Plugin + ": " + s.verdict(k.Verdict)
	if k.Detail != "" && !saidByACase(k) {
		line += ", " + printable(k.Detail)
	}
	fmt.Fprintln(w, line)
	shown, more, skipped := 0, 0, 0
	for _, c := range k.Cases {
		switch {
		case !c.Verdict.Failure():
		case c.Verdict == judge.NotRun || c.Verdict == judge.Interrupted:
			skipped++
		case shown == shownCases:
			more++
		default:
			shown++
			caseFailure(w, c, s)
		}
	}
	if more > 0 {
		fmt.Fprintf(w, "  and %d more, all in the JSON\n", more)
	}
	if skipped > 0 {
		fmt.Fprintf(w, "  not run: %d cases\n", skipped)
	}
	for _, l := range k.Log {
		fmt.Fprintln(w, "  | "+printable(l))
	}
}

// saidByACase: the kernel's detail is often its first failing case's, which is shown with that case.
func saidByACase(k judge.KernelResult) bool {
	return slices.ContainsFunc(k.Cases, func(c judge.CaseResult) bool { return c.Detail == k.Detail && c.Verdict == k.Verdict })
}

func caseFailure(w io.Writer, c judge.CaseResult, s Style) {
	name := c.Case
	if name == "" { // own data has no name
		name = c.Regime
	}
	fmt.Fprintf(w, "  %s in %s\n", s.verdict(c.Verdict), name)
	if c.Detail != "" {
		fmt.Fprintln(w, "    "+printable(c.Detail))
	}
	if c.Comparison != nil && c.Comparison.First != nil && !strings.Contains(c.Detail, c.Comparison.First.String()) {
		fmt.Fprintln(w, "    first at "+c.Comparison.First.String())
	}
	if c.Replay != "" {
		fmt.Fprintln(w, "    replay: "+c.Replay)
	}
}

// printable keeps what an untrusted plugin wrote from steering the terminal.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || 0x80 <= r && r < 0xa0 {
			return '.'
		}
		return r
	}, line)
}

// Lost says once what could not be checked, or "". It stands beside the verdicts, since it is part of what they mean.
func Lost(kernels ...judge.KernelResult) string {
	for _, k := range kernels {
		if len(k.Lost) > 0 {
			return "not checked, since plugins copied host memory: " + strings.Join(k.Lost, "; ") + "\n"
		}
	}
	return ""
}

func summary(run judge.Run) string {
	passed, total := 0, len(run.Kernels)
	for _, k := range run.Kernels {
		if k.Verdict == judge.Pass {
			passed++
		}
	}
	text := fmt.Sprintf("%d of %d kernels pass", passed, total)
	if run.Interrupted {
		text += "; interrupted, so these results are partial"
	}
	return text + fmt.Sprintf(" (%s, seed %d)", Duration(run.Took), run.Seed)
}
