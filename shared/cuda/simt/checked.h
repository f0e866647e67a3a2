// COUNT and EXPLORE mode's primitives. Each is a call into the runtime: the kernel around it is instrumented,
// so code inlined here would have its own accesses hooked, and the return address names the kernel's line.
// fast.h offers the same primitives inline:
//
//   thread_index block_index block_dim grid_dim lane dynamic_shared     built-in variables
//   barrier warp_sync warp_exchange warp_ballot active_mask             meetings of threads
//   load store modify compare_and_swap fence                            memory that blocks share
//   count_lookback_step
#pragma once
#include "checked_calls.h"

namespace simt {

namespace {
SIMT_INLINE uint3 thread_index() { return checked_thread_index(); }
SIMT_INLINE uint3 block_index() { return checked_block_index(); }
SIMT_INLINE dim3 block_dim() { return checked_block_dim(); }
SIMT_INLINE dim3 grid_dim() { return checked_grid_dim(); }
SIMT_INLINE int lane() { return static_cast<int>(checked_lane()); }
SIMT_INLINE void* dynamic_shared() { return checked_dynamic_shared(); }
SIMT_INLINE void count_lookback_step() { checked_count_lookback_step(); }

SIMT_INLINE void barrier(const char* file, int line) { checked_barrier(file, line); }
SIMT_INLINE void warp_sync(uint32_t mask) { checked_meet(Collective::sync, mask, 0, 0); }
SIMT_INLINE uint64_t warp_exchange(uint32_t mask, uint64_t bits, uint32_t source) {
  return checked_meet(Collective::exchange, mask, bits, source);
}
SIMT_INLINE uint32_t warp_ballot(uint32_t mask, bool predicate) {
  return static_cast<uint32_t>(checked_meet(Collective::ballot, mask, predicate, 0));
}
SIMT_INLINE uint32_t active_mask() { return checked_active_mask(); }
SIMT_INLINE void fence(Scope scope) { checked_fence(scope); }

template <class T>
SIMT_INLINE T load(const T* p, Order order) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "status words have 4, 8 or 16 bytes");
  const Wide bits = checked_load(p, sizeof(T), order);
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}
template <class T>
SIMT_INLINE void store(T* p, T value, Order order) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "status words have 4, 8 or 16 bytes");
  Wide bits = {};
  __builtin_memcpy(&bits, &value, sizeof(T));
  checked_store(p, bits, sizeof(T), order);
}

template <class T>
SIMT_INLINE uint64_t to_bits(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics have 4 or 8 bytes");
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
SIMT_INLINE T from_bits(uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}
template <class T, class Function>
__attribute__((no_sanitize_thread)) uint64_t apply_to_bits(uint64_t old, uint64_t operand) {
  return to_bits<T>(Function()(from_bits<T>(old), from_bits<T>(operand)));
}
template <class T, class Function>
SIMT_INLINE T modify(T* p, T operand, Function) {
  return from_bits<T>(checked_modify(p, sizeof(T), to_bits(operand), apply_to_bits<T, Function>));
}
template <class T>
SIMT_INLINE T compare_and_swap(T* p, T expected, T desired) {
  return from_bits<T>(checked_compare_and_swap(p, sizeof(T), to_bits(expected), to_bits(desired)));
}
}  // namespace
}  // namespace simt
