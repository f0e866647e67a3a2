// The only place where nvcc or g++ is decided. kernel.cu includes this and the headers beside it and nothing
// else; what follows is CUDA C++ except for a few spellings that both compilers need to share:
//
//   DYNAMIC_SHARED(T, name)                               extern __shared__ T name[]
//   launch(kernel, grid, block, shared_bytes, stream, args...)              kernel<<<...>>>(args...)
//   launch_cooperative(kernel, grid, block, shared_bytes, stream, args...)  refused if the grid cannot be resident
//   fill_bytes(pointer, byte, bytes, stream)              cudaMemsetAsync
//   allocate_on_stream(prepared, bytes, stream), free_on_stream(pointer, stream)   cudaMallocAsync, cudaFreeAsync; simt
//                                                         has no allocator: there it is `prepared`, spoilt
//   load_relaxed, store_relaxed, load_acquire, store_release   tile status; T of 4, 8 or 16 bytes, one single access
//   count_lookback_step()                                 one predecessor inspected (counted on simt only)
//   exp2_approx(x)                                        2^x to 2^-22 of itself, results below 2^-126 flushed to 0:
//                                                         a GPU's instruction. simt has other bits of equal accuracy
//   fp16, bf16; widen, narrow_fp16, narrow_bf16           what arrays may hold beside fp32 (see storage.cuh)
//
// A loop that waits for another block must read through load_relaxed or load_acquire: there the simulated GPU
// switches to another thread. Arithmetic is explicit on both compilers: fmaf where fused, contraction off.
#pragma once
#include <cstdint>

struct fp16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};

#ifdef __CUDACC__
#include "device_nvcc.cuh"
#else
#include "simt/device.h"
#endif
