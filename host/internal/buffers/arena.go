package buffers

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"scanhost/shared/contract/keeperv1"
	"scanhost/shared/contract/kernelv1"
	"scanhost/shared/op"
)

// SlotAlignment is what offsets in an arena are multiples of: what kernels may rely on (kernel.proto).
const SlotAlignment = 256

// Arena is one large piece of a GPU's memory that is divided into arrays again for every problem. A benchmark
// needs hundreds of outputs at a time; as allocations of their own, mapping them in every plugin would take
// longer than measuring.
type Arena struct {
	keeper           *Keeper
	id               uint64
	fd               int
	bytes            int64
	offset, mapBytes uint64
	writable         bool
}

// Slots are arrays of equal size at equal distances in an arena, with guard bands on both sides.
type Slots struct {
	Offset, Stride, Bytes int64 // Offset is at least GuardBytes
	Count                 int
}

// SlotsLook is what a look at slots found.
type SlotsLook struct {
	Hashes   []uint64 // by slot; equal for equal contents
	Intact   bool     // all guard bands
	BadSlot  int      // beside which the first changed guard byte is
	FirstBad int64    // that byte's offset from the slot's first
}

// Arena allocates device memory that plugins can only read, or write as well.
func (k *Keeper) Arena(role string, bytes int64, writable bool) (*Arena, error) {
	d, err := k.allocate(op.Array{Role: role, DType: op.FP16, Shape: []int64{(bytes + 1) / 2}, Output: writable})
	if err != nil {
		return nil, fmt.Errorf("%s arena of %d bytes: %w", role, bytes, err)
	}
	return &Arena{keeper: k, id: d.id, fd: d.fd, bytes: bytes, offset: d.offset, mapBytes: d.mapBytes, writable: writable}, nil
}

// ID names the arena to the keeper and to plugins; FD is what to send under it.
func (a *Arena) ID() uint64 { return a.id }

// FD stays the arena's.
func (a *Arena) FD() int { return a.fd }

// Bytes is its size.
func (a *Arena) Bytes() int64 { return a.bytes }

// Message describes an array at an offset, a multiple of SlotAlignment, to a plugin.
func (a *Arena) Message(info op.Array, offset int64) *kernelv1.Buffer {
	info.Output = a.writable
	return message(a.id, info, a.keeper.Kind, a.offset+uint64(offset), a.mapBytes)
}

func (a *Arena) part(offset int64, bytes int) deviceArray {
	return deviceArray{keeper: a.keeper, id: a.id,
		info: op.Array{Role: fmt.Sprintf("%d bytes at %d", bytes, offset), DType: op.FP16, Shape: []int64{int64(bytes+1) / 2}}}
}

// Write copies src to an offset.
func (a *Arena) Write(offset int64, src []byte) error { return a.copy(offset, src, true) }

// Read copies from an offset to dst.
func (a *Arena) Read(offset int64, dst []byte) error { return a.copy(offset, dst, false) }

// copyPiece bounds the staging file, which is not to grow to an arena's size.
const copyPiece = 256 << 20

func (a *Arena) copy(offset int64, host []byte, write bool) error {
	a.keeper.mu.Lock()
	defer a.keeper.mu.Unlock()
	for len(host) > 0 {
		piece := host[:min(len(host), copyPiece)]
		view, err := a.keeper.staging.view(int64(len(piece)))
		if err != nil {
			return err
		}
		d := a.part(offset, len(piece))
		if write {
			copy(view, piece)
			err = d.copyPart("write of "+d.info.Role, offset, len(piece), a.keeper.process.Keeper().Write)
		} else if err = d.copyPart("read of "+d.info.Role, offset, len(piece), a.keeper.process.Keeper().Read); err == nil {
			copy(piece, view)
		}
		if err != nil {
			return err
		}
		host, offset = host[len(piece):], offset+int64(len(piece))
	}
	return nil
}

