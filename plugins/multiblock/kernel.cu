// Level 2: a row is cut into tiles, one block each, in three launches.
//
// scan_tiles scans every tile on its own and leaves, for each element, the composition of the tile's maps up to
// it; spine scans each row's tile aggregates and finds the state that enters every tile; apply_prefixes applies
// the one to the other. Length is no longer bound to what one block holds, but the local scans travel to device
// memory and back: a, b in, h and product out, then h and product in, h out, seven arrays where level 1 has three.
#include "block_scan.cuh"

constexpr int MAX_THREADS = 1024;
constexpr int TILE = 2 * MAX_THREADS;  // elements of a tile, and tiles of a row at most
constexpr int64_t MAX_LENGTH = int64_t(TILE) * TILE;

// What the launches hand on, in the workspace. Nothing in it outlives the launch that writes it.
struct Spine {
  Affine* aggregates;  // by row and tile
  float* entering;     // the state that enters a tile, likewise
  float* products;     // by element: product of a from the tile's start
  uint32_t tiles_per_row;
};

struct PairScan {
  Affine first, second;  // compositions up to and including each of the thread's two maps
  Affine before;         // composition of all earlier threads' maps
  Affine total;          // of the block; in the first warp only
};

// Scans the block's 2 * blockDim.x maps, two neighbouring ones for each thread. Calls and shared memory as for
// block_scan.
__device__ inline PairScan scan_pairs(Affine first, Affine second, BlockScanShared& shared) {
  const BlockScan scan = block_scan(combine(first, second), shared);
  const Affine one = threadIdx.x == 0 ? first : combine(scan.before, first);
  return {one, combine(one, second), scan.before, scan.total};
}

__global__ void __launch_bounds__(MAX_THREADS) scan_tiles(AffineRows rows, Spine spine) {
  __shared__ BlockScanShared shared;
  const uint32_t row = blockIdx.x / spine.tiles_per_row, tile = blockIdx.x % spine.tiles_per_row;
  const int64_t t = int64_t(tile) * TILE + 2 * threadIdx.x;
  Affine step[2] = {identity(), identity()};
  for (int i = 0; i < 2; i++)
    if (t + i < rows.length) step[i] = {rows.arrays.a[rows.at(row, t + i)], rows.arrays.b[rows.at(row, t + i)]};
  const PairScan scan = scan_pairs(step[0], step[1], shared);
  const Affine local[2] = {scan.first, scan.second};
  for (int i = 0; i < 2; i++) {
    if (t + i >= rows.length) continue;
    spine.products[rows.at(row, t + i)] = local[i].a;
    rows.arrays.h[rows.at(row, t + i)] = local[i].b;
  }
  if (threadIdx.x == 0) spine.aggregates[blockIdx.x] = scan.total;
}

__global__ void __launch_bounds__(MAX_THREADS) scan_spine(AffineRows rows, Spine spine) {
  __shared__ BlockScanShared shared;
  const int64_t tile = 2 * threadIdx.x, tiles = spine.tiles_per_row, first = blockIdx.x * tiles;
  Affine map[2] = {identity(), identity()};
  for (int i = 0; i < 2; i++)
    if (tile + i < tiles) map[i] = spine.aggregates[first + tile + i];
  const PairScan scan = scan_pairs(map[0], map[1], shared);
  const float initial = rows.initial(blockIdx.x);
  if (tile < tiles) spine.entering[first + tile] = apply(scan.before, initial);
  if (tile + 1 < tiles) spine.entering[first + tile + 1] = apply(scan.first, initial);
}

__global__ void __launch_bounds__(MAX_THREADS) apply_prefixes(AffineRows rows, Spine spine) {
  const uint32_t row = blockIdx.x / spine.tiles_per_row, tile = blockIdx.x % spine.tiles_per_row;
  __shared__ float entering;
  if (threadIdx.x == 0) entering = spine.entering[blockIdx.x];
  __syncthreads();
  for (int i = 0; i < 2; i++) {
    const int64_t t = int64_t(tile) * TILE + i * blockDim.x + threadIdx.x;
    if (t >= rows.length) return;
    const int64_t at = rows.at(row, t);
    const float h = apply({spine.products[at], rows.arrays.h[at]}, entering);
    rows.arrays.h[at] = h;
    if (rows.ends_row(t)) rows.arrays.last[row] = h;
  }
}

struct Multiblock {
  static int64_t tiles_per_row(const AffineProblem& p) { return (p.length + TILE - 1) / TILE; }

  static const char* unsupported(const AffineProblem& p) {
    if (p.length <= MAX_LENGTH) return nullptr;
    return refusal("length %lld is over %lld: one block scans the %d aggregates of a row, each of %d elements",
                   (long long)p.length, (long long)MAX_LENGTH, TILE, TILE);
  }

  static size_t workspace_bytes(const AffineProblem& p) {
    const int64_t rows = rows_per_grid(p.rows, tiles_per_row(p));
    const int64_t tile_bytes = sizeof(Affine) + sizeof(float), row_bytes = p.length * int64_t(sizeof(float));
    return size_t(rows * (tiles_per_row(p) * tile_bytes + row_bytes));
  }

  static void enqueue(const AffineProblem& p, const AffineArrays& arrays, void* workspace, Stream stream) {
    for_each_grid(p, arrays, tiles_per_row(p), [&](const AffineRows& rows) {
      const int64_t tiles = rows.rows * tiles_per_row(p);
      Affine* aggregates = static_cast<Affine*>(workspace);
      float* entering = reinterpret_cast<float*>(aggregates + tiles);
      const Spine spine = {aggregates, entering, entering + tiles, uint32_t(tiles_per_row(p))};
      const dim3 grid(unsigned(tiles), 1, 1), block(whole_warps((p.length + 1) / 2, MAX_THREADS), 1, 1);
      const dim3 spine_grid(unsigned(rows.rows), 1, 1),
          spine_block(whole_warps((tiles_per_row(p) + 1) / 2, MAX_THREADS), 1, 1);
      launch(scan_tiles, grid, block, 0, stream, rows, spine);
      launch(scan_spine, spine_grid, spine_block, 0, stream, rows, spine);
      launch(apply_prefixes, grid, block, 0, stream, rows, spine);
    });
  }
};

EXPORT_AFFINE_SCAN(Multiblock)
