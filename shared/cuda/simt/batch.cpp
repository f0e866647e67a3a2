// A batch of launches on the simulated GPU: one at a time in a process, launch after launch until a finding.
#include "runtime.h"
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

namespace simt {

Session session;

namespace {
constexpr uint32_t kDefaultResident = 4;
pthread_mutex_t one_batch = PTHREAD_MUTEX_INITIALIZER;
int claimed, status;  // claimed before the text is written, status after
char text[SCANHOST_TEXT];

uint32_t cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<uint32_t>(CPU_COUNT(&set));
}

void open(const Batch& batch) {
  claimed = status = SCANHOST_OK;
  text[0] = 0;
  const scanhost_simt& options = *batch.options;
  session = {};
  session.batch = &batch;
  session.mode = batch.copy == SCANHOST_SIMT_FAST ? 0 : static_cast<uint32_t>(options.mode);
  session.workers = options.workers ? options.workers : cores();
  session.resident_blocks = options.resident_blocks ? options.resident_blocks : kDefaultResident;
}
}  // namespace

void record(int found, const char* format, ...) {
  int none = SCANHOST_OK;
  if (!__atomic_compare_exchange_n(&claimed, &none, found, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  __atomic_store_n(&status, found, __ATOMIC_RELEASE);
}

bool failed() { return __atomic_load_n(&claimed, __ATOMIC_RELAXED) != SCANHOST_OK; }

bool acceptable(const Launch& launch) {
  const dim3 g = launch.grid, b = launch.block;
  const uint64_t threads = static_cast<uint64_t>(b.x) * b.y * b.z, blocks = static_cast<uint64_t>(g.x) * g.y * g.z;
  if (threads == 0 || threads > kMaxThreads || b.z > 64)
    record(SCANHOST_REFUSED, "block of %u x %u x %u threads; 1 to %u threads are possible, at most 64 in z", b.x, b.y,
           b.z, kMaxThreads);
  else if (blocks == 0 || g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535)
    record(SCANHOST_REFUSED, "grid of %u x %u x %u blocks; each must be at least 1, x below 2^31, y and z below 65536",
           g.x, g.y, g.z);
  else if (launch.shared_bytes > kMaxShared)
    record(SCANHOST_REFUSED, "%zu bytes of dynamic shared memory; a block may have %zu", launch.shared_bytes,
           kMaxShared);
  else if (launch.residency == Residency::cooperative && blocks > kCooperativeLimit)
    record(SCANHOST_REFUSED, "cooperative launch of %llu blocks; at most %u can be resident together",
           static_cast<unsigned long long>(blocks), kCooperativeLimit);
  return !failed();
}

void fill(void* pointer, int byte, size_t bytes) {
  if (!failed()) memset(pointer, byte, bytes);
}

int run_batch(const Batch& batch, Enqueue enqueue, void* context) {
  pthread_mutex_lock(&one_batch);
  open(batch);
  scanhost_report* report = batch.report;
  memset(report, 0, sizeof *report);
  for (uint32_t i = 0; i < batch.launches && !failed(); i++) {
    const uint32_t set = static_cast<uint32_t>((static_cast<uint64_t>(batch.first) + i) % batch.n_sets);
    session.seed = batch.options->seed + i;
    session.set = &batch.sets[set];
    enqueue(context, set);
    if (!failed()) report->completed++;
  }
  if (failed()) {
    report->bad_launch = report->completed;
    report->bad_seed = session.seed;
    memcpy(report->text, text, sizeof report->text);
  }
  report->counters = session.counters;
  const int result = __atomic_load_n(&status, __ATOMIC_ACQUIRE);
  pthread_mutex_unlock(&one_batch);
  return result;
}
}  // namespace simt
