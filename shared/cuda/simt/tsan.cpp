//go:build !race

// The callbacks that -fsanitize=thread inserts before every load and store of the checked copies, in place of the
// sanitizer's own runtime. One definition serves all copies in a program. Under go build -race the race detector
// owns some of these names, and there is no checked copy.
#include "access.h"

using simt::kernel_thread;
using simt::plain_access;

#define SIMT_HOOKS(n)                                                                                                  \
  extern "C" void __tsan_read##n(void *p) {                                                                            \
    if (kernel_thread) plain_access(static_cast<char *>(p), n, false, __builtin_return_address(0));                    \
  }                                                                                                                    \
  extern "C" void __tsan_write##n(void *p) {                                                                           \
    if (kernel_thread) plain_access(static_cast<char *>(p), n, true, __builtin_return_address(0));                     \
  }                                                                                                                    \
  extern "C" void __tsan_unaligned_read##n(void *p) {                                                                  \
    if (kernel_thread) plain_access(static_cast<char *>(p), n, false, __builtin_return_address(0));                    \
  }                                                                                                                    \
  extern "C" void __tsan_unaligned_write##n(void *p) {                                                                 \
    if (kernel_thread) plain_access(static_cast<char *>(p), n, true, __builtin_return_address(0));                     \
  }
SIMT_HOOKS(1)
SIMT_HOOKS(2)
SIMT_HOOKS(4)
SIMT_HOOKS(8)
SIMT_HOOKS(16)

extern "C" void __tsan_read_range(void *p, size_t bytes) {
  if (kernel_thread && bytes)
    plain_access(static_cast<char *>(p), static_cast<uint32_t>(bytes), false, __builtin_return_address(0));
}
extern "C" void __tsan_write_range(void *p, size_t bytes) {
  if (kernel_thread && bytes)
    plain_access(static_cast<char *>(p), static_cast<uint32_t>(bytes), true, __builtin_return_address(0));
}
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void *) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_vptr_update(void **, void *) {}
extern "C" void __tsan_vptr_read(void **) {}
