// Level 3c: the look-back of level 3b with ITEMS elements in each thread's registers.
//
// A thread composes its own elements one after another, so that shuffles, barriers and look-back are paid once
// for ITEMS elements instead of once for each, and reads and writes them in 16-byte groups. A tile's aggregate
// and status travel in one 16-byte word, which needs no fences. A row that fits in one tile has no predecessor:
// it takes no ticket and no workspace.
#include "block_scan.cuh"
#include "look_back.cuh"
#include "row_tile.cuh"
#include "strips.cuh"

constexpr int MAX_THREADS = 512;

struct TileShared {
  BlockScanShared scan;
  TilePlace tile;
  float entering;  // state that enters the tile
};

// Which tile this block works on. Every thread must call, once; contains a barrier.
__device__ inline TilePlace take_tile(const Lookback& lookback, TileShared& shared) {
  if (lookback.tiles_per_row == 1) return {blockIdx.x, 0};
  if (threadIdx.x == 0) shared.tile = lookback.claim();
  __syncthreads();
  return shared.tile;
}

// The state that enters the tile; publishes what later tiles need. The first warp must call; the result is
// valid in its lanes.
__device__ inline float chain(const Lookback& lookback, TilePlace tile, Affine total, float initial) {
  if (lookback.tiles_per_row == 1) return initial;
  const PackedTiles tiles = {lookback.records(), lookback.header->epoch};
  const uint32_t row_record = lookback.record(tile.row), record = row_record + tile.index;
  if (threadIdx.x == 0 && tile.index > 0) tiles.publish_aggregate(record, total);
  const float entering = warp_look_back(tiles, row_record, tile.index, initial);
  if (threadIdx.x == 0) tiles.publish_prefix(record, apply(total, entering));
  return entering;
}

template <int ITEMS>
__global__ void __launch_bounds__(MAX_THREADS, 2) lookback_items(AffineRows rows, Lookback lookback) {
  __shared__ TileShared shared;
  const TilePlace tile = take_tile(lookback, shared);
  const TileSpan<ITEMS> span(rows, tile);
  float a[ITEMS], b[ITEMS];
  span.load(rows.arrays, a, b);

  constexpr int SIZE = TileSpan<ITEMS>::SIZE;
  const WarpStrips<ITEMS / SIZE> strips = scan_strips<SIZE>(a, b);
  const WarpFold warps = fold_warps(strips.through, shared.scan);
  if (threadIdx.x < WARP) {
    const float entering = chain(lookback, tile, warps.total, rows.initial(tile.row));
    if (threadIdx.x == 0) shared.entering = entering;
  }
  __syncthreads();

  apply_strips<SIZE>(strips, apply(warps.before, shared.entering), a, b);
  span.store_last(rows.arrays.last, tile.row, b);
  span.store(rows.arrays.h, b);
}

// Tiles of equal size, as few as possible, each a whole number of warps.
struct Shape {
  int64_t tiles_per_row;
  unsigned threads;

  Shape(int64_t length, int items) {
    const int size = group_size(items);
    const int64_t reach = length % size == 0 ? length : length + size - 1;  // with the longest lead
    const int64_t largest = int64_t(MAX_THREADS) * items;
    tiles_per_row = (reach + largest - 1) / largest;
    const int64_t elements = (reach + tiles_per_row - 1) / tiles_per_row;
    threads = whole_warps((elements + items - 1) / items, MAX_THREADS);
  }
};

// Where the workspace comes from: from Prepare, or from the stream's pool in each launch (docs/writeup.md, prediction
// 3). What the pool gives is not zeroed.
struct Workspace {
  void* pointer;
  bool each_launch;

  Workspace(void* prepared, size_t bytes, bool each_launch, Stream stream)
      : pointer(prepared), each_launch(each_launch) {
    if (!each_launch) return;
    pointer = allocate_on_stream(prepared, bytes, stream);
    fill_bytes(pointer, 0, bytes, stream);
  }
  void done(Stream stream) const {
    if (each_launch) free_on_stream(pointer, stream);
  }
};

struct LookbackItems {
  static int items(const AffineProblem& p) { return int(p.tuning[0]); }
  static bool allocates(const AffineProblem& p) { return p.tuning[1] == 1; }

  static const char* unsupported(const AffineProblem& p) {
    const int n = items(p);
    if (n != 1 && n != 2 && n != 4 && n != 8 && n != 16)
      return refusal("items is %d; 1, 2, 4, 8 and 16 are accepted", n);
    if (Shape(p.length, n).tiles_per_row <= MAX_BLOCKS) return nullptr;
    return refusal("length %lld is over %lld, the most that 31-bit tile numbers reach with %d items",
                   (long long)p.length, (long long)(MAX_BLOCKS * MAX_THREADS * n), n);
  }

  static size_t workspace_bytes(const AffineProblem& p) {
    const Shape shape(p.length, items(p));
    return shape.tiles_per_row == 1 ? 0 : lookback_workspace_bytes(p.rows, shape.tiles_per_row);
  }

  static void enqueue(const AffineProblem& p, const AffineArrays& arrays, void* workspace, Stream stream) {
    switch (items(p)) {
      case 1:
        return enqueue_items<1>(p, arrays, workspace, stream);
      case 2:
        return enqueue_items<2>(p, arrays, workspace, stream);
      case 4:
        return enqueue_items<4>(p, arrays, workspace, stream);
      case 8:
        return enqueue_items<8>(p, arrays, workspace, stream);
      case 16:
        return enqueue_items<16>(p, arrays, workspace, stream);
    }
  }

 private:
  template <int ITEMS>
  static void enqueue_items(const AffineProblem& p, const AffineArrays& arrays, void* workspace, Stream stream) {
    const Shape shape(p.length, ITEMS);
    const size_t bytes = workspace_bytes(p);
    const Workspace scratch(workspace, bytes, allocates(p) && bytes > 0, stream);
    for_each_grid(p, arrays, shape.tiles_per_row, [&](const AffineRows& rows) {
      Lookback lookback = {nullptr, uint32_t(rows.rows), 1};
      if (shape.tiles_per_row > 1) lookback = enqueue_begin(scratch.pointer, rows.rows, shape.tiles_per_row, stream);
      launch(lookback_items<ITEMS>, dim3(unsigned(rows.rows * shape.tiles_per_row)), dim3(shape.threads), 0, stream,
             rows, lookback);
    });
    scratch.done(stream);
  }
};

EXPORT_AFFINE_SCAN(LookbackItems)
