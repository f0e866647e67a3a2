// CUDA's built-in variables and functions over the primitives of fast.h or checked.h.
#pragma once

#define threadIdx (simt::thread_index())
#define blockIdx (simt::block_index())
#define blockDim (simt::block_dim())
#define gridDim (simt::grid_dim())

namespace {
constexpr int warpSize = simt::kLanes;

// The source line tells divergent barriers apart (program counters would not do: the optimiser copies code).
SIMT_INLINE void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  simt::barrier(file, line);
}
SIMT_INLINE void __syncwarp(unsigned mask = ~0u) { simt::warp_sync(mask); }
SIMT_INLINE unsigned __activemask() { return simt::active_mask(); }

template <class T>
SIMT_INLINE T simt_exchange(unsigned mask, T value, int source) {
  static_assert(std::is_arithmetic<T>::value && (sizeof(T) == 4 || sizeof(T) == 8),
                "CUDA shuffles exchange numbers of 4 or 8 bytes");
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = simt::warp_exchange(mask, bits, static_cast<uint32_t>(source));
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
SIMT_INLINE T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
  const int lane = simt::lane();
  return simt_exchange(mask, value, (lane & ~(width - 1)) | (source & (width - 1)));
}
template <class T>
SIMT_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const int lane = simt::lane(), source = lane - static_cast<int>(delta);
  return simt_exchange(mask, value, source < (lane & ~(width - 1)) ? lane : source);
}
template <class T>
SIMT_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const int lane = simt::lane(), source = lane + static_cast<int>(delta);
  return simt_exchange(mask, value, source > (lane | (width - 1)) ? lane : source);
}
template <class T>
SIMT_INLINE T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = warpSize) {
  const int lane = simt::lane(), source = lane ^ lanes;
  return simt_exchange(mask, value, source > (lane | (width - 1)) ? lane : source);
}
SIMT_INLINE unsigned __ballot_sync(unsigned mask, int predicate) { return simt::warp_ballot(mask, predicate != 0); }
SIMT_INLINE int __any_sync(unsigned mask, int predicate) { return simt::warp_ballot(mask, predicate != 0) != 0; }
SIMT_INLINE int __all_sync(unsigned mask, int predicate) { return simt::warp_ballot(mask, predicate == 0) == 0; }

SIMT_INLINE void __threadfence() { simt::fence(simt::Scope::device); }
SIMT_INLINE void __threadfence_block() { simt::fence(simt::Scope::block); }
SIMT_INLINE void count_lookback_step() { simt::count_lookback_step(); }

// The value's type is not deduced from: atomicAdd(&counter, 1) works for an unsigned counter, as in CUDA.
template <class T>
struct simt_same {
  using type = T;
};
template <class T>
using simt_value = typename simt_same<T>::type;
template <class T>
SIMT_INLINE T load_relaxed(const T* p) {
  return simt::load<T>(p, simt::Order::relaxed);
}
template <class T>
SIMT_INLINE T load_acquire(const T* p) {
  return simt::load<T>(p, simt::Order::acquire);
}
template <class T>
SIMT_INLINE void store_relaxed(T* p, simt_value<T> value) {
  simt::store<T>(p, value, simt::Order::relaxed);
}
template <class T>
SIMT_INLINE void store_release(T* p, simt_value<T> value) {
  simt::store<T>(p, value, simt::Order::release);
}

// Cache hints change no result: plain accesses.
template <class T>
SIMT_INLINE T __ldg(const T* p) {
  return *p;
}
template <class T>
SIMT_INLINE T __ldcs(const T* p) {
  return *p;
}
template <class T>
SIMT_INLINE T __ldcg(const T* p) {
  return *p;
}
template <class T>
SIMT_INLINE T __ldca(const T* p) {
  return *p;
}
template <class T>
SIMT_INLINE void __stcs(T* p, simt_value<T> value) {
  *p = value;
}
template <class T>
SIMT_INLINE void __stcg(T* p, simt_value<T> value) {
  *p = value;
}
template <class T>
SIMT_INLINE void __stwt(T* p, simt_value<T> value) {
  *p = value;
}

struct simt_add {
  template <class T>
  SIMT_INLINE T operator()(T old, T v) const {
    return old + v;
  }
};
struct simt_sub {
  template <class T>
  SIMT_INLINE T operator()(T old, T v) const {
    return old - v;
  }
};
struct simt_min {
  template <class T>
  SIMT_INLINE T operator()(T old, T v) const {
    return v < old ? v : old;
  }
};
struct simt_max {
  template <class T>
  SIMT_INLINE T operator()(T old, T v) const {
    return old < v ? v : old;
  }
};
struct simt_and {
  template <class T>
  SIMT_INLINE T operator()(T old, T v) const {
    return old & v;
  }
};
struct simt_or {
  template <class T>
  SIMT_INLINE T operator()(T old, T v) const {
    return old | v;
  }
};
struct simt_xor {
  template <class T>
  SIMT_INLINE T operator()(T old, T v) const {
    return old ^ v;
  }
};
struct simt_exchange_value {
  template <class T>
  SIMT_INLINE T operator()(T, T v) const {
    return v;
  }
};

template <class T>
SIMT_INLINE T atomicAdd(T* p, simt_value<T> v) {
  return simt::modify<T>(p, v, simt_add());
}
template <class T>
SIMT_INLINE T atomicSub(T* p, simt_value<T> v) {
  return simt::modify<T>(p, v, simt_sub());
}
template <class T>
SIMT_INLINE T atomicMin(T* p, simt_value<T> v) {
  return simt::modify<T>(p, v, simt_min());
}
template <class T>
SIMT_INLINE T atomicMax(T* p, simt_value<T> v) {
  return simt::modify<T>(p, v, simt_max());
}
template <class T>
SIMT_INLINE T atomicAnd(T* p, simt_value<T> v) {
  return simt::modify<T>(p, v, simt_and());
}
template <class T>
SIMT_INLINE T atomicOr(T* p, simt_value<T> v) {
  return simt::modify<T>(p, v, simt_or());
}
template <class T>
SIMT_INLINE T atomicXor(T* p, simt_value<T> v) {
  return simt::modify<T>(p, v, simt_xor());
}
template <class T>
SIMT_INLINE T atomicExch(T* p, simt_value<T> v) {
  return simt::modify<T>(p, v, simt_exchange_value());
}
template <class T>
SIMT_INLINE T atomicCAS(T* p, simt_value<T> expected, simt_value<T> desired) {
  return simt::compare_and_swap<T>(p, expected, desired);
}
}  // namespace
