package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"scanhost/shared/contract"
	"scanhost/shared/contract/keeperv1"
)

// fakeDevice keeps arrays in host memory, under the index that stands for their address.
type fakeDevice struct {
	arrays map[uint64][]byte
	broken error
}

func (d *fakeDevice) info() (*keeperv1.InfoResponse, error) {
	return &keeperv1.InfoResponse{}, d.broken
}

func (d *fakeDevice) allocate(bytes, guard uint64, pattern uint32) (buffer, int, error) {
	if d.broken != nil {
		return buffer{}, -1, d.broken
	}
	fd, err := unix.MemfdCreate("device", unix.MFD_CLOEXEC)
	at := uint64(len(d.arrays) + 1)
	d.arrays[at] = make([]byte, bytes)
	return buffer{address: at, mapBytes: bytes + 2*guard, offset: guard, bytes: bytes, pattern: pattern}, fd, err
}

func (d *fakeDevice) free(b buffer) error {
	delete(d.arrays, b.address)
	return d.broken
}

func (d *fakeDevice) write(b buffer, p part) error {
	_, err := unix.Pread(p.fd, d.arrays[b.address][p.offset:p.offset+p.bytes], int64(p.fdOffset))
	return err
}

func (d *fakeDevice) read(b buffer, p part) error {
	_, err := unix.Pwrite(p.fd, d.arrays[b.address][p.offset:p.offset+p.bytes], int64(p.fdOffset))
	return err
}

func (d *fakeDevice) poison(b *buffer, pattern uint32) error {
	b.pattern = pattern
	return d.broken
}

func (d *fakeDevice) inspect(b buffer) (inspection, error) {
	return inspection{intact: b.pattern == firstPattern, firstBad: -4, hash: b.bytes}, d.broken
}

func (d *fakeDevice) canary() error { return d.broken }

func (d *fakeDevice) poisonSlots(slots) error { return d.broken }

func (d *fakeDevice) inspectSlots(s slots) (slotsInspection, error) {
	return slotsInspection{hashes: []uint64{s.address, uint64(s.pattern)}, intact: true}, d.broken
}

func (d *fakeDevice) stream(s stream, _ *keeperv1.StreamRequest) (float64, error) {
	return float64(len(s.sets)), d.broken
}

func (d *fakeDevice) spin(*keeperv1.SpinRequest) (float64, error) { return 1, d.broken }

func newTestServer() (*server, *fakeDevice) {
	d := &fakeDevice{arrays: map[uint64][]byte{}}
	return newServer(d, newFiles(), func(uint64, int) error { return nil }), d
}

func file(t *testing.T, content string) int {
	t.Helper()
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	if err == nil {
		_, err = unix.Write(fd, []byte(content))
	}
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

func TestCopiesGoThroughTheFileThatTheCallNames(t *testing.T) {
	s, d := newTestServer()
	ctx := context.Background()
	if _, err := s.Allocate(ctx, &keeperv1.AllocateRequest{Id: 7, Bytes: 8}); err != nil {
		t.Fatal(err)
	}
	// The call may come before its descriptor.
	time.AfterFunc(20*time.Millisecond, func() { s.files.put(1, file(t, "..abcd")) })
	if _, err := s.Write(ctx, &keeperv1.CopyRequest{Id: 7, Memfd: 1, Offset: 3, Bytes: 4, MemfdOffset: 2}); err != nil {
		t.Fatal(err)
	}
	if got := string(d.arrays[1]); got != "\x00\x00\x00abcd\x00" {
		t.Errorf("array is %q", got)
	}
	out := file(t, "")
	again, _ := unix.Dup(out)
	s.files.put(2, again)
	if _, err := s.Read(ctx, &keeperv1.CopyRequest{Id: 7, Memfd: 2, Offset: 3, Bytes: 4, MemfdOffset: 1}); err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(out), "out")
	defer f.Close()
	got := make([]byte, 5)
	if _, err := f.ReadAt(got, 0); err != nil || string(got) != "\x00abcd" {
		t.Errorf("file is %q (%v)", got, err)
	}
	if len(s.files.fds) != 0 {
		t.Errorf("%d descriptors are left", len(s.files.fds))
	}
}

func TestRequestsThatDoNotFitAreRefused(t *testing.T) {
	s, _ := newTestServer()
	ctx := context.Background()
	allocate := func(id, bytes uint64) error {
		_, err := s.Allocate(ctx, &keeperv1.AllocateRequest{Id: id, Bytes: bytes})
		return err
	}
	copyOf := func(id, offset, bytes uint64) error {
		s.files.put(9, file(t, ""))
		_, err := s.Read(ctx, &keeperv1.CopyRequest{Id: id, Memfd: 9, Offset: offset, Bytes: bytes})
		return err
	}
	if err := allocate(1, 16); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		err  error
		want codes.Code
	}{
		"id in use":            {allocate(1, 16), codes.AlreadyExists},
		"more than any GPU":    {allocate(2, 1<<63), codes.ResourceExhausted},
		"unknown buffer":       {copyOf(3, 0, 1), codes.NotFound},
		"past the end":         {copyOf(1, 8, 9), codes.OutOfRange},
		"a sum that overflows": {copyOf(1, 8, ^uint64(0)-4), codes.OutOfRange},
	} {
		if status.Code(c.err) != c.want {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
}

func TestOutOfMemoryIsTold(t *testing.T) {
	s, d := newTestServer()
	d.broken = errors.Join(errOutOfMemory)
	_, err := s.Allocate(context.Background(), &keeperv1.AllocateRequest{Id: 1, Bytes: 1})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("error is %v", err)
	}
}

func TestPoisonIsWhatGuardsAreComparedWith(t *testing.T) {
	s, _ := newTestServer()
	ctx := context.Background()
	if _, err := s.Allocate(ctx, &keeperv1.AllocateRequest{Id: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Poison(ctx, &keeperv1.PoisonRequest{Id: 1, Pattern: 5}); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Inspect(ctx, &keeperv1.InspectRequest{Id: 1}); err != nil || r.GuardsIntact {
		t.Errorf("the new pattern did not reach the device: %v, %v", r, err)
	}
}

func TestBrokenDeviceAnswersTheCanary(t *testing.T) {
	s, d := newTestServer()
	d.broken = errors.New("cudaErrorIllegalAddress")
	r, err := s.Canary(context.Background(), &keeperv1.CanaryRequest{})
	if err != nil || r.Ok || !strings.Contains(r.Text, "IllegalAddress") {
		t.Errorf("canary says %v, %v", r, err)
	}
}

func TestHostThatEndsIsNoticed(t *testing.T) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ends[1])
	gone := make(chan struct{})
	f := newFiles()
	go f.receive(ends[1], func() { close(gone) })
	sent := file(t, "")
	if err := contract.SendDescriptor(ends[0], 3, sent); err != nil {
		t.Fatal(err)
	}
	fd, err := f.take(context.Background(), 3)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
	unix.Close(sent)
	unix.Close(ends[0])
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		t.Error("the end of the host was not noticed")
	}
}
