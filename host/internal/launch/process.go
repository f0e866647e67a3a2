package launch

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"golang.org/x/sys/unix"

	"scanhost/shared/contract/keeperv1"
	"scanhost/shared/contract/kernelv1"
)

// Process is one child, from its start until after its end. All methods may be called from any goroutine.
type Process struct {
	command Command
	limits  Limits
	dir     directory // sockets and caches; removed at the end
	mark    string    // environment entry that finds descendants
	socket  *descriptorSocket
	log     *outputLog
	client  *goplugin.Client
	session goplugin.ClientProtocol
	service any // kernelv1.KernelClient or keeperv1.KeeperClient

	pipes     []*os.File
	drains    sync.WaitGroup
	greetings chan greeting
	reaped    chan struct{}                              // the child and its descendants are gone, output is drained
	done      chan struct{}                              // reaped, and the connection and directory are gone as well
	kill      func(pid int, signal syscall.Signal) error // unix.Kill, but in the test of what it cannot end
	spawned   bool                                       // supervise runs and will close reaped
	calls     atomic.Int64                               // RPCs in flight
	outlived  atomic.Bool                                // SIGKILL and Limits.Reap
	beat      atomic.Pointer[Beat]

	mu        sync.Mutex
	pid       int
	gone      bool // no signal may be sent any more: the pid can be another's
	cause     string
	state     *os.ProcessState
	started   time.Time
	ended     time.Time
	survivors int
	greeted   bool
	banner    string // last line of standard output that was no handshake
}

// Kernel is the child's kernel service; nil for a keeper. Every call needs a context with a deadline.
func (p *Process) Kernel() kernelv1.KernelClient {
	client, _ := p.service.(kernelv1.KernelClient)
	return client
}

// Keeper is the child's keeper service; nil for a kernel. Every call needs a context with a deadline.
func (p *Process) Keeper() keeperv1.KeeperClient {
	client, _ := p.service.(keeperv1.KeeperClient)
	return client
}

// Pid is the child's process id, 0 if it never started.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pid
}

// Done is closed when the child is reaped and everything it left is cleared away.
func (p *Process) Done() <-chan struct{} { return p.done }

func (p *Process) isDone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Log is all that is kept of the child's output, and how many bytes are not.
func (p *Process) Log() (lines []string, lost int64) { return p.log.tail(1 << 30) }

// condemn sends SIGKILL to the group. The first cause stays.
func (p *Process) condemn(cause string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return
	}
	if p.cause == "" {
		p.cause = cause
	}
	p.signal()
}

// signal needs mu. The pid is killed as well, since a child can move itself to another group.
func (p *Process) signal() {
	if p.pid > 0 && !p.gone {
		_ = p.kill(-p.pid, unix.SIGKILL)
		_ = p.kill(p.pid, unix.SIGKILL)
	}
}

// Kill ends the child and its group by SIGKILL, for a cause that becomes part of the evidence, and waits
// until it is gone, or returns ErrUnkillable. Of two causes the first stays.
func (p *Process) Kill(cause string) error {
	p.condemn(cause)
	return p.await(p.done)
}

// await waits for Limits.Reap once: a child that outlived it is not waited for again.
func (p *Process) await(ended <-chan struct{}) error {
	limit := p.limits.Reap
	if p.outlived.Load() {
		limit = 10 * time.Millisecond
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ended:
		return nil
	case <-timer.C:
		p.outlived.Store(true)
		return fmt.Errorf("process %d: %w and %v", p.Pid(), ErrUnkillable, p.limits.Reap)
	}
}

// Stop ends the child: by the Shutdown call if it is idle, by SIGKILL if it is busy, does not exit in time,
// or ctx ends, so it needs a context other than the one whose end made the caller stop. It returns
// ErrUnkillable where Kill would.
func (p *Process) Stop(ctx context.Context) error {
	if p.isDone() {
		return nil
	}
	if p.calls.Load() > 0 {
		return p.Kill("stopped by the host during a call")
	}
	go p.session.Close() // Shutdown, under the interceptor's deadline; it may outlast this function
	timer := time.NewTimer(p.limits.scaled(p.limits.Shutdown) + p.limits.scaled(p.limits.Stop))
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		return p.Kill("did not exit after Shutdown")
	case <-ctx.Done():
		return p.Kill("stopped by the host")
	}
}

// running holds every child that started and is not gone.
var running sync.Map // *Process -> nothing

// StopAll stops every child of this host in parallel, as on the first Ctrl-C.
func StopAll(ctx context.Context) []error {
	return onAll(func(p *Process) error { return p.Stop(ctx) })
}

// KillAll kills every child of this host in parallel, as on the second Ctrl-C.
func KillAll(cause string) []error {
	return onAll(func(p *Process) error { return p.Kill(cause) })
}

func onAll(end func(*Process) error) []error {
	var (
		wait   sync.WaitGroup
		mu     sync.Mutex
		failed []error
	)
	for key := range running.Range {
		wait.Go(func() {
			if err := end(key.(*Process)); err != nil {
				mu.Lock()
				failed = append(failed, err)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return failed
}
