package buffers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"scanhost/shared/contract/keeperv1"
	"scanhost/shared/contract/kernelv1"
	"scanhost/shared/op"
)

// ErrOutOfMemory is what an array that does not fit on the GPU fails with. The keeper goes on.
var ErrOutOfMemory = errors.New("the GPU has not enough free memory")

// KeeperProcess is a running keeper: a *launch.Process.
type KeeperProcess interface {
	Keeper() keeperv1.KeeperClient
	SendDescriptor(id uint64, fd int) error
	ReceiveDescriptor() (id uint64, fd int, err error)
	Call(ctx context.Context, phase string, limit time.Duration, rpc func(context.Context) error) error
}

const (
	keeperAnswers = 30 * time.Second // of any call, beside what its bytes need
	slowestCopy   = 100 << 20        // bytes per second, far below what any machine does
)

// Keeper is the space of a GPU's memory. The host sees it only through the keeper process: contents go through
// a file that both map, one array at a time.
type Keeper struct {
	// Kind says how plugins map its memory. It is the GPU's, but for a test's keeper, which has memfds.
	Kind    kernelv1.BufferKind
	process KeeperProcess

	mu      sync.Mutex // guards the staging file, and the order of descriptors on the socket
	staging staging
}

// NewKeeper makes the space of a running keeper, whose end is the caller's, after Close.
func NewKeeper(p KeeperProcess) *Keeper {
	return &Keeper{Kind: kernelv1.BufferKind_BUFFER_KIND_CUDA_VMM, process: p, staging: staging{fd: -1}}
}

// Close gives back the host's memory; the arrays' is freed array by array.
func (k *Keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.staging.close()
}

func (k *Keeper) call(ctx context.Context, phase string, bytes int64, rpc func(context.Context) error) error {
	limit := keeperAnswers + time.Duration(float64(bytes)/slowestCopy*float64(time.Second))
	err := k.process.Call(ctx, "the keeper's "+phase, limit, rpc)
	var refused interface{ GRPCStatus() *status.Status }
	if errors.As(err, &refused) && refused.GRPCStatus().Code() == codes.ResourceExhausted {
		return fmt.Errorf("%w: %s", ErrOutOfMemory, refused.GRPCStatus().Message())
	}
	return err
}

// Info asks for the facts of the GPU.
func (k *Keeper) Info(ctx context.Context) (info *keeperv1.InfoResponse, err error) {
	err = k.call(ctx, "info", 0, func(ctx context.Context) error {
		info, err = k.process.Keeper().Info(ctx, &keeperv1.InfoRequest{})
		return err
	})
	return info, err
}

// Canary makes sure that the GPU still computes, as it must after a process on it was killed.
func (k *Keeper) Canary(ctx context.Context) error {
	var answer *keeperv1.CanaryResponse
	err := k.call(ctx, "canary", 0, func(ctx context.Context) (err error) {
		answer, err = k.process.Keeper().Canary(ctx, &keeperv1.CanaryRequest{})
		return err
	})
	if err == nil && !answer.Ok {
		err = fmt.Errorf("the GPU fails the canary: %s", answer.Text)
	}
	return err
}

func (k *Keeper) Input(a op.Array, fill func([]byte) error) (Array, error) {
	d, err := k.allocate(a)
	if err != nil {
		return nil, err
	}
	if err := d.write(fill); err != nil {
		return nil, errors.Join(fmt.Errorf("filling %s: %w", a.Role, err), d.Close())
	}
	return d, nil
}

