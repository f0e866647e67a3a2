package launch

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"scanhost/shared/contract"
)

// drainTime is how long a dead child's output is still waited for. It only runs out where something that
// escaped every kill holds a pipe.
const drainTime = 200 * time.Millisecond

// sweepTime bounds the search for descendants: reading /proc of a process stuck in a driver can block.
const sweepTime = 2 * time.Second

const (
	maxFiles     = 4096
	maxFileBytes = 4 << 30
)

// spawn starts cmd and returns when the exec has succeeded or failed.
func (p *Process) spawn(cmd *exec.Cmd) error {
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	defer outWrite.Close()
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		outRead.Close()
		return err
	}
	defer errWrite.Close()
	cmd.Stdout, cmd.Stderr = outWrite, errWrite
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p.drains.Add(2)
	go p.drain(outRead, &lineWriter{log: p.log, line: p.greet})
	go p.drain(errRead, &lineWriter{log: p.log})
	p.pipes = []*os.File{outRead, errRead}
	result := make(chan error, 1)
	p.spawned = true
	go p.supervise(cmd, result)
	return <-result
}

func (p *Process) drain(from *os.File, to *lineWriter) {
	defer p.drains.Done()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		to.Write(buffer[:n])
		if err != nil {
			to.close()
			return
		}
	}
}

// supervise lives from the fork to the end of the child. Its thread is the parent in the sense of
// PR_SET_PDEATHSIG, so it stays locked, and since no_new_privs cannot be taken back, it is never unlocked:
// the thread ends with the goroutine.
func (p *Process) supervise(cmd *exec.Cmd, result chan<- error) {
	runtime.LockOSThread()
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		p.began(cmd.Process.Pid)
		p.limitResources()
	}
	result <- err
	if err == nil {
		p.reap(cmd)
	}
	p.closePipes()
	close(p.reaped)
}

func (p *Process) began(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pid, p.started = pid, time.Now()
	// A kill that came before the pid was known is made up for here.
	if p.cause != "" {
		p.signal()
	}
}

// limitResources is best effort: a child may have ended already. Address space and data are never limited,
// since GPU drivers reserve far more than they use.
func (p *Process) limitResources() {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: maxFiles}
	if p.command.Service != contract.KeeperService { // its copies of arrays may be larger
		limits[unix.RLIMIT_FSIZE] = maxFileBytes
	}
	for resource, most := range limits {
		var now unix.Rlimit
		if unix.Prlimit(p.pid, resource, nil, &now) != nil {
			continue
		}
		limit := unix.Rlimit{Cur: min(most, now.Max), Max: min(most, now.Max)}
		_ = unix.Prlimit(p.pid, resource, &limit, nil)
	}
}

// reap waits for the child and clears away what it left. The group is killed while the child is a zombie:
// until it is reaped its number cannot name another group.
func (p *Process) reap(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.mu.Lock()
	_ = unix.Kill(-p.pid, unix.SIGKILL)
	p.gone = true
	p.mu.Unlock()
	_ = cmd.Wait() // the status is in ProcessState whatever the error

	survivors := make(chan int, 1)
	go func() { survivors <- killMarked(p.mark, sweepTime) }()
	found := 0
	select {
	case found = <-survivors:
	case <-time.After(sweepTime):
	}
	p.mu.Lock()
	p.state, p.ended, p.survivors = cmd.ProcessState, time.Now(), found
	p.mu.Unlock()
}

// closePipes gives the output drainTime to end by itself.
func (p *Process) closePipes() {
	for _, pipe := range p.pipes {
		_ = pipe.SetReadDeadline(time.Now().Add(drainTime))
	}
	p.drains.Wait()
	for _, pipe := range p.pipes {
		pipe.Close()
	}
}
