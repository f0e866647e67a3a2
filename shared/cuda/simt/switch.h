// Going on to another thread of FAST mode.
#pragma once
#include "machine.h"

namespace simt {

#if defined(__x86_64__)
// Enters a thread from code that is none's; a switch to *from comes back.
extern "C" void scanhost_simt_enter(Context* from, const Context* to);

#ifdef __AVX512F__
#define SIMT_MORE_REGISTERS                                                                                     \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", \
      "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define SIMT_MORE_REGISTERS
#endif

// Inline, so that no return address goes to the stack, whose line would have to be in the cache for it. To the compiler
// it is as a call: what a function must preserve is in the context, everything else is named as overwritten.
inline __attribute__((always_inline, no_sanitize_thread)) void switch_context(Context* from, const Context* to) {
  asm volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq %%rax, 8(%0)\n\t"
      "movq %%rbx, 16(%0)\n\t"
      "movq %%rbp, 24(%0)\n\t"
      "movq %%r12, 32(%0)\n\t"
      "movq %%r13, 40(%0)\n\t"
      "movq %%r14, 48(%0)\n\t"
      "movq %%r15, 56(%0)\n\t"
      "movq (%1), %%rsp\n\t"
      "movq 16(%1), %%rbx\n\t"
      "movq 24(%1), %%rbp\n\t"
      "movq 32(%1), %%r12\n\t"
      "movq 40(%1), %%r13\n\t"
      "movq 48(%1), %%r14\n\t"
      "movq 56(%1), %%r15\n\t"
      "jmpq *8(%1)\n"
      "1:"
      : "+D"(from), "+S"(to)
      :
      : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
        "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)",
        "st(3)", "st(4)", "st(5)", "st(6)", "st(7)" SIMT_MORE_REGISTERS);
}
#undef SIMT_MORE_REGISTERS
#else
inline void scanhost_simt_enter(Context* from, const Context* to) {
  scanhost_simt_switch(&from->stack_pointer, &to->stack_pointer);
}

inline __attribute__((always_inline, no_sanitize_thread)) void switch_context(Context* from, const Context* to) {
  scanhost_simt_switch(&from->stack_pointer, &to->stack_pointer);
}
#endif

inline __attribute__((always_inline, no_sanitize_thread)) void resume(Context* from, Context* next) {
  const char* ahead = static_cast<const char*>(next[kAhead].stack_pointer);
  __builtin_prefetch(ahead);
  __builtin_prefetch(ahead + 64);
  current.context = next;
  switch_context(from, next);
}
}  // namespace simt
