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

// Both numbers of a map cross in one 8-byte shuffle: two instructions on a GPU, one meeting of the lanes on simt.
__device__ inline unsigned long long packed(Affine map) {
  return (unsigned long long)__float_as_uint(map.b) << 32 | __float_as_uint(map.a);
}
__device__ inline Affine unpacked(unsigned long long bits) {
  return {__uint_as_float(unsigned(bits)), __uint_as_float(unsigned(bits >> 32))};
}

// The map of the lane `distance` before this one; this lane's own where there is none. Every lane must call.
__device__ inline Affine map_before(Affine map, int distance) {
  return unpacked(__shfl_up_sync(ALL_LANES, packed(map), distance));
}

// The map of one lane, the same for all. Every lane must call.
__device__ inline Affine map_of(Affine map, int lane) { return unpacked(__shfl_sync(ALL_LANES, packed(map), lane)); }

// Lane i gets the composition of the maps of lanes 0 to i. Every lane of the warp must call. No shared memory.
__device__ inline Affine warp_inclusive_scan(Affine map) {
  const int lane = threadIdx.x % WARP;
#pragma unroll
  for (int distance = 1; distance < WARP; distance *= 2) {
    const Affine left = map_before(map, distance);
    if (lane >= distance) map = combine(left, map);
  }
  return map;
}

// Turns the result of warp_inclusive_scan into the composition of all lanes before this one; the identity in
// lane 0. Every lane of the warp must call.
__device__ inline Affine warp_exclusive(Affine inclusive) {
  const Affine left = map_before(inclusive, 1);
  return threadIdx.x % WARP == 0 ? identity() : left;
}
