// The scheduler of COUNT and EXPLORE mode.
#include "engine.h"
#include "checked_calls.h"
#include "model.h"
#include <stdio.h>
#include <string.h>

namespace simt {

Engine engine;
__thread bool kernel_thread __attribute__((tls_model("local-exec")));

namespace {

uint32_t nth_lane(uint32_t lanes, uint32_t n) {
  while (n--) lanes &= lanes - 1;
  return __builtin_ctz(lanes);
}

// Sets the resident block and thread to run next; the switch itself is the caller's.
void choose() {
  engine.steps++;
  if (engine.scheduling == Scheduling::plain) {
    if (!(engine.runnable_blocks >> engine.block->number & 1))
      engine.block = engine.residents[__builtin_ctzll(engine.runnable_blocks)];
    Resident* b = engine.block;
    uint32_t w = engine.thread / kLanes;
    if (!(b->runnable_warps >> w & 1)) w = __builtin_ctz(b->runnable_warps);
    engine.thread = w * kLanes + __builtin_ctz(b->runnable[w]);
    return;
  }
  uint64_t blocks = engine.runnable_blocks;
  for (uint32_t skip = random_below(__builtin_popcountll(blocks)); skip > 0; skip--) blocks &= blocks - 1;
  Resident* b = engine.block = engine.residents[__builtin_ctzll(blocks)];
  const uint32_t w = nth_lane(b->runnable_warps, random_below(__builtin_popcount(b->runnable_warps)));
  engine.thread = w * kLanes + nth_lane(b->runnable[w], random_below(__builtin_popcount(b->runnable[w])));
}

// The next thread after this one, in rotation over all resident blocks: whom a polling thread lets go first.
void rotate() {
  engine.steps++;
  Resident* b = engine.block;
  for (uint32_t i = 1; i < b->threads; i++) {
    const uint32_t t = (engine.thread + i) % b->threads;
    if (t < engine.thread && (engine.runnable_blocks & (engine.runnable_blocks - 1)))
      break;  // wrapped: another block's turn
    if (b->runnable[t / kLanes] >> t % kLanes & 1) {
      engine.thread = t;
      return;
    }
  }
  for (uint32_t i = 1; i <= engine.resident; i++) {
    Resident* other = engine.residents[(b->number + i) % engine.resident];
    if (!(engine.runnable_blocks >> other->number & 1)) continue;
    engine.block = other;
    const uint32_t w = __builtin_ctz(other->runnable_warps);
    engine.thread = w * kLanes + __builtin_ctz(other->runnable[w]);
    return;
  }
}

void switch_from(Resident* from, uint32_t thread) {
  Resident* to = engine.block;
  if (to != from) set_thread_pointer(to->thread_pointer);
  scanhost_simt_switch(&from->stack_pointer[thread], &to->stack_pointer[engine.thread]);
}

void clear_runnable(Resident* b, uint32_t thread) {
  const uint32_t w = thread / kLanes;
  b->runnable[w] &= ~(1u << thread % kLanes);
  if (!b->runnable[w]) b->runnable_warps &= ~(1u << w);
  if (!b->runnable_warps) engine.runnable_blocks &= ~(1ull << b->number);
}
}  // namespace

void set_runnable(Resident* b, uint32_t w, uint32_t lanes) {
  if (!lanes) return;
  b->runnable[w] |= lanes;
  b->runnable_warps |= 1u << w;
  engine.runnable_blocks |= 1ull << b->number;
}

void leave_kernel() {
  Resident* b = engine.block;
  const uint32_t t = engine.thread;
  set_thread_pointer(engine.main_thread_pointer);
  scanhost_simt_switch(&b->stack_pointer[t], &engine.main_stack_pointer);
}

void abandon() {
  engine.abandoned = true;
  leave_kernel();
  __builtin_unreachable();
}

void run_another() {
  settle();
  Resident* b = engine.block;
  const uint32_t t = engine.thread;
  if (!engine.runnable_blocks || (!b->runnable_warps && b->live_threads)) {
    report_nothing_runnable();
    abandon();
  }
  choose();
  switch_from(b, t);
}

void wait_here() {
  clear_runnable(engine.block, engine.thread);
  run_another();
}

void maybe_yield(uint32_t chance_of_1024) {
  if (engine.scheduling == Scheduling::seeded && chance(chance_of_1024)) run_another();
}

void yield_polling() {
  settle();
  if (engine.scheduling == Scheduling::seeded) return run_another();
  Resident* b = engine.block;
  const uint32_t t = engine.thread;
  rotate();
  switch_from(b, t);
}

bool dispatch(Resident* b) {
  b->active = engine.dispatched < engine.total_blocks;
  if (!b->active) return false;
  const uint64_t linear = engine.dispatch_order.empty() ? engine.dispatched : engine.dispatch_order[engine.dispatched];
  engine.dispatched++;
  const dim3 grid = engine.launch->grid;
  b->linear = linear;
  b->index = {static_cast<unsigned>(linear % grid.x), static_cast<unsigned>(linear / grid.x % grid.y),
              static_cast<unsigned>(linear / grid.x / grid.y)};
  b->live_threads = b->threads;
  b->waiting = 0;
  b->runnable_warps = 0;
  memset(b->polling, 0, sizeof(Polling) * b->threads);
  for (uint32_t w = 0; w < b->warps; w++) {
    const uint32_t lanes = b->threads - w * kLanes;
    b->live[w] = lanes >= kLanes ? ~0u : (1u << lanes) - 1;
    b->runnable[w] = 0;
    memset(b->warp[w].arrived, 0, sizeof b->warp[w].arrived);
    set_runnable(b, w, b->live[w]);
  }
  b->shared.start_block(b->threads);
  model_start_block(b);
  note_progress();
  return true;
}

// The calling thread has left the kernel. Returns when it is to run it again, in another block.
void thread_exit() {
  settle();
  Resident* b = engine.block;
  const uint32_t t = engine.thread, w = t / kLanes;
  b->live[w] &= ~(1u << t % kLanes);
  b->live_threads--;
  clear_runnable(b, t);
  note_progress();
  if (b->live_threads == 0) {
    model_finish_block(b);
    if (!dispatch(b) && !engine.runnable_blocks) {
      for (uint32_t i = 0; i < engine.resident; i++)
        if (engine.residents[i]->active) {
          report_nothing_runnable();
          abandon();
        }
      return leave_kernel();
    }
  } else {
    if (b->waiting == b->live_threads) release_barrier(b);
    complete_meetings(b, w);
  }
  run_another();
}

void checked_fiber_main() {
  for (;;) {
    engine.launch->body(engine.launch->args);
    thread_exit();
  }
}

const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

Name name_of_block(uint64_t linear) {
  Name name;
  const dim3 g = engine.launch->grid;
  if (g.y == 1 && g.z == 1)
    snprintf(name.text, sizeof name.text, "block %llu", static_cast<unsigned long long>(linear));
  else
    snprintf(name.text, sizeof name.text, "block (%u, %u, %u)", static_cast<unsigned>(linear % g.x),
             static_cast<unsigned>(linear / g.x % g.y), static_cast<unsigned>(linear / g.x / g.y));
  return name;
}

Name name_of(const Resident* block, uint32_t thread) {
  Name name = name_of_block(block->linear);
  const uint3 t = block->thread_index[thread];
  const dim3 d = engine.launch->block;
  const size_t used = strlen(name.text);
  if (d.y == 1 && d.z == 1)
    snprintf(name.text + used, sizeof name.text - used, " thread %u", thread);
  else
    snprintf(name.text + used, sizeof name.text - used, " thread (%u, %u, %u)", t.x, t.y, t.z);
  return name;
}

uint3 checked_thread_index() { return engine.block->thread_index[engine.thread]; }
uint3 checked_block_index() { return engine.block->index; }
dim3 checked_block_dim() { return engine.launch->block; }
dim3 checked_grid_dim() { return engine.launch->grid; }
uint32_t checked_lane() { return engine.thread % kLanes; }
void* checked_dynamic_shared() { return engine.block->dynamic_shared; }
void checked_count_lookback_step() { session.counters.lookback_steps++; }
}  // namespace simt
