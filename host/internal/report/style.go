// Package report shows what the judge found: a line per plugin while it works, a table, a paragraph for
// each failure, and the same in full as JSON.
//
// Text goes to whoever reads along, and is fitted to the terminal; JSON is the record, has every case, and
// is what a program should read. Progress belongs on standard error, so that standard output holds the
// result alone.
package report

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"scanhost/host/internal/judge"
)

// Style is what an output can show.
type Style struct {
	Terminal bool
	Width    int // columns; 0: as wide as it takes
	Color    bool
}

// StyleOf looks at where w leads. NO_COLOR (no-color.org) and TERM=dumb switch colors off.
func StyleOf(w io.Writer) Style {
	f, ok := w.(*os.File)
	if !ok {
		return Style{}
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return Style{}
	}
	plain := os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb"
	return Style{Terminal: true, Width: int(size.Col), Color: !plain}
}

const (
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (s Style) paint(color, text string) string {
	if !s.Color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

func (s Style) verdict(v judge.Verdict) string {
	switch v {
	case judge.Pass:
		return s.paint(green, string(v))
	case judge.Unsupported, judge.NotRun, judge.Interrupted:
		return s.paint(yellow, string(v))
	}
	return s.paint(red, string(v))
}

// Mark is the first column of a checklist.
func (s Style) Mark(ok bool) string {
	if ok {
		return s.paint(green, "ok")
	}
	return s.paint(yellow, "--")
}
