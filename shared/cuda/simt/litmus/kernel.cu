// Small kernels in pairs: one with a planted bug that the simulated GPU must name, and its correct twin.
#include "storage.cuh"

enum Bug {
  CORRECT,
  BLOCK_INDEX_FOR_TICKET,
  NO_WRITER_FENCE,
  NO_READER_FENCE,
  SWAPPED_OPERANDS,
  TORN_STORE,
  MISSING_BARRIER,
  DIVERGENT_BARRIER,
  UNINITIALISED,
  UNORDERED_NEIGHBOUR,
};

struct Map {
  float a, b;
};
__device__ inline Map compose(Map left, Map right) { return {left.a * right.a, fmaf(right.a, left.b, right.b)}; }

struct Chain {
  unsigned *ticket, *flag;  // flag: 0 nothing, 1 aggregate, 2 inclusive prefix
  float2 *aggregate, *prefix;
};

struct Arrays {
  const float *a, *b;
  float* h;
  int n;
};

constexpr int TILE = 32;

// A look-back over one row, a warp to a tile, as in plugins/lookback with the records taken apart.
template <Bug BUG>
__global__ void look_back(Arrays x, Chain chain) {
  __shared__ unsigned claimed;
  __shared__ Map before;
  const int lane = threadIdx.x;
  if (lane == 0) claimed = BUG == BLOCK_INDEX_FOR_TICKET ? blockIdx.x : atomicAdd(chain.ticket, 1u);
  __syncthreads();
  const unsigned tile = claimed;
  const int at = tile * TILE + lane;
  Map scan = {at < x.n ? x.a[at] : 1.0f, at < x.n ? x.b[at] : 0.0f};
  for (int d = 1; d < TILE; d *= 2) {
    const Map earlier = {__shfl_up_sync(~0u, scan.a, d), __shfl_up_sync(~0u, scan.b, d)};
    if (lane >= d) scan = BUG == SWAPPED_OPERANDS ? compose(scan, earlier) : compose(earlier, scan);
  }
  const Map total = {__shfl_sync(~0u, scan.a, TILE - 1), __shfl_sync(~0u, scan.b, TILE - 1)};
  if (lane == 0) {
    Map carry = {1.0f, 0.0f};
    chain.aggregate[tile] = make_float2(total.a, total.b);
    if (BUG != NO_WRITER_FENCE) __threadfence();
    store_relaxed(&chain.flag[tile], 1u);
    for (int j = int(tile) - 1; j >= 0; j--) {
      unsigned flag;
      while ((flag = load_relaxed(&chain.flag[j])) == 0) {
      }
      if (BUG != NO_READER_FENCE) __threadfence();
      const float2 map = flag == 2 ? chain.prefix[j] : chain.aggregate[j];
      carry = compose({map.x, map.y}, carry);
      if (flag == 2) break;
    }
    const Map prefix = compose(carry, total);
    chain.prefix[tile] = make_float2(prefix.a, prefix.b);
    __threadfence();
    store_relaxed(&chain.flag[tile], 2u);
    before = carry;
  }
  __syncthreads();
  if (at < x.n) x.h[at] = compose(before, scan).b;
}

// Each block hands a 16-byte record to the next; records are stored and loaded whole, or in parts.
template <Bug BUG>
__global__ void relay(Arrays x, unsigned* ticket, uint4* record) {
  if (threadIdx.x != 0) return;
  const unsigned tile = atomicAdd(ticket, 1u);
  uint4 word = make_uint4(1, 0, 0, 0);
  if (tile > 0) do
      word = load_relaxed(&record[tile - 1]);
    while (word.x == 0);
  const uint4 next = make_uint4(1, word.y + 1, word.z + 2, word.w + 3);
  if (BUG == TORN_STORE)
    record[tile] = next;
  else
    store_relaxed(&record[tile], next);
  x.h[tile] = float(next.y + next.z + next.w);
}

// Reverses each 64 elements through shared memory.
template <Bug BUG>
__global__ void reverse(Arrays x) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  const int at = blockIdx.x * 64 + t;
  if (BUG != UNINITIALISED || t != 17) tile[t] = 0.0f;
  __syncthreads();
  if (BUG != UNINITIALISED || t != 17) tile[t] = at < x.n ? x.a[at] : 0.0f;
  if (BUG == DIVERGENT_BARRIER && t == 5) __syncthreads();
  if (BUG != MISSING_BARRIER) __syncthreads();
  if (at < x.n) x.h[at] = tile[63 - t];
}

// The same exchange within a warp needs no barrier, but it does need __syncwarp.
template <Bug BUG>
__global__ void reverse_warp(Arrays x) {
  __shared__ float tile[32];
  tile[threadIdx.x] = 0.0f;
  __syncwarp();
  tile[threadIdx.x] = x.a[threadIdx.x];
  if (BUG != MISSING_BARRIER) __syncwarp();
  x.h[threadIdx.x] = tile[31 - threadIdx.x];
}

// A block rounded up to a full warp: its last lanes have no element.
__global__ void rounded_up(Arrays x, int limit) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < limit) x.h[at] = 1.0f;
}

__global__ void write_input(Arrays x) { const_cast<float*>(x.a)[threadIdx.x] = 1.0f; }

