// Arithmetic of one thread: bits, rounding, minimum and maximum. In an anonymous namespace, so that a kernel
// (which is included into it) finds these before the C library's functions of the same name.
#pragma once

namespace simt {
// Whether the processor has fused multiply-add; read once, by the runtime.
extern const bool has_fma;
}  // namespace simt

namespace {

// Without -mfma the compiler calls libm's fmaf, some 20 times slower than the instruction; -mfma is no choice
// for an executable that must start on any x86-64. The assembler needs no flag.
SIMT_INLINE float fmaf(float x, float y, float z) {
#if defined(__x86_64__)
  if (__builtin_expect(simt::has_fma, 1)) {
    asm("vfmadd213ss %2, %1, %0" : "+x"(x) : "x"(y), "x"(z));
    return x;
  }
#endif
  return __builtin_fmaf(x, y, z);
}
SIMT_INLINE double fma(double x, double y, double z) {
#if defined(__x86_64__)
  if (__builtin_expect(simt::has_fma, 1)) {
    asm("vfmadd213sd %2, %1, %0" : "+x"(x) : "x"(y), "x"(z));
    return x;
  }
#endif
  return __builtin_fma(x, y, z);
}
SIMT_INLINE float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
SIMT_INLINE float __fmul_rn(float x, float y) { return x * y; }
SIMT_INLINE float __fadd_rn(float x, float y) { return x + y; }
SIMT_INLINE float __fsub_rn(float x, float y) { return x - y; }

SIMT_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
SIMT_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_INLINE int __ffs(int x) { return __builtin_ffs(x); }
SIMT_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
SIMT_INLINE int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
SIMT_INLINE int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
SIMT_INLINE unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}

template <class To, class From>
SIMT_INLINE To simt_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "a reinterpretation keeps the size");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
SIMT_INLINE int __float_as_int(float x) { return simt_bits<int>(x); }
SIMT_INLINE unsigned __float_as_uint(float x) { return simt_bits<unsigned>(x); }
SIMT_INLINE float __int_as_float(int x) { return simt_bits<float>(x); }
SIMT_INLINE float __uint_as_float(unsigned x) { return simt_bits<float>(x); }

// Stands for a GPU's ex2.approx.ftz: a polynomial on [-1/2, 1/2], off by less than a unit in the last place, times a
// power of two in two factors, since 2^128 is no number and its half is.
SIMT_INLINE float exp2_approx(float x) {
  if (!(x < 128.0f)) return x != x ? x : __builtin_inff();
  if (x < -126.0f) return 0.0f;
  const float shift = 0x1.8p23f, whole = (x + shift) - shift, f = x - whole;
  float p = 1.52527338e-5f;
  p = fmaf(p, f, 1.54035304e-4f);
  p = fmaf(p, f, 1.33335581e-3f);
  p = fmaf(p, f, 9.61812911e-3f);
  p = fmaf(p, f, 5.55041087e-2f);
  p = fmaf(p, f, 0.240226507f);
  p = fmaf(p, f, 0.693147181f);
  p = fmaf(p, f, 1.0f);
  const int n = static_cast<int>(whole), half = n / 2;
  return p * __uint_as_float(static_cast<unsigned>(half + 127) << 23) *
         __uint_as_float(static_cast<unsigned>(n - half + 127) << 23);
}

// As in CUDA the arguments may differ in type: the usual conversions apply.
template <class A, class B>
SIMT_INLINE typename std::common_type<A, B>::type min(A a, B b) {
  using T = typename std::common_type<A, B>::type;
  return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <class A, class B>
SIMT_INLINE typename std::common_type<A, B>::type max(A a, B b) {
  using T = typename std::common_type<A, B>::type;
  return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}
}  // namespace
