// The selective scan as the textbook has it: one thread walks one channel of one batch from step to step, with its
// states on the chip. The threads of a block have neighbouring channels, so x, delta, z and y are read and written in
// whole lines; B and C, which every channel of a batch shares, come through shared memory, a tile of steps at a time.
// Nothing of size (batch, length, channels, N) is ever in memory.
#include "selective.cuh"

constexpr int WARP = 32;
constexpr int MAX_THREADS = 128;     // of a block
constexpr int TILE = 8;              // steps whose inputs are in flight together
constexpr int REGISTER_STATES = 64;  // up to here states lie in registers
constexpr int SHARED_THREADS = 32;   // of a block whose states lie in shared memory

// One tile's steps of B or C, each padded to `width` states by zeros: a state beyond N is and stays 0. Every thread of
// the block must call; the tile may be read after the next barrier.
template <class T>
__device__ inline void fetch_tile(const T* from, float* tile, int steps, int states, int width) {
  for (int i = threadIdx.x; i < steps * width; i += blockDim.x) {
    const int step = i / width, n = i % width;
    tile[i] = n < states ? widen(from[step * states + n]) : 0.0f;
  }
}

// What a channel reads in one tile. Everything is requested before any of it is used.
template <class T>
struct Inputs {
  T x[TILE], delta[TILE], z[TILE];

  __device__ void fetch(const SelectiveArrays<T>& arrays, int64_t at, int64_t stride, int steps) {
#pragma unroll
    for (int i = 0; i < TILE; i++) {
      if (i >= steps) break;
      x[i] = arrays.x[at + i * stride];
      delta[i] = arrays.delta[at + i * stride];
      if (arrays.z) z[i] = arrays.z[at + i * stride];
    }
  }
};

// The states of one channel and what makes their factors, in registers: N rounded up to STATES.
template <int STATES>
struct Registers {
  float states[STATES], rates[STATES];

  __device__ float& h(int n) { return states[n]; }
  __device__ float& rate(int n) { return rates[n]; }
  __device__ static constexpr int count() { return STATES; }
};

// The same where registers do not hold them: a column of shared memory, which no other thread touches.
struct Column {
  float *states, *rates;
  int n_states;

  __device__ float& h(int n) { return states[n * SHARED_THREADS]; }
  __device__ float& rate(int n) { return rates[n * SHARED_THREADS]; }
  __device__ int count() const { return n_states; }
};

