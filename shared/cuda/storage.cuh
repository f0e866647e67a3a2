// Storage types of arrays: float, fp16 or bf16. Whatever arrays hold, a kernel computes in fp32.
#pragma once
#include "device.cuh"

__device__ __forceinline__ float widen(float x) { return x; }

template <class T>
__device__ __forceinline__ T narrow(float x) {
  if constexpr (std::is_same_v<T, fp16>)
    return narrow_fp16(x);
  else if constexpr (std::is_same_v<T, bf16>)
    return narrow_bf16(x);
  else
    return x;
}

// kernel.proto's DType of a storage type, and its name there and in plugin.toml.
template <class T>
constexpr int dtype_of = std::is_same_v<T, float>  ? 1
                         : std::is_same_v<T, fp16> ? 2
                                                   : 3;

inline const char* dtype_name(int dtype) {
  return dtype == 1 ? "fp32" : dtype == 2 ? "fp16" : dtype == 3 ? "bf16" : "unknown";
}
