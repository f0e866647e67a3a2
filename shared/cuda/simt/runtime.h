// Inside the runtime: the batch in progress and what went wrong in it, fiber stacks, faults.
#pragma once
#include "machine.h"
#include "batch.h"

namespace simt {

// The batch in progress. The first finding wins; after it no launch of the batch starts and those running are left.
struct Session {
  uint32_t mode;  // 0 FAST, 1 COUNT, 2 EXPLORE
  uint32_t workers, resident_blocks;
  uint64_t seed;  // of the launch in progress
  const Batch* batch;
  const scanhost_set* set;  // of the launch in progress
  scanhost_counters counters;
};
extern Session session;

// Records a finding unless there is one. The text may be cut; the status never is lost.
__attribute__((format(printf, 2, 3))) void record(int status, const char* format, ...);
bool failed();

// What dynamic shared memory holds when a launch begins: undefined on a device, so anything will do. This is a NaN as
// a float and far out of range as an index.
constexpr int kPoison = 0xff;

// False, with a REFUSED finding, for a launch that no CUDA device would start.
bool acceptable(const Launch& launch);

// Stacks of the threads of one resident block, kept from launch to launch.
//
// guarded: each above a page that cannot be touched, so that an overflow stops where it happens. packed: in huge
// pages, as FAST mode touches a thousand stacks in turn and would spend its time on address translation; an overflow
// runs into other stacks and is known by the mark it has overwritten. Packed is some 15 % faster at 1,024 threads.
class Stacks {
 public:
  enum class Layout { guarded, packed };
  explicit Stacks(Layout layout) : layout_(layout) {}

  // Makes the first switch to each thread enter main, which must not return.
  void start_over(void** stack_pointer, uint32_t threads, void (*main)());
  void start_over(Context* context, uint32_t threads, void (*main)());
  char* low(uint32_t thread) const { return base_ + thread * stride() + kPage; }
  char* high(uint32_t thread) const {
    return base_ + (thread + 1) * stride() + (layout_ == Layout::packed ? kPage : 0);
  }

  // Whether a thread has used more than its stack; address: of a fault, or nullptr.
  bool overflowed(uint32_t thread, const char* address) const;

 private:
  static constexpr size_t kPage = 4096;
  // The packed one is no multiple of a power of two, so that the tops do not compete for the same sets of a cache.
  size_t stride() const { return layout_ == Layout::guarded ? 32 * 1024 : 24 * 1024 + 192; }
  void reserve();
  char* top(uint32_t thread);
  Layout layout_;
  char* base_ = nullptr;
};

// An operating-system thread that runs fibers calls this once: signals other than faults are blocked on it
// (Go's handlers expect Go's thread-local storage), and faults get a stack of their own.
void adopt_thread();

// Where a fault of the calling thread leaves to. Filled in by the mode that runs.
struct FaultScene {
  bool active;
  uint32_t block, thread;
  const Stacks* stacks;
  void* escape;  // stack pointer saved by scanhost_simt_switch
};
// Asked by the signal handler, in its context.
bool fast_fault_scene(FaultScene* scene);
bool checked_fault_scene(FaultScene* scene);

// Address of code in the executable as the linker saw it, whatever base it was loaded at.
uintptr_t link_address(const void* pc);

// The same for the call that returns to an address, for texts.
inline size_t at(const void* return_address) { return link_address(return_address) - 1; }
}  // namespace simt
