// Rows as streams: a team of warps walks a row tile by tile with the state in registers, and has the next tile's loads
// in flight while it scans this one. No tile waits for another block, so there is no ticket, no look-back and no
// workspace. Short rows lie several to a tile, where a segmented scan starts afresh at each.
#include "row_tile.cuh"
#include "strips.cuh"

constexpr int MAX_THREADS = 512;  // of a block
constexpr int MAX_WARPS = MAX_THREADS / WARP;

// ---- Rows of one tile or more ----

// Where a team is: rows come one after another, `step` apart, each from its first tile to its last.
struct Walk {
  int64_t row, step;
  unsigned index, tiles;

  __device__ void advance() {
    if (++index < tiles) return;
    index = 0;
    row += step;
  }
};

template <int ITEMS, class T>
__device__ TileSpan<ITEMS, T> span_of(const StoredRows<T>& rows, const Walk& at) {
  const int64_t first = at.row * rows.length;
  // A team that has run out of rows goes on with nothing, since its block's barriers need it.
  return {first, at.row < rows.rows ? first + rows.length : first, int64_t(at.index), rows.reverse};
}

// threadIdx.y is the team. Every team of a block takes rows_per_team rows of `tiles` tiles each.
template <int ITEMS, class T>
__global__ void __launch_bounds__(MAX_THREADS) row_stream(StoredRows<T> rows, unsigned tiles, unsigned rows_per_team) {
  using Span = TileSpan<ITEMS, T>;
  __shared__ Affine totals[2][MAX_WARPS];  // of warps; two sets, so that one barrier a tile is enough
  const int warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
  Walk at = {int64_t(blockIdx.x) * blockDim.y * rows_per_team + threadIdx.y, blockDim.y, 0, tiles};
  Span span = span_of<ITEMS>(rows, at);
  typename Span::Fetched fetched;
  span.fetch(rows.arrays, fetched);
  float carry = 0.0f, initial = at.row < rows.rows ? rows.initial(at.row) : 0.0f;

  for (unsigned left = tiles * rows_per_team; left > 0; left--) {
    float a[ITEMS], b[ITEMS];
    span.maps(fetched, a, b);
    const Span here = span;
    const int64_t row = at.row;
    if (at.index == 0) carry = initial;
    if (left > 1) {
      at.advance();
      span = span_of<ITEMS>(rows, at);
      span.fetch(rows.arrays, fetched);
      if (at.index == 0) initial = at.row < rows.rows ? rows.initial(at.row) : 0.0f;
    }

    const WarpStrips<ITEMS / Span::SIZE> strips = scan_strips<Span::SIZE>(a, b);
    float enters = carry;
    if (warps == 1) {
      carry = apply(map_of(strips.through, WARP - 1), carry);
    } else {
      Affine* const own = totals[left & 1] + threadIdx.y * warps;
      if (threadIdx.x % WARP == WARP - 1) own[warp] = strips.through;
      __syncthreads();
      // Every thread folds all warps: reads are broadcasts, and nobody waits for another's result.
      for (int w = 0; w < warps; w++) {
        carry = apply(own[w], carry);
        if (w + 1 == warp) enters = carry;
      }
    }
    apply_strips<Span::SIZE>(strips, enters, a, b);
    here.store(rows.arrays.h, b);
    here.store_last(rows.arrays.last, row, b);
  }
}

// ---- Several rows to a tile ----

// What a run of elements does to the state that enters it: map, unless a row began in it. Then the state after it is
// map.b, whatever entered. A factor of 0 would not do, since 0 times Inf or NaN is NaN.
struct Segment {
  Affine map;
  bool starts;
};

__device__ inline float follow(const Segment& s, float state) { return s.starts ? s.map.b : apply(s.map, state); }

// Lane i gets the composition of the segments of lanes 0 to i, as far back as the last that starts a row.
__device__ inline Segment warp_segmented_scan(Segment s, unsigned starts) {
  const int lane = threadIdx.x % WARP;
  const unsigned before = starts & ((2u << lane) - 1u);
  const int first = before ? WARP - 1 - __clz(int(before)) : 0;
#pragma unroll
  for (int distance = 1; distance < WARP; distance *= 2) {
    const Affine left = map_before(s.map, distance);
    if (lane - distance >= first) s.map = combine(left, s.map);
  }
  return {s.map, before != 0};
}

