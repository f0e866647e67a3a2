// Fibers: the register switch and the stacks.
#include "runtime.h"
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
// Saved: rbx, rbp, r12 to r15 and the return address. The second entry restores a saved context without
// saving one: where a fault leaves to.
asm(R"(
.pushsection .text
.p2align 4
.globl scanhost_simt_switch
.type scanhost_simt_switch, @function
scanhost_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq (%rsi), %rsp
.globl scanhost_simt_restore
scanhost_simt_restore:
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size scanhost_simt_switch, .-scanhost_simt_switch

.p2align 4
.globl scanhost_simt_enter
.type scanhost_simt_enter, @function
scanhost_simt_enter:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  leaq scanhost_simt_restore(%rip), %rax
  movq %rax, 8(%rdi)
  movq (%rsi), %rsp
  movq 16(%rsi), %rbx
  movq 24(%rsi), %rbp
  movq 32(%rsi), %r12
  movq 40(%rsi), %r13
  movq 48(%rsi), %r14
  movq 56(%rsi), %r15
  jmpq *8(%rsi)
.size scanhost_simt_enter, .-scanhost_simt_enter
.popsection
)");
#elif defined(__aarch64__)
// Saved: x19 to x30 and d8 to d15.
asm(R"(
.pushsection .text
.p2align 4
.globl scanhost_simt_switch
.type scanhost_simt_switch, %function
scanhost_simt_switch:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  ldr x9, [x1]
  mov sp, x9
.globl scanhost_simt_restore
scanhost_simt_restore:
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size scanhost_simt_switch, .-scanhost_simt_switch
.popsection
)");
#else
#error "the simulated GPU switches threads in assembly: x86-64 and aarch64 only"
#endif

namespace simt {
namespace {

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102  // Linux 6.13
#endif

// Guards made by mprotect cost a mapping each, of which a process has 65,530. Past this many, stacks go
// unguarded rather than take the mappings that the Go runtime needs.
constexpr uint32_t kMprotectGuards = 16 * 1024;
uint32_t mprotect_guards = 0;

// Some emulators of Linux answer yes to any advice. A page that a system call can read guards nothing.
bool faults(const char* page) {
  int ends[2];
  if (pipe(ends) != 0) return true;
  const bool refused = write(ends[1], page, 1) < 0;
  close(ends[0]);
  close(ends[1]);
  return refused;
}

void guard(char* page, size_t bytes) {
  static bool advice_guards = madvise(page, bytes, MADV_GUARD_INSTALL) == 0 && faults(page);
  if (advice_guards && madvise(page, bytes, MADV_GUARD_INSTALL) == 0) return;
  if (__atomic_fetch_add(&mprotect_guards, 1, __ATOMIC_RELAXED) < kMprotectGuards) mprotect(page, bytes, PROT_NONE);
}

// Stacks a multiple of 4 KB apart would compete for the same few lines of the L1 cache.
size_t colour(uint32_t thread) { return thread * 192 % 4096; }

// Unlikely to be written by chance; at the low end of a packed stack.
constexpr uint64_t kMark = 0x5ca7057ac4e4d000;
constexpr size_t kHugePage = 2 << 20;
}  // namespace

void Stacks::reserve() {
  if (base_) return;
  const size_t bytes = kMaxThreads * stride() + kPage;
  void* p =
      mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) __builtin_trap();
  base_ = static_cast<char*>(p);
  guard(base_, kPage);
  if (layout_ == Layout::packed) madvise(base_ + kPage, bytes + kHugePage - kPage, MADV_HUGEPAGE);
  for (uint32_t t = 1; layout_ == Layout::guarded && t < kMaxThreads; t++) guard(base_ + t * stride(), kPage);
}

bool Stacks::overflowed(uint32_t thread, const char* address) const {
  if (address && address < low(thread) && address >= (layout_ == Layout::guarded ? low(thread) - kPage : base_))
    return true;
  return layout_ == Layout::packed && *reinterpret_cast<const uint64_t*>(low(thread)) != kMark;
}

char* Stacks::top(uint32_t thread) {
  if (layout_ == Layout::guarded) return high(thread) - colour(thread);
  *reinterpret_cast<uint64_t*>(low(thread)) = kMark;
  return high(thread);
}

void Stacks::start_over(void** stack_pointer, uint32_t threads, void (*main)()) {
  reserve();
  for (uint32_t t = 0; t < threads; t++) {
    void** stack = reinterpret_cast<void**>(top(t));
#if defined(__x86_64__)
    // Entered by ret, so the stack looks as after a call: the slot above is main's return address.
    stack[-1] = nullptr;
    stack[-2] = reinterpret_cast<void*>(main);
    for (int saved = 3; saved <= 8; saved++) stack[-saved] = nullptr;
    stack_pointer[t] = stack - 8;
#else
    for (int saved = 1; saved <= 20; saved++) stack[-saved] = nullptr;
    stack[-20 + 11] = reinterpret_cast<void*>(main);  // x30
    stack_pointer[t] = stack - 20;
#endif
  }
}

void Stacks::start_over(Context* context, uint32_t threads, void (*main)()) {
#if defined(__x86_64__)
  reserve();
  for (uint32_t t = 0; t < threads; t++) {
    void** stack = reinterpret_cast<void**>(top(t));
    stack[-1] = nullptr;
    context[t] = {stack - 1, reinterpret_cast<void*>(main), {}};
  }
#else
  void* stack_pointer[kMaxThreads];
  start_over(stack_pointer, threads, main);
  for (uint32_t t = 0; t < threads; t++) context[t].stack_pointer = stack_pointer[t];
#endif
}
}  // namespace simt
