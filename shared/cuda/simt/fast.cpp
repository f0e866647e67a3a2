// FAST mode: workers, each an operating-system thread with one resident block, take blocks in ascending order.
#include "runs.h"
#include "runtime.h"
#include "switch.h"
#include <new>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

namespace simt {

__thread Current current __attribute__((tls_model("local-exec")));

struct Worker {
  Block block;
  Stacks stacks{Stacks::Layout::packed};
  Context main;                                    // where the launch was entered
  enum class Fibers { unstarted, parked } fibers;  // parked: each waits in thread_exit for its next block
  uint64_t seen, joined;                           // the last launch it has seen, has taken part in
};

namespace {

// A polling thread yields at least once in 64 loads. When every worker has yielded this often with nothing
// stored, released or finished by any of them, nothing ever will be. A worker that computes does not count up.
constexpr uint64_t kStalledYields = 64 * 1024, kConfirmingYields = 1024;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t work = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
std::vector<Worker*> pool;
const Launch* running;
uint64_t launches;                // started so far; a worker joins each once
uint32_t joining, working;        // workers that take part in the running launch; those that have not left it
alignas(64) uint64_t next_block;  // all workers count it up; alone in its cache line
alignas(64) uint64_t total_blocks;

// Makes the next block of the grid resident, all its threads at the start of the kernel.
bool dispatch(Block* block) {
  const uint64_t linear = __atomic_fetch_add(&next_block, 1, __ATOMIC_RELAXED);
  if (linear >= total_blocks || failed()) return false;
  const dim3 grid = block->grid;
  block->index = {static_cast<unsigned>(linear % grid.x), static_cast<unsigned>(linear / grid.x % grid.y),
                  static_cast<unsigned>(linear / grid.x / grid.y)};
  block->live_threads = block->threads;
  block->waiting = 0;
  block->stalled = 0;
  block->live_warps = block->warps == kMaxWarps ? ~0u : (1u << block->warps) - 1;
  for (uint32_t w = 0; w < block->warps; w++) {
    const uint32_t lanes = block->threads - w * kLanes;
    FastWarp& warp = block->warp[w];
    warp.live = lanes >= kLanes ? ~0u : (1u << lanes) - 1;
    warp.arrived = warp.votes[0] = warp.votes[1] = 0;
    memset(warp.part.arrived, 0, sizeof warp.part.arrived);
  }
  all_runnable(block);
  start_run(block, 0, block->threads);
  return true;
}

// A thread that has left completes what the others wait in. Returns the next to run.
Context* after_exit(Block* block, uint32_t w) {
  if (block->waiting == block->live_threads) return release_barrier(block);
  const FastWarp& warp = block->warp[w];
  const bool others_wait = warp.live & ~warp.runnable;
  if (others_wait && warp.arrived == warp.live) serve_warp(block, w);
  for (uint32_t group = 0; others_wait && group < kLanes; group++) {
    const uint32_t arrived = warp.part.arrived[group];
    if (arrived && arrived == (warp.part.mask[group] & warp.live)) serve(block, w, group);
  }
  Context* next = current.context + 1;
  if (next == current.run_end) return choose_run(block, w);
  return current.run_begin = next;
}

// The calling thread has left the kernel. Returns when it is to run it again, in another block.
void thread_exit() {
  Context* from = current.context;
  Block* block = block_of(from);
  const uint32_t number = number_of(from), w = number / kLanes, bit = 1u << number % kLanes;
  end_run(block);
  block->warp[w].live &= ~bit;
  block->warp[w].runnable &= ~bit;
  block->stalled = 0;
  if (!block->warp[w].live) block->live_warps &= ~(1u << w);
  if (--block->live_threads > 0)
    resume(from, after_exit(block, w));
  else if (dispatch(block))
    resume(from, current.run_begin);
  else
    switch_context(from, &block->worker->main);
}

void fiber_main() {
  for (;;) {
    running->body(running->args);
    thread_exit();
  }
}

// Everything of the resident block that depends on the launch's shape.
void shape(Worker* worker, const Launch& launch) {
  Block* block = &worker->block;
  if (worker->fibers == Worker::Fibers::unstarted) {
    worker->stacks.start_over(block->context, kMaxThreads, fiber_main);
    worker->fibers = Worker::Fibers::parked;
  }
  block->grid = launch.grid;
  block->threads = launch.block.x * launch.block.y * launch.block.z;
  block->warps = (block->threads + kLanes - 1) / kLanes;
  memset(block->dynamic_shared, kPoison, launch.shared_bytes);
  if (memcmp(&block->dim, &launch.block, sizeof launch.block) == 0) return;
  block->dim = launch.block;
  for (uint32_t t = 0; t < block->threads; t++)
    block->thread_index[t] = {t % launch.block.x, t / launch.block.x % launch.block.y,
                              t / launch.block.x / launch.block.y};
}

void take_part(Worker* worker, const Launch& launch) {
  shape(worker, launch);
  current.context = &worker->block.context[0];
  if (dispatch(&worker->block)) scanhost_simt_enter(&worker->main, current.context);
  current.context = nullptr;
}

void* worker_main(void* argument) {
  auto* worker = static_cast<Worker*>(argument);
  adopt_thread();
  pthread_mutex_lock(&lock);
  for (;;) {
    while (worker->seen == launches || joining == 0) {
      worker->seen = launches;
      pthread_cond_wait(&work, &lock);
    }
    worker->seen = worker->joined = launches;
    joining--;
    const Launch& launch = *running;
    pthread_mutex_unlock(&lock);
    take_part(worker, launch);
    pthread_mutex_lock(&lock);
    if (--working == 0) pthread_cond_signal(&done);
  }
}

void add_worker() {
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(Worker), sizeof(Worker)) != 0) __builtin_trap();
  memset(memory, 0, sizeof(Worker));
  auto* worker = new (memory) Worker();
  worker->block.worker = worker;
  worker->seen = launches;
  if (posix_memalign(reinterpret_cast<void**>(&worker->block.dynamic_shared), 128, kMaxShared) != 0) __builtin_trap();
  pthread_t thread;
  if (pthread_create(&thread, nullptr, worker_main, worker) != 0) __builtin_trap();
  pthread_detach(thread);
  pool.push_back(worker);
}

