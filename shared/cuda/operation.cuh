// What the headers of operations share (affine.cuh, selective.cuh): refusals, problems without elements, and the
// way from the C ABI to a kernel's enqueue. A header describes its operation by a struct with
//
//   using Problem = ...;                                   // what a kernel is told before a launch
//   static constexpr const char* name;
//   static Problem problem(const scanhost_problem&);
//   template <class T> static ... arrays(const scanhost_set&);   // with members h0 and last, nullptr where absent
//   static int64_t rows(const Problem&), length(const Problem&), states(const Problem&);
//
// rows are independent of each other, length is the scanned axis, and states is how many numbers h0 and last hold.
#pragma once
#include "abi.h"
#include "storage.cuh"

// Formats a reason for unsupported(). The text lasts until the next call in the same thread.
template <class... Values>
const char* refusal(const char* format, Values... values) {
  static thread_local char text[256];
  snprintf(text, sizeof text, format, values...);
  return text;
}

// A grid has at most this many blocks along x; tickets and tile numbers are counted in the same range.
constexpr int64_t MAX_BLOCKS = 2147483647;

// The most whole rows whose blocks fit in one grid; 0 when not even one row's do.
constexpr int64_t rows_per_grid(int64_t rows, int64_t blocks_per_row) {
  const int64_t fit = MAX_BLOCKS / blocks_per_row;
  return rows < fit ? rows : fit;
}
static_assert(rows_per_grid(3000000000, 1) == MAX_BLOCKS, "rows beyond one grid go to the next");
static_assert(rows_per_grid(70, 3) == 70 && rows_per_grid(5, MAX_BLOCKS) == 1, "a row is never split");

// The scan of rows without elements: states stay what they were.
__global__ void keep_states(const float* h0, float* last, int64_t states) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < states) last[i] = h0 ? h0[i] : 0.0f;
}

template <class... Types>
const char* refused_dtype(int dtype) {
  char accepted[32] = "";
  (snprintf(accepted + strlen(accepted), sizeof accepted - strlen(accepted), " %s", dtype_name(dtype_of<Types>)), ...);
  return refusal("dtype is %s; this kernel stores%s", dtype_name(dtype), accepted);
}

// One copy's entry in the C ABI, for arrays of the given storage types; its constructor registers it.
template <class Op, class Kernel, class... Types>
struct OperationExport {
  using Problem = typename Op::Problem;

  static bool empty(const Problem& p) { return Op::rows(p) == 0 || Op::length(p) == 0; }

  static int prepare(const scanhost_problem* problem, uint64_t* workspace_bytes, char text[SCANHOST_TEXT]) {
    const Problem p = Op::problem(*problem);
    const bool stored = ((problem->dtype == dtype_of<Types>) || ...);
    const char* reason = stored ? nullptr : refused_dtype<Types...>(problem->dtype);
    if (!reason && !empty(p)) reason = Kernel::unsupported(p);
    if (reason) {
      snprintf(text, SCANHOST_TEXT, "%s", reason);
      return SCANHOST_UNSUPPORTED;
    }
    *workspace_bytes = empty(p) ? 0 : Kernel::workspace_bytes(p);
    return SCANHOST_OK;
  }

  template <class Arrays>
  static void enqueue(const Problem& p, const Arrays& arrays, void* workspace, Stream stream) {
    constexpr unsigned threads = 256;
    if (Op::rows(p) == 0) return;
    if (Op::length(p) > 0) return Kernel::enqueue(p, arrays, workspace, stream);
    if (!arrays.last) return;
    launch(keep_states, dim3(unsigned((Op::states(p) + threads - 1) / threads)), dim3(threads), 0, stream, arrays.h0,
           arrays.last, Op::states(p));
  }

  static int launch_batch(const scanhost_problem* problem, const scanhost_set* sets, uint32_t n_sets, uint32_t first,
                          uint32_t launches, void* workspace, uint64_t workspace_bytes, const scanhost_simt* simt,
                          scanhost_report* report) {
    const auto enqueue_set = [](const scanhost_problem& p, const scanhost_set& set, void* scratch, Stream stream) {
      const auto enqueue_as = [&](auto zero) {
        using T = decltype(zero);
        if (p.dtype == dtype_of<T>) enqueue(Op::problem(p), Op::template arrays<T>(set), scratch, stream);
      };
      (enqueue_as(Types{}), ...);
    };
    return scanhost::run_batch(problem, sets, n_sets, first, launches, workspace, workspace_bytes, simt, report,
                               enqueue_set);
  }

  scanhost_kernel table = {};

  OperationExport() {
    table.abi = SCANHOST_ABI;
    table.copy = scanhost::copy_kind;
    table.op = Op::name;
    table.prepare = prepare;
    table.launch = launch_batch;
    table.map = scanhost::map;
    table.unmap = scanhost::unmap;
    table.allocate = scanhost::allocate;
    table.release = scanhost::release;
    table.copy_memory = scanhost::copy_memory;
    scanhost_register(&table);
  }
};
