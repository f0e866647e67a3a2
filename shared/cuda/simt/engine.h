// The engine of COUNT and EXPLORE mode: one operating-system thread, a few resident blocks, and a scheduler
// that decides after every step which thread goes on. All state is plain, since only that one thread runs it.
#pragma once
#include "checked_types.h"
#include "runtime.h"
#include <vector>

namespace simt {

constexpr uint32_t kMaxResident = 64;

// A thread's polling, for the detection of deadlocks: how often it has loaded what it had loaded already.
struct Polling {
  static constexpr int kWords = 4;  // a loop may watch a few words in turn
  const void* address[kWords];
  uint64_t value[kWords];
  uint32_t next, repeats;
  uint64_t progress;  // Engine::progress when last looked at
};

// A resident block. Its static shared memory is the thread-local storage of an operating-system thread that
// is parked for the purpose: while the block runs, the engine's thread borrows that thread's pointer.
struct Resident {
  uint32_t number;  // place among the resident blocks
  bool active;
  uint64_t linear;  // of its block in the grid
  uint3 index;
  uint32_t threads, warps, live_threads, waiting;  // waiting: at the barrier
  uint32_t runnable_warps, runnable[kMaxWarps], live[kMaxWarps];
  void* stack_pointer[kMaxThreads];
  uint3 thread_index[kMaxThreads];
  Polling polling[kMaxThreads];
  Warp warp[kMaxWarps];
  const void* meeting_pc[kMaxWarps][kLanes];  // of the collective a group waits in
  const char* barrier_file;
  int barrier_line;
  Stacks stacks{Stacks::Layout::guarded};
  void* thread_pointer;
  char* static_shared;
  SharedMemory shared;  // what is known of its words
  char* dynamic_shared;
  BlockOrder order;
};

enum class Scheduling { plain, seeded };

struct Engine {
  const Launch* launch;
  Scheduling scheduling;
  uint64_t random;
  uint32_t yield_chance, stale_chance, shared_yield_chance;  // of 1024
  std::vector<Resident*> residents;                          // made so far; the first `resident` take part
  uint32_t resident;
  uint64_t runnable_blocks;  // bit by number
  Resident* block;           // running
  uint32_t thread;
  std::vector<uint32_t> dispatch_order;  // EXPLORE
  uint64_t dispatched, total_blocks;
  uint64_t steps, progress, progress_step;  // progress: stores that changed something, barriers, exits, dispatches
  bool newest_only;                         // every thread polls: late stores are withheld no longer
  uint64_t newest_only_since;
  void *main_stack_pointer, *main_thread_pointer;
  bool abandoned;
};
extern Engine engine;

inline uint64_t random_bits() {
  uint64_t x = engine.random;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return engine.random = x;
}
inline uint32_t random_below(uint32_t n) { return static_cast<uint32_t>((random_bits() >> 32) * n >> 32); }
inline bool chance(uint32_t of_1024) { return (random_bits() >> 40 & 1023) < of_1024; }

inline void note_progress() {
  engine.progress++;
  engine.progress_step = engine.steps;
}

// Scheduling, from within a kernel thread.
void run_another();  // this thread waits, or has had its turn
void maybe_yield(uint32_t chance_of_1024);
void release_barrier(Resident* block);
void complete_meetings(Resident* block, uint32_t warp);
[[noreturn]] void abandon();  // leaves the launch; a finding has been recorded
void set_runnable(Resident* block, uint32_t warp, uint32_t lanes);

// Deadlocks.
void note_poll(const void* address, uint64_t value);
void report_nothing_runnable();

// The file without its folders, as the Go side prints lines.
const char* base_name(const char* path);

// "block 3 thread 17", with all coordinates where there is more than one.
struct Name {
  char text[96];
};
Name name_of(const Resident* block, uint32_t thread);
Name name_of_block(uint64_t linear);
inline Name me() { return name_of(engine.block, engine.thread); }
}  // namespace simt
