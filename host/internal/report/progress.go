package report

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"scanhost/host/internal/judge"
)

// Progress shows what is going on: on a terminal one line that moves while a plugin is at
// work, elsewhere a plain line when a plugin is done. Its methods may be called from several goroutines.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer
	style Style
	bar   *progressbar.ProgressBar
	name  string
}

// NewProgress writes to w, which should not be where the result goes.
func NewProgress(w io.Writer) *Progress { return &Progress{w: w, style: StyleOf(w)} }

// Note is one thing to know, such as that a build begins.
func (p *Progress) Note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// Begin says that a plugin's cases start.
func (p *Progress) Begin(plugin string, cases int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(plugin, cases)
}

// show gives the line to a plugin. Where several are at work, it goes to the one that was heard of last.
func (p *Progress) show(plugin string, cases int) {
	p.clear()
	p.name = plugin
	if !p.style.Terminal {
		return
	}
	p.bar = progressbar.NewOptions(cases,
		progressbar.OptionSetWriter(p.w),
		progressbar.OptionSetDescription(plugin),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionSetWidth(max(10, min(30, p.style.Width-50))),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(50*time.Millisecond),
		progressbar.OptionSetRenderBlankState(true))
}

// Case counts one finished case.
func (p *Progress) Case(e judge.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.style.Terminal {
		return
	}
	if p.bar == nil || p.name != e.Plugin {
		p.show(e.Plugin, e.Total)
	}
	if e.Case.Verdict.Failure() {
		p.bar.Describe(p.name + " (" + string(e.Case.Verdict) + ")")
	}
	_ = p.bar.Set(e.Done) // a progress line that cannot be drawn is not worth a failure
}

// End replaces the moving line with the plugin's result.
func (p *Progress) End(k judge.KernelResult) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.w, "%-16s %s  %d of %d pass", k.Plugin, p.style.verdict(k.Verdict), k.Passed, k.Run)
	if k.Unsupported > 0 {
		fmt.Fprintf(p.w, ", %d unsupported", k.Unsupported)
	}
	fmt.Fprintf(p.w, "  %s\n", Duration(k.Time))
}

func (p *Progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
		_ = p.bar.Exit()
		p.bar = nil
	}
}

// Event shows a step of the judge's.
func (p *Progress) Event(e judge.Event) {
	switch {
	case e.Kernel != nil:
		p.End(*e.Kernel)
	case e.Case != nil:
		p.Case(e)
	default:
		p.Begin(e.Plugin, e.Total)
	}
}
