package main

import (
	"context"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"scanhost/shared/contract/keeperv1"
)

const arenaBytes = 1 << 20

// arena is a server with one buffer, number 7, and the address of its array.
func arena(t *testing.T) (*server, uint64) {
	t.Helper()
	s, _ := newTestServer()
	if _, err := s.Allocate(context.Background(), &keeperv1.AllocateRequest{Id: 7, Bytes: arenaBytes}); err != nil {
		t.Fatal(err)
	}
	b := s.buffers[7]
	return s, b.address + b.offset
}

func TestSlotsReachTheDeviceAsAddresses(t *testing.T) {
	s, array := arena(t)
	r, err := s.InspectSlots(context.Background(), &keeperv1.SlotsRequest{Id: 7, Offset: 256, Stride: 1024, Bytes: 700, Guard: 256, Count: 9})
	if err != nil {
		t.Fatal(err)
	}
	// The fake device answers with the address of slot 0 and the pattern.
	if !r.GuardsIntact || r.Hashes[0] != array+256 || r.Hashes[1] != firstPattern {
		t.Errorf("device was asked for %x, pattern %x", r.Hashes[0], r.Hashes[1])
	}
}

func TestSlotsOutsideTheirBufferAreRefused(t *testing.T) {
	s, _ := arena(t)
	whole := keeperv1.SlotsRequest{Id: 7, Offset: 256, Stride: 1024, Bytes: 700, Guard: 256, Count: 9}
	for name, c := range map[string]struct {
		change func(r *keeperv1.SlotsRequest)
		want   codes.Code
	}{
		"as it should be":        {func(*keeperv1.SlotsRequest) {}, codes.OK},
		"unknown buffer":         {func(r *keeperv1.SlotsRequest) { r.Id = 8 }, codes.NotFound},
		"no slot":                {func(r *keeperv1.SlotsRequest) { r.Count = 0 }, codes.InvalidArgument},
		"no guard":               {func(r *keeperv1.SlotsRequest) { r.Guard = 0 }, codes.InvalidArgument},
		"odd offset":             {func(r *keeperv1.SlotsRequest) { r.Offset = 260 }, codes.InvalidArgument},
		"guard before the array": {func(r *keeperv1.SlotsRequest) { r.Offset = 128 }, codes.OutOfRange},
		"too many":               {func(r *keeperv1.SlotsRequest) { r.Count = 1024 }, codes.OutOfRange},
		"a product that wraps":   {func(r *keeperv1.SlotsRequest) { r.Stride, r.Count = 1<<20, 1<<31 }, codes.OutOfRange},
		"a slot that wraps":      {func(r *keeperv1.SlotsRequest) { r.Bytes = 1<<64 - 1 }, codes.OutOfRange},
	} {
		r := keeperv1.SlotsRequest{Id: whole.Id, Offset: whole.Offset, Stride: whole.Stride, Bytes: whole.Bytes, Guard: whole.Guard, Count: whole.Count}
		c.change(&r)
		_, poison := s.PoisonSlots(context.Background(), &r)
		_, inspect := s.InspectSlots(context.Background(), &r)
		if status.Code(poison) != c.want || status.Code(inspect) != c.want {
			t.Errorf("%s: %v and %v, want %v", name, poison, inspect, c.want)
		}
	}
}

func place(offset uint64) []*keeperv1.Place { return []*keeperv1.Place{{Id: 7, Offset: offset}} }

func TestStreamsThatDoNotFitAreRefused(t *testing.T) {
	s, array := arena(t)
	ctx := context.Background()
	if _, err := s.Stream(ctx, &keeperv1.StreamRequest{Launches: 1}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("a stream that nobody prepared: %v", err)
	}
	prepare := func(bytes uint64, sets ...*keeperv1.StreamSet) codes.Code {
		_, err := s.PrepareStream(ctx, &keeperv1.PrepareStreamRequest{Sets: sets, Bytes: bytes})
		return status.Code(err)
	}
	one := &keeperv1.StreamSet{Reads: place(0), Writes: place(4096)}
	for name, c := range map[string]struct{ got, want codes.Code }{
		"no set":          {prepare(64), codes.InvalidArgument},
		"no bytes":        {prepare(0, one), codes.InvalidArgument},
		"nothing written": {prepare(64, &keeperv1.StreamSet{Reads: place(0)}), codes.InvalidArgument},
		"five reads":      {prepare(64, &keeperv1.StreamSet{Reads: append(place(0), append(append(place(0), place(0)...), append(place(0), place(0)...)...)...), Writes: place(0)}), codes.InvalidArgument},
		"odd offset":      {prepare(64, &keeperv1.StreamSet{Reads: place(8), Writes: place(0)}), codes.OutOfRange},
		"past the end":    {prepare(arenaBytes, one), codes.OutOfRange},
		"uneven sets":     {prepare(64, one, &keeperv1.StreamSet{Reads: place(0), Writes: append(place(0), place(64)...)}), codes.InvalidArgument},
		"as it should be": {prepare(64, one, one), codes.OK},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	prepare(64, one, one)
	if got := s.stream.sets[1]; got.reads[0] != array || got.writes[0] != array+4096 {
		t.Errorf("addresses are %x and %x", got.reads[0], got.writes[0])
	}
	if r, err := s.Stream(ctx, &keeperv1.StreamRequest{Launches: 3}); err != nil || r.DeviceMs != 2 {
		t.Errorf("stream of two sets: %v, %v", r, err)
	}
	if _, err := s.Stream(ctx, &keeperv1.StreamRequest{Launches: 3, Variant: streamVariants}); err == nil {
		t.Error("a variant that is not there ran")
	}
	if _, err := s.Spin(ctx, &keeperv1.SpinRequest{Launches: 1, Nanoseconds: longestSpin + 1}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a spin of more than 10 ms: %v", err)
	}
}
