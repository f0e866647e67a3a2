// Level 3b: the look-back of level 3, done by a warp instead of a thread.
//
// 32 lanes read the records of 32 predecessors in one go, so that the latency of device memory is paid once for
// a window and not once for each predecessor. Tiles, block scan and the order in which maps are applied are
// those of level 3, so the results are its results bit for bit.
#include "block_scan.cuh"
#include "look_back.cuh"

constexpr int TILE = 256;  // one element for each thread; the block of a shorter row has fewer

struct TileShared {
  BlockScanShared scan;
  TilePlace tile;
  float entering;  // state that enters the tile
};

__global__ void __launch_bounds__(TILE) lookback_warp(AffineRows rows, Lookback lookback) {
  __shared__ TileShared shared;
  if (threadIdx.x == 0) shared.tile = lookback.claim();
  __syncthreads();
  const TilePlace tile = shared.tile;
  const int64_t t = int64_t(tile.index) * TILE + threadIdx.x;
  const int64_t at = rows.at(tile.row, t);
  Affine step = identity();
  if (t < rows.length) step = {rows.arrays.a[at], rows.arrays.b[at]};

  const BlockScan scan = block_scan(step, shared.scan);
  if (threadIdx.x < WARP) {
    const FencedTiles tiles = {lookback.records(), lookback.header->epoch};
    const uint32_t row_record = lookback.record(tile.row), record = row_record + tile.index;
    if (threadIdx.x == 0 && tile.index > 0) tiles.publish_aggregate(record, scan.total);
    const float entering = warp_look_back(tiles, row_record, tile.index, rows.initial(tile.row));
    if (threadIdx.x == 0) tiles.publish_prefix(record, apply(scan.total, entering));
    if (threadIdx.x == 0) shared.entering = entering;
  }
  __syncthreads();

  if (t >= rows.length) return;
  const float h = apply(step, apply(scan.before, shared.entering));
  rows.arrays.h[at] = h;
  if (rows.ends_row(t)) rows.arrays.last[tile.row] = h;
}

struct LookbackWarp {
  static int64_t tiles_per_row(const AffineProblem& p) { return (p.length + TILE - 1) / TILE; }

  static const char* unsupported(const AffineProblem& p) {
    if (tiles_per_row(p) <= MAX_BLOCKS) return nullptr;
    return refusal("length %lld is over %lld, the most that 31-bit tile numbers reach", (long long)p.length,
                   (long long)(MAX_BLOCKS * TILE));
  }

  static size_t workspace_bytes(const AffineProblem& p) { return lookback_workspace_bytes(p.rows, tiles_per_row(p)); }

  static void enqueue(const AffineProblem& p, const AffineArrays& arrays, void* workspace, Stream stream) {
    const int64_t tiles = tiles_per_row(p);
    for_each_grid(p, arrays, tiles, [&](const AffineRows& rows) {
      const Lookback state = enqueue_begin(workspace, rows.rows, tiles, stream);
      const unsigned threads = whole_warps(p.length, TILE);
      launch(lookback_warp, dim3(unsigned(rows.rows * tiles)), dim3(threads), 0, stream, rows, state);
    });
  }
};

EXPORT_AFFINE_SCAN(LookbackWarp)
