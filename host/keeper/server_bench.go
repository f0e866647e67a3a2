package main

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"scanhost/shared/contract/keeperv1"
)

// Limits of keeper.h, and of a spin.
const (
	streamReads    = 4
	streamWrites   = 3
	streamVariants = 5
	slotAlignment  = 16
	longestSpin    = 10_000_000 // ns
)

// slots are equal arrays in a buffer, as keeper.h's keeper_slots.
type slots struct {
	address, stride, bytes, guard uint64
	count, pattern                uint32
}

type slotsInspection struct {
	hashes   []uint64
	intact   bool
	badSlot  uint32
	firstBad int64
}

// stream is what Stream runs: addresses by set, reads first.
type stream struct {
	sets          []streamSet
	reads, writes int
	bytes         uint64
}

type streamSet struct {
	reads  [streamReads]uint64
	writes [streamWrites]uint64
}

// slots finds what the request means and refuses what does not lie in its buffer.
func (s *server) slots(r *keeperv1.SlotsRequest) (slots, error) {
	b, err := s.find(r.Id)
	if err != nil {
		return slots{}, err
	}
	if r.Count == 0 || (r.Offset|r.Stride|r.Guard)%slotAlignment != 0 || r.Guard == 0 {
		return slots{}, status.Errorf(codes.InvalidArgument,
			"slots: count %d, offset %d, stride %d, guard %d; a count and a guard above 0 and multiples of %d are accepted",
			r.Count, r.Offset, r.Stride, r.Guard, slotAlignment)
	}
	for _, n := range []uint64{r.Offset, r.Stride, r.Bytes, r.Guard} {
		if n > b.bytes {
			return slots{}, status.Errorf(codes.OutOfRange, "slots: %d is over buffer %d's %d bytes", n, r.Id, b.bytes)
		}
	}
	end := r.Offset + uint64(r.Count-1)*r.Stride + r.Bytes + r.Guard + slotAlignment // sizes are below 2^44 and counts below 2^32
	if r.Offset < r.Guard || uint64(r.Count) > b.bytes/max(r.Stride, 1)+1 || end > b.bytes {
		return slots{}, status.Errorf(codes.OutOfRange, "slots: %d of %d bytes every %d from %d, with guards of %d, are outside buffer %d's %d bytes",
			r.Count, r.Bytes, r.Stride, r.Offset, r.Guard, r.Id, b.bytes)
	}
	return slots{address: b.address + b.offset + r.Offset, stride: r.Stride, bytes: r.Bytes, guard: r.Guard, count: r.Count, pattern: b.pattern}, nil
}

func (s *server) PoisonSlots(_ context.Context, r *keeperv1.SlotsRequest) (*keeperv1.PoisonResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.slots(r)
	if err != nil {
		return nil, err
	}
	if err := s.device.poisonSlots(found); err != nil {
		return nil, wire(fmt.Errorf("poisoning %d slots of buffer %d: %w", r.Count, r.Id, err))
	}
	return &keeperv1.PoisonResponse{}, nil
}

func (s *server) InspectSlots(_ context.Context, r *keeperv1.SlotsRequest) (*keeperv1.InspectSlotsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.slots(r)
	if err != nil {
		return nil, err
	}
	got, err := s.device.inspectSlots(found)
	if err != nil {
		return nil, wire(fmt.Errorf("inspecting %d slots of buffer %d: %w", r.Count, r.Id, err))
	}
	return &keeperv1.InspectSlotsResponse{Hashes: got.hashes, GuardsIntact: got.intact, BadSlot: got.badSlot, FirstBad: got.firstBad}, nil
}

// place is the address of bytes at a place.
func (s *server) place(p *keeperv1.Place, bytes uint64) (uint64, error) {
	b, err := s.find(p.Id)
	if err != nil {
		return 0, err
	}
	if p.Offset%slotAlignment != 0 || p.Offset > b.bytes || bytes > b.bytes-p.Offset {
		return 0, status.Errorf(codes.OutOfRange, "stream: %d bytes at %d of buffer %d, which has %d; offsets are multiples of %d",
			bytes, p.Offset, p.Id, b.bytes, slotAlignment)
	}
	return b.address + b.offset + p.Offset, nil
}

func (s *server) PrepareStream(_ context.Context, r *keeperv1.PrepareStreamRequest) (*keeperv1.PrepareStreamResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(r.Sets) == 0 || r.Bytes < slotAlignment {
		return nil, status.Errorf(codes.InvalidArgument, "stream: %d sets of %d bytes; a set and %d bytes are the least", len(r.Sets), r.Bytes, slotAlignment)
	}
	made := stream{reads: len(r.Sets[0].Reads), writes: len(r.Sets[0].Writes), bytes: r.Bytes}
	if made.reads < 1 || made.reads > streamReads || made.writes < 1 || made.writes > streamWrites {
		return nil, status.Errorf(codes.InvalidArgument, "stream: %d arrays read and %d written; 1 to %d and 1 to %d are accepted",
			made.reads, made.writes, streamReads, streamWrites)
	}
	for i, set := range r.Sets {
		if len(set.Reads) != made.reads || len(set.Writes) != made.writes {
			return nil, status.Errorf(codes.InvalidArgument, "stream: set %d has other numbers of arrays than set 0", i)
		}
		var addresses streamSet
		for k, p := range set.Reads {
			var err error
			if addresses.reads[k], err = s.place(p, r.Bytes); err != nil {
				return nil, err
			}
		}
		for k, p := range set.Writes {
			var err error
			if addresses.writes[k], err = s.place(p, r.Bytes); err != nil {
				return nil, err
			}
		}
		made.sets = append(made.sets, addresses)
	}
	s.stream = made
	return &keeperv1.PrepareStreamResponse{Variants: streamVariants}, nil
}

func (s *server) Stream(_ context.Context, r *keeperv1.StreamRequest) (*keeperv1.BatchResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.stream.sets) == 0 || r.Launches == 0 || r.Variant >= streamVariants {
		return nil, status.Errorf(codes.FailedPrecondition, "stream: %d sets prepared, %d launches of variant %d; a set, a launch and a variant below %d are needed",
			len(s.stream.sets), r.Launches, r.Variant, streamVariants)
	}
	ms, err := s.device.stream(s.stream, r)
	if err != nil {
		return nil, wire(fmt.Errorf("streaming: %w", err))
	}
	return &keeperv1.BatchResponse{DeviceMs: ms}, nil
}

func (s *server) Spin(_ context.Context, r *keeperv1.SpinRequest) (*keeperv1.BatchResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Launches == 0 || r.Nanoseconds > longestSpin {
		return nil, status.Errorf(codes.InvalidArgument, "spin: %d launches of %d ns; at least 1 and at most %d ns are accepted",
			r.Launches, r.Nanoseconds, longestSpin)
	}
	ms, err := s.device.spin(r)
	if err != nil {
		return nil, wire(fmt.Errorf("spinning: %w", err))
	}
	return &keeperv1.BatchResponse{DeviceMs: ms}, nil
}
