// Device memory as blocks see it: late, out of order and torn, unless something orders it. EXPLORE mode models the
// workspace and the outputs; COUNT mode only checks bounds and counts.
#pragma once
#include "engine.h"

namespace simt {

// An array of the set, or the workspace.
struct Region {
  char *low, *high;
  bool writable;
  int array;                 // index in the set; -1 for the workspace
  uint64_t *read, *written;  // counters
  uint32_t* cells;           // EXPLORE, writable regions: number of the model's cell for each 16 bytes, 0 for none
};

// Sets up the regions of the launch's set. Memory is as the launch before left it, visible to all.
void start_regions();
void model_forget_stores();
void model_start_block(Resident* b);
void model_finish_block(Resident* b);

// The region that holds all of [p, p + bytes), or nullptr.
const Region* region_of(const char* p, uint32_t bytes);

// Before a load that the kernel itself makes next.
void model_plain_load(const Region* r, char* p, uint32_t bytes, const void* pc);
// Before a store that the kernel itself makes next: settle() takes up what it stored.
void model_plain_store(const Region* r, char* p, uint32_t bytes, const void* pc);
// Takes up the last plain store. Every entry into the runtime from a kernel comes here first.
void settle();

Wide model_status_load(const Region* r, char* p, uint32_t bytes, Order order, const void* pc);
void model_status_store(const Region* r, char* p, Wide bits, uint32_t bytes, Order order, const void* pc);
// The store of an atomic operation, which has read the newest value.
void model_atomic(const Region* r, char* p, uint64_t desired, uint32_t bytes, const void* pc);
void model_fence();

// "workspace + 72" or "array 3 + 16", in bytes; and "block 3 last stored, pc ..." or "nobody has stored".
struct Place {
  char text[160];
};
Place place_of(const void* p);
Place writer_of(const void* p);

// Helpers of the engine that the model's files share.
void set_thread_pointer(void* pointer);
void* get_thread_pointer();
void leave_kernel();
void wait_here();
void yield_polling();
bool dispatch(Resident* b);
void checked_fiber_main();
extern __thread bool kernel_thread __attribute__((tls_model("local-exec")));
}  // namespace simt