__global__ void fill_shared(Arrays x, int limit) {
  DYNAMIC_SHARED(float, scratch);
  if (int(threadIdx.x) < limit) scratch[threadIdx.x] = 1.0f;
  __syncthreads();
  x.h[threadIdx.x] = scratch[0];
}

__device__ __noinline__ float deep(float x, int n) {
  volatile float frame[256];
  frame[n & 255] = x;
  if (n == 0) return frame[0];
  return deep(x, n - 1) + frame[n & 255];
}
__global__ void recurse(Arrays x, int depth) { x.h[threadIdx.x] = threadIdx.x == 37 ? deep(x.a[0], depth) : 0.0f; }

__global__ void masks(Arrays x, unsigned low) {
  const int lane = threadIdx.x;
  const unsigned mask = lane < 16 ? low : 0xffff0000u;
  x.h[lane] = float(__shfl_xor_sync(mask, lane, 1));
}

// Blocks meet in a counter: needs all of them resident.
__global__ void grid_barrier(Arrays x, unsigned* arrived) {
  if (threadIdx.x == 0) {
    x.h[blockIdx.x] = float(blockIdx.x);
    __threadfence();
    atomicAdd(arrived, 1u);
    while (load_acquire(arrived) < gridDim.x) {
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) x.h[gridDim.x + blockIdx.x] = x.h[(blockIdx.x + 1) % gridDim.x];
}

__global__ void wait_for_ever(unsigned* word) {
  while (load_relaxed(word) == 0) {
  }
}

__global__ void load_vectors(Arrays x, int offset) {
  reinterpret_cast<float4*>(x.h)[threadIdx.x] = reinterpret_cast<const float4*>(x.a + offset)[threadIdx.x];
}

// Every block writes the word; with the same value that is harmless.
__global__ void all_write(Arrays x, int differ) { x.h[0] = differ ? float(blockIdx.x) : 1.0f; }

// What collectives, atomics and bits return, one value to an element of h.
__global__ void semantics(Arrays x, int* counter) {
  const int t = threadIdx.x, lane = t % 32;
  float* h = x.h + t * 16;
  h[0] = float(__shfl_up_sync(~0u, t, 3, 8));
  h[1] = float(__shfl_down_sync(~0u, t, 3, 8));
  h[2] = float(__shfl_xor_sync(~0u, t, 5));
  h[3] = float(__shfl_sync(~0u, t, 9, 8));
  h[4] = float(__popc(__ballot_sync(~0u, lane % 3 == 0)));
  h[5] = float(__any_sync(~0u, lane == 7));
  h[6] = float(__all_sync(~0u, lane == 7));
  h[7] = float(atomicAdd(counter, 1) >= 0);
  atomicMax(counter + 1, t);
  atomicMin(counter + 2, -t);
  h[8] = float(__ffs(t) * 100 + __clz(t));
  h[9] = fmaf(x.a[t], x.b[t], x.a[t]);
  __syncthreads();
  h[10] = float(counter[0]);
  h[11] = float(counter[1]);
  h[12] = float(counter[2]);
  h[13] = float(atomicCAS(counter + 3, 0, t + 1) == 0);
  h[14] = float(__brev(unsigned(t)) >> 24);
  if (t % 2) return;
  h[15] = float(__shfl_sync(0x55555555u, t, 4));
}

// Many stores to one word: whoever reads its neighbour in the same 16 bytes reads what the launch found there.
template <Bug BUG>
__global__ void neighbours(Arrays x, unsigned* words) {
  const unsigned ticket = atomicAdd(words, 1u);
  if (BUG == UNORDERED_NEIGHBOUR && ticket == 0) words[2] = 7;
  x.h[blockIdx.x] = float(words[2]);
}

template <Bug BUG>
__global__ void count_in_shared(Arrays x) {
  __shared__ unsigned arrived;
  if (BUG != UNINITIALISED && threadIdx.x == 0) arrived = 0;
  __syncthreads();
  atomicAdd(&arrived, 1u);
  __syncthreads();
  x.h[threadIdx.x] = float(arrived);
}

// Storage types, as numbers: every thread widens the pattern whose number is a[i], and narrows b[i].
__global__ void storage_types(Arrays x) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= x.n) return;
  const uint16_t pattern = uint16_t(x.a[i]);
  float* h = x.h + 4 * i;
  h[0] = widen(fp16{pattern});
  h[1] = widen(bf16{pattern});
  h[2] = float(narrow<fp16>(x.b[i]).bits);
  h[3] = float(narrow<bf16>(x.b[i]).bits);
}

// Barriers among threads of which some have left, and collectives of whole and of half warps between them.
__global__ void mixed(Arrays x) {
  __shared__ unsigned first[3];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  if (t >= 70) return;
  const unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  unsigned v = t;
  for (int round = 0; round < 6; round++) {
    if (warp == 2 && round == 3) break;
    if (warp < 2) {
      v += __shfl_xor_sync(half, v, round + 1);
      if (round % 2) v += __popc(__ballot_sync(~0u, v & 1)) + __shfl_up_sync(~0u, v, 3);
    }
    if (lane == 0) first[warp] = v;
    __syncthreads();
    v = (v + first[(warp + 1) % (round < 3 ? 3 : 2)]) & 0xfffff;
    __syncthreads();
  }
  x.h[t] = float(v);
}
