// device.cuh for g++: the CUDA language on the simulated GPU. fast.h and checked.h offer the same primitives
// (see primitives in checked.h); everything above them is common.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "machine.h"

#ifdef SIMT_FAST
#define SIMT_COPY __attribute__((no_sanitize_thread))
#else
#define SIMT_COPY
#endif
#define SIMT_INLINE inline __attribute__((always_inline)) SIMT_COPY

#define __global__ SIMT_COPY
#define __device__ SIMT_COPY
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// Thread-local to the operating-system thread that runs the block (FAST) or whose storage the block borrows.
#define __shared__ static __thread __attribute__((tls_model("local-exec")))
#define DYNAMIC_SHARED(T, name) T* name = reinterpret_cast<T*>(simt::dynamic_shared())

#ifdef SIMT_FAST
#include "fast.h"
#else
#include "checked.h"
#endif
#include "vectors.h"
#include "intrinsics.h"
#include "language.h"
#include "launch.h"
#include "storage.h"
