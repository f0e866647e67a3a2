package buffers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sys/unix"

	"scanhost/shared/contract/kernelv1"
	"scanhost/shared/op"
)

// nextID names arrays and files; ids are unique within the host, so that a stale one never finds a newer array.
var nextID atomic.Uint64

// Memfd is the space of host memory. Its zero value is ready.
type Memfd struct{}

// Close does nothing: every memfd is its array's.
func (Memfd) Close() error { return nil }

func (Memfd) Input(a op.Array, fill func([]byte) error) (Array, error) {
	m, err := newMemfd(a)
	if err != nil {
		return nil, err
	}
	poison(m.mapped[:m.start])
	poison(m.mapped[m.end:])
	if err := fill(m.array()); err != nil {
		return nil, errors.Join(fmt.Errorf("filling %s: %w", a.Role, err), m.Close())
	}
	// FUTURE_WRITE leaves the host's own mapping writable and refuses every other way to write.
	return m, m.seal(unix.F_SEAL_FUTURE_WRITE)
}

func (Memfd) Output(a op.Array) (Array, error) {
	m, err := newMemfd(a)
	if err != nil {
		return nil, err
	}
	if err := m.Poison(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	// Without the seals against resizing a plugin could truncate the file and kill the host by SIGBUS.
	return m, m.seal(0)
}

// memfd is one array in its own anonymous file: guard, array, guard.
type memfd struct {
	info       op.Array
	id         uint64
	fd         int
	mapped     []byte
	start, end int64
}

func newMemfd(a op.Array) (*memfd, error) {
	page := int64(unix.Getpagesize())
	start := (GuardBytes + page - 1) / page * page
	end := start + a.Bytes()
	total := (end + GuardBytes + page - 1) / page * page
	fd, err := unix.MemfdCreate("scanhost-"+a.Role, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = unix.MemfdCreate("scanhost-"+a.Role, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, fmt.Errorf("creating a memfd for %s: %w", a.Role, err)
	}
	m := &memfd{info: a, id: nextID.Add(1), fd: fd, start: start, end: end}
	if err := unix.Ftruncate(fd, total); err != nil {
		return nil, errors.Join(fmt.Errorf("sizing %s to %d bytes: %w", a.Role, total, err), m.Close())
	}
	m.mapped, err = unix.Mmap(fd, 0, int(total), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mapping %s, %d bytes: %w", a.Role, total, err), m.Close())
	}
	return m, nil
}

func (m *memfd) seal(more int) error {
	_, err := unix.FcntlInt(uintptr(m.fd), unix.F_ADD_SEALS, unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL|more)
	if err != nil {
		return errors.Join(fmt.Errorf("sealing %s: %w", m.info.Role, err), m.Close())
	}
	return nil
}

func (m *memfd) array() []byte { return m.mapped[m.start:m.end] }

func (m *memfd) FD() int { return m.fd }

func (m *memfd) Message() *kernelv1.Buffer {
	return message(m.id, m.info, kernelv1.BufferKind_BUFFER_KIND_MEMFD, uint64(m.start), uint64(len(m.mapped)))
}

func (m *memfd) Poison() error {
	poison(m.mapped)
	return nil
}

// Guards relies on both guard bands starting at a multiple of 4 from their poison pattern's start: the
// lower one at the mapping, the upper one wherever the array ends, so its phase is the array's end mod 4.
func (m *memfd) Guards() (int64, bool, error) {
	if i := firstUnpoisoned(m.mapped[:m.start], 0); i >= 0 {
		return int64(i) - m.start, false, nil
	}
	phase := int(m.end % 4)
	if !m.info.Output { // inputs were poisoned band by band
		phase = 0
	}
	if i := firstUnpoisoned(m.mapped[m.end:], phase); i >= 0 {
		return m.end - m.start + int64(i), false, nil
	}
	return 0, true, nil
}

func (m *memfd) Hash() (uint64, error) { return xxhash.Sum64(m.array()), nil }

func (m *memfd) Read(dst []byte) error {
	if int64(len(dst)) != m.end-m.start {
		return fmt.Errorf("reading %s into %d bytes; it has %d", m.info.Role, len(dst), m.end-m.start)
	}
	copy(dst, m.array())
	return nil
}

func (m *memfd) Close() error {
	var err error
	if m.mapped != nil {
		err = unix.Munmap(m.mapped)
		m.mapped = nil
	}
	if m.fd >= 0 {
		err = errors.Join(err, unix.Close(m.fd))
		m.fd = -1
	}
	return err
}

// poison fills by doubling: one pass of memmove instead of a loop over words.
func poison(b []byte) {
	if len(b) == 0 {
		return
	}
	var word [4]byte
	binary.LittleEndian.PutUint32(word[:], Poison)
	for n := copy(b, word[:]); n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// firstUnpoisoned is the index of the first byte that is not the poison's, whose pattern starts at phase.
func firstUnpoisoned(b []byte, phase int) int {
	var word [4]byte
	binary.LittleEndian.PutUint32(word[:], Poison)
	for i, v := range b {
		if v != word[(i+phase)%4] {
			return i
		}
	}
	return -1
}