pthread_mutex_t suspicion_lock = PTHREAD_MUTEX_INITIALIZER;
uint64_t suspicion_launch;
std::vector<uint64_t> suspicion;  // each worker's yields when all were found stalled

// True once all workers, found stalled, have each gone on yielding and found nothing new: a worker that was only kept
// from running when it could have noticed a store gets the time to.
bool everyone_stalled() {
  pthread_mutex_lock(&suspicion_lock);
  if (suspicion_launch != launches) suspicion.clear();
  suspicion_launch = launches;
  bool stalled = true, confirmed = !suspicion.empty();
  std::vector<uint64_t> now;
  for (Worker* worker : pool) {
    const bool takes_part = worker->joined == launches;
    now.push_back(takes_part ? __atomic_load_n(&worker->block.stalled, __ATOMIC_RELAXED) : ~0ull);
    stalled &= now.back() >= kStalledYields;
    if (confirmed && takes_part) confirmed = now.back() >= suspicion[now.size() - 1] + kConfirmingYields;
  }
  if (!stalled)
    suspicion.clear();
  else if (suspicion.empty())
    suspicion = now;
  pthread_mutex_unlock(&suspicion_lock);
  return stalled && confirmed;
}
}  // namespace

void leave(Block* block) {
  block->worker->fibers = Worker::Fibers::unstarted;
  switch_context(current.context, &block->worker->main);
  __builtin_unreachable();
}

void run_fast(const Launch& launch) {
  if (failed() || !acceptable(launch)) return;
  pthread_mutex_lock(&lock);
  total_blocks = static_cast<uint64_t>(launch.grid.x) * launch.grid.y * launch.grid.z;
  next_block = 0;
  // Blocks of a cooperative launch wait for one another, so each needs a worker, more than there are cores if need be.
  const uint64_t most = launch.residency == Residency::cooperative ? kCooperativeLimit : session.workers;
  const uint32_t workers = static_cast<uint32_t>(most < total_blocks ? most : total_blocks);
  while (pool.size() < workers) add_worker();
  running = &launch;
  launches++;
  joining = working = workers;
  pthread_cond_broadcast(&work);
  while (working > 0) pthread_cond_wait(&done, &lock);
  joining = 0;
  pthread_mutex_unlock(&lock);
}

void fast_poll() {
  Context* from = current.context;
  Block* block = block_of(from);
  const uint32_t number = number_of(from);
  current.polls = 0;
  if (failed()) leave(block);
  const uint64_t stalled = block->stalled + 1;
  __atomic_store_n(&block->stalled, stalled, __ATOMIC_RELAXED);
  if (stalled >= kStalledYields && stalled % 1024 == 0 && everyone_stalled())
    record(SCANHOST_DEADLOCK,
           "block %u thread %u polls for ever: every resident block does, and none has stored or finished anything",
           block->index.x, number);
  // Another thread of the block may hold what this one waits for: the next runnable one, in rotation.
  end_run(block);
  for (uint32_t i = 1; i < block->threads; i++) {
    const uint32_t next = (number + i) % block->threads;
    if (!(block->warp[next / kLanes].runnable >> next % kLanes & 1)) continue;
    resume(from, start_run(block, next, next + 1));
    break;
  }
  sched_yield();
}

bool fast_fault_scene(FaultScene* scene) {
  if (!current.context) return false;
  Block* block = block_of(current.context);
  block->worker->fibers = Worker::Fibers::unstarted;
  *scene = {true, block->index.x, number_of(current.context), &block->worker->stacks,
            block->worker->main.stack_pointer};
  return true;
}
}  // namespace simt
