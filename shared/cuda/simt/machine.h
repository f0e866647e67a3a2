// What the simulated GPU's runtime (this package's .cpp files, compiled once and uninstrumented) and the
// copies of a kernel (compiled with the headers) share: launches, and the state of a resident block.
#pragma once
#include <stddef.h>
#include <stdint.h>

// CUDA's own words, in the global namespace as kernels expect them.
struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  __attribute__((always_inline)) constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

namespace simt {

constexpr uint32_t kLanes = 32;
constexpr uint32_t kMaxThreads = 1024;  // of a block, as on every CUDA device
constexpr uint32_t kMaxWarps = kMaxThreads / kLanes;
constexpr size_t kMaxShared = 227 * 1024;   // bytes of dynamic shared memory a block may ask for (sm_90)
constexpr uint32_t kCooperativeLimit = 32;  // blocks that can be resident together in a cooperative launch

enum class Residency { independent, cooperative };

// One kernel launch. body(args) runs the kernel for the thread that calls it.
struct Launch {
  dim3 grid, block;
  size_t shared_bytes;
  void (*body)(void* args);
  void* args;
  Residency residency;
};

// Lanes that meet in a collective deposit a value and the lane they want to read. The last to arrive hands out
// the results, so that a lane running ahead can overwrite nothing that another has yet to read.
enum class Collective : uint8_t { sync, exchange, ballot };
struct Warp {
  uint64_t value[kLanes], result[kLanes];
  uint32_t arrived[kLanes], mask[kLanes];  // by group, see group_of
  Collective kind[kLanes];
  uint8_t source[kLanes];
};

enum class Scope { block, device };
enum class Order { relaxed, acquire, release };

// The bits of a status word of up to 16 bytes.
struct alignas(16) Wide {
  uint64_t low, high;
};

// What a thread of FAST mode resumes from: a cache line, beside that of the thread that goes on after it. A stack,
// which lies elsewhere, is touched only for what does not fit in registers.
struct alignas(64) Context {
  void* stack_pointer;
#if defined(__x86_64__)
  void* resume_at;
  uint64_t registers[6];  // rbx, rbp, r12 to r15
#endif
};
constexpr uint32_t kAhead = 6;  // how many threads ahead a stack is fetched

// A warp of FAST mode. A collective of the whole warp needs nobody to hand out results: values stay for the lanes to
// read, as those that run ahead deposit in the other set, and none can be two collectives ahead.
struct alignas(kLanes * sizeof(Context)) FastWarp {
  uint32_t runnable, live;  // lanes; see Current
  uint32_t arrived, turn;   // of the collective in progress: the lanes that have arrived, its set
  uint32_t votes[2];
  uint64_t value[2][kLanes];
  Warp part;  // collectives of part of the warp
};

struct Worker;

// A resident block of FAST mode, aligned so that a thread's context tells all else: its block, its warp, its number. A
// thread is runnable unless it waits at a barrier or in a collective.
constexpr size_t kBlockAlignment = kMaxThreads * sizeof(Context);
constexpr size_t kWarpOffset = kBlockAlignment + sizeof(FastWarp);
struct alignas(kBlockAlignment) Block {
  Context context[kMaxThreads + kLanes];  // more than there are, as stacks are fetched ahead
  FastWarp warp[kMaxWarps];
  uint32_t live_threads, waiting;       // waiting: threads at the barrier
  uint32_t runnable_warps, live_warps;  // warps that may have a runnable lane, that have a live one
  uint32_t threads, warps;
  uint64_t stalled;  // yields of a polling thread since anything was stored, released or finished
  uint3 index;
  dim3 dim, grid;
  char* dynamic_shared;
  Worker* worker;
  uint3 thread_index[kMaxThreads];
};
static_assert(sizeof(FastWarp) == kLanes * sizeof(Context) && offsetof(Block, warp) == kWarpOffset,
              "a warp lies as far behind its contexts as any other");

// The thread that this operating-system thread is running, and the run that it is part of: threads side by side of
// which each, when it waits, resumes the next. Block::runnable does not yet tell that those of the run before this
// one wait; those after it, up to the end, are runnable. So going on to the next takes no look at any bits.
struct Current {
  Context *context, *run_begin, *run_end;
  uint32_t polls;  // loads of tile status since the last yield
};
extern __thread Current current __asm__("scanhost_simt_current") __attribute__((tls_model("local-exec")));

inline __attribute__((always_inline)) Block* block_of(const Context* thread) {
  return reinterpret_cast<Block*>(reinterpret_cast<uintptr_t>(thread) & ~(kBlockAlignment - 1));
}
inline __attribute__((always_inline)) FastWarp& warp_of(const Context* thread) {
  return *reinterpret_cast<FastWarp*>((reinterpret_cast<uintptr_t>(thread) & ~(sizeof(FastWarp) - 1)) + kWarpOffset);
}
inline __attribute__((always_inline)) uint32_t number_of(const Context* thread) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(thread) / sizeof(Context)) % kMaxThreads;
}

// Saves the callee-saved registers and the stack pointer in *from and resumes *to, which may be the same. Out of line
// and in assembly, so that the compiler assumes no more than it does of any foreign function.
extern "C" void scanhost_simt_switch(void** from, void* const* to);

// Runs a launch in FAST mode on all workers; what goes wrong is recorded in the batch.
void run_fast(const Launch& launch);
// Runs a launch in COUNT or EXPLORE mode.
void run_checked(const Launch& launch);

// FAST mode's cold paths. Those that return a thread have made it the begin of a run and expect it to be resumed; any
// but the first may leave the launch for good.
Context* fast_serve(uint32_t group);  // all of a part of the warp have arrived
Context* fast_serve_warp();           // all lanes have
Context* fast_arrived();              // at the barrier: the last one, or no run goes on
Context* fast_next_run();             // this thread waits and no run goes on
void fast_poll();
}  // namespace simt
