package launch

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"scanhost/shared/contract"
)

// descriptorSocket is the host's end of fd 3.
type descriptorSocket struct {
	mu    sync.RWMutex // held for reading during a transfer, so that close cannot pull the number away
	fd    int          // -1 once closed
	limit time.Duration
}

// socketPair makes fd 3. Kernel timeouts bound both directions: a stopped child whose buffer is full must
// not hold the host.
func socketPair(limit time.Duration) (*descriptorSocket, *os.File, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socket pair for fd %d: %w", contract.SocketFD, err)
	}
	timeout := unix.NsecToTimeval(limit.Nanoseconds())
	err = errors.Join(
		unix.SetsockoptTimeval(ends[0], unix.SOL_SOCKET, unix.SO_SNDTIMEO, &timeout),
		unix.SetsockoptTimeval(ends[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout))
	if err != nil {
		unix.Close(ends[0])
		unix.Close(ends[1])
		return nil, nil, fmt.Errorf("timeouts of fd %d: %w", contract.SocketFD, err)
	}
	return &descriptorSocket{fd: ends[0], limit: limit}, os.NewFile(uintptr(ends[1]), "fd3"), nil
}

func (s *descriptorSocket) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fd >= 0 {
		unix.Close(s.fd)
		s.fd = -1
	}
}

var errSocketClosed = errors.New("the process is gone")

// SendDescriptor sends fd under id over the child's fd 3. The caller keeps its own fd.
func (p *Process) SendDescriptor(id uint64, fd int) error {
	s := p.socket
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.fd < 0 {
		return fmt.Errorf("descriptor %d: %w", id, errSocketClosed)
	}
	err := contract.SendDescriptor(s.fd, id, fd)
	if errors.Is(err, unix.EAGAIN) {
		return fmt.Errorf("descriptor %d: fd %d was full for %v; the process does not read it", id, contract.SocketFD, s.limit)
	}
	if err != nil {
		return fmt.Errorf("descriptor %d: %w", id, err)
	}
	return nil
}

// Give is SendDescriptor for a child that may be dying: its error is a *Failure, Crashed where the child is gone, Hung
// where it does not read.
func (p *Process) Give(id uint64, fd int) error {
	err := p.SendDescriptor(id, fd)
	if err == nil {
		return nil
	}
	const phase = "sending buffers"
	var f *Failure
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, errSocketClosed) {
		f = p.lost(phase)
	} else {
		f = p.end(Hung, phase+": "+err.Error())
	}
	f.Evidence, f.Cause = p.Evidence(), err
	return f
}

// ReceiveDescriptor takes the next descriptor that the child sent, as the keeper does. The caller owns fd.
func (p *Process) ReceiveDescriptor() (id uint64, fd int, err error) {
	s := p.socket
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.fd < 0 {
		return 0, -1, errSocketClosed
	}
	id, fd, err = contract.ReceiveDescriptor(s.fd)
	if errors.Is(err, unix.EAGAIN) {
		return 0, -1, fmt.Errorf("no descriptor came on fd %d within %v", contract.SocketFD, s.limit)
	}
	return id, fd, err
}
