package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"scanhost/shared/contract"
)

// fileWait bounds how long a call waits for a descriptor that the host sent before it.
const fileWait = 5 * time.Second

// files holds the descriptors that arrived on fd 3 and that no call has taken yet. The host sends before it
// calls, but the two travel on different sockets, so a call may have to wait.
type files struct {
	mu      sync.Mutex
	fds     map[uint64]int
	arrived chan struct{} // closed and replaced at every arrival
}

func newFiles() *files { return &files{fds: map[uint64]int{}, arrived: make(chan struct{})} }

// receive reads the socket until the host is gone, and then calls gone.
func (f *files) receive(socket int, gone func()) {
	for {
		id, fd, err := contract.ReceiveDescriptor(socket)
		if err != nil {
			gone()
			return
		}
		f.put(id, fd)
	}
}

func (f *files) put(id uint64, fd int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if old, ok := f.fds[id]; ok {
		unix.Close(old)
	}
	f.fds[id] = fd
	close(f.arrived)
	f.arrived = make(chan struct{})
}

// take waits for the descriptor; the caller closes it.
func (f *files) take(ctx context.Context, id uint64) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, fileWait)
	defer cancel()
	for {
		f.mu.Lock()
		fd, ok := f.fds[id]
		delete(f.fds, id)
		arrived := f.arrived
		f.mu.Unlock()
		if ok {
			return fd, nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return -1, fmt.Errorf("no descriptor %d arrived on file descriptor 3 within %v", id, fileWait)
		}
	}
}
