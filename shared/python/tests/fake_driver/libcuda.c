// A CUDA driver whose device memory is the memory behind the descriptor, so that the mapping of GPU buffers can be
// tested where there is no GPU. It refuses what the driver refuses, and logs mappings to standard error.
// FAKE_CUDA_FAIL names a call that fails, with the code in FAKE_CUDA_CODE.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef unsigned long long u64;

static int current;  // whether the context is
static int handles;  // imported and not released

static int fails(const char* name) {
  const char* which = getenv("FAKE_CUDA_FAIL");
  return which && !strcmp(which, name) ? atoi(getenv("FAKE_CUDA_CODE")) : 0;
}

#define BEGIN(name)         \
  do {                      \
    int code = fails(name); \
    if (code) return code;  \
  } while (0)
#define NEEDS_CONTEXT(name)   \
  do {                        \
    BEGIN(name);              \
    if (!current) return 201; \
  } while (0)

int cuInit(unsigned flags) {
  BEGIN("cuInit");
  return flags;
}
int cuGetErrorString(int code, const char** text) {
  *text = code == 700 ? "an illegal memory access" : "a fake error";
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = (void*)(intptr_t)0xc0;
  return device;
}
int cuCtxSetCurrent(void* context) {
  current = context == (void*)(intptr_t)0xc0;
  return !current;
}
int cuCtxSynchronize(void) {
  NEEDS_CONTEXT("cuCtxSynchronize");
  return 0;
}

int cuMemImportFromShareableHandle(u64* handle, void* os_handle, int type) {
  NEEDS_CONTEXT("cuMemImportFromShareableHandle");
  if (type != 1) return 1;
  *handle = dup((int)(intptr_t)os_handle);
  handles++;
  return 0;
}

int cuMemAddressReserve(u64* address, size_t size, size_t alignment, u64 wish, u64 flags) {
  NEEDS_CONTEXT("cuMemAddressReserve");
  if (alignment || wish || flags) return 1;
  void* p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *address = (u64)(uintptr_t)p;
  return p == MAP_FAILED;
}

int cuMemMap(u64 address, size_t size, size_t offset, u64 handle, u64 flags) {
  NEEDS_CONTEXT("cuMemMap");
  if (offset || flags) return 1;
  // Without this protection a mapping of a sealed descriptor is refused, as the driver refuses write access to one.
  void* p = mmap((void*)(uintptr_t)address, size, PROT_NONE, MAP_SHARED | MAP_FIXED, (int)handle, 0);
  return p == MAP_FAILED;
}

int cuMemSetAccess(u64 address, size_t size, const int* description, size_t count) {
  NEEDS_CONTEXT("cuMemSetAccess");
  if (count != 1 || description[0] != 1 || description[1] != 0) return 1;
  fprintf(stderr, "mapped %zu with access %d\n", size, description[2]);
  int protection = description[2] == 3 ? PROT_READ | PROT_WRITE : PROT_READ;
  return mprotect((void*)(uintptr_t)address, size, protection) ? 1 : 0;
}

int cuMemUnmap(u64 address, size_t size) {
  NEEDS_CONTEXT("cuMemUnmap");
  return mmap((void*)(uintptr_t)address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED;
}

int cuMemAddressFree(u64 address, size_t size) {
  NEEDS_CONTEXT("cuMemAddressFree");
  fprintf(stderr, "freed %zu, %d handles held\n", size, handles);
  return munmap((void*)(uintptr_t)address, size) ? 1 : 0;
}

int cuMemRelease(u64 handle) {
  handles--;
  return close((int)handle) ? 1 : 0;
}
int cuMemAlloc_v2(u64* address, size_t size) {
  NEEDS_CONTEXT("cuMemAlloc_v2");
  *address = (u64)(uintptr_t)malloc(size);
  fprintf(stderr, "allocated %zu\n", size);
  return 0;
}
int cuMemFree_v2(u64 address) {
  NEEDS_CONTEXT("cuMemFree_v2");
  free((void*)(uintptr_t)address);
  fprintf(stderr, "released\n");
  return 0;
}
int cuMemcpyHtoD_v2(u64 device, const void* host, size_t size) {
  NEEDS_CONTEXT("cuMemcpyHtoD_v2");
  memcpy((void*)(uintptr_t)device, host, size);
  return 0;
}
int cuMemcpyDtoH_v2(void* host, u64 device, size_t size) {
  NEEDS_CONTEXT("cuMemcpyDtoH_v2");
  memcpy(host, (void*)(uintptr_t)device, size);
  return 0;
}
int cuEventCreate(void** event, unsigned flags) {
  NEEDS_CONTEXT("cuEventCreate");
  *event = malloc(1);
  return flags;
}
int cuEventRecord(void* event, void* stream) {
  NEEDS_CONTEXT("cuEventRecord");
  return !event || stream;
}
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  *milliseconds = 1.5f;
  return begin == end;
}
