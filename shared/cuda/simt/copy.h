// Included first by a plugin's simt_fast.cpp (after #define SIMT_FAST 1) and simt_check.cpp, which then include
// kernel.cu inside an anonymous namespace. The two copies of a kernel in one program must not share a function:
// the linker would merge an instrumented one with a plain one. So everything that is compiled per copy has
// internal linkage: what is here, the scan headers, and the kernel.
#pragma once
#include "../abi.h"

#if defined(__aarch64__)
// x86-64's baseline has nothing to contract a*b+c to; this one has, and cgo refuses -ffp-contract=off.
#pragma GCC optimize("fp-contract=off")
#endif

#include "../device.cuh"
#include "plugin_simt.inl"

#ifdef SIMT_FAST
// -fsanitize=thread is one flag for both copies. In this one nothing that matters is instrumented, and what is
// (host code, a constructor that calls __tsan_init) must reach neither the checked copy's callbacks nor, under
// go build -race, the race detector's functions of the same name: local labels take the calls.
#if defined(__x86_64__) || defined(__aarch64__)
#define SIMT_IGNORE(name) ".local " #name "\n" #name ":\n"
asm(".pushsection .text\n" SIMT_IGNORE(__tsan_init) SIMT_IGNORE(__tsan_func_entry) SIMT_IGNORE(__tsan_func_exit)
        SIMT_IGNORE(__tsan_read1) SIMT_IGNORE(__tsan_read2) SIMT_IGNORE(__tsan_read4) SIMT_IGNORE(__tsan_read8)
            SIMT_IGNORE(__tsan_read16) SIMT_IGNORE(__tsan_write1) SIMT_IGNORE(__tsan_write2) SIMT_IGNORE(__tsan_write4)
                SIMT_IGNORE(__tsan_write8) SIMT_IGNORE(__tsan_write16) SIMT_IGNORE(__tsan_read_range)
                    SIMT_IGNORE(__tsan_write_range) SIMT_IGNORE(__tsan_unaligned_read2)
                        SIMT_IGNORE(__tsan_unaligned_read4) SIMT_IGNORE(__tsan_unaligned_read8)
                            SIMT_IGNORE(__tsan_unaligned_read16) SIMT_IGNORE(__tsan_unaligned_write2)
                                SIMT_IGNORE(__tsan_unaligned_write4) SIMT_IGNORE(__tsan_unaligned_write8)
                                    SIMT_IGNORE(__tsan_unaligned_write16) SIMT_IGNORE(__tsan_vptr_update)
                                        SIMT_IGNORE(__tsan_vptr_read) "ret\n.popsection\n");
#undef SIMT_IGNORE
#endif
#endif
