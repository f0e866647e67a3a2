// Launches in COUNT and EXPLORE mode: the engine's thread, the threads whose storage the resident blocks borrow.
#include "model.h"
#include <link.h>
#include <new>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <utility>
#if defined(__x86_64__)
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace simt {
namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t work = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER, parked = PTHREAD_COND_INITIALIZER;
bool started, pending_launch;

struct Storage {  // an executable's thread-local variables, of the calling thread
  char* low;
  size_t bytes;
};

int find_storage(dl_phdr_info* info, size_t, void* out) {
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_TLS)
      *static_cast<Storage*>(out) = {static_cast<char*>(info->dlpi_tls_data), info->dlpi_phdr[i].p_memsz};
  return 1;  // the executable comes first
}

// Lends its thread-local storage to a resident block and sleeps for good.
void* park(void* argument) {
  auto* b = static_cast<Resident*>(argument);
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  Storage storage = {};
  dl_iterate_phdr(find_storage, &storage);
  kernel_thread = true;
  pthread_mutex_lock(&lock);
  b->shared.statics.resize(storage.bytes / 4 + 1);
  b->static_shared = storage.low;
  b->thread_pointer = get_thread_pointer();
  pthread_cond_broadcast(&parked);
  for (;;) pthread_cond_wait(&parked, &lock);
}

Resident* add_resident() {
  auto* b = new Resident();
  b->number = static_cast<uint32_t>(engine.residents.size());
  b->shared.dynamics.resize(kMaxShared / 4 + 1);
  if (posix_memalign(reinterpret_cast<void**>(&b->dynamic_shared), 128, kMaxShared) != 0) __builtin_trap();
  pthread_t thread;
  pthread_mutex_lock(&lock);
  if (pthread_create(&thread, nullptr, park, b) != 0) __builtin_trap();
  pthread_detach(thread);
  while (!b->thread_pointer) pthread_cond_wait(&parked, &lock);
  pthread_mutex_unlock(&lock);
  engine.residents.push_back(b);
  return b;
}

void shape(Resident* b) {
  const dim3 d = engine.launch->block;
  b->threads = d.x * d.y * d.z;
  b->warps = (b->threads + kLanes - 1) / kLanes;
  for (uint32_t t = 0; t < b->threads; t++) b->thread_index[t] = {t % d.x, t / d.x % d.y, t / d.x / d.y};
  memset(b->dynamic_shared, kPoison, engine.launch->shared_bytes);
}

uint32_t resident_blocks() {
  const uint64_t limit = engine.launch->residency == Residency::cooperative ? kCooperativeLimit
                         : engine.scheduling == Scheduling::plain           ? 1
                                                                            : session.resident_blocks;
  const uint64_t most = limit < kMaxResident ? limit : kMaxResident;
  return static_cast<uint32_t>(most < engine.total_blocks ? most : engine.total_blocks);
}

// Some seeds switch and withhold often, others seldom: bugs differ in what brings them out.
void draw_policy() {
  engine.random = session.seed * 0x9E3779B97F4A7C15ull + 0x1234567;
  for (int i = 0; i < 8; i++) random_bits();
  constexpr uint32_t yields[] = {50, 200, 500}, stale[] = {100, 300, 600}, shared[] = {0, 8, 64};
  engine.yield_chance = yields[random_below(3)];
  engine.stale_chance = stale[random_below(3)];
  engine.shared_yield_chance = shared[random_below(3)];
  engine.dispatch_order.clear();
  if (engine.scheduling == Scheduling::plain) return;
  const uint32_t n = static_cast<uint32_t>(engine.total_blocks);
  for (uint32_t i = 0; i < n; i++) engine.dispatch_order.push_back(i);
  for (uint32_t i = n; i > 1; i--) std::swap(engine.dispatch_order[i - 1], engine.dispatch_order[random_below(i)]);
}

void prepare(const Launch& launch) {
  engine.launch = &launch;
  engine.scheduling = session.mode == 2 ? Scheduling::seeded : Scheduling::plain;
  engine.total_blocks = static_cast<uint64_t>(launch.grid.x) * launch.grid.y * launch.grid.z;
  engine.dispatched = engine.steps = engine.progress_step = engine.runnable_blocks = 0;
  engine.progress = 1;
  engine.newest_only = engine.abandoned = false;
  draw_policy();
  engine.resident = resident_blocks();
  while (engine.residents.size() < engine.resident) add_resident();
  start_regions();
  model_forget_stores();
}

void run(const Launch& launch) {
  prepare(launch);
  for (uint32_t i = 0; i < engine.resident; i++) {
    Resident* b = engine.residents[i];
    shape(b);
    b->stacks.start_over(b->stack_pointer, b->threads, checked_fiber_main);
    dispatch(b);
  }
  engine.main_thread_pointer = get_thread_pointer();
  engine.block = engine.residents[0];
  engine.thread = 0;
  set_thread_pointer(engine.block->thread_pointer);
  scanhost_simt_switch(&engine.main_stack_pointer, &engine.block->stack_pointer[0]);
  session.counters.steps += engine.steps;
  model_forget_stores();
}

void* engine_main(void*) {
  adopt_thread();
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!pending_launch) pthread_cond_wait(&work, &lock);
    pthread_mutex_unlock(&lock);
    run(*engine.launch);
    pthread_mutex_lock(&lock);
    pending_launch = false;
    pthread_cond_signal(&done);
  }
}
}  // namespace

void run_checked(const Launch& launch) {
  if (failed() || !acceptable(launch)) return;
  pthread_mutex_lock(&lock);
  if (!started) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, engine_main, nullptr) != 0) __builtin_trap();
    pthread_detach(thread);
    started = true;
  }
  engine.launch = &launch;
  pending_launch = true;
  pthread_cond_signal(&work);
  while (pending_launch) pthread_cond_wait(&done, &lock);
  pthread_mutex_unlock(&lock);
}

bool checked_fault_scene(FaultScene* scene) {
  if (!kernel_thread) return false;
  engine.abandoned = true;
  set_thread_pointer(engine.main_thread_pointer);
  *scene = {true, static_cast<uint32_t>(engine.block->linear), engine.thread, &engine.block->stacks,
            engine.main_stack_pointer};
  return true;
}

// One register names the thread's storage. Writing it takes 13 ns; a system call, where the kernel or processor
// does not let user code write it, some 170.
#if defined(__x86_64__)
constexpr unsigned long kFsgsbase = 2;  // HWCAP2
static const bool fsgsbase = (getauxval(AT_HWCAP2) & kFsgsbase) != 0;
void set_thread_pointer(void* pointer) {
  if (fsgsbase)
    asm volatile("wrfsbase %0" ::"r"(pointer) : "memory");
  else
    syscall(SYS_arch_prctl, 0x1002 /* ARCH_SET_FS */, pointer);
}
void* get_thread_pointer() {
  void* pointer;
  asm volatile("movq %%fs:0, %0" : "=r"(pointer));  // the ABI keeps the pointer in the first word
  return pointer;
}
#else
void set_thread_pointer(void* pointer) { asm volatile("msr tpidr_el0, %0" ::"r"(pointer) : "memory"); }
void* get_thread_pointer() {
  void* pointer;
  asm volatile("mrs %0, tpidr_el0" : "=r"(pointer));
  return pointer;
}
#endif
}  // namespace simt
