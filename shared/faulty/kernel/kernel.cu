// A serial scan with faults that only a device can have. See README.md for what each must be called.
#include "affine.cuh"

enum Fault { NONE = 0, DEADLOCK = 1, WRITE_INPUT = 2, PAST_THE_END = 3, WILD_STORE = 4, DROPPED_CARRY = 5 };

constexpr int THREADS = 128;

__global__ void faulty(AffineRows rows, int fault, uint32_t* never_set) {
  const int64_t row = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows.rows) return;
  if (fault == DEADLOCK)
    while (load_acquire(never_set) == 0) {
    }
  if (fault == WRITE_INPUT) const_cast<float*>(rows.arrays.a)[row * rows.length] = 1.0f;
  if (fault == PAST_THE_END) rows.arrays.h[rows.rows * rows.length] = 1.0f;
  if (fault == WILD_STORE) rows.arrays.h[int64_t(1) << 45] = 1.0f;
  float h = rows.initial(row);
  for (int64_t t = 0; t < rows.length; t++) {
    if (fault == DROPPED_CARRY && t == rows.length / 2) h = 0.0f;
    const int64_t i = rows.at(row, t);
    h = apply({rows.arrays.a[i], rows.arrays.b[i]}, h);
    rows.arrays.h[i] = h;
    if (rows.ends_row(t)) rows.arrays.last[row] = h;
  }
}

struct FaultyKernel {
  static const char* unsupported(const AffineProblem&) { return nullptr; }

  static size_t workspace_bytes(const AffineProblem&) { return sizeof(uint32_t); }

  static void enqueue(const AffineProblem& p, const AffineArrays& arrays, void* workspace, Stream stream) {
    const int fault = int(p.tuning[0]);
    for_each_grid(p, arrays, 1, [&](const AffineRows& rows) {
      const unsigned blocks = unsigned((rows.rows + THREADS - 1) / THREADS);
      launch(faulty, dim3(blocks), dim3(THREADS), 0, stream, rows, fault, static_cast<uint32_t*>(workspace));
    });
  }
};

EXPORT_AFFINE_SCAN(FaultyKernel)
