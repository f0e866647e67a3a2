// Scan of affine maps across the threads of a block: warps scan by shuffles, then every thread folds the
// totals of the warps before its own. The fold is serial on purpose: it reads shared memory by broadcast and
// costs one fused multiply-add of latency for each warp, less than a second round of shuffles.
#pragma once
#include "warp_scan.cuh"

struct BlockScanShared {
  Affine totals[32];  // by warp; a block has at most 32
};

struct WarpFold {
  Affine before;  // composition of the warps before this one; the identity in the first
  Affine total;   // composition of the whole block; in the first warp only
};

// warp_total counts in lane 31 of each warp: the composition of its warp. Every thread of the block must call, and
// blockDim.x must be a multiple of 32. The result is valid in every thread, except total. Contains one barrier; shared
// may be written again after the caller's next barrier.
__device__ inline WarpFold fold_warps(Affine warp_total, BlockScanShared& shared) {
  const int warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
  if (threadIdx.x % WARP == WARP - 1) shared.totals[warp] = warp_total;
  __syncthreads();
  // The first warp has none before it and folds them all instead.
  const int end = warp == 0 ? warps : warp;
  Affine folded = shared.totals[0];
  for (int w = 1; w < end; w++) folded = combine(folded, shared.totals[w]);
  return {warp == 0 ? identity() : folded, folded};
}

struct BlockScan {
  Affine before;  // composition of the maps of all threads before this one
  Affine total;   // composition of the whole block; in the first warp only
};

// As fold_warps, from one map of each thread.
__device__ inline BlockScan block_scan(Affine map, BlockScanShared& shared) {
  const Affine inclusive = warp_inclusive_scan(map);
  const Affine in_warp = warp_exclusive(inclusive);
  const WarpFold warps = fold_warps(inclusive, shared);
  return {threadIdx.x < WARP ? in_warp : combine(warps.before, in_warp), warps.total};
}
