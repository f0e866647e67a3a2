// Conversions of the storage types, with the bits that a GPU's cvt instructions give: rounded to nearest, ties to
// even, subnormals kept, any NaN narrowed to 0x7fff.
#pragma once

namespace {

SIMT_INLINE float widen(bf16 x) { return __uint_as_float(uint32_t(x.bits) << 16); }

SIMT_INLINE float widen(fp16 x) {
  const uint32_t sign = uint32_t(x.bits & 0x8000u) << 16, magnitude = x.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return __uint_as_float(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x0400u) return __uint_as_float(sign | ((magnitude << 13) + (112u << 23)));
  const float subnormal = float(magnitude) * 0x1p-24f;
  return sign ? -subnormal : subnormal;
}

SIMT_INLINE bf16 narrow_bf16(float x) {
  const uint32_t bits = __float_as_uint(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {0x7fff};
  return {uint16_t((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

SIMT_INLINE fp16 narrow_fp16(float x) {
  const uint32_t bits = __float_as_uint(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {0x7fff};
  // From half a unit past the largest number on.
  if (magnitude >= 0x477ff000u) return {uint16_t(sign | 0x7c00u)};
  if (magnitude >= 113u << 23)
    return {uint16_t(sign | ((magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13))};
  // Below the smallest normal number the unit is 2^-24, which is that of fp32 from 1/2 on: the sum does the rounding.
  return {uint16_t(sign | (__float_as_uint(__uint_as_float(magnitude) + 0.5f) - 0x3f000000u))};
}
}  // namespace
