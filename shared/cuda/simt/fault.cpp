// Faults of kernel threads: a signal becomes a finding, and the launch is left instead of the process killed.
#include "runtime.h"
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

extern "C" void scanhost_simt_restore(void);

namespace simt {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
constexpr size_t kSignalStack = 64 * 1024;
struct sigaction previous[NSIG];

uintptr_t program_counter(const ucontext_t* context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
#else
  return context->uc_mcontext.pc;
#endif
}

// Makes the return from the signal handler resume the worker's own context.
void resume_at(ucontext_t* context, void* stack_pointer) {
#if defined(__x86_64__)
  context->uc_mcontext.gregs[REG_RSP] = reinterpret_cast<greg_t>(stack_pointer);
  context->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&scanhost_simt_restore);
#else
  context->uc_mcontext.sp = reinterpret_cast<uintptr_t>(stack_pointer);
  context->uc_mcontext.pc = reinterpret_cast<uintptr_t>(&scanhost_simt_restore);
#endif
}

// The input that the address lies in, or -1. A fault there is a store: inputs are mapped read-only.
int input_at(const char* address) {
  for (int i = 0; session.set && i < SCANHOST_ARRAYS; i++) {
    const scanhost_array& a = session.set->arrays[i];
    const char* low = static_cast<const char*>(a.pointer);
    if (low && !a.writable && address >= low && address < low + a.bytes) return i;
  }
  return -1;
}

void pass_on(int number, siginfo_t* info, void* context) {
  const struct sigaction& old = previous[number];
  if (old.sa_flags & SA_SIGINFO) {
    old.sa_sigaction(number, info, context);
  } else {
    signal(number, SIG_DFL);  // the faulting instruction runs again and gets what it asked for
  }
}

void on_fault(int number, siginfo_t* info, void* raw) {
  FaultScene scene = {};
  if (!checked_fault_scene(&scene) && !fast_fault_scene(&scene)) return pass_on(number, info, raw);
  auto* context = static_cast<ucontext_t*>(raw);
  const char* address = static_cast<const char*>(info->si_addr);
  const bool overflow = scene.stacks->overflowed(scene.thread, number == SIGSEGV ? address : nullptr);
  if (const int input = input_at(address); input >= 0) {
    record(SCANHOST_INPUT_WRITE, "block %u thread %u writes to an input, array %d at byte %td, pc 0x%zx", scene.block,
           scene.thread, input, address - static_cast<const char*>(session.set->arrays[input].pointer),
           static_cast<size_t>(link_address(reinterpret_cast<const void*>(program_counter(context)))));
  }
  record(SCANHOST_FAULT, "block %u thread %u: %s (%s) at address %p, pc 0x%zx", scene.block, scene.thread,
         overflow ? "stack overflow" : "fault", strsignal(number), static_cast<const void*>(address),
         static_cast<size_t>(link_address(reinterpret_cast<const void*>(program_counter(context)))));
  resume_at(context, scene.escape);
}

void install() {
  for (int number : kSignals) {
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(number, &action, &previous[number]);
  }
}

int load_base(dl_phdr_info* info, size_t, void* base) {
  *static_cast<uintptr_t*>(base) = info->dlpi_addr;
  return 1;  // the executable comes first
}
}  // namespace

uintptr_t link_address(const void* pc) {
  static const uintptr_t base = [] {
    uintptr_t found = 0;
    dl_iterate_phdr(load_base, &found);
    return found;
  }();
  return reinterpret_cast<uintptr_t>(pc) - base;
}

void adopt_thread() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
  link_address(nullptr);  // looked up now, not first in a signal handler
  sigset_t blocked;
  sigfillset(&blocked);
  for (int number : kSignals) sigdelset(&blocked, number);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  stack_t stack = {};
  stack.ss_size = kSignalStack;
  stack.ss_sp = malloc(kSignalStack);
  sigaltstack(&stack, nullptr);
}
}  // namespace simt
