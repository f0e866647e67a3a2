// Operation selective_scan for kernels, Mamba's S6 recurrence. For every batch and channel, and N states n,
//
//   d = softplus(delta + delta_bias)    h[n] = exp(-d exp(A_log[n])) h[n] + d B[n] x    y = (sum C[n] h[n] + D x)
//   silu(z)
//
// x, delta, z, y are (batch, length, channels), B and C (batch, length, N), A_log (channels, N), states (batch,
// channels, N). A kernel file includes this header, defines a struct with unsupported, workspace_bytes and enqueue as
// in affine.cuh, enqueue being a template over SelectiveArrays<T>, and ends with EXPORT_SELECTIVE_SCAN(that struct,
// float, fp16, bf16). enqueue never sees a problem without elements.
#pragma once
#include "operation.cuh"

struct SelectiveProblem {
  int64_t batch, length, channels, states;
  bool skip, gate, bias, h0, last_state;
  const int64_t* tuning;  // in the order of plugin.toml
};

// T is the storage type of x, delta, z, B, C and y; all else is fp32. Pointers are nullptr where an array is absent.
template <class T>
struct SelectiveArrays {
  const T *x, *delta, *z, *enter, *leave;  // enter is B, leave is C
  const float *rate_log, *skip, *bias;     // A_log, D, delta_bias
  const float* h0;
  T* y;
  float* last;
};

// What a kernel gets of one launch, by value.
template <class T>
struct SelectiveRows {
  SelectiveArrays<T> arrays;
  int64_t batch, length, channels;
  int states;
};

constexpr float LOG2E = 1.44269504f;

// The factor of a step d is 2^(d * rate). Finite whatever A_log is, since 0 times an infinity is NaN, and the factor of
// a step of 0 is 1.
__device__ inline float rate_of(float rate_log) {
  const float rate = expf(rate_log) * LOG2E;
  return -(rate > 3.40282347e38f ? 3.40282347e38f : rate);
}

// log(1 + e^s) with the relative accuracy of e^s where that is small, and without overflow where it is large.
__device__ inline float softplus(float s) { return fmaxf(s, 0.0f) + log1pf(exp2_approx(-fabsf(s) * LOG2E)); }

__device__ inline float silu(float z) { return z / (1.0f + exp2_approx(-z * LOG2E)); }

// What operation.cuh needs to know of this operation.
struct SelectiveScan {
  using Problem = SelectiveProblem;
  static constexpr const char* name = "selective_scan";

  static Problem problem(const scanhost_problem& p) {
    const auto on = [&](int i) { return (p.options >> i & 1) != 0; };
    return {p.dims[0], p.dims[1], p.dims[2], p.dims[3], on(0), on(1), on(2), on(3), on(4), p.tuning};
  }

  template <class T>
  static SelectiveArrays<T> arrays(const scanhost_set& set) {
    const auto stored = [&](int i) { return static_cast<const T*>(set.arrays[i].pointer); };
    const auto single = [&](int i) { return static_cast<const float*>(set.arrays[i].pointer); };
    return {stored(0),
            stored(1),
            stored(2),
            stored(3),
            stored(4),
            single(5),
            single(6),
            single(7),
            single(8),
            static_cast<T*>(set.arrays[9].pointer),
            static_cast<float*>(set.arrays[10].pointer)};
  }

  static int64_t rows(const Problem& p) { return p.batch * p.channels; }
  static int64_t length(const Problem& p) { return p.length; }
  static int64_t states(const Problem& p) { return rows(p) * p.states; }
};

// Calls enqueue_rows(SelectiveRows) for consecutive batches whose blocks fit in one grid.
template <class T, class EnqueueRows>
void for_each_batches(const SelectiveProblem& p, const SelectiveArrays<T>& arrays, int64_t blocks_per_batch,
                      EnqueueRows enqueue_rows) {
  const int64_t step = rows_per_grid(p.batch, blocks_per_batch);
  for (int64_t first = 0; first < p.batch; first += step) {
    SelectiveArrays<T> part = arrays;
    const int64_t values = first * p.length * p.channels, wide = first * p.length * p.states;
    part.x += values, part.delta += values, part.y += values;
    part.enter += wide, part.leave += wide;
    if (part.z) part.z += values;
    if (part.h0) part.h0 += first * p.channels * p.states;
    if (part.last) part.last += first * p.channels * p.states;
    const int64_t rest = p.batch - first;
    enqueue_rows(SelectiveRows<T>{part, rest < step ? rest : step, p.length, p.channels, int(p.states)});
  }
}

#define EXPORT_SELECTIVE_SCAN(Kernel, ...) static OperationExport<SelectiveScan, Kernel, __VA_ARGS__> exported_##Kernel;
