#include "abi.h"

// Constructors of the kernel copies run before Go starts, one after another, so no lock is needed.
static const scanhost_kernel* registered[16];
static int count;

void scanhost_register(const scanhost_kernel* kernel) {
  if (count < 16) registered[count++] = kernel;
}

int scanhost_registered_count(void) { return count; }

const scanhost_kernel* scanhost_registered(int i) { return registered[i]; }

int scanhost_call_prepare(const scanhost_kernel* k, const scanhost_problem* p, uint64_t* bytes, char* text) {
  return k->prepare(p, bytes, text);
}

int scanhost_call_launch(const scanhost_kernel* k, const scanhost_problem* p, const scanhost_set* sets, uint32_t n_sets,
                         uint32_t first, uint32_t launches, void* workspace, uint64_t workspace_bytes,
                         const scanhost_simt* simt, scanhost_report* report) {
  return k->launch(p, sets, n_sets, first, launches, workspace, workspace_bytes, simt, report);
}

int scanhost_call_map(const scanhost_kernel* k, int fd, uint64_t bytes, int writable, void** pointer, char* text) {
  return k->map(fd, bytes, writable, pointer, text);
}

int scanhost_call_unmap(const scanhost_kernel* k, void* pointer, uint64_t bytes, char* text) {
  return k->unmap(pointer, bytes, text);
}

int scanhost_call_allocate(const scanhost_kernel* k, uint64_t bytes, void** pointer, char* text) {
  return k->allocate(bytes, pointer, text);
}

int scanhost_call_release(const scanhost_kernel* k, void* pointer, char* text) { return k->release(pointer, text); }

int scanhost_call_copy(const scanhost_kernel* k, void* to, const void* from, uint64_t bytes, char* text) {
  return k->copy_memory(to, from, bytes, text);
}
