// A batch of launches as the glue hands it to the runtime.
#pragma once
#include "../abi.h"

namespace simt {
// One launch of a batch: calls the kernel's enqueue function, which calls launch() and fill_bytes().
using Enqueue = void (*)(void* context, uint32_t set);

struct Batch {
  const scanhost_set* sets;
  uint32_t n_sets, first, launches;
  void* workspace;
  uint64_t workspace_bytes;
  const scanhost_simt* options;
  scanhost_report* report;
  uint32_t copy;  // enum scanhost_copy of the caller
};

// Runs the batch and fills the report; returns its enum scanhost_status. One batch runs at a time in a process.
int run_batch(const Batch& batch, Enqueue enqueue, void* context);
}  // namespace simt
