//go:build !race

// The callbacks that -fsanitize=thread inserts before every load and store of the checked copies, in place of the
// sanitizer's own runtime. One definition serves all copies in a program. Under go build -race the race detector
// owns some of these names, and there is no checked copy.
#include "access.h"

using simt::Access;

#define SIMT_HOOK(name, bytes, access)                                                               \
  extern "C" void name(void* p) {                                                                    \
    if (simt::kernel_thread)                                                                         \
      simt::plain_access(static_cast<char*>(p), bytes, Access::access, __builtin_return_address(0)); \
  }
#define SIMT_HOOKS(bytes)                                        \
  SIMT_HOOK(__tsan_read##bytes, bytes, read)                     \
  SIMT_HOOK(__tsan_write##bytes, bytes, write)                   \
  SIMT_HOOK(__tsan_unaligned_read##bytes, bytes, unaligned_read) \
  SIMT_HOOK(__tsan_unaligned_write##bytes, bytes, unaligned_write)
SIMT_HOOKS(1)
SIMT_HOOKS(2)
SIMT_HOOKS(4)
SIMT_HOOKS(8)
SIMT_HOOKS(16)

#define SIMT_RANGE_HOOK(name, access)                                                         \
  extern "C" void name(void* p, size_t bytes) {                                               \
    if (simt::kernel_thread && bytes)                                                         \
      simt::plain_access(static_cast<char*>(p), static_cast<uint32_t>(bytes), Access::access, \
                         __builtin_return_address(0));                                        \
  }
SIMT_RANGE_HOOK(__tsan_read_range, unaligned_read)
SIMT_RANGE_HOOK(__tsan_write_range, unaligned_write)

extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_vptr_update(void**, void*) {}
extern "C" void __tsan_vptr_read(void**) {}
