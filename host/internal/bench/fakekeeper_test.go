package bench

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"

	"scanhost/host/internal/buffers"
	"scanhost/shared/contract/keeperv1"
	"scanhost/shared/contract/kernelv1"
)

// fakeKeeper is a keeper in this process whose device memory is memfds, so that plugins of the simulated GPU can
// map it.
type fakeKeeper struct {
	keeperv1.KeeperClient
	t       *testing.T
	arenas  map[uint64][]byte // the arrays, between guards
	guards  map[uint64][]byte // the whole mappings
	memory  map[uint64]int
	files   map[uint64]int
	arrived []uint64
	sets    int
}

const fakeGuard = 64 << 10

func newFakeKeeper(t *testing.T) *buffers.Keeper {
	f := &fakeKeeper{t: t, arenas: map[uint64][]byte{}, guards: map[uint64][]byte{}, memory: map[uint64]int{}, files: map[uint64]int{}}
	k := buffers.NewKeeper(f)
	k.Kind = kernelv1.BufferKind_BUFFER_KIND_MEMFD
	t.Cleanup(func() {
		if len(f.arenas) != 0 {
			t.Errorf("%d arenas are left", len(f.arenas))
		}
		k.Close()
	})
	return k
}

func (f *fakeKeeper) Keeper() keeperv1.KeeperClient { return f }

func (f *fakeKeeper) SendDescriptor(id uint64, fd int) error {
	own, err := unix.Dup(fd)
	f.files[id] = own
	return err
}

func (f *fakeKeeper) ReceiveDescriptor() (uint64, int, error) {
	id := f.arrived[0]
	f.arrived = f.arrived[1:]
	return id, f.memory[id], nil
}

func (f *fakeKeeper) Call(ctx context.Context, _ string, limit time.Duration, rpc func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return rpc(ctx)
}

func (f *fakeKeeper) Info(context.Context, *keeperv1.InfoRequest, ...grpc.CallOption) (*keeperv1.InfoResponse, error) {
	return &keeperv1.InfoResponse{Name: "a CPU", Uuid: "GPU-0", L2Bytes: 80 << 10, MemoryBytes: 4 << 30, MemoryFreeBytes: 4 << 30, PeakBytesPerSecond: 1e8}, nil
}

func (f *fakeKeeper) Canary(context.Context, *keeperv1.CanaryRequest, ...grpc.CallOption) (*keeperv1.CanaryResponse, error) {
	return &keeperv1.CanaryResponse{Ok: true}, nil
}

func (f *fakeKeeper) Allocate(_ context.Context, r *keeperv1.AllocateRequest, _ ...grpc.CallOption) (*keeperv1.AllocateResponse, error) {
	total := int(r.Bytes+2*fakeGuard+4095) &^ 4095
	fd, err := unix.MemfdCreate("arena", unix.MFD_CLOEXEC)
	if err == nil {
		err = unix.Ftruncate(fd, int64(total))
	}
	if err != nil {
		return nil, err
	}
	mapped, err := unix.Mmap(fd, 0, total, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	fill(mapped)
	f.memory[r.Id], f.guards[r.Id], f.arenas[r.Id] = fd, mapped, mapped[fakeGuard:fakeGuard+r.Bytes]
	f.arrived = append(f.arrived, r.Id)
	return &keeperv1.AllocateResponse{Offset: fakeGuard, MapBytes: uint64(total)}, nil
}

func fill(b []byte) {
	for i := 0; i+4 <= len(b); i += 4 {
		binary.LittleEndian.PutUint32(b[i:], buffers.Poison)
	}
}

func (f *fakeKeeper) Free(_ context.Context, r *keeperv1.FreeRequest, _ ...grpc.CallOption) (*keeperv1.FreeResponse, error) {
	err := unix.Munmap(f.guards[r.Id])
	delete(f.arenas, r.Id)
	return &keeperv1.FreeResponse{}, err
}

func (f *fakeKeeper) Write(_ context.Context, r *keeperv1.CopyRequest, _ ...grpc.CallOption) (*keeperv1.CopyResponse, error) {
	_, err := unix.Pread(f.files[r.Memfd], f.arenas[r.Id][r.Offset:r.Offset+r.Bytes], int64(r.MemfdOffset))
	unix.Close(f.files[r.Memfd])
	return &keeperv1.CopyResponse{}, err
}

func (f *fakeKeeper) Read(_ context.Context, r *keeperv1.CopyRequest, _ ...grpc.CallOption) (*keeperv1.CopyResponse, error) {
	_, err := unix.Pwrite(f.files[r.Memfd], f.arenas[r.Id][r.Offset:r.Offset+r.Bytes], int64(r.MemfdOffset))
	unix.Close(f.files[r.Memfd])
	return &keeperv1.CopyResponse{}, err
}

func (f *fakeKeeper) PoisonSlots(_ context.Context, r *keeperv1.SlotsRequest, _ ...grpc.CallOption) (*keeperv1.PoisonResponse, error) {
	fill(f.arenas[r.Id][r.Offset-r.Guard : r.Offset+uint64(r.Count-1)*r.Stride+r.Bytes+r.Guard])
	return &keeperv1.PoisonResponse{}, nil
}

func (f *fakeKeeper) InspectSlots(_ context.Context, r *keeperv1.SlotsRequest, _ ...grpc.CallOption) (*keeperv1.InspectSlotsResponse, error) {
	a := &keeperv1.InspectSlotsResponse{GuardsIntact: true}
	for slot := range uint64(r.Count) {
		at := r.Offset + slot*r.Stride
		a.Hashes = append(a.Hashes, xxhash.Sum64(f.arenas[r.Id][at:at+r.Bytes]))
		for _, band := range [][]byte{f.arenas[r.Id][at-r.Guard : at], f.arenas[r.Id][at+r.Bytes : at+r.Bytes+r.Guard]} {
			for i := 0; i+4 <= len(band); i += 4 {
				if a.GuardsIntact && binary.LittleEndian.Uint32(band[i:]) != buffers.Poison {
					a.GuardsIntact, a.BadSlot, a.FirstBad = false, uint32(slot), int64(i)
				}
			}
		}
	}
	return a, nil
}

func (f *fakeKeeper) PrepareStream(_ context.Context, r *keeperv1.PrepareStreamRequest, _ ...grpc.CallOption) (*keeperv1.PrepareStreamResponse, error) {
	f.sets = len(r.Sets)
	return &keeperv1.PrepareStreamResponse{Variants: 2}, nil
}

// Stream takes 50 us a launch, 60 in any but the plain variant.
func (f *fakeKeeper) Stream(_ context.Context, r *keeperv1.StreamRequest, _ ...grpc.CallOption) (*keeperv1.BatchResponse, error) {
	each := 50 * time.Microsecond
	if r.Variant > 0 {
		each = 60 * time.Microsecond
	}
	began := time.Now()
	for time.Since(began) < time.Duration(r.Launches)*each {
	}
	return &keeperv1.BatchResponse{DeviceMs: float64(r.Launches) * each.Seconds() * 1e3}, nil
}

func (f *fakeKeeper) Spin(_ context.Context, r *keeperv1.SpinRequest, _ ...grpc.CallOption) (*keeperv1.BatchResponse, error) {
	took := time.Duration(r.Launches) * time.Duration(r.Nanoseconds)
	for began := time.Now(); time.Since(began) < took; {
	}
	return &keeperv1.BatchResponse{DeviceMs: took.Seconds() * 1e3}, nil
}
