// device.cuh for nvcc.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <type_traits>

#include "plugin_cuda.inl"

#define DYNAMIC_SHARED(T, name)                                            \
  extern __shared__ __align__(16) unsigned char scanhost_dynamic_shared[]; \
  T* name = reinterpret_cast<T*>(scanhost_dynamic_shared)

using Stream = cudaStream_t;

// A kernel may ask for more than 48 KB of dynamic shared memory only after opting in. An error here stays
// behind as the runtime's last error, where run_batch finds it together with those of the launch itself.
template <class... P>
void allow_shared_bytes(void (*kernel)(P...), size_t shared_bytes) {
  if (shared_bytes > 48 * 1024)
    cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                         static_cast<int>(shared_bytes));
}

template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes, Stream stream, A... args) {
  allow_shared_bytes(kernel, shared_bytes);
  kernel<<<grid, block, shared_bytes, stream>>>(static_cast<P>(args)...);
}

template <class... P, class... A>
void launch_cooperative(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared_bytes, Stream stream, A... args) {
  allow_shared_bytes(kernel, shared_bytes);
  // The trailing nullptr keeps the array from being empty when the kernel takes no arguments.
  [&](P... parameters) {
    void* pointers[] = {const_cast<void*>(static_cast<const void*>(&parameters))..., nullptr};
    cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), grid, block, pointers, shared_bytes, stream);
  }(static_cast<P>(args)...);
}

inline void fill_bytes(void* pointer, int byte, size_t bytes, Stream stream) {
  cudaMemsetAsync(pointer, byte, bytes, stream);
}

// Uninitialised memory in the stream's order. An error stays behind as the runtime's last one, like a launch's.
inline void* allocate_on_stream(void*, size_t bytes, Stream stream) {
  void* pointer = nullptr;
  cudaMallocAsync(&pointer, bytes, stream);
  return pointer;
}

inline void free_on_stream(void* pointer, Stream stream) { cudaFreeAsync(pointer, stream); }

__device__ __forceinline__ void count_lookback_step() {}

__device__ __forceinline__ float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Roundings are to nearest, ties to even; any NaN is stored as 0x7fff.
__device__ __forceinline__ float widen(fp16 x) { return __half2float(__ushort_as_half(x.bits)); }
__device__ __forceinline__ float widen(bf16 x) { return __uint_as_float(uint32_t(x.bits) << 16); }
__device__ __forceinline__ fp16 narrow_fp16(float x) { return {__half_as_ushort(__float2half_rn(x))}; }
__device__ __forceinline__ bf16 narrow_bf16(float x) { return {__bfloat16_as_ushort(__float2bfloat16_rn(x))}; }

// Status accesses: one instruction each, so that no size of word can be torn. 16-byte relaxed and acquire
// accesses need sm_70; the hardware keeps an aligned 128-bit access whole, though PTX promises that formally
// only from sm_70 with the .b128 type, which not every architecture built here accepts. The v4.b32 vector
// form with volatile semantics compiles everywhere; acquire and release add the fence that .acquire would.
template <class T>
__device__ __forceinline__ T load_relaxed(const T* p) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "status words have 4, 8 or 16 bytes");
  T value;
  if constexpr (sizeof(T) == 4) {
    unsigned x;
    asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(x) : "l"(__cvta_generic_to_global(p)) : "memory");
    memcpy(&value, &x, 4);
  } else if constexpr (sizeof(T) == 8) {
    unsigned long long x;
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(x) : "l"(__cvta_generic_to_global(p)) : "memory");
    memcpy(&value, &x, 8);
  } else {
    unsigned x[4];
    asm volatile("ld.volatile.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "l"(__cvta_generic_to_global(p))
                 : "memory");
    memcpy(&value, x, 16);
  }
  return value;
}

template <class T>
__device__ __forceinline__ void store_relaxed(T* p, std::common_type_t<T> value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "status words have 4, 8 or 16 bytes");
  if constexpr (sizeof(T) == 4) {
    unsigned x;
    memcpy(&x, &value, 4);
    asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(__cvta_generic_to_global(p)), "r"(x) : "memory");
  } else if constexpr (sizeof(T) == 8) {
    unsigned long long x;
    memcpy(&x, &value, 8);
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(p)), "l"(x) : "memory");
  } else {
    unsigned x[4];
    memcpy(x, &value, 16);
    asm volatile("st.volatile.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)), "r"(x[0]),
                 "r"(x[1]), "r"(x[2]), "r"(x[3])
                 : "memory");
  }
}

template <class T>
__device__ __forceinline__ T load_acquire(const T* p) {
  T value = load_relaxed(p);
  __threadfence();
  return value;
}

template <class T>
__device__ __forceinline__ void store_release(T* p, std::common_type_t<T> value) {
  __threadfence();
  store_relaxed(p, value);
}
