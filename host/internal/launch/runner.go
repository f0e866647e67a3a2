package launch

import (
	"context"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// pluginRunner is what go-plugin sees of a Process: one that starts, has already said its one line of
// handshake, and says nothing more. It implements go-plugin's runner.Runner.
type pluginRunner struct {
	p    *Process
	ctx  context.Context // of launch.Start; go-plugin's own has only its timeout
	cmd  *exec.Cmd
	line string
}

// Start runs the child and waits for its handshake. An error is a *Failure, or that of the exec.
func (r *pluginRunner) Start(context.Context) error {
	p := r.p
	if err := p.spawn(r.cmd); err != nil {
		return &Failure{Kind: BadPlugin, Text: "cannot be started: " + err.Error()}
	}
	limit := p.limits.scaled(p.limits.Handshake)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case g := <-p.greetings:
		r.line = g.line
		if g.err != nil {
			return p.failStart(BadPlugin, g.err.Error())
		}
		return nil
	case <-p.reaped:
		return r.endedFirst()
	case <-timer.C:
		return p.neverGreeted(limit)
	case <-r.ctx.Done():
		return p.failStart(Interrupted, "interrupted while it started")
	}
}

// endedFirst is for a child that is gone already. Its last words may still hold a broken handshake.
func (r *pluginRunner) endedFirst() error {
	select {
	case g := <-r.p.greetings:
		if g.err != nil {
			return r.p.failStart(BadPlugin, g.err.Error())
		}
	default:
	}
	return r.p.failStart(Crashed, "before its handshake: "+r.p.Evidence().String())
}

func (p *Process) neverGreeted(limit time.Duration) error {
	p.mu.Lock()
	banner := p.banner
	p.mu.Unlock()
	if banner != "" {
		return p.failStart(BadPlugin, "wrote no handshake within "+limit.String()+"; its last line on standard output was "+strconv.Quote(short(banner)))
	}
	return p.failStart(Hung, "wrote no handshake within "+limit.String())
}

func short(line string) string {
	const most = 100
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return line
}

func (r *pluginRunner) Wait(context.Context) error {
	<-r.p.reaped
	return nil
}

// Kill does nothing: Start kills after any failure, with a cause, and go-plugin's Client.Kill is only used on
// the dead.
func (r *pluginRunner) Kill(context.Context) error {
	return nil
}

func (r *pluginRunner) Stdout() io.ReadCloser {
	return io.NopCloser(strings.NewReader(r.line + "\n"))
}

func (r *pluginRunner) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

func (r *pluginRunner) Name() string { return r.cmd.Path }

func (r *pluginRunner) ID() string { return strconv.Itoa(r.p.Pid()) }

func (r *pluginRunner) Diagnose(context.Context) string { return "" }

func (r *pluginRunner) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

func (r *pluginRunner) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
