package abitest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"scanhost/shared/plugin/registry"
)

// Every array lies between two guard bands. The band's pattern is a signalling NaN that no kernel computes;
// outputs are filled with another before a launch.
const (
	guardBytes        = 4096
	guardWord  uint32 = 0x7fa5a5a5
	poison     uint32 = 0x7fb0b0b0
)

// guarded is one array in memory that Go's collector does not own, since kernels keep addresses of it.
type guarded struct {
	all  []byte
	body []byte
}

func newGuarded(t testing.TB, size int64, fill uint32) guarded {
	t.Helper()
	all, err := unix.Mmap(-1, 0, int(size)+2*guardBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatalf("mapping %d bytes: %v", size, err)
	}
	t.Cleanup(func() { unix.Munmap(all) })
	g := guarded{all, all[guardBytes : guardBytes+size : guardBytes+size]}
	setWords(all[:guardBytes], guardWord)
	setWords(g.body, fill)
	setWords(all[guardBytes+size:], guardWord)
	return g
}

// damage says whether a guard band was written.
func (g guarded) damage() error {
	for name, band := range map[string][]byte{"before": g.all[:guardBytes], "after": g.all[guardBytes+len(g.body):]} {
		want := make([]byte, len(band))
		setWords(want, guardWord)
		if !bytes.Equal(band, want) {
			return fmt.Errorf("written %s its start or end", name)
		}
	}
	return nil
}

func (g guarded) array(writable bool) registry.Array {
	return registry.Array{Pointer: unsafe.Pointer(unsafe.SliceData(g.all[guardBytes:])), Bytes: uint64(len(g.body)), Writable: writable}
}

func setWords(b []byte, word uint32) {
	for i := 0; i+4 <= len(b); i += 4 {
		binary.LittleEndian.PutUint32(b[i:], word)
	}
}

// Workspace is a kernel's scratch memory as the SDK keeps it: zeroed when it grows, and never else.
type Workspace struct{ memory guarded }

// Words are the workspace as 32-bit words, for tests that leave it in a state of their own.
func (w *Workspace) Words() []uint32 {
	if len(w.memory.body) == 0 {
		return nil
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(&w.memory.body[0])), len(w.memory.body)/4)
}

func (w *Workspace) reserve(t testing.TB, size uint64) {
	if uint64(len(w.memory.body)) < size {
		w.memory = newGuarded(t, int64(size), 0)
	}
}

func (g guarded) pointer() unsafe.Pointer {
	if len(g.body) == 0 {
		return nil
	}
	return unsafe.Pointer(&g.body[0])
}