// One step of one channel: the states go on by a step of length d, and their sum with C is returned. Four partial
// sums, so that an addition need not wait for the one before.
template <class States>
__device__ inline float step(States& states, float d, float x, const float* enter, const float* leave) {
  const float dx = d * x;
  float sums[4] = {};
#pragma unroll
  for (int n = 0; n < states.count(); n++) {
    const float h = fmaf(exp2_approx(d * states.rate(n)), states.h(n), dx * enter[n]);
    states.h(n) = h;
    sums[n % 4] = fmaf(leave[n], h, sums[n % 4]);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Walks the channel of this thread, or none. Every thread of the block must call; tiles has room for TILE steps of B
// and of C, width states each.
template <class T, class States>
__device__ inline void walk(const SelectiveRows<T>& rows, unsigned blocks, States& states, float* tiles, int width) {
  const SelectiveArrays<T>& arrays = rows.arrays;
  const int64_t batch = blockIdx.x / blocks, channel = int64_t(blockIdx.x % blocks) * blockDim.x + threadIdx.x;
  const bool mine = channel < rows.channels;
  const int64_t first = (batch * rows.channels + channel) * rows.states;  // of this channel's states
#pragma unroll
  for (int n = 0; n < states.count(); n++) {
    const bool held = mine && n < rows.states;
    states.rate(n) = held ? rate_of(arrays.rate_log[channel * rows.states + n]) : 0.0f;
    states.h(n) = held && arrays.h0 ? arrays.h0[first + n] : 0.0f;
  }
  const float skip = mine && arrays.skip ? arrays.skip[channel] : 0.0f;
  const float bias = mine && arrays.bias ? arrays.bias[channel] : 0.0f;

  float *const enter = tiles, *const leave = tiles + TILE * width;
  for (int64_t t = 0; t < rows.length; t += TILE) {
    const int steps = rows.length - t < TILE ? int(rows.length - t) : TILE;
    const int64_t row = batch * rows.length + t, at = row * rows.channels + channel;
    __syncthreads();  // the tile before has been read
    fetch_tile(arrays.enter + row * rows.states, enter, steps, rows.states, width);
    fetch_tile(arrays.leave + row * rows.states, leave, steps, rows.states, width);
    Inputs<T> in;
    if (mine) in.fetch(arrays, at, rows.channels, steps);
    __syncthreads();
    if (!mine) continue;
#pragma unroll
    for (int i = 0; i < TILE; i++) {
      if (i >= steps) break;
      const float x = widen(in.x[i]), d = softplus(widen(in.delta[i]) + bias);
      float y = fmaf(skip, x, step(states, d, x, enter + i * width, leave + i * width));
      if (arrays.z) y *= silu(widen(in.z[i]));
      arrays.y[at + i * rows.channels] = narrow<T>(y);
    }
  }
  if (!mine || !arrays.last) return;
#pragma unroll
  for (int n = 0; n < states.count(); n++)
    if (n < rows.states) arrays.last[first + n] = states.h(n);
}

template <class T, int STATES>
__global__ void __launch_bounds__(MAX_THREADS) in_registers(SelectiveRows<T> rows, unsigned blocks) {
  __shared__ __align__(16) float tiles[2 * TILE * STATES];
  Registers<STATES> states;
  walk(rows, blocks, states, tiles, STATES);
}

template <class T>
__global__ void __launch_bounds__(SHARED_THREADS) in_shared_memory(SelectiveRows<T> rows, unsigned blocks) {
  DYNAMIC_SHARED(float, memory);
  const int n = rows.states, column = n * SHARED_THREADS;
  Column states = {memory + threadIdx.x, memory + column + threadIdx.x, n};
  walk(rows, blocks, states, memory + 2 * column, n);
}

struct ChannelWalk {
  static const char* unsupported(const SelectiveProblem& p) {
    const int64_t blocks = (p.channels + SHARED_THREADS - 1) / SHARED_THREADS;
    if (blocks <= MAX_BLOCKS) return nullptr;
    return refusal("%lld channels are more than one grid has threads for", (long long)p.channels);
  }

  static size_t workspace_bytes(const SelectiveProblem&) { return 0; }

  template <class T>
  static void enqueue(const SelectiveProblem& p, const SelectiveArrays<T>& arrays, void*, Stream stream) {
    if (p.states <= 4) return enqueue_registers<4>(p, arrays, stream);
    if (p.states <= 8) return enqueue_registers<8>(p, arrays, stream);
    if (p.states <= 16) return enqueue_registers<16>(p, arrays, stream);
    if (p.states <= 32) return enqueue_registers<32>(p, arrays, stream);
    if (p.states <= REGISTER_STATES) return enqueue_registers<REGISTER_STATES>(p, arrays, stream);
    const int64_t blocks = (p.channels + SHARED_THREADS - 1) / SHARED_THREADS;
    const size_t shared = size_t(p.states) * (2 * SHARED_THREADS + 2 * TILE) * sizeof(float);
    for_each_batches(p, arrays, blocks, [&](const SelectiveRows<T>& rows) {
      launch(in_shared_memory<T>, dim3(unsigned(rows.batch * blocks)), dim3(SHARED_THREADS), shared, stream, rows,
             unsigned(blocks));
    });
  }

 private:
  template <int STATES, class T>
  static void enqueue_registers(const SelectiveProblem& p, const SelectiveArrays<T>& arrays, Stream stream) {
    const int64_t whole = (p.channels + WARP - 1) / WARP * WARP;
    const unsigned threads = unsigned(whole < MAX_THREADS ? whole : MAX_THREADS);
    const int64_t blocks = (p.channels + threads - 1) / threads;
    for_each_batches(p, arrays, blocks, [&](const SelectiveRows<T>& rows) {
      launch(in_registers<T, STATES>, dim3(unsigned(rows.batch * blocks)), dim3(threads), 0, stream, rows,
             unsigned(blocks));
    });
  }
};

EXPORT_SELECTIVE_SCAN(ChannelWalk, float, fp16, bf16)