func (k *Keeper) Output(a op.Array) (Array, error) {
	d, err := k.allocate(a)
	if err != nil {
		return nil, err
	}
	if err := d.Poison(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (k *Keeper) allocate(a op.Array) (*deviceArray, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	d := &deviceArray{keeper: k, info: a, id: nextID.Add(1), fd: -1}
	err := k.call(context.Background(), "allocation of "+a.Role, a.Bytes(), func(ctx context.Context) error {
		r, err := k.process.Keeper().Allocate(ctx, &keeperv1.AllocateRequest{Id: d.id, Bytes: uint64(a.Bytes())})
		if err == nil {
			d.offset, d.mapBytes = r.Offset, r.MapBytes
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	id, fd, err := k.process.ReceiveDescriptor()
	if err == nil && id != d.id {
		err = errors.Join(fmt.Errorf("the keeper sent descriptor %d; %d is the one of %s", id, d.id, a.Role), unix.Close(fd))
	}
	if err != nil {
		return nil, errors.Join(err, d.free())
	}
	d.fd = fd
	return d, nil
}

// deviceArray is one array in the keeper's memory.
type deviceArray struct {
	keeper           *Keeper
	info             op.Array
	id               uint64
	fd               int // of the memory, for plugins; the host cannot map it
	offset, mapBytes uint64
}

func (d *deviceArray) FD() int { return d.fd }

func (d *deviceArray) Message() *kernelv1.Buffer {
	return message(d.id, d.info, d.keeper.Kind, d.offset, d.mapBytes)
}

func (d *deviceArray) Poison() error {
	k := d.keeper
	return k.call(context.Background(), "poisoning of "+d.info.Role, d.info.Bytes(), func(ctx context.Context) error {
		_, err := k.process.Keeper().Poison(ctx, &keeperv1.PoisonRequest{Id: d.id, Pattern: Poison})
		return err
	})
}

func (d *deviceArray) inspect() (answer *keeperv1.InspectResponse, err error) {
	k := d.keeper
	err = k.call(context.Background(), "look at "+d.info.Role, d.info.Bytes(), func(ctx context.Context) error {
		answer, err = k.process.Keeper().Inspect(ctx, &keeperv1.InspectRequest{Id: d.id})
		return err
	})
	return answer, err
}

func (d *deviceArray) Guards() (int64, bool, error) {
	r, err := d.inspect()
	return r.GetFirstBad(), r.GetGuardsIntact(), err
}

func (d *deviceArray) Hash() (uint64, error) {
	r, err := d.inspect()
	return r.GetHash(), err
}

func (d *deviceArray) write(fill func([]byte) error) error {
	k := d.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	view, err := k.staging.view(d.info.Bytes())
	if err != nil {
		return err
	}
	clear(view) // of the array before, which fill need not overwrite
	if err := fill(view); err != nil || len(view) == 0 {
		return err
	}
	return d.copy("write of "+d.info.Role, k.process.Keeper().Write)
}

func (d *deviceArray) Read(dst []byte) error {
	if int64(len(dst)) != d.info.Bytes() {
		return fmt.Errorf("reading %s into %d bytes; it has %d", d.info.Role, len(dst), d.info.Bytes())
	}
	if len(dst) == 0 {
		return nil
	}
	k := d.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	view, err := k.staging.view(d.info.Bytes())
	if err != nil {
		return err
	}
	if err := d.copy("read of "+d.info.Role, k.process.Keeper().Read); err != nil {
		return err
	}
	copy(dst, view)
	return nil
}

// copy sends the staging file for one call, which is how the keeper takes it.
func (d *deviceArray) copy(phase string, rpc copyCall) error {
	return d.copyPart(phase, 0, int(d.info.Bytes()), rpc)
}

func (d *deviceArray) copyPart(phase string, offset int64, bytes int, rpc copyCall) error {
	k := d.keeper
	file := nextID.Add(1)
	if err := k.process.SendDescriptor(file, k.staging.fd); err != nil {
		return err
	}
	return k.call(context.Background(), phase, d.info.Bytes(), func(ctx context.Context) error {
		_, err := rpc(ctx, &keeperv1.CopyRequest{Id: d.id, Memfd: file, Offset: uint64(offset), Bytes: uint64(bytes)})
		return err
	})
}

func (d *deviceArray) free() error {
	k := d.keeper
	return k.call(context.Background(), "freeing of "+d.info.Role, 0, func(ctx context.Context) error {
		_, err := k.process.Keeper().Free(ctx, &keeperv1.FreeRequest{Id: d.id})
		return err
	})
}

func (d *deviceArray) Close() error {
	if d.fd < 0 {
		return nil
	}
	err := unix.Close(d.fd)
	d.fd = -1
	return errors.Join(err, d.free())
}
