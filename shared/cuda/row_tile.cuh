// Reads and writes of a tile whose threads hold ITEMS elements each, in accesses of up to 16 bytes.
#pragma once
#include "tile_state.cuh"
#include "warp_scan.cuh"

// A group is what one access moves. Rows are cut where an address is a multiple of a group, so that groups are
// aligned in every row whatever its length; arrays start at such an address (kernel.proto, Buffer.offset).
constexpr int group_size(int items) { return items < 4 ? items : 4; }

template <int SIZE>
struct alignas(4 * SIZE) Group {
  float item[SIZE];
};

__device__ inline Group<1> load_group(const Group<1>* p) { return {{__ldcs(&p->item[0])}}; }
__device__ inline Group<2> load_group(const Group<2>* p) {
  const float2 v = __ldcs(reinterpret_cast<const float2*>(p));
  return {{v.x, v.y}};
}
__device__ inline Group<4> load_group(const Group<4>* p) {
  const float4 v = __ldcs(reinterpret_cast<const float4*>(p));
  return {{v.x, v.y, v.z, v.w}};
}
__device__ inline void store_group(Group<1>* p, Group<1> g) { __stcs(&p->item[0], g.item[0]); }
__device__ inline void store_group(Group<2>* p, Group<2> g) {
  __stcs(reinterpret_cast<float2*>(p), make_float2(g.item[0], g.item[1]));
}
__device__ inline void store_group(Group<4>* p, Group<4> g) {
  __stcs(reinterpret_cast<float4*>(p), make_float4(g.item[0], g.item[1], g.item[2], g.item[3]));
}

// The part of a row that one tile covers. Positions count from the tile's start in scan order; a row that does
// not start at a group's boundary begins some positions into its first group.
//
// A warp has ITEMS / SIZE strips of 32 groups, one after another, and a lane has one group of each: so the lanes of
// a warp move neighbouring groups in one access. Were all of a thread's elements neighbours, each access would
// move half a sector for every lane, and L2 would limit the kernel before device memory does.
template <int ITEMS>
struct TileSpan {
  static constexpr int SIZE = group_size(ITEMS);
  int64_t origin;  // index in memory of position 0
  int begin, end;  // positions that belong to the row
  int last;        // position of the row's last element; -1 when another tile has it
  bool reverse;

  __device__ TileSpan(const AffineRows& rows, TilePlace tile) : reverse(rows.reverse) {
    const int64_t first = tile.row * rows.length, past = first + rows.length;
    const int lead = int((reverse ? -past : first) & (SIZE - 1));
    const int64_t elements = int64_t(blockDim.x) * ITEMS, start = tile.index * elements;
    const int64_t rest = lead + rows.length - start;
    origin = reverse ? past - 1 + lead - start : first - lead + start;
    begin = start == 0 ? lead : 0;
    end = int(rest < elements ? rest : elements);
    last = rest <= elements ? int(rest) - 1 : -1;
  }

  // Position of this thread's item i, in scan order.
  __device__ static int position(int i) {
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    return (warp * (ITEMS / SIZE) + i / SIZE) * (WARP * SIZE) + lane * SIZE + i % SIZE;
  }

  // This thread's maps; the identity where a position is not in the row. In a whole tile all groups of both arrays
  // are requested before any is looked at, so that the latency of memory is paid once.
  __device__ void load(const AffineArrays& arrays, float (&a)[ITEMS], float (&b)[ITEMS]) const {
    if (begin == 0 && end == int(blockDim.x) * ITEMS) {
      Group<SIZE> of_a[ITEMS / SIZE], of_b[ITEMS / SIZE];
#pragma unroll
      for (int s = 0; s < ITEMS / SIZE; s++) {
        const int64_t group = lowest(position(s * SIZE));
        of_a[s] = load_group(reinterpret_cast<const Group<SIZE>*>(arrays.a + group));
        of_b[s] = load_group(reinterpret_cast<const Group<SIZE>*>(arrays.b + group));
      }
#pragma unroll
      for (int s = 0; s < ITEMS / SIZE; s++) {
        take(of_a[s], s * SIZE, a);
        take(of_b[s], s * SIZE, b);
      }
    } else {
      load_part(arrays.a, 1.0f, a);
      load_part(arrays.b, 0.0f, b);
    }
  }

  __device__ void store(float* array, const float (&x)[ITEMS]) const {
#pragma unroll
    for (int i = 0; i < ITEMS; i += SIZE) {
      if (whole(position(i))) {
        Group<SIZE> group;
#pragma unroll
        for (int k = 0; k < SIZE; k++) group.item[k] = x[i + (reverse ? SIZE - 1 - k : k)];
        store_group(reinterpret_cast<Group<SIZE>*>(array + lowest(position(i))), group);
      } else {
#pragma unroll
        for (int k = i; k < i + SIZE; k++)
          if (holds(position(k))) array[at(position(k))] = x[k];
      }
    }
  }

 private:
  // A group's items in scan order, as items i and following.
  __device__ void take(const Group<SIZE>& group, int i, float (&x)[ITEMS]) const {
#pragma unroll
    for (int k = 0; k < SIZE; k++) x[i + k] = group.item[reverse ? SIZE - 1 - k : k];
  }
  __device__ void load_part(const float* array, float outside, float (&x)[ITEMS]) const {
#pragma unroll
    for (int i = 0; i < ITEMS; i += SIZE) {
      if (whole(position(i))) {
        take(load_group(reinterpret_cast<const Group<SIZE>*>(array + lowest(position(i)))), i, x);
      } else {
#pragma unroll
        for (int k = i; k < i + SIZE; k++) x[k] = holds(position(k)) ? array[at(position(k))] : outside;
      }
    }
  }
  __device__ int64_t at(int position) const { return reverse ? origin - position : origin + position; }
  __device__ bool holds(int position) const { return position >= begin && position < end; }
  __device__ bool whole(int position) const { return position >= begin && position + SIZE <= end; }
  // The index in memory of the group of positions that starts at this one.
  __device__ int64_t lowest(int position) const { return at(reverse ? position + SIZE - 1 : position); }
};
