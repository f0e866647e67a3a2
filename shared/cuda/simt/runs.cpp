// Which thread of a FAST block goes on.
#include "runs.h"
#include "runtime.h"
#include "serve.h"
#include <string.h>

namespace simt {
namespace {

[[noreturn]] void report_nothing_runnable(Block* block) {
  record(SCANHOST_DIVERGENCE,
         "block %u: no thread can run: %u of %u wait at a barrier, the others in a warp collective that not all lanes "
         "of its mask reach",
         block->index.x, block->waiting, block->live_threads);
  leave(block);
}

// The lane after the last of the unbroken row that starts at one.
uint32_t row_end(uint32_t lanes, uint32_t first) {
  const uint32_t others = ~(lanes >> first);
  return others ? first + __builtin_ctz(others) : kLanes;
}
}  // namespace

void all_runnable(Block* block) {
  memcpy(block->runnable, block->live, sizeof block->runnable);
  block->runnable_warps = block->live_warps;
}

Context* start_run(Block* block, uint32_t first, uint32_t end) {
  current.run_begin = &block->context[first];
  current.run_end = &block->context[end];
  return current.run_begin;
}

void end_run(Block* block) {
  const uint32_t begin = number_of(current.run_begin), end = number_of(current.context);
  for (uint32_t w = begin / kLanes; w <= end / kLanes && begin < end; w++) {
    uint32_t waiting = ~0u;
    if (w == begin / kLanes) waiting &= ~0u << begin % kLanes;
    if (w == end / kLanes) waiting &= ~(~0u << end % kLanes);
    block->runnable[w] &= ~waiting;
  }
  current.run_begin = current.context;
}

// Neighbours lie side by side in memory, which the processor sees coming.
Context* choose_run(Block* block, uint32_t w) {
  while (block->runnable[w] == 0) {
    block->runnable_warps &= ~(1u << w);
    if (block->runnable_warps == 0) report_nothing_runnable(block);
    w = __builtin_ctz(block->runnable_warps);
  }
  const uint32_t lane = __builtin_ctz(block->runnable[w]), first = w * kLanes + lane;
  uint32_t end = w * kLanes + row_end(block->runnable[w], lane);
  while (end % kLanes == 0 && end < block->threads && block->runnable[end / kLanes] & 1)
    end += row_end(block->runnable[end / kLanes], 0);
  return start_run(block, first, end);
}

Context* release_barrier(Block* block) {
  block->waiting = 0;
  block->stalled = 0;
  all_runnable(block);
  return choose_run(block, 0);
}

void serve(Block* block, uint32_t w, uint32_t group) {
  Warp& warp = block->warp[w];
  const uint32_t members = warp.mask[group] & block->live[w];
  warp.arrived[group] = 0;
  if (warp.kind[group] == Collective::exchange) serve_exchange(warp, members);
  if (warp.kind[group] == Collective::ballot) serve_ballot(warp, members);
  block->runnable[w] |= members;
  block->runnable_warps |= 1u << w;
}

Context* fast_arrived() {
  Block* block = block_of(current.context);
  if (block->waiting < block->live_threads) return fast_next_run();
  return release_barrier(block);
}

Context* fast_next_run() {
  Block* block = block_of(current.context);
  const uint32_t number = number_of(current.context), w = number / kLanes;
  end_run(block);
  block->runnable[w] &= ~(1u << number % kLanes);
  return choose_run(block, w);
}

// The lanes go on in ascending order, also the one that has served them.
Context* fast_serve(Block* block, uint32_t w, uint32_t group) {
  end_run(block);
  serve(block, w, group);
  const uint32_t lane = __builtin_ctz(block->runnable[w]);
  return start_run(block, w * kLanes + lane, w * kLanes + row_end(block->runnable[w], lane));
}
}  // namespace simt
