// Operation affine_scan for kernels: h[t] = a[t] h[t-1] + b[t] along each row, h[-1] = h0 or 0.
//
// One step is the map x -> a x + b. Steps compose by an associative operator that is not commutative, so
// a scan may group them as it likes but never swap them; combine names its operands left (earlier) and
// right (later) for that reason. A kernel file includes this header, defines a struct with
//
//   static const char* unsupported(const AffineProblem&);   // nullptr, or one sentence (see refusal)
//   static size_t workspace_bytes(const AffineProblem&);
//   static void enqueue(const AffineProblem&, const AffineArrays&, void* workspace, Stream);
//
// and ends with EXPORT_AFFINE_SCAN(that struct). A kernel of several storage types has enqueue as a template over
// StoredArrays<T>, and ends with EXPORT_STORED_AFFINE_SCAN(that struct, float, fp16, bf16). enqueue never sees
// rows = 0 or length = 0: these need no scan and are dealt with here.
//
// Every rounding is written out (fmaf, or one operation for each statement) and contraction is off on both
// compilers, so equal groupings give equal bits on every machine.
#pragma once
#include "abi.h"
#include "storage.cuh"

struct Affine {
  float a, b;
};

__device__ inline Affine identity() { return {1.0f, 0.0f}; }

// The map that does left first, then right.
__device__ inline Affine combine(Affine left, Affine right) {
  return {left.a * right.a, fmaf(right.a, left.b, right.b)};
}

__device__ inline float apply(Affine map, float state) { return fmaf(map.a, state, map.b); }

struct AffineProblem {
  int64_t rows, length;
  bool reverse, h0, last_state;
  const int64_t* tuning;  // in the order of plugin.toml
  int element_bytes;      // of a, b and h
};

// T is the storage type of a, b and h. States are fp32 always.
template <class T>
struct StoredArrays {
  const T *a, *b;
  const float* h0;  // nullptr when absent
  T* h;
  float* last;  // nullptr when absent
};
using AffineArrays = StoredArrays<float>;

// What a kernel gets of one launch, by value. t counts in scan order: with reverse, t = 0 is the right end
// of a row in memory.
template <class T>
struct StoredRows {
  StoredArrays<T> arrays;
  int64_t rows, length;
  bool reverse;

  __device__ int64_t at(int64_t row, int64_t t) const { return row * length + (reverse ? length - 1 - t : t); }
  __device__ float initial(int64_t row) const { return arrays.h0 ? arrays.h0[row] : 0.0f; }
  __device__ bool ends_row(int64_t t) const { return arrays.last && t == length - 1; }
};
using AffineRows = StoredRows<float>;

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

// Calls enqueue_rows(StoredRows) for consecutive batches of at most `step` rows.
template <class T, class EnqueueRows>
void for_each_rows(const AffineProblem& problem, const StoredArrays<T>& arrays, int64_t step,
                   EnqueueRows enqueue_rows) {
  for (int64_t first = 0; first < problem.rows; first += step) {
    const int64_t rest = problem.rows - first, skip = first * problem.length;
    StoredArrays<T> part = {arrays.a + skip, arrays.b + skip, arrays.h0, arrays.h + skip, arrays.last};
    if (part.h0) part.h0 += first;
    if (part.last) part.last += first;
    enqueue_rows(StoredRows<T>{part, rest < step ? rest : step, problem.length, problem.reverse});
  }
}

// The same for batches each of which fits in one grid.
template <class T, class EnqueueRows>
void for_each_grid(const AffineProblem& problem, const StoredArrays<T>& arrays, int64_t blocks_per_row,
                   EnqueueRows enqueue_rows) {
  for_each_rows(problem, arrays, rows_per_grid(problem.rows, blocks_per_row), enqueue_rows);
}

// The scan of rows without elements: the state stays what it was.
__global__ void keep_states(const float* h0, float* last, int64_t rows) {
  const int64_t row = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row < rows) last[row] = h0 ? h0[row] : 0.0f;
}

template <class Kernel, class T>
void enqueue_affine(const AffineProblem& problem, const StoredArrays<T>& arrays, void* workspace, Stream stream) {
  constexpr unsigned threads = 256;
  if (problem.rows == 0) return;
  if (problem.length > 0) return Kernel::enqueue(problem, arrays, workspace, stream);
  if (!arrays.last) return;
  launch(keep_states, dim3(unsigned((problem.rows + threads - 1) / threads)), dim3(threads), 0, stream, arrays.h0,
         arrays.last, problem.rows);
}

inline AffineProblem affine_problem(const scanhost_problem& p) {
  return {p.dims[0],
          p.dims[1],
          (p.options & 1) != 0,
          (p.options & 2) != 0,
          (p.options & 4) != 0,
          p.tuning,
          p.dtype == dtype_of<float> ? 4 : 2};
}

template <class T>
StoredArrays<T> affine_arrays(const scanhost_set& set) {
  const auto at = [&](int i) { return set.arrays[i].pointer; };
  return {static_cast<const T*>(at(0)), static_cast<const T*>(at(1)), static_cast<const float*>(at(2)),
          static_cast<T*>(at(3)), static_cast<float*>(at(4))};
}

template <class... Types>
const char* refused_dtype(int dtype) {
  char accepted[32] = "";
  (snprintf(accepted + strlen(accepted), sizeof accepted - strlen(accepted), " %s", dtype_name(dtype_of<Types>)), ...);
  return refusal("dtype is %s; this kernel stores%s", dtype_name(dtype), accepted);
}

// One copy's entry in the C ABI, for arrays of the given storage types; its constructor registers it.
template <class Kernel, class... Types>
struct AffineExport {
  static int prepare(const scanhost_problem* problem, uint64_t* workspace_bytes, char text[SCANHOST_TEXT]) {
    const AffineProblem p = affine_problem(*problem);
    const bool stored = ((problem->dtype == dtype_of<Types>) || ...);
    const char* reason = stored ? nullptr : refused_dtype<Types...>(problem->dtype);
    if (!reason && p.rows > 0 && p.length > 0) reason = Kernel::unsupported(p);
    if (reason) {
      snprintf(text, SCANHOST_TEXT, "%s", reason);
      return SCANHOST_UNSUPPORTED;
    }
    *workspace_bytes = p.rows > 0 && p.length > 0 ? Kernel::workspace_bytes(p) : 0;
    return SCANHOST_OK;
  }

  static int launch_batch(const scanhost_problem* problem, const scanhost_set* sets, uint32_t n_sets, uint32_t first,
                          uint32_t launches, void* workspace, uint64_t workspace_bytes, const scanhost_simt* simt,
                          scanhost_report* report) {
    const auto enqueue = [](const scanhost_problem& p, const scanhost_set& set, void* scratch, Stream stream) {
      const auto enqueue_as = [&](auto zero) {
        using T = decltype(zero);
        if (p.dtype == dtype_of<T>) enqueue_affine<Kernel>(affine_problem(p), affine_arrays<T>(set), scratch, stream);
      };
      (enqueue_as(Types{}), ...);
    };
    return scanhost::run_batch(problem, sets, n_sets, first, launches, workspace, workspace_bytes, simt, report,
                               enqueue);
  }

  scanhost_kernel table = {};

  AffineExport() {
    table.abi = SCANHOST_ABI;
    table.copy = scanhost::copy_kind;
    table.op = "affine_scan";
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

#define EXPORT_STORED_AFFINE_SCAN(Kernel, ...) static AffineExport<Kernel, __VA_ARGS__> exported_##Kernel;
#define EXPORT_AFFINE_SCAN(Kernel) EXPORT_STORED_AFFINE_SCAN(Kernel, float)
