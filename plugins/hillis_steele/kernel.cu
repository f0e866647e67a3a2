// Hillis and Steele's scan, register-resident, one block for each row.
//
// In pass k every element is combined with the one 2^k before it; after log2 L passes each is the composition of
// everything up to it. Element t of a row lives in register t / threads of thread t % threads, so that neighbouring
// threads read neighbouring addresses. Distances below the number of threads lead to another thread, and the pass
// goes through shared memory; longer ones lead to another register of the same thread, and the pass costs
// nothing but arithmetic. Global memory sees a and b read once and h written once.
#include "affine.cuh"

constexpr int MAX_LENGTH = 8192;
constexpr int WARP = 32;

// Where a thread publishes its first register; the others follow at a stride of one warp. Constant strides take no
// registers for addresses, and each warp's accesses lie side by side.
template <int ITEMS>
__device__ inline int place(int thread) {
  return thread / WARP * WARP * ITEMS + thread % WARP;
}

// A pass whose partners belong to other threads: distance < blockDim.x. The partner is the thread `distance`
// before, counted round the block; those that went round the start find it in the register before. Every thread
// of the block must call; exchange has blockDim.x * ITEMS places and may be written again at once. Two barriers
// rather than two buffers: at 8192 elements two would need 128 KB, which many GPUs do not give to a block.
template <int ITEMS>
__device__ inline void pass_across_threads(Affine (&map)[ITEMS], float2* exchange, int distance) {
  const bool round = threadIdx.x < distance;
  float2* mine = exchange + place<ITEMS>(threadIdx.x);
  const float2* before = exchange + place<ITEMS>((threadIdx.x - distance) & (blockDim.x - 1)) - (round ? WARP : 0);
#pragma unroll
  for (int i = 0; i < ITEMS; i++) mine[i * WARP] = make_float2(map[i].a, map[i].b);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    if (i == 0 && round) continue;
    const float2 left = before[i * WARP];
    map[i] = combine({left.x, left.y}, map[i]);
  }
  __syncthreads();
}

// A pass at distance back * blockDim.x. From the last register down, so that the left operand is still that of
// the pass before.
template <int ITEMS>
__device__ inline void pass_across_registers(Affine (&map)[ITEMS], int back) {
#pragma unroll
  for (int i = ITEMS - 1; i > 0; i--)
    if (i >= back) map[i] = combine(map[i - back], map[i]);
}

// On an SM that has the shared memory for them, two blocks of the longest rows are resident.
template <int ITEMS>
__global__ void __launch_bounds__(MAX_LENGTH / ITEMS, ITEMS < 16 ? 1 : 2) hillis_steele(AffineRows rows) {
  DYNAMIC_SHARED(float2, exchange);
  const int64_t row = blockIdx.x, start = rows.at(row, threadIdx.x);
  const int length = int(rows.length), threads = blockDim.x, step = rows.reverse ? -threads : threads;
  const int held = (length + threads - 1 - int(threadIdx.x)) / threads;  // elements of this thread
  const float *a = rows.arrays.a + start, *b = rows.arrays.b + start;
  Affine map[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; i++, a += step, b += step) {
    map[i] = identity();
    if (i < held) map[i] = {*a, *b};
  }
  for (int distance = 1; distance < threads && distance < length; distance *= 2) {
    pass_across_threads(map, exchange, distance);
  }
#pragma unroll
  for (int back = 1; back < ITEMS; back *= 2) {
    if (back * threads < length) pass_across_registers(map, back);
  }

  const float initial = rows.initial(row);
  float *h = rows.arrays.h + start, state = initial;
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    if (i >= held) continue;
    state = apply(map[i], initial);
    *h = state;
    h += step;
  }
  if (held > 0 && rows.ends_row((held - 1) * threads + int(threadIdx.x))) rows.arrays.last[row] = state;
}

// A power of two, since distances continue from the threads into the registers without a gap, and a warp at least.
inline unsigned threads_for(int64_t length, int items) {
  unsigned threads = WARP;
  while (int64_t(threads) * items < length) threads *= 2;
  return threads;
}

struct HillisSteele {
  static const char* unsupported(const AffineProblem& p) {
    const int64_t items = p.tuning[0];
    if (items != 8 && items != 16 && items != 32)
      return refusal("items is %lld; 8, 16 and 32 are accepted", (long long)items);
    if (p.length <= MAX_LENGTH) return nullptr;
    return refusal("length %lld is over %d, the most that one block of this kernel scans", (long long)p.length,
                   MAX_LENGTH);
  }

  static size_t workspace_bytes(const AffineProblem&) { return 0; }

  static void enqueue(const AffineProblem& p, const AffineArrays& arrays, void*, Stream stream) {
    switch (p.tuning[0]) {
      case 8:
        return enqueue_items<8>(p, arrays, stream);
      case 16:
        return enqueue_items<16>(p, arrays, stream);
      case 32:
        return enqueue_items<32>(p, arrays, stream);
    }
  }

 private:
  template <int ITEMS>
  static void enqueue_items(const AffineProblem& p, const AffineArrays& arrays, Stream stream) {
    const unsigned threads = threads_for(p.length, ITEMS);
    const size_t shared = threads * ITEMS * sizeof(float2);
    for_each_grid(p, arrays, 1, [&](const AffineRows& rows) {
      launch(hillis_steele<ITEMS>, dim3(unsigned(rows.rows)), dim3(threads), shared, stream, rows);
    });
  }
};

EXPORT_AFFINE_SCAN(HillisSteele)
