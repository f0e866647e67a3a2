package launch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/connectivity"

	"scanhost/shared/contract"
)

// Start runs a child and connects to its service. ctx bounds the start only. The error is a *Failure unless
// the host itself is at fault; the child is then gone already.
func Start(ctx context.Context, c Command) (*Process, error) {
	cmd, err := c.process()
	if err != nil {
		return nil, err
	}
	p, child, err := newProcess(c)
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{child} // the first becomes fd 3
	p.client = goplugin.NewClient(p.clientConfig(ctx, cmd))
	connected := make(chan error, 1)
	go func() { connected <- p.connect(ctx, child) }()
	if err := p.awaitConnection(ctx, connected); err != nil {
		return nil, p.startFailure(err)
	}
	p.register()
	return p, nil
}

func (p *Process) register() {
	running.Store(p, nil)
	if p.isDone() {
		running.Delete(p) // it was gone before discard could find it
	}
}

func newProcess(c Command) (*Process, *os.File, error) {
	p := &Process{
		command: c, limits: c.Limits.withDefaults(), mark: markName + "=" + rand.Text(),
		log: &outputLog{limit: c.LogBytes}, started: time.Now(),
		kill: unix.Kill, greetings: make(chan greeting, 1), reaped: make(chan struct{}), done: make(chan struct{}),
	}
	if p.log.limit <= 0 {
		p.log.limit = DefaultLogBytes
	}
	var err error
	if p.dir, err = newDirectory(); err != nil {
		return nil, nil, err
	}
	var child *os.File
	p.socket, child, err = socketPair(p.limits.scaled(p.limits.Transfer))
	if err != nil {
		p.dir.remove()
		return nil, nil, err
	}
	return p, child, nil
}

func (p *Process) clientConfig(ctx context.Context, cmd *exec.Cmd) *goplugin.ClientConfig {
	output := func() *lineWriter { return &lineWriter{log: p.log} }
	return &goplugin.ClientConfig{
		HandshakeConfig: contract.Handshake,
		Plugins: goplugin.PluginSet{
			contract.KernelService: &contract.KernelPlugin{},
			contract.KeeperService: &contract.KeeperPlugin{},
		},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		RunnerFunc: func(_ hclog.Logger, spec *exec.Cmd, _ string) (runner.Runner, error) {
			cmd.Env = append(p.command.environment(p.dir.path, p.mark), spec.Env...)
			return &pluginRunner{p: p, ctx: ctx, cmd: cmd}, nil
		},
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: p.dir.path},
		SkipHostEnv:      true,
		StartTimeout:     never, // the runner has the deadline
		GRPCDialOptions:  p.dialOptions(),
		// A Go plugin's prints after the handshake come this way. Level Off keeps go-plugin from parsing them.
		SyncStdout: output(),
		SyncStderr: output(),
		Logger:     hclog.New(&hclog.LoggerOptions{Level: hclog.Off}),
	}
}

// connect goes through go-plugin's start. What a plugin sends can make it panic.
func (p *Process) connect(ctx context.Context, child *os.File) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &Failure{Kind: BadPlugin, Text: fmt.Sprintf("go-plugin could not handle it: %v", r)}
		}
	}()
	_, err = p.client.Start()
	child.Close()
	if !p.spawned {
		close(p.reaped)
	}
	go p.finish()
	if err != nil {
		return err
	}
	if p.session, err = p.client.Client(); err != nil {
		return err
	}
	if err := p.awaitReady(ctx); err != nil {
		return err
	}
	p.service, err = p.session.Dispense(p.command.Service)
	return err
}

// awaitReady waits for gRPC's own greeting, so that the first call meets a server.
func (p *Process) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.limits.scaled(p.limits.Handshake))
	defer cancel()
	conn := p.session.(*goplugin.GRPCClient).Conn
	for {
		conn.Connect()
		switch state := conn.GetState(); state {
		case connectivity.Ready:
			return nil
		case connectivity.TransientFailure, connectivity.Shutdown:
			return p.refused()
		default:
			if !conn.WaitForStateChange(ctx, state) {
				return p.failStart(Hung, noConnection)
			}
		}
	}
}

const noConnection = "does not answer on the socket of its handshake"

// refused tells a child that died after its handshake from one that named a socket nobody listens on.
func (p *Process) refused() error {
	select {
	case <-p.reaped:
		return p.failStart(Crashed, "right after its handshake: "+p.Evidence().String())
	case <-time.After(settleTime):
		return p.failStart(BadPlugin, "nobody listens on the socket of its handshake")
	}
}

// awaitConnection bounds what follows the handshake: a socket that nobody accepts from blocks go-plugin. The
// runner's own deadline comes first.
func (p *Process) awaitConnection(ctx context.Context, connected <-chan error) error {
	timer := time.NewTimer(p.limits.scaled(p.limits.Handshake) + settleTime)
	defer timer.Stop()
	select {
	case err := <-connected:
		return err
	case <-timer.C:
		return p.failStart(Hung, noConnection)
	case <-ctx.Done():
		return p.failStart(Interrupted, "interrupted while it started")
	}
}

// failStart kills the child and says why. It waits for the reaping alone, since go-plugin may hold its lock.
func (p *Process) failStart(kind Kind, text string) error {
	p.condemn(text)
	if err := p.await(p.reaped); err != nil {
		kind, text = Unkillable, text+"; then "+err.Error()
	}
	return &Failure{Kind: kind, Text: text}
}

// startFailure turns any error of a start into a Failure with its evidence.
func (p *Process) startFailure(err error) error {
	var f *Failure
	if !errors.As(err, &f) {
		f = &Failure{Kind: BadPlugin, Text: err.Error(), Cause: err}
	}
	if f.Kind != Unkillable && p.Kill(f.Text) != nil {
		f.Kind = Unkillable
	}
	f.Evidence = p.Evidence()
	return f
}

// finish clears away what a child had, once it is reaped.
func (p *Process) finish() {
	<-p.reaped
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { _ = recover() }()
		p.client.Kill() // ends go-plugin's goroutines; the child itself is gone
	}()
	select {
	case <-ended:
	case <-time.After(sweepTime):
	}
	p.discard()
}

func (p *Process) discard() {
	p.socket.close()
	p.dir.remove()
	running.Delete(p)
	close(p.done)
}