func (a *Arena) request(s Slots) *keeperv1.SlotsRequest {
	return &keeperv1.SlotsRequest{Id: a.id, Offset: uint64(s.Offset), Stride: uint64(s.Stride), Bytes: uint64(s.Bytes),
		Guard: GuardBytes, Count: uint32(s.Count)}
}

// Poison fills slots and their guard bands.
func (a *Arena) Poison(ctx context.Context, s Slots) error {
	return a.keeper.call(ctx, "poisoning of slots", s.Bytes*int64(s.Count), func(ctx context.Context) error {
		_, err := a.keeper.process.Keeper().PoisonSlots(ctx, a.request(s))
		return err
	})
}

// Inspect looks at slots and their guard bands.
func (a *Arena) Inspect(ctx context.Context, s Slots) (look SlotsLook, err error) {
	err = a.keeper.call(ctx, "look at slots", s.Bytes*int64(s.Count), func(ctx context.Context) error {
		r, err := a.keeper.process.Keeper().InspectSlots(ctx, a.request(s))
		look = SlotsLook{Hashes: r.GetHashes(), Intact: r.GetGuardsIntact(), BadSlot: int(r.GetBadSlot()), FirstBad: r.GetFirstBad()}
		return err
	})
	if err == nil && len(look.Hashes) != s.Count {
		err = fmt.Errorf("the keeper hashed %d slots; %d were asked for", len(look.Hashes), s.Count)
	}
	return look, err
}

// Close gives the memory back. Plugins that map it keep it alive until they unmap it.
func (a *Arena) Close() error {
	if a.fd < 0 {
		return nil
	}
	err := unix.Close(a.fd)
	a.fd = -1
	d := a.part(0, 0)
	return errors.Join(err, d.free())
}

// StreamSet is what one launch of a stream reads and writes: offsets in two arenas.
type StreamSet struct{ Reads, Writes []int64 }

// PrepareStream gets the keeper ready to stream; it answers how many variants there are.
func (k *Keeper) PrepareStream(ctx context.Context, from, to *Arena, sets []StreamSet, bytes int64) (variants int, err error) {
	request := &keeperv1.PrepareStreamRequest{Bytes: uint64(bytes)}
	places := func(a *Arena, offsets []int64) (out []*keeperv1.Place) {
		for _, o := range offsets {
			out = append(out, &keeperv1.Place{Id: a.id, Offset: uint64(o)})
		}
		return out
	}
	for _, s := range sets {
		request.Sets = append(request.Sets, &keeperv1.StreamSet{Reads: places(from, s.Reads), Writes: places(to, s.Writes)})
	}
	err = k.call(ctx, "preparation of a stream", 0, func(ctx context.Context) error {
		r, err := k.process.Keeper().PrepareStream(ctx, request)
		variants = int(r.GetVariants())
		return err
	})
	return variants, err
}

// Stream runs a batch of the prepared stream; deviceMS is by device events.
func (k *Keeper) Stream(ctx context.Context, variant, first, launches int) (deviceMS float64, err error) {
	err = k.call(ctx, "stream", 0, func(ctx context.Context) error {
		r, err := k.process.Keeper().Stream(ctx, &keeperv1.StreamRequest{Launches: uint32(launches), FirstSet: uint32(first), Variant: uint32(variant)})
		deviceMS = r.GetDeviceMs()
		return err
	})
	return deviceMS, err
}

// Spin runs a batch of kernels that take the given nanoseconds of the device's own timer.
func (k *Keeper) Spin(ctx context.Context, nanoseconds uint64, launches int) (deviceMS float64, err error) {
	err = k.call(ctx, "spin", 0, func(ctx context.Context) error {
		r, err := k.process.Keeper().Spin(ctx, &keeperv1.SpinRequest{Launches: uint32(launches), Nanoseconds: nanoseconds})
		deviceMS = r.GetDeviceMs()
		return err
	})
	return deviceMS, err
}
