// The glue between the C ABI (abi.h) and a kernel's enqueue function on the simulated GPU; plugin_cuda.inl is
// its counterpart. Both offer namespace scanhost: copy_kind, run_batch, map, unmap, allocate, release,
// copy_memory.
#pragma once
#include "batch.h"

namespace scanhost {
namespace {
#ifdef SIMT_FAST
constexpr uint32_t copy_kind = SCANHOST_SIMT_FAST;
#else
constexpr uint32_t copy_kind = SCANHOST_SIMT_CHECK;
#endif

// No device memory: the SDK maps memfds and allocates host memory itself.
constexpr decltype(scanhost_kernel::map) map = nullptr;
constexpr decltype(scanhost_kernel::unmap) unmap = nullptr;
constexpr decltype(scanhost_kernel::allocate) allocate = nullptr;
constexpr decltype(scanhost_kernel::release) release = nullptr;
constexpr decltype(scanhost_kernel::copy_memory) copy_memory = nullptr;

// enqueue_one(problem, set, workspace, stream) enqueues one launch. Returns an enum scanhost_status.
template <class EnqueueOne>
int run_batch(const scanhost_problem* problem, const scanhost_set* sets, uint32_t n_sets, uint32_t first,
              uint32_t launches, void* workspace, uint64_t workspace_bytes, const scanhost_simt* options,
              scanhost_report* report, EnqueueOne enqueue_one) {
  struct Context {
    const scanhost_problem* problem;
    const scanhost_set* sets;
    void* workspace;
    EnqueueOne& enqueue_one;
  } context{problem, sets, workspace, enqueue_one};
  const simt::Batch batch{sets, n_sets, first, launches, workspace, workspace_bytes, options, report, copy_kind};
  return simt::run_batch(
      batch,
      [](void* p, uint32_t set) {
        auto* c = static_cast<Context*>(p);
        c->enqueue_one(*c->problem, c->sets[set], c->workspace, Stream{});
      },
      &context);
}
}  // namespace
}  // namespace scanhost
