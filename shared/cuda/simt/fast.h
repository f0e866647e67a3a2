// FAST mode's primitives, inlined into the kernel: one resident block per worker, its threads as fibers that
// switch only where they wait. Results only; nothing is checked beyond what would hang the worker.
#pragma once
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

// Meets the other lanes of the mask. The last to arrive serves all and wakes the rest, which return served.
SIMT_INLINE void meet(Warp& warp, uint32_t mask, Collective kind) {
  Context *from = current.context, *next = from + 1;
  Block* block = block_of(from);
  const uint32_t number = number_of(from), w = number / kLanes, group = __builtin_ctz(mask);
  warp.mask[group] = mask;
  warp.kind[group] = kind;
  if ((warp.arrived[group] |= 1u << number % kLanes) == (mask & block->live[w]))
    next = fast_serve(block, w, group);
  else if (__builtin_expect(next == current.run_end, 0))
    next = fast_next_run();
  resume(from, next);
}

SIMT_INLINE Warp& my_warp() { return block_of(self())->warp[number_of(self()) / kLanes]; }

SIMT_INLINE void warp_sync(uint32_t mask) { meet(my_warp(), mask, Collective::sync); }

SIMT_INLINE uint64_t warp_exchange(uint32_t mask, uint64_t bits, uint32_t source) {
  Warp& warp = my_warp();
  warp.value[lane()] = bits;
  warp.source[lane()] = static_cast<uint8_t>(source);
  meet(warp, mask, Collective::exchange);
  return warp.result[lane()];
}

SIMT_INLINE uint32_t warp_ballot(uint32_t mask, bool predicate) {
  Warp& warp = my_warp();
  warp.value[lane()] = predicate;
  meet(warp, mask, Collective::ballot);
  return static_cast<uint32_t>(warp.result[lane()]);
}

// Lanes advance one at a time here, so any lane that has not left is as active as another.
SIMT_INLINE uint32_t active_mask() { return block_of(self())->live[number_of(self()) / kLanes]; }

SIMT_INLINE void fence(Scope) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
}  // namespace
}  // namespace simt
#include "fast_memory.h"
