// Level 3: single-pass scan with decoupled look-back (Merrill and Garland, NVR-2016-002).
//
// A tile publishes its aggregate as soon as it has scanned itself, then looks back along its predecessors for
// the state that enters it: past those that have only an aggregate, to the nearest one that already has its
// inclusive prefix. So a and b are read once and h is written once, whatever the length, where level 2 comes
// back for the local scans a second time. One thread of the tile does the looking.
#include "block_scan.cuh"
#include "tile_state.cuh"

constexpr int TILE = 256;  // one element for each thread; the block of a shorter row has fewer

// The state that enters tile `index` of a row whose records start at row_record: from the nearest inclusive
// prefix the maps are applied in ascending order, on the way back to the tile, so that the result does not
// depend on how far back that prefix was. One thread calls.
__device__ float look_back(const FencedTiles& tiles, uint32_t row_record, uint32_t index, float initial) {
  uint32_t next = index;  // first tile whose map is still to be applied
  float state = initial;
  while (next > 0) {
    const TileView tile = tiles.read(row_record + next - 1);
    if (tile.flag == TILE_PREFIX) state = tile.state;
    if (tile.flag == TILE_PREFIX) break;
    if (tile.flag == TILE_AGGREGATE) next--;
  }
  for (; next < index; next++) {
    const TileView tile = tiles.read(row_record + next);
    state = tile.flag == TILE_PREFIX ? tile.state : apply(tile.map, state);
  }
  return state;
}

struct TileShared {
  BlockScanShared scan;
  TilePlace tile;
  float entering;  // state that enters the tile
};

__global__ void __launch_bounds__(TILE) lookback(AffineRows rows, Lookback lookback) {
  __shared__ TileShared shared;
  if (threadIdx.x == 0) shared.tile = lookback.claim();
  __syncthreads();
  const TilePlace tile = shared.tile;
  const int64_t t = int64_t(tile.index) * TILE + threadIdx.x;
  const int64_t at = rows.at(tile.row, t);
  Affine step = identity();
  if (t < rows.length) step = {rows.arrays.a[at], rows.arrays.b[at]};

  const BlockScan scan = block_scan(step, shared.scan);
  if (threadIdx.x == 0) {
    const FencedTiles tiles = {lookback.records(), lookback.header->epoch};
    const uint32_t row_record = lookback.record(tile.row), record = row_record + tile.index;
    if (tile.index > 0) tiles.publish_aggregate(record, scan.total);
    const float entering = look_back(tiles, row_record, tile.index, rows.initial(tile.row));
    tiles.publish_prefix(record, apply(scan.total, entering));
    shared.entering = entering;
  }
  __syncthreads();

  if (t >= rows.length) return;
  const float h = apply(step, apply(scan.before, shared.entering));
  rows.arrays.h[at] = h;
  if (rows.ends_row(t)) rows.arrays.last[tile.row] = h;
}

struct LookbackKernel {
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
      launch(lookback, dim3(unsigned(rows.rows * tiles)), dim3(threads), 0, stream, rows, state);
    });
  }
};

EXPORT_AFFINE_SCAN(LookbackKernel)
