// CUDA's short vectors, with CUDA's alignment. They're types only, the same in both copies.
#pragma once

#define SIMT_VECTORS(T, name, pair_align, quad_align)                             \
  struct alignas(pair_align) name##2 { T x, y; };                                 \
  struct alignas(quad_align) name##4 { T x, y, z, w; };                           \
  namespace {                                                                     \
  SIMT_INLINE name##2 make_##name##2(T x, T y) { return {x, y}; }                 \
  SIMT_INLINE name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; } \
  }
SIMT_VECTORS(float, float, 8, 16)
SIMT_VECTORS(int, int, 8, 16)
SIMT_VECTORS(unsigned, uint, 8, 16)
SIMT_VECTORS(double, double, 16, 16)
SIMT_VECTORS(long long, longlong, 16, 16)
SIMT_VECTORS(unsigned long long, ulonglong, 16, 16)
#undef SIMT_VECTORS
