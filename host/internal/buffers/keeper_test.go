package buffers

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"scanhost/shared/contract/keeperv1"
	"scanhost/shared/op"
)

// fakeKeeper keeps arrays in host memory and checks what the real one relies on: a descriptor sent before the
// call that names it, and used once.
type fakeKeeper struct {
	keeperv1.KeeperClient
	arrays   map[uint64][]byte
	files    map[uint64]int
	outgoing []uint64
	sick     bool
}

func (f *fakeKeeper) Keeper() keeperv1.KeeperClient { return f }

func (f *fakeKeeper) SendDescriptor(id uint64, fd int) error {
	own, err := unix.Dup(fd)
	f.files[id] = own
	return err
}

func (f *fakeKeeper) ReceiveDescriptor() (uint64, int, error) {
	id := f.outgoing[0]
	f.outgoing = f.outgoing[1:]
	fd, err := unix.MemfdCreate("device", unix.MFD_CLOEXEC)
	return id, fd, err
}

func (f *fakeKeeper) Call(ctx context.Context, _ string, limit time.Duration, rpc func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return rpc(ctx)
}

func (f *fakeKeeper) Allocate(_ context.Context, r *keeperv1.AllocateRequest, _ ...grpc.CallOption) (*keeperv1.AllocateResponse, error) {
	if r.Bytes > 1<<20 {
		return nil, status.Error(codes.ResourceExhausted, "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY")
	}
	f.arrays[r.Id] = make([]byte, r.Bytes)
	f.outgoing = append(f.outgoing, r.Id)
	return &keeperv1.AllocateResponse{Offset: 65536, MapBytes: 2 << 20}, nil
}

func (f *fakeKeeper) take(r *keeperv1.CopyRequest) (int, []byte, error) {
	fd, ok := f.files[r.Memfd]
	if !ok {
		return -1, nil, status.Error(codes.FailedPrecondition, "no such descriptor")
	}
	delete(f.files, r.Memfd)
	return fd, f.arrays[r.Id][r.Offset : r.Offset+r.Bytes], nil
}

func (f *fakeKeeper) Write(_ context.Context, r *keeperv1.CopyRequest, _ ...grpc.CallOption) (*keeperv1.CopyResponse, error) {
	fd, array, err := f.take(r)
	if err == nil {
		_, err = unix.Pread(fd, array, int64(r.MemfdOffset))
		unix.Close(fd)
	}
	return &keeperv1.CopyResponse{}, err
}

func (f *fakeKeeper) Read(_ context.Context, r *keeperv1.CopyRequest, _ ...grpc.CallOption) (*keeperv1.CopyResponse, error) {
	fd, array, err := f.take(r)
	if err == nil {
		_, err = unix.Pwrite(fd, array, int64(r.MemfdOffset))
		unix.Close(fd)
	}
	return &keeperv1.CopyResponse{}, err
}

func (f *fakeKeeper) Poison(_ context.Context, r *keeperv1.PoisonRequest, _ ...grpc.CallOption) (*keeperv1.PoisonResponse, error) {
	poison(f.arrays[r.Id])
	return &keeperv1.PoisonResponse{}, nil
}

func (f *fakeKeeper) Free(_ context.Context, r *keeperv1.FreeRequest, _ ...grpc.CallOption) (*keeperv1.FreeResponse, error) {
	delete(f.arrays, r.Id)
	return &keeperv1.FreeResponse{}, nil
}

func (f *fakeKeeper) Canary(context.Context, *keeperv1.CanaryRequest, ...grpc.CallOption) (*keeperv1.CanaryResponse, error) {
	return &keeperv1.CanaryResponse{Ok: !f.sick, Text: "wrong sum"}, nil
}

func newFake() (*fakeKeeper, *Keeper) {
	f := &fakeKeeper{arrays: map[uint64][]byte{}, files: map[uint64]int{}}
	return f, NewKeeper(f)
}

func TestKeeperArraysHoldWhatWasFilled(t *testing.T) {
	f, k := newFake()
	defer k.Close()
	// The second is shorter and fills only half, so what the first left in the staging file would show.
	long := bytes.Repeat([]byte("position"), 500)
	first := must[Array](t)(k.Input(array("a", false, 1000), func(dst []byte) error {
		copy(dst, long)
		return nil
	}))
	second := must[Array](t)(k.Input(array("b", false, 100), func(dst []byte) error {
		copy(dst, "half")
		return nil
	}))
	output := must[Array](t)(k.Output(array("h", true, 3)))
	for _, c := range []struct {
		a    Array
		want []byte
	}{
		{first, long},
		{second, append([]byte("half"), make([]byte, 396)...)},
		{output, bytes.Repeat([]byte{0xA5, 0xFF}, 6)},
	} {
		got := make([]byte, len(c.want))
		if err := c.a.Read(got); err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%s: read %x... (%v), want %x...", c.a.Message().Role, got[:4], err, c.want[:4])
		}
		if err := c.a.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(f.arrays) != 0 || len(f.files) != 0 {
		t.Errorf("%d arrays and %d files are left", len(f.arrays), len(f.files))
	}
}

func TestKeeperTakesEmptyArrays(t *testing.T) {
	_, k := newFake()
	defer k.Close()
	a := must[Array](t)(k.Input(array("a", false, 0), func([]byte) error { return nil }))
	if err := errors.Join(a.Read(nil), a.Close()); err != nil {
		t.Error(err)
	}
}

func TestKeeperTellsWhenTheGPUIsFull(t *testing.T) {
	_, k := newFake()
	defer k.Close()
	_, err := k.Output(op.Array{Role: "h", DType: op.FP32, Shape: []int64{1 << 20}, Output: true})
	if !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("error is %v, want ErrOutOfMemory", err)
	}
}

func TestKeeperCanaryThatFailsIsAnError(t *testing.T) {
	f, k := newFake()
	if err := k.Canary(context.Background()); err != nil {
		t.Error(err)
	}
	f.sick = true
	if err := k.Canary(context.Background()); err == nil {
		t.Error("a canary that fails is no error")
	}
}
