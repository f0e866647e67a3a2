// FAST mode's primitives, inlined into the kernel: one resident block per worker, its threads as fibers that
// switch only where they wait. Results only; nothing is checked beyond what would hang the worker.
#pragma once
#include "serve.h"
#include "switch.h"

namespace simt {
namespace {

SIMT_INLINE const Context* self() { return current.context; }
SIMT_INLINE uint3 thread_index() { return block_of(self())->thread_index[number_of(self())]; }
SIMT_INLINE uint3 block_index() { return block_of(self())->index; }
SIMT_INLINE dim3 block_dim() { return block_of(self())->dim; }
SIMT_INLINE dim3 grid_dim() { return block_of(self())->grid; }
SIMT_INLINE int lane() { return static_cast<int>(number_of(self()) % kLanes); }
SIMT_INLINE void* dynamic_shared() { return block_of(self())->dynamic_shared; }
SIMT_INLINE void count_lookback_step() {}

SIMT_INLINE void wait_here() {
  Context *from = current.context, *next = from + 1;
  if (__builtin_expect(next == current.run_end, 0)) next = fast_next_run();
  resume(from, next);
}

SIMT_INLINE void barrier(const char*, int) {
  Context *from = current.context, *next = from + 1;
  Block* block = block_of(from);
  const bool last = ++block->waiting == block->live_threads;
  if (__builtin_expect(last || next == current.run_end, 0)) next = fast_arrived();
  resume(from, next);
}

// Meets the other lanes of the warp. The last to arrive wakes the rest.
SIMT_INLINE void meet_warp(FastWarp& warp) {
  Context *from = current.context, *next = from + 1;
  if ((warp.arrived |= 1u << lane()) == warp.live)
    next = fast_serve_warp();
  else if (__builtin_expect(next == current.run_end, 0))
    next = fast_next_run();
  resume(from, next);
}

// The same for the lanes of a mask. The last to arrive serves all, which return served.
SIMT_INLINE void meet_part(FastWarp& warp, uint32_t mask, Collective kind) {
  Context *from = current.context, *next = from + 1;
  const uint32_t group = group_of(warp.part, mask);
  warp.part.mask[group] = mask;
  warp.part.kind[group] = kind;
  if ((warp.part.arrived[group] |= 1u << lane()) == (mask & warp.live))
    next = fast_serve(group);
  else if (next == current.run_end)
    next = fast_next_run();
  resume(from, next);
}

SIMT_INLINE void warp_sync(uint32_t mask) {
  FastWarp& warp = warp_of(self());
  mask == ~0u ? meet_warp(warp) : meet_part(warp, mask, Collective::sync);
}

SIMT_INLINE uint64_t warp_exchange(uint32_t mask, uint64_t bits, uint32_t source) {
  FastWarp& warp = warp_of(self());
  if (mask == ~0u) {
    warp.value[warp.turn][lane()] = bits;
    meet_warp(warp);
    FastWarp& again = warp_of(self());
    return again.value[again.turn ^ 1][source % kLanes];
  }
  warp.part.value[lane()] = bits;
  warp.part.source[lane()] = static_cast<uint8_t>(source);
  meet_part(warp, mask, Collective::exchange);
  return warp.part.result[lane()];
}

SIMT_INLINE uint32_t warp_ballot(uint32_t mask, bool predicate) {
  FastWarp& warp = warp_of(self());
  if (mask == ~0u) {
    warp.votes[warp.turn] |= static_cast<uint32_t>(predicate) << lane();
    meet_warp(warp);
    FastWarp& again = warp_of(self());
    return again.votes[again.turn ^ 1];
  }
  warp.part.value[lane()] = predicate;
  meet_part(warp, mask, Collective::ballot);
  return static_cast<uint32_t>(warp.part.result[lane()]);
}

// Lanes advance one at a time here, so any lane that has not left is as active as another.
SIMT_INLINE uint32_t active_mask() { return warp_of(self()).live; }

SIMT_INLINE void fence(Scope) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
}  // namespace
}  // namespace simt
#include "fast_memory.h"
