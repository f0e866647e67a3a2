package launch

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// evidenceLines is how many of the last log lines come with the evidence.
const evidenceLines = 20

// Evidence is what is known of how a child ended, or that it has not.
type Evidence struct {
	Pid       int
	Ended     bool           // reaped
	ExitCode  int            // -1 unless it exited
	Signal    syscall.Signal // that ended it; 0 if none
	Killed    bool           // by the host, for Cause
	Cause     string         // why the host killed it or meant to
	Survivors int            // descendants that outlived it and were killed
	Age       time.Duration  // from start to end, or to now
	Log       []string       // last lines of its output
	LogLost   int64          // bytes of output beyond the cap
}

// String says in one line how it ended.
func (e Evidence) String() string {
	text := "alive"
	switch {
	case e.Pid == 0:
		text = "never started"
	case e.Killed:
		text = "killed by the host: " + e.Cause
	case e.Ended && e.Signal == syscall.SIGKILL:
		text = "died by SIGKILL, not from the host (out of memory, or by another process)"
	case e.Ended && e.Signal != 0:
		text = "died by " + unix.SignalName(e.Signal)
	case e.Ended:
		text = fmt.Sprintf("exited with status %d", e.ExitCode)
	case e.Cause != "":
		text = "alive in spite of SIGKILL: " + e.Cause
	}
	if e.Survivors > 0 {
		text += fmt.Sprintf("; left %d processes behind, which were killed", e.Survivors)
	}
	return text
}

// Evidence may be asked at any time and is final once Done is closed.
func (p *Process) Evidence() Evidence {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := Evidence{Pid: p.pid, Ended: p.state != nil, ExitCode: -1, Cause: p.cause, Survivors: p.survivors}
	e.Log, e.LogLost = p.log.tail(evidenceLines)
	e.Age = time.Since(p.started).Round(time.Millisecond)
	if p.state == nil {
		return e
	}
	e.Age = p.ended.Sub(p.started).Round(time.Millisecond)
	e.ExitCode, e.Signal = exitOf(p.state)
	// A child that died by itself just before the host's SIGKILL shows its own signal or status.
	e.Killed = p.cause != "" && e.Signal == syscall.SIGKILL
	return e
}

func exitOf(state *os.ProcessState) (int, syscall.Signal) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return -1, status.Signal()
	}
	return state.ExitCode(), 0
}