// A block has one tile, of whole rows that lie side by side in memory.
template <int ITEMS, class T>
__global__ void __launch_bounds__(MAX_THREADS) short_rows(StoredRows<T> rows, unsigned rows_per_block) {
  using Span = TileSpan<ITEMS, T>;
  constexpr int SIZE = Span::SIZE, STRIPS = ITEMS / SIZE;
  __shared__ Segment totals[MAX_WARPS];
  const unsigned length = unsigned(rows.length);
  const int64_t first = int64_t(blockIdx.x) * rows_per_block;
  const int64_t past = first + rows_per_block < rows.rows ? first + rows_per_block : rows.rows;
  const Span span(first * length, past * length, 0, rows.reverse);
  typename Span::Fetched fetched;
  span.fetch(rows.arrays, fetched);

  // Rows in scan order, and steps in them. Positions before the first row count as the end of one before it.
  unsigned step[STRIPS];
  int64_t row[STRIPS];
#pragma unroll
  for (int s = 0; s < STRIPS; s++) {
    const unsigned from = unsigned(span.position(s * SIZE) - span.begin) + SIZE * length;
    step[s] = from % length;
    const int64_t nth = int64_t(from / length) - SIZE;
    row[s] = rows.reverse ? past - 1 - nth : first + nth;
  }
  const int64_t next = rows.reverse ? -1 : 1;

  float a[ITEMS], b[ITEMS];
  span.maps(fetched, a, b);
  Segment before[STRIPS], through = {identity(), false};
#pragma unroll
  for (int s = 0; s < STRIPS; s++) {
    Segment group = {identity(), false};
    unsigned t = step[s];
    int64_t r = row[s];
#pragma unroll
    for (int i = s * SIZE; i < (s + 1) * SIZE; i++) {
      if (t == 0) {
        if (span.holds(span.position(i))) b[i] = apply({a[i], b[i]}, rows.initial(r));
        group = {{1.0f, b[i]}, true};
      } else {
        group.map = combine(group.map, {a[i], b[i]});
      }
      if (++t == length) t = 0, r += next;
    }
    const unsigned starts = __ballot_sync(ALL_LANES, group.starts);
    group = warp_segmented_scan(group, starts);
    const int lane = threadIdx.x % WARP;
    before[s] = {warp_exclusive(group.map), (starts & ((1u << lane) - 1u)) != 0};
    through = {group.starts ? group.map : combine(through.map, group.map), group.starts || through.starts};
  }
  const int warp = threadIdx.x / WARP;
  if (threadIdx.x % WARP == WARP - 1) totals[warp] = through;
  __syncthreads();
  float enters = 0.0f;  // of no effect: a tile begins with a row
  for (int w = 0; w < warp; w++) enters = follow(totals[w], enters);

#pragma unroll
  for (int s = 0; s < STRIPS; s++) {
    float h = follow(before[s], enters);
    unsigned t = step[s];
    int64_t r = row[s];
#pragma unroll
    for (int i = s * SIZE; i < (s + 1) * SIZE; i++) {
      h = t == 0 ? b[i] : apply({a[i], b[i]}, h);
      b[i] = h;
      if (++t < length) continue;
      if (rows.arrays.last && span.holds(span.position(i))) rows.arrays.last[r] = h;
      t = 0, r += next;
    }
    if (s + 1 < STRIPS) enters = __shfl_sync(ALL_LANES, h, WARP - 1);
  }
  span.store(rows.arrays.h, b);
}

// ---- Launching ----

struct RowStream {
  // Tunables; 0 leaves the choice to the rule.
  static int64_t groups(const AffineProblem& p) { return p.tuning[0]; }
  static int64_t threads(const AffineProblem& p) { return p.tuning[1]; }
  static int64_t rows_per_team(const AffineProblem& p) { return p.tuning[2]; }
  static int64_t short_length(const AffineProblem& p) { return p.tuning[3]; }

  static const char* unsupported(const AffineProblem&) { return nullptr; }
  static size_t workspace_bytes(const AffineProblem&) { return 0; }

  template <class T>
  static void enqueue(const AffineProblem& p, const StoredArrays<T>& arrays, void*, Stream stream) {
    constexpr int SIZE = 16 / sizeof(T);
    switch (groups(p)) {
      case 1:
        return enqueue_items<SIZE>(p, arrays, stream);
      case 2:
        return enqueue_items<2 * SIZE>(p, arrays, stream);
      default:
        return enqueue_items<4 * SIZE>(p, arrays, stream);
    }
  }

 private:
  template <int ITEMS, class T>
  static void enqueue_items(const AffineProblem& p, const StoredArrays<T>& arrays, Stream stream) {
    // Positions of a row in whole groups, with the longest lead.
    constexpr int SIZE = group_size(ITEMS, sizeof(T));
    const int64_t most = threads(p) ? threads(p) : 256;
    const auto reach = [](int64_t elements) { return elements % SIZE == 0 ? elements : elements + SIZE - 1; };
    if (p.length <= short_length(p) && reach(p.length) <= most * ITEMS) {
      int64_t rows_per_block = (most * ITEMS - (SIZE - 1)) / p.length;
      if (rows_per_block < 1) rows_per_block = 1;
      const unsigned block = whole_warps((reach(rows_per_block * p.length) + ITEMS - 1) / ITEMS, most);
      const int64_t step = rows_per_block * MAX_BLOCKS;
      for_each_rows(p, arrays, step, [&](const StoredRows<T>& rows) {
        launch(short_rows<ITEMS, T>, dim3(unsigned((rows.rows + rows_per_block - 1) / rows_per_block)), dim3(block), 0,
               stream, rows, unsigned(rows_per_block));
      });
      return;
    }
    const unsigned team = whole_warps((reach(p.length) + ITEMS - 1) / ITEMS, most);
    const int64_t elements = int64_t(team) * ITEMS, tiles = (reach(p.length) + elements - 1) / elements;
    const unsigned teams = unsigned(most / team);
    const int64_t per_team = rows_per_team(p), per_block = per_team * teams;
    for_each_rows(p, arrays, per_block * MAX_BLOCKS, [&](const StoredRows<T>& rows) {
      launch(row_stream<ITEMS, T>, dim3(unsigned((rows.rows + per_block - 1) / per_block)), dim3(team, teams), 0,
             stream, rows, unsigned(tiles), unsigned(per_team));
    });
  }
};

EXPORT_STORED_AFFINE_SCAN(RowStream, float, fp16, bf16)
