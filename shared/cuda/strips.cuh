// Scan of a warp's part of a tile in two passes over its registers. TileSpan (row_tile.cuh) lays the elements out: a
// warp has STRIPS strips, one after another, and a lane has SIZE neighbouring elements of each.
#pragma once
#include "warp_scan.cuh"

template <int STRIPS>
struct WarpStrips {
  Affine before[STRIPS];  // composition of the lanes before this one in each strip
  Affine through;         // composition of all strips; in lane 31
};

// First pass: a strip is scanned across the warp by itself; lane 31 composes the strips. Every lane must call.
template <int SIZE, int ITEMS>
__device__ WarpStrips<ITEMS / SIZE> scan_strips(const float (&a)[ITEMS], const float (&b)[ITEMS]) {
  WarpStrips<ITEMS / SIZE> strips;
#pragma unroll
  for (int s = 0; s < ITEMS / SIZE; s++) {
    Affine group = {a[s * SIZE], b[s * SIZE]};
#pragma unroll
    for (int i = s * SIZE + 1; i < (s + 1) * SIZE; i++) group = combine(group, {a[i], b[i]});
    group = warp_inclusive_scan(group);
    strips.before[s] = warp_exclusive(group);
    strips.through = s == 0 ? group : combine(strips.through, group);
  }
  return strips;
}

// Second pass: b becomes h. A lane repeats the serial recurrence on its own elements, so no products are kept and
// roundings are those of a serial loop. `enters` is the state before the warp's first element. Every lane must call.
template <int SIZE, int ITEMS>
__device__ void apply_strips(const WarpStrips<ITEMS / SIZE>& strips, float enters, const float (&a)[ITEMS],
                             float (&b)[ITEMS]) {
#pragma unroll
  for (int s = 0; s < ITEMS / SIZE; s++) {
    float h = apply(strips.before[s], enters);
#pragma unroll
    for (int i = s * SIZE; i < (s + 1) * SIZE; i++) b[i] = h = apply({a[i], b[i]}, h);
    if (s + 1 < ITEMS / SIZE) enters = __shfl_sync(ALL_LANES, h, WARP - 1);
  }
}
