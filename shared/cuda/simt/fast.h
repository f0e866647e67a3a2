// FAST mode's primitives, inlined into the kernel: one resident block per worker, its threads as fibers that
// switch only where they wait. Results only; nothing is checked beyond what would hang the worker.
#pragma once
#include "serve.h"

namespace simt {
namespace {

// How many threads ahead a stack is fetched.
constexpr uint32_t kAhead = 6;

SIMT_INLINE uint3 thread_index() { return current.block->thread_index[current.thread]; }
SIMT_INLINE uint3 block_index() { return current.block->index; }
SIMT_INLINE dim3 block_dim() { return current.block->dim; }
SIMT_INLINE dim3 grid_dim() { return current.block->grid; }
SIMT_INLINE int lane() { return current.thread % kLanes; }
SIMT_INLINE void* dynamic_shared() { return current.block->dynamic_shared; }
SIMT_INLINE void count_lookback_step() {}

// Runs the next runnable thread: the lowest of this warp, else of the lowest warp that has one. Ascending
// order lets the processor fetch the stack of the thread after next in time.
SIMT_INLINE void run_next() {
  Block* block = current.block;
  const uint32_t self = current.thread;
  uint32_t warp = self / kLanes, lanes = block->runnable[warp];
  if (__builtin_expect(lanes == 0, 0)) {
    block->runnable_warps &= ~(1u << warp);
    if (__builtin_expect(block->runnable_warps == 0, 0)) fast_nothing_runnable();
    warp = __builtin_ctz(block->runnable_warps);
    lanes = block->runnable[warp];
  }
  const uint32_t next = warp * kLanes + __builtin_ctz(lanes);
  const char* ahead = static_cast<const char*>(block->stack_pointer[next + kAhead]);
  __builtin_prefetch(ahead);
  __builtin_prefetch(ahead + 64);
  current.thread = next;
  scanhost_simt_switch(&block->stack_pointer[self], &block->stack_pointer[next]);
}

SIMT_INLINE void wait_here() {
  const uint32_t self = current.thread;
  current.block->runnable[self / kLanes] &= ~(1u << self % kLanes);
  run_next();
}

SIMT_INLINE void barrier(const char*, int) {
  Block* block = current.block;
  if (++block->waiting == block->live_threads) {
    fast_release_barrier(block);
    run_next();
  } else {
    wait_here();
  }
}

// Meets the other lanes of the mask. The last to arrive serves all and wakes the rest, which return served.
SIMT_INLINE void meet(Block* block, Warp& warp, uint32_t self, uint32_t mask, Collective kind) {
  const uint32_t w = self / kLanes, members = mask & block->live[w], group = __builtin_ctz(mask);
  warp.mask[group] = mask;
  warp.kind[group] = kind;
  warp.arrived[group] |= 1u << self % kLanes;
  if (warp.arrived[group] != members) {
    wait_here();
    return;
  }
  warp.arrived[group] = 0;
  if (kind == Collective::exchange) serve_exchange(warp, members);
  if (kind == Collective::ballot) serve_ballot(warp, members);
  block->runnable[w] |= members;
  block->runnable_warps |= 1u << w;
}

SIMT_INLINE void warp_sync(uint32_t mask) {
  Block* block = current.block;
  meet(block, block->warp[current.thread / kLanes], current.thread, mask, Collective::sync);
}

SIMT_INLINE uint64_t warp_exchange(uint32_t mask, uint64_t bits, uint32_t source) {
  Block* block = current.block;
  const uint32_t self = current.thread, lane = self % kLanes;
  Warp& warp = block->warp[self / kLanes];
  warp.value[lane] = bits;
  warp.source[lane] = static_cast<uint8_t>(source);
  meet(block, warp, self, mask, Collective::exchange);
  return warp.result[lane];
}

SIMT_INLINE uint32_t warp_ballot(uint32_t mask, bool predicate) {
  Block* block = current.block;
  const uint32_t self = current.thread, lane = self % kLanes;
  Warp& warp = block->warp[self / kLanes];
  warp.value[lane] = predicate;
  meet(block, warp, self, mask, Collective::ballot);
  return static_cast<uint32_t>(warp.result[lane]);
}

// Lanes advance one at a time here, so any lane that has not left is as active as another.
SIMT_INLINE uint32_t active_mask() { return current.block->live[current.thread / kLanes]; }

SIMT_INLINE void fence(Scope) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
}  // namespace
}  // namespace simt
#include "fast_memory.h"
