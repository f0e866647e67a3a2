package plugin

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"scanhost/shared/contract"
)

// descriptorWait bounds how long Prepare waits for a descriptor that was sent before it.
const descriptorWait = 5 * time.Second

// descriptors holds what arrived on fd 3 and was not claimed yet. The host sends before it calls, but the
// two travel on different sockets, so a claim may have to wait.
type descriptors struct {
	mu      sync.Mutex
	arrived *sync.Cond
	fds     map[uint64]int
}

func newDescriptors() *descriptors {
	d := &descriptors{fds: map[uint64]int{}}
	d.arrived = sync.NewCond(&d.mu)
	return d
}

// receive reads the socket until the host is gone, and then calls gone.
func (d *descriptors) receive(socket int, gone func()) {
	for {
		id, fd, err := contract.ReceiveDescriptor(socket)
		if errors.Is(err, unix.EBADF) || errors.Is(err, unix.ENOTSOCK) {
			fmt.Fprintln(os.Stderr, "file descriptor 3 is not the host's socket; this process was not started by a host")
		}
		if err != nil {
			gone()
			return
		}
		d.put(id, fd)
	}
}

func (d *descriptors) put(id uint64, fd int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if old, ok := d.fds[id]; ok {
		unix.Close(old)
	}
	d.fds[id] = fd
	d.arrived.Broadcast()
}

// claim takes the descriptor of a buffer; the caller closes it.
func (d *descriptors) claim(id uint64) (int, error) {
	deadline := time.Now().Add(descriptorWait)
	wake := time.AfterFunc(descriptorWait, d.arrived.Broadcast)
	defer wake.Stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		if fd, ok := d.fds[id]; ok {
			delete(d.fds, id)
			return fd, nil
		}
		if !time.Now().Before(deadline) {
			return -1, fmt.Errorf("no descriptor for buffer %d arrived on file descriptor 3 within %v", id, descriptorWait)
		}
		d.arrived.Wait()
	}
}
