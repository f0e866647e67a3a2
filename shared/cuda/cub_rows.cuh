// The rows of an affine scan as CUB takes them: one sequence of maps in scan order, read and written through iterators,
// so that CUB's own algorithms do all the rest. For baselines; a plugin.toml with the key cccl brings the headers.
#pragma once
#include <cub/version.cuh>
#include <cuda/cmath>
#include <cuda/iterator>

#include "affine.cuh"

static_assert(CUB_VERSION >= 300300,
              "DeviceSegmentedScan came with CCCL 3.3; the folder of SCANHOST_CCCL has an older one");

// CUB is compiled for 32-bit offsets, the faster ones.
constexpr int64_t MAX_CUB_ELEMENTS = 2147483647;

inline const char* too_many_for_cub(const AffineProblem& p) {
  if (p.rows <= MAX_CUB_ELEMENTS / p.length) return nullptr;
  return refusal("%lld rows of %lld are over %lld elements, and this CUB is compiled for 32-bit offsets",
                 static_cast<long long>(p.rows), static_cast<long long>(p.length),
                 static_cast<long long>(MAX_CUB_ELEMENTS));
}

// What a call of CUB gets in place of the size of its temporary storage: the size was asked for when the problem was
// prepared, and asking again in every launch would be part of its time.
constexpr size_t STORAGE_AS_ASKED = SIZE_MAX;

// left is earlier in scan order. CUB keeps the order.
struct Compose {
  __device__ Affine operator()(Affine left, Affine right) const { return combine(left, right); }
};

// Divides by the length through a product; a division for every element would be noticed.
using Length = cuda::fast_mod_div<int>;

// Scan order i counts through all rows. With reverse it begins at the end of the last row, so rows come in reverse too.
template <class T>
struct CubRows {
  StoredArrays<T> arrays;
  int elements;
  Length length;
  bool reverse;

  CubRows(const AffineProblem& p, const StoredArrays<T>& stored)
      : arrays(stored), elements(int(p.rows * p.length)), length(int(p.length)), reverse(p.reverse) {}

  __device__ int at(int i) const { return reverse ? elements - 1 - i : i; }
};

template <class T>
struct MapAt : CubRows<T> {
  __device__ Affine operator()(int i) const {
    const int at = this->at(i);
    Affine map = {widen(this->arrays.a[at]), widen(this->arrays.b[at])};
    if (this->arrays.h0 && i % this->length == 0) map.b = apply(map, this->arrays.h0[at / this->length]);
    return map;
  }
};

template <class T>
struct StoreState : CubRows<T> {
  __device__ void operator()(int i, Affine from_start) const {
    const int at = this->at(i);
    this->arrays.h[at] = narrow<T>(from_start.b);
    if (this->arrays.last && (i + 1) % this->length == 0) this->arrays.last[at / this->length] = from_start.b;
  }
};

struct RowOf {
  Length length;
  __device__ int operator()(int i) const { return i / length; }
};

struct StartOf {
  int length;
  __host__ __device__ int operator()(int row) const { return row * length; }
};

template <class F>
auto counted(F f) {
  return cuda::make_transform_iterator(cuda::make_counting_iterator(0), f);
}

template <class T>
auto maps_of(const CubRows<T>& rows) {
  return counted(MapAt<T>{rows});
}

template <class T>
auto states_of(const CubRows<T>& rows) {
  return cuda::make_tabulate_output_iterator(StoreState<T>{rows}, 0);
}
