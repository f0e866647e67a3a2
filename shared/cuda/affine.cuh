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
#include "operation.cuh"

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

// What operation.cuh needs to know of this operation.
struct AffineScan {
  using Problem = AffineProblem;
  static constexpr const char* name = "affine_scan";

  static Problem problem(const scanhost_problem& p) {
    return {p.dims[0],
            p.dims[1],
            (p.options & 1) != 0,
            (p.options & 2) != 0,
            (p.options & 4) != 0,
            p.tuning,
            p.dtype == dtype_of<float> ? 4 : 2};
  }

  template <class T>
  static StoredArrays<T> arrays(const scanhost_set& set) {
    const auto at = [&](int i) { return set.arrays[i].pointer; };
    return {static_cast<const T*>(at(0)), static_cast<const T*>(at(1)), static_cast<const float*>(at(2)),
            static_cast<T*>(at(3)), static_cast<float*>(at(4))};
  }

  static int64_t rows(const Problem& p) { return p.rows; }
  static int64_t length(const Problem& p) { return p.length; }
  static int64_t states(const Problem& p) { return p.rows; }
};

#define EXPORT_STORED_AFFINE_SCAN(Kernel, ...) \
  static OperationExport<AffineScan, Kernel, __VA_ARGS__> exported_##Kernel;
#define EXPORT_AFFINE_SCAN(Kernel) EXPORT_STORED_AFFINE_SCAN(Kernel, float)
