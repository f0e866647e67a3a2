// Reads and writes of a tile whose threads hold ITEMS elements each, in accesses of up to 16 bytes.
#pragma once
#include "tile_state.cuh"
#include "warp_scan.cuh"

// A group is what one access moves. Rows are cut where an address is a multiple of a group, so that groups are
// aligned in every row whatever its length; arrays start at such an address (kernel.proto, Buffer.offset).
constexpr int group_size(int items, int element_bytes = 4) {
  return items < 16 / element_bytes ? items : 16 / element_bytes;
}

template <class T, int SIZE>
struct alignas(sizeof(T) * SIZE) Group {
  T item[SIZE];
};

// The word that moves so many bytes in one access.
template <int BYTES>
struct AccessWord;
template <>
struct AccessWord<2> {
  using type = unsigned short;
};
template <>
struct AccessWord<4> {
  using type = unsigned;
};
template <>
struct AccessWord<8> {
  using type = uint2;
};
template <>
struct AccessWord<16> {
  using type = uint4;
};

template <class T, int SIZE>
__device__ inline Group<T, SIZE> load_group(const Group<T, SIZE>* p) {
  using Word = typename AccessWord<sizeof *p>::type;
  const Word word = __ldcs(reinterpret_cast<const Word*>(p));
  Group<T, SIZE> group;
  memcpy(&group, &word, sizeof group);
  return group;
}

template <class T, int SIZE>
__device__ inline void store_group(Group<T, SIZE>* p, const Group<T, SIZE>& group) {
  using Word = typename AccessWord<sizeof group>::type;
  Word word;
  memcpy(&word, &group, sizeof word);
  __stcs(reinterpret_cast<Word*>(p), word);
}

// The part of a row that one tile covers. Positions count from the tile's start in scan order; a row that does
// not start at a group's boundary begins some positions into its first group.
//
// A warp has ITEMS / SIZE strips of 32 groups, one after another, and a lane has one group of each: so the lanes of
// a warp move neighbouring groups in one access. Were all of a thread's elements neighbours, each access would
// move half a sector for every lane, and L2 would limit the kernel before device memory does.
template <int ITEMS, class T = float>
struct TileSpan {
  static constexpr int SIZE = group_size(ITEMS, sizeof(T));
  using Groups = Group<T, SIZE>;
  int64_t origin;  // index in memory of position 0
  int begin, end;  // positions that belong to the row
  int last;        // position of the row's last element; -1 when another tile has it
  bool reverse;

  __device__ TileSpan(const StoredRows<T>& rows, TilePlace tile)
      : TileSpan(tile.row * rows.length, (tile.row + int64_t(1)) * rows.length, tile.index, rows.reverse) {}

  // Tile `index` of the elements [first, past) in memory, which may be none.
  __device__ TileSpan(int64_t first, int64_t past, int64_t index, bool reverse) : reverse(reverse) {
    const int lead = int((reverse ? -past : first) & (SIZE - 1));
    const int64_t elements = int64_t(blockDim.x) * ITEMS, start = index * elements;
    const int64_t rest = lead + (past - first) - start;
    origin = reverse ? past - 1 + lead - start : first - lead + start;
    begin = start == 0 ? lead : 0;
    end = int(rest < elements ? rest : elements);
    last = rest <= elements && first < past ? int(rest) - 1 : -1;
  }

  __device__ bool holds(int position) const { return position >= begin && position < end; }

  // Position of this thread's item i, in scan order.
  __device__ static int position(int i) {
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    return (warp * (ITEMS / SIZE) + i / SIZE) * (WARP * SIZE) + lane * SIZE + i % SIZE;
  }

  // This thread's part of both arrays as it lies in memory; the identity's numbers where a position is not in the row.
  struct Fetched {
    Groups a[ITEMS / SIZE], b[ITEMS / SIZE];
  };

  // Requests all groups of both arrays before any is looked at, so that the latency of memory is paid once, and later
  // than here when the caller has something else to do first.
  __device__ void fetch(const StoredArrays<T>& arrays, Fetched& fetched) const {
    if (begin == 0 && end == int(blockDim.x) * ITEMS) {
#pragma unroll
      for (int s = 0; s < ITEMS / SIZE; s++) {
        const int64_t group = lowest(position(s * SIZE));
        fetched.a[s] = load_group(reinterpret_cast<const Groups*>(arrays.a + group));
        fetched.b[s] = load_group(reinterpret_cast<const Groups*>(arrays.b + group));
      }
    } else {
#pragma unroll
      for (int s = 0; s < ITEMS / SIZE; s++) {
        fetch_part(arrays.a, 1.0f, position(s * SIZE), fetched.a[s]);
        fetch_part(arrays.b, 0.0f, position(s * SIZE), fetched.b[s]);
      }
    }
  }

  // The same in scan order, as numbers.
  __device__ void maps(const Fetched& fetched, float (&a)[ITEMS], float (&b)[ITEMS]) const {
#pragma unroll
    for (int s = 0; s < ITEMS / SIZE; s++) {
      take(fetched.a[s], s * SIZE, a);
      take(fetched.b[s], s * SIZE, b);
    }
  }

  // This thread's maps; the identity where a position is not in the row.
  __device__ void load(const StoredArrays<T>& arrays, float (&a)[ITEMS], float (&b)[ITEMS]) const {
    Fetched fetched;
    fetch(arrays, fetched);
    maps(fetched, a, b);
  }

  __device__ void store(T* array, const float (&x)[ITEMS]) const {
#pragma unroll
    for (int i = 0; i < ITEMS; i += SIZE) {
      if (whole(position(i))) {
        Groups group;
#pragma unroll
        for (int k = 0; k < SIZE; k++) group.item[k] = narrow<T>(x[i + (reverse ? SIZE - 1 - k : k)]);
        store_group(reinterpret_cast<Groups*>(array + lowest(position(i))), group);
      } else {
#pragma unroll
        for (int k = i; k < i + SIZE; k++)
          if (holds(position(k))) array[at(position(k))] = narrow<T>(x[k]);
      }
    }
  }

  // The state at the row's end, where this thread has it and it is asked for.
  __device__ void store_last(float* states, int64_t row, const float (&h)[ITEMS]) const {
    if (!states) return;
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
      if (position(i) == last) states[row] = h[i];
  }

 private:
  // A group's items in scan order, as items i and following.
  __device__ void take(const Groups& group, int i, float (&x)[ITEMS]) const {
#pragma unroll
    for (int k = 0; k < SIZE; k++) x[i + k] = widen(group.item[reverse ? SIZE - 1 - k : k]);
  }
  __device__ void fetch_part(const T* array, float outside, int first, Groups& group) const {
    if (whole(first)) {
      group = load_group(reinterpret_cast<const Groups*>(array + lowest(first)));
      return;
    }
#pragma unroll
    for (int k = 0; k < SIZE; k++) {
      const int p = first + (reverse ? SIZE - 1 - k : k);
      group.item[k] = holds(p) ? array[at(p)] : narrow<T>(outside);
    }
  }
  __device__ int64_t at(int position) const { return reverse ? origin - position : origin + position; }
  __device__ bool whole(int position) const { return position >= begin && position + SIZE <= end; }
  // The index in memory of the group of positions that starts at this one.
  __device__ int64_t lowest(int position) const { return at(reverse ? position + SIZE - 1 : position); }
};
