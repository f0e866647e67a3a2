// Look-back by a warp: 32 lanes inspect a window of 32 predecessors at once.
//
// The state that enters a tile is folded from the nearest inclusive prefix by applying the tiles' maps in
// ascending order. The inclusive prefix of every tile is then map(prefix of the tile before), whoever
// computes it and whichever prefix happened to be there, so equal inputs give equal bits in every run.
#pragma once
#include "tile_state.cuh"
#include "warp_scan.cuh"

// One lane's part of a window, and the lane that holds the nearest inclusive prefix; WARP when none does.
struct Window {
  TileView tile;
  int prefix_lane;
};

// Lane i takes the tile i + 1 places before `end`, counted within the row. Before the row's first tile lies
// its initial state. Waits until every tile up to the nearest prefix has published.
template <class Tiles>
__device__ Window inspect(const Tiles& tiles, uint32_t row_record, int64_t end, float initial) {
  const int64_t index = end - 1 - int64_t(threadIdx.x % WARP);
  TileView tile = {index < 0 ? TILE_PREFIX : TILE_EMPTY, identity(), initial};
  for (;;) {
    if (tile.flag == TILE_EMPTY) tile = tiles.read(row_record + uint32_t(index));
    const unsigned prefixes = __ballot_sync(ALL_LANES, tile.flag == TILE_PREFIX);
    const unsigned empty = __ballot_sync(ALL_LANES, tile.flag == TILE_EMPTY);
    const unsigned nearer = (prefixes & (0u - prefixes)) - 1u;  // lanes before the nearest prefix; all if none
    if ((empty & nearer) == 0) return {tile, prefixes ? __ffs(int(prefixes)) - 1 : WARP};
  }
}

// Applies a window's maps, oldest first, to the nearest prefix in it, or to `state` when it holds none.
__device__ inline float fold(const Window& window, float state) {
  if (window.prefix_lane < WARP) state = __shfl_sync(ALL_LANES, window.tile.state, window.prefix_lane);
#pragma unroll 4
  for (int lane = window.prefix_lane - 1; lane >= 0; lane--) {
    state = apply(map_of(window.tile.map, lane), state);
  }
  return state;
}

// The state that enters tile `index` of a row whose records start at row_record. All 32 lanes of one warp
// must call with equal arguments, and all get the result. Windows that held no prefix are read again on the
// way forward: by then they may, and nothing has to be stored for a chain of unknown length.
template <class Tiles>
__device__ float warp_look_back(const Tiles& tiles, uint32_t row_record, uint32_t index, float initial) {
  int64_t end = index;
  Window window = inspect(tiles, row_record, end, initial);
  while (window.prefix_lane == WARP) {
    end -= WARP;
    window = inspect(tiles, row_record, end, initial);
  }
  float state = fold(window, initial);
  while (end < index) {
    end += WARP;
    state = fold(inspect(tiles, row_record, end, initial), state);
  }
  return state;
}
