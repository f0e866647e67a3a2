// State that the tiles of a single-pass scan share (Merrill and Garland, NVR-2016-002), and the workspace
// it lives in.
//
// A tile's record says how far it has got: nothing, its aggregate (the composition of its own maps), or its
// inclusive prefix (the state h at its end, a single number since the row's initial state is known). The
// status word carries the launch's epoch, so records of an earlier launch read as nothing and need not be
// cleared. Tiles are claimed by ticket: hardware promises neither that all blocks are resident nor that they
// start in order, and a tile may wait only for tiles that have been claimed before it.
//
// The workspace is zeroed when it is allocated and then kept, whatever the next problem's size:
//   LookbackHeader, then one TileRecord at the place of its tile number.
// Each launch starts with begin_launch, so it does not matter what the launch before left: a killed launch
// leaves a ticket anywhere and records of its own epoch; both are passed over. The rejected alternative, in
// which the last block to finish resets the ticket, costs no launch but never recovers from a killed one;
// counting epochs on the host would break when a launch is replayed from a graph.
#pragma once
#include "affine.cuh"

struct LookbackHeader {
  uint32_t base;   // value of ticket when the launch began
  uint32_t epoch;  // of the launch, EPOCHS of them
  uint32_t used;   // records [0, used) may hold statuses of earlier epochs
  uint32_t unused[29];
  alignas(128) uint32_t ticket;  // next to be given out; wraps. Alone in its cache line: all blocks write it
};
static_assert(sizeof(LookbackHeader) == 256, "the ticket must not share a cache line with records");

struct alignas(16) TileRecord {
  uint32_t status;  // epoch << 2 | TileFlag
  float a, b;       // aggregate
  float state;      // inclusive prefix
};
static_assert(sizeof(TileRecord) == 16, "PackedTiles moves a record in one access");

enum TileFlag : uint32_t { TILE_EMPTY = 0, TILE_AGGREGATE = 1, TILE_PREFIX = 2 };

constexpr uint32_t EPOCHS = 1u << 30;

// What one tile has published: map is valid with TILE_AGGREGATE, state with TILE_PREFIX.
struct TileView {
  TileFlag flag;
  Affine map;
  float state;
};

// Records whose words are published one by one: values first, then a fence, then the status. A reader that
// has seen the status fences before it reads the values. Memory order: the two fences make everything the
// writer stored before its status visible to the reader after its own; the status itself is relaxed.
struct FencedTiles {
  TileRecord* records;
  uint32_t epoch;

  __device__ void publish_aggregate(uint32_t tile, Affine map) const {
    records[tile].a = map.a;
    records[tile].b = map.b;
    __threadfence();
    store_relaxed(&records[tile].status, epoch << 2 | TILE_AGGREGATE);
  }

  __device__ void publish_prefix(uint32_t tile, float state) const {
    records[tile].state = state;
    __threadfence();
    store_relaxed(&records[tile].status, epoch << 2 | TILE_PREFIX);
  }

  __device__ TileView read(uint32_t tile) const {
    const uint32_t status = load_relaxed(&records[tile].status);
    TileView view = {TILE_EMPTY, identity(), 0.0f};
    if (status >> 2 != epoch || (status & 3) == TILE_EMPTY) return view;
    count_lookback_step();
    __threadfence();
    view.flag = TileFlag(status & 3);
    if (view.flag == TILE_PREFIX)
      view.state = records[tile].state;
    else
      view.map = {records[tile].a, records[tile].b};
    return view;
  }
};

// Records that are published and read whole, in one 16-byte access, so that no fence is needed on either
// side. Memory order: relaxed; a reader sees all of a record or nothing of it.
struct PackedTiles {
  TileRecord* records;
  uint32_t epoch;

  __device__ void publish_aggregate(uint32_t tile, Affine map) const {
    store(tile, make_uint4(epoch << 2 | TILE_AGGREGATE, bits(map.a), bits(map.b), 0));
  }

  __device__ void publish_prefix(uint32_t tile, float state) const {
    store(tile, make_uint4(epoch << 2 | TILE_PREFIX, 0, 0, bits(state)));
  }

  __device__ TileView read(uint32_t tile) const {
    const uint4 word = load_relaxed(reinterpret_cast<const uint4*>(records + tile));
    const TileFlag flag = word.x >> 2 == epoch ? TileFlag(word.x & 3) : TILE_EMPTY;
    if (flag != TILE_EMPTY) count_lookback_step();
    return {flag, {number(word.y), number(word.z)}, number(word.w)};
  }

 private:
  __device__ void store(uint32_t tile, uint4 word) const {
    store_relaxed(reinterpret_cast<uint4*>(records + tile), word);
  }
  __device__ static uint32_t bits(float x) { return __float_as_uint(x); }
  __device__ static float number(uint32_t x) { return __uint_as_float(x); }
};

// Where a tile is. Tiles are numbered by index first, then by row: all first tiles of the rows, then all
// second ones. A predecessor was then claimed `rows` tickets earlier, so with many rows it has finished, and
// with few rows their chains advance side by side.
struct TilePlace {
  uint32_t row, index;  // index within the row
};

struct Lookback {
  LookbackHeader* header;
  uint32_t rows, tiles_per_row;

  __device__ TileRecord* records() const { return reinterpret_cast<TileRecord*>(header + 1); }

  // A row's records lie side by side, so that a window of predecessors is contiguous.
  __device__ uint32_t record(uint32_t row) const { return row * tiles_per_row; }

  // Claims the next tile of this launch. One thread of each block must call, once.
  __device__ TilePlace claim() const {
    const uint32_t ticket = atomicAdd(&header->ticket, 1u) - header->base;
    return {ticket % rows, ticket / rows};
  }
};

inline size_t lookback_workspace_bytes(int64_t rows, int64_t tiles_per_row) {
  return sizeof(LookbackHeader) + size_t(rows_per_grid(rows, tiles_per_row) * tiles_per_row) * sizeof(TileRecord);
}

// Opens a launch of `tiles` tiles: one block. When the epochs are used up, every record that may hold an old
// status is cleared before the epoch moves, so that a launch killed in between clears again.
__global__ void begin_launch(LookbackHeader* header, uint32_t tiles) {
  TileRecord* records = reinterpret_cast<TileRecord*>(header + 1);
  const uint32_t epoch = (header->epoch + 1) % EPOCHS, used = header->used;
  if (epoch == 0)
    for (uint32_t i = threadIdx.x; i < used; i += blockDim.x) records[i].status = TILE_EMPTY;
  __threadfence();
  __syncthreads();
  if (threadIdx.x > 0) return;
  header->base = header->ticket;
  header->epoch = epoch;
  header->used = used > tiles ? used : tiles;
}

inline Lookback enqueue_begin(void* workspace, int64_t rows, int64_t tiles_per_row, Stream stream) {
  const Lookback lookback = {static_cast<LookbackHeader*>(workspace), uint32_t(rows), uint32_t(tiles_per_row)};
  launch(begin_launch, dim3(1), dim3(256), 0, stream, lookback.header, uint32_t(rows * tiles_per_row));
  return lookback;
}
