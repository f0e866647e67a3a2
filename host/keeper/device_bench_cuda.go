//go:build cuda

package main

// #include <stdlib.h>
// #include "keeper.h"
import "C"

import (
	"unsafe"

	"scanhost/shared/contract/keeperv1"
)

// The arrays below have keeper.h's sizes.
var (
	_ [streamReads]struct{}    = [C.KEEPER_STREAM_READS]struct{}{}
	_ [streamWrites]struct{}   = [C.KEEPER_STREAM_WRITES]struct{}{}
	_ [streamVariants]struct{} = [C.KEEPER_STREAM_VARIANTS]struct{}{}
)

func (s slots) c() C.keeper_slots {
	return C.keeper_slots{address: C.uint64_t(s.address), stride: C.uint64_t(s.stride), bytes: C.uint64_t(s.bytes),
		guard: C.uint64_t(s.guard), count: C.uint32_t(s.count), pattern: C.uint32_t(s.pattern)}
}

func (gpu) poisonSlots(s slots) error {
	var text [C.KEEPER_TEXT]C.char
	c := s.c()
	return worded(C.keeper_poison_slots(&c, &text[0]), &text)
}

func (gpu) inspectSlots(s slots) (slotsInspection, error) {
	var text [C.KEEPER_TEXT]C.char
	var guards C.keeper_guards
	c := s.c()
	got := slotsInspection{hashes: make([]uint64, s.count)}
	err := worded(C.keeper_inspect_slots(&c, (*C.uint64_t)(unsafe.Pointer(&got.hashes[0])), &guards, &text[0]), &text)
	got.intact, got.badSlot, got.firstBad = guards.guards_intact != 0, uint32(guards.bad_slot), int64(guards.first_bad)
	return got, err
}

// stream copies the sets for the call: some thousand at most.
func (gpu) stream(s stream, r *keeperv1.StreamRequest) (float64, error) {
	var text [C.KEEPER_TEXT]C.char
	var ms C.double
	bytes := C.size_t(len(s.sets)) * C.sizeof_keeper_stream_set
	sets := (*C.keeper_stream_set)(C.malloc(bytes))
	defer C.free(unsafe.Pointer(sets))
	for i, set := range s.sets {
		to := &unsafe.Slice(sets, len(s.sets))[i]
		for k, a := range set.reads {
			to.reads[k] = C.uint64_t(a)
		}
		for k, a := range set.writes {
			to.writes[k] = C.uint64_t(a)
		}
	}
	c := C.keeper_stream{sets: sets, count: C.uint32_t(len(s.sets)), reads: C.uint32_t(s.reads), writes: C.uint32_t(s.writes), bytes: C.uint64_t(s.bytes)}
	err := worded(C.keeper_run_stream(&c, C.uint32_t(r.Variant), C.uint32_t(r.FirstSet), C.uint32_t(r.Launches), &ms, &text[0]), &text)
	return float64(ms), err
}

func (gpu) spin(r *keeperv1.SpinRequest) (float64, error) {
	var text [C.KEEPER_TEXT]C.char
	var ms C.double
	err := worded(C.keeper_run_spin(C.uint64_t(r.Nanoseconds), C.uint32_t(r.Launches), &ms, &text[0]), &text)
	return float64(ms), err
}
