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

// After a collective the lanes go on in ascending order, also the one that has served them.
Context* lowest_lane(Block* block) {
  const uint32_t w = number_of(current.context) / kLanes, runnable = block->warp[w].runnable;
  const uint32_t lane = __builtin_ctz(runnable);
  return start_run(block, w * kLanes + lane, w * kLanes + row_end(runnable, lane));
}
}  // namespace

void all_runnable(Block* block) {
  for (uint32_t w = 0; w < block->warps; w++) block->warp[w].runnable = block->warp[w].live;
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
    block->warp[w].runnable &= ~waiting;
  }
  current.run_begin = current.context;
}

// Neighbours lie side by side in memory, which the processor sees coming.
Context* choose_run(Block* block, uint32_t w) {
  while (block->warp[w].runnable == 0) {
    block->runnable_warps &= ~(1u << w);
    if (block->runnable_warps == 0) report_nothing_runnable(block);
    w = __builtin_ctz(block->runnable_warps);
  }
  const uint32_t lane = __builtin_ctz(block->warp[w].runnable), first = w * kLanes + lane;
  uint32_t end = w * kLanes + row_end(block->warp[w].runnable, lane);
  while (end % kLanes == 0 && end < block->threads && block->warp[end / kLanes].runnable & 1)
    end += row_end(block->warp[end / kLanes].runnable, 0);
  return start_run(block, first, end);
}

Context* release_barrier(Block* block) {
  block->waiting = 0;
  block->stalled = 0;
  all_runnable(block);
  return choose_run(block, 0);
}

void serve(Block* block, uint32_t w, uint32_t group) {
  Warp& part = block->warp[w].part;
  const uint32_t members = part.mask[group] & block->warp[w].live;
  part.arrived[group] = 0;
  if (part.kind[group] == Collective::exchange) serve_exchange(part, members);
  if (part.kind[group] == Collective::ballot) serve_ballot(part, members);
  block->warp[w].runnable |= members;
  block->runnable_warps |= 1u << w;
}

void serve_warp(Block* block, uint32_t w) {
  FastWarp& warp = block->warp[w];
  warp.arrived = 0;
  warp.turn ^= 1;
  warp.votes[warp.turn] = 0;
  warp.runnable = warp.live;
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
  block->warp[w].runnable &= ~(1u << number % kLanes);
  return choose_run(block, w);
}

Context* fast_serve(uint32_t group) {
  Block* block = block_of(current.context);
  end_run(block);
  serve(block, number_of(current.context) / kLanes, group);
  return lowest_lane(block);
}

Context* fast_serve_warp() {
  Block* block = block_of(current.context);
  end_run(block);
  serve_warp(block, number_of(current.context) / kLanes);
  return lowest_lane(block);
}
}  // namespace simt
