// What the keeper holds of the GPU for its whole life, and how it words failures.
#pragma once
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "driver.cuh"
#include "keeper.h"

namespace keeper {

constexpr uint64_t chunk_bytes = 8 << 20;  // of one staging buffer
constexpr uint64_t canary_bytes = 1 << 20;
constexpr uint64_t slot_sums_bytes = 256 << 10;

// What a kernel reports, in device memory.
struct Found {
  long long first_bad;
  unsigned long long hash;
};

struct Context {
  cudaStream_t stream;
  uint8_t* staging[2];  // pinned; two, so that a file copy and a device copy overlap
  cudaEvent_t staged[2];
  Found* found;
  uint32_t* canary;
  unsigned long long* slot_sums;  // of slots: the first bad byte, then a hash for each
  cudaEvent_t begin, end;         // around batches
  bool persists;                  // this GPU can keep lines in L2
  int blocks;                     // enough to fill the GPU
};

inline Context& context() {
  static Context only;
  return only;
}

__attribute__((format(printf, 2, 3))) inline int fail(char text[KEEPER_TEXT], const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, KEEPER_TEXT, format, arguments);
  va_end(arguments);
  return KEEPER_ERROR;
}

inline int check(cudaError_t error, const char* during, char text[KEEPER_TEXT]) {
  if (error == cudaSuccess) return KEEPER_OK;
  fail(text, "%s: %s (%s)", during, cudaGetErrorName(error), cudaGetErrorString(error));
  return error == cudaErrorMemoryAllocation ? KEEPER_OUT_OF_MEMORY : KEEPER_ERROR;
}

inline int check(CUresult result, const char* during, char text[KEEPER_TEXT]) {
  if (result == CUDA_SUCCESS) return KEEPER_OK;
  fail(text, "%s: %s (%s)", during, scanhost::name_of(result), scanhost::meaning_of(result));
  return result == CUDA_ERROR_OUT_OF_MEMORY ? KEEPER_OUT_OF_MEMORY : KEEPER_ERROR;
}

// Go moves its calls from thread to thread, and the current device is a thread's.
inline int enter(char text[KEEPER_TEXT]) { return check(cudaSetDevice(0), "cudaSetDevice", text); }

}  // namespace keeper

// Returns from the calling function unless the call succeeded; its failure is worded with the call's text.
#define KEEPER_TRY(call)                              \
  do {                                                \
    int status_ = keeper::check((call), #call, text); \
    if (status_ != KEEPER_OK) return status_;         \
  } while (0)
