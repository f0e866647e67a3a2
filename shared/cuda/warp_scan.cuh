// Scan of affine maps across the 32 lanes of a warp, by shuffles.
#pragma once
#include "affine.cuh"

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

// Threads for a block that has work for so many: whole warps, and no more than `most`.
inline unsigned whole_warps(int64_t work, int64_t most) {
  const int64_t threads = (work + WARP - 1) / WARP * WARP;
  return unsigned(threads < most ? threads : most);
}

// Lane i gets the composition of the maps of lanes 0 to i. Every lane of the warp must call. No shared memory.
__device__ inline Affine warp_inclusive_scan(Affine map) {
  const int lane = threadIdx.x % WARP;
#pragma unroll
  for (int distance = 1; distance < WARP; distance *= 2) {
    const Affine left = {__shfl_up_sync(ALL_LANES, map.a, distance), __shfl_up_sync(ALL_LANES, map.b, distance)};
    if (lane >= distance) map = combine(left, map);
  }
  return map;
}

// Turns the result of warp_inclusive_scan into the composition of all lanes before this one; the identity in
// lane 0. Every lane of the warp must call.
__device__ inline Affine warp_exclusive(Affine inclusive) {
  const Affine left = {__shfl_up_sync(ALL_LANES, inclusive.a, 1), __shfl_up_sync(ALL_LANES, inclusive.b, 1)};
  return threadIdx.x % WARP == 0 ? identity() : left;
}
