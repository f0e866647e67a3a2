// The ceiling: float4 streams that read and write as many arrays as an operation must, and nothing else. And
// kernels of known length, for the host's clock.
#pragma once
#include "context.cuh"
#include "kernels.cuh"

namespace keeper {

template <int R, int W>
struct StreamArrays {
  const float4* reads[R];
  float4* writes[W];
};

__device__ inline float4 operator+(float4 x, float4 y) {
  return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

// The frozen stream, the denominator of every published "% of ceiling": one float4 of each array for each
// thread, plain loads and stores. It is never tuned; better ones become variants below.
template <int R, int W>
__global__ void plain_stream(StreamArrays<R, W> arrays, uint64_t quads) {
  const uint64_t i = first_index();
  if (i >= quads) return;
  float4 sum = arrays.reads[0][i];
#pragma unroll
  for (int r = 1; r < R; r++) sum = sum + arrays.reads[r][i];
#pragma unroll
  for (int w = 0; w < W; w++) arrays.writes[w][i] = sum;
}

// ITEMS float4 of each array for each thread, all loads before the first store, marked as used once.
template <int R, int W, int ITEMS>
__global__ void wide_stream(StreamArrays<R, W> arrays, uint64_t quads) {
  const uint64_t begin = blockIdx.x * uint64_t{blockDim.x} * ITEMS + threadIdx.x;
  float4 sum[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; k++) {
    const uint64_t i = begin + uint64_t(k) * blockDim.x;
    if (i >= quads) break;
    sum[k] = __ldcs(&arrays.reads[0][i]);
#pragma unroll
    for (int r = 1; r < R; r++) sum[k] = sum[k] + __ldcs(&arrays.reads[r][i]);
  }
#pragma unroll
  for (int k = 0; k < ITEMS; k++) {
    const uint64_t i = begin + uint64_t(k) * blockDim.x;
    if (i >= quads) break;
#pragma unroll
    for (int w = 0; w < W; w++) __stcs(&arrays.writes[w][i], sum[k]);
  }
}

template <int R, int W, int ITEMS>
void enqueue_wide(const StreamArrays<R, W>& arrays, uint64_t quads, unsigned threads) {
  const uint64_t tile = uint64_t{threads} * ITEMS;
  wide_stream<R, W, ITEMS>
      <<<static_cast<unsigned>((quads + tile - 1) / tile), threads, 0, context().stream>>>(arrays, quads);
}

template <int R, int W>
void enqueue_stream(const keeper_stream_set& set, uint64_t quads, uint32_t variant) {
  StreamArrays<R, W> arrays;
  for (int r = 0; r < R; r++) arrays.reads[r] = reinterpret_cast<const float4*>(set.reads[r]);
  for (int w = 0; w < W; w++) arrays.writes[w] = reinterpret_cast<float4*>(set.writes[w]);
  switch (variant) {
    case 1:
      return enqueue_wide<R, W, 1>(arrays, quads, 512);
    case 2:
      return enqueue_wide<R, W, 2>(arrays, quads, 256);
    case 3:
      return enqueue_wide<R, W, 4>(arrays, quads, 256);
    case 4:
      return enqueue_wide<R, W, 4>(arrays, quads, 512);
  }
  const unsigned blocks = static_cast<unsigned>((quads + block_threads - 1) / block_threads);
  plain_stream<R, W><<<blocks, block_threads, 0, context().stream>>>(arrays, quads);
}

using EnqueueStream = void (*)(const keeper_stream_set&, uint64_t quads, uint32_t variant);

constexpr EnqueueStream streams[KEEPER_STREAM_READS][KEEPER_STREAM_WRITES] = {
    {enqueue_stream<1, 1>, enqueue_stream<1, 2>, enqueue_stream<1, 3>},
    {enqueue_stream<2, 1>, enqueue_stream<2, 2>, enqueue_stream<2, 3>},
    {enqueue_stream<3, 1>, enqueue_stream<3, 2>, enqueue_stream<3, 3>},
    {enqueue_stream<4, 1>, enqueue_stream<4, 2>, enqueue_stream<4, 3>},
};

__device__ inline uint64_t device_nanoseconds() {
  uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

__global__ void spin(uint64_t nanoseconds) {
  const uint64_t begin = device_nanoseconds();
  while (device_nanoseconds() - begin < nanoseconds) {
  }
}

// Runs enqueue(i) for every launch between the two events.
template <class Enqueue>
int timed_batch(uint32_t launches, double* ms, char text[KEEPER_TEXT], Enqueue enqueue) {
  auto& c = context();
  KEEPER_TRY(cudaEventRecord(c.begin, c.stream));
  for (uint32_t i = 0; i < launches; i++) {
    enqueue(i);
    KEEPER_TRY(cudaGetLastError());
  }
  KEEPER_TRY(cudaEventRecord(c.end, c.stream));
  KEEPER_TRY(cudaStreamSynchronize(c.stream));
  float between = 0;
  KEEPER_TRY(cudaEventElapsedTime(&between, c.begin, c.end));
  *ms = between;
  return KEEPER_OK;
}

}  // namespace keeper

int keeper_run_stream(const keeper_stream* s, uint32_t variant, uint32_t first, uint32_t launches, double* ms,
                      char text[KEEPER_TEXT]) {
  if (int status = keeper::enter(text)) return status;
  const keeper::EnqueueStream enqueue = keeper::streams[s->reads - 1][s->writes - 1];
  return keeper::timed_batch(launches, ms, text, [&](uint32_t i) {
    enqueue(s->sets[(uint64_t{first} + i) % s->count], s->bytes / 16, variant);
  });
}

int keeper_run_spin(uint64_t nanoseconds, uint32_t launches, double* ms, char text[KEEPER_TEXT]) {
  if (int status = keeper::enter(text)) return status;
  return keeper::timed_batch(launches, ms, text,
                             [&](uint32_t) { keeper::spin<<<1, 1, 0, keeper::context().stream>>>(nanoseconds); });
}
