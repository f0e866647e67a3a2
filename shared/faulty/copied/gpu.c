// A GPU of plain C, for machines without one: its memory is other memory than the host's, and its only kernel
// is a serial affine scan with the faults of main.go.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"

enum fault { RIGHT, WRITES_PAST_THE_END, LEAVES_THE_LAST, WRITES_AN_INPUT, CANNOT_COPY, WRITES_ONCE };

static int64_t fault;
static int launched;  // since the problem was prepared

static int prepare(const scanhost_problem* p, uint64_t* workspace_bytes, char text[SCANHOST_TEXT]) {
  (void)text;
  fault = p->tuning[0];
  launched = 0;
  *workspace_bytes = 0;
  return SCANHOST_OK;
}

// rows, length; reverse, h0, last_state as options bits 0 to 2; a, b, h0, h, last_state.
static void scan(const scanhost_problem* p, const scanhost_set* set) {
  const int64_t rows = p->dims[0], length = p->dims[1];
  const float *a = set->arrays[0].pointer, *b = set->arrays[1].pointer, *h0 = set->arrays[2].pointer;
  float *h = set->arrays[3].pointer, *last = set->arrays[4].pointer;
  for (int64_t row = 0; row < rows; row++) {
    float state = h0 ? h0[row] : 0;
    for (int64_t t = 0; t < length; t++) {
      const int64_t i = row * length + ((p->options & 1) ? length - 1 - t : t);
      state = a[i] * state + b[i];
      if (fault == LEAVES_THE_LAST && i == rows * length - 1) continue;
      h[i] = state;
    }
    if (last) last[row] = state;
  }
  if (fault == WRITES_PAST_THE_END) h[rows * length] = 0;
  if (fault == WRITES_AN_INPUT && rows * length > 0) ((float*)a)[0] = 7;
}

static int launch(const scanhost_problem* p, const scanhost_set* sets, uint32_t n_sets, uint32_t first,
                  uint32_t launches, void* workspace, uint64_t workspace_bytes, const scanhost_simt* simt,
                  scanhost_report* report) {
  (void)workspace, (void)workspace_bytes, (void)simt;
  memset(report, 0, sizeof *report);
  for (uint32_t i = 0; i < launches; i++)
    if (fault != WRITES_ONCE || launched++ == 0) scan(p, &sets[(first + i) % n_sets]);
  report->completed = launches;
  return SCANHOST_OK;
}

static int map(int fd, uint64_t bytes, int writable, void** pointer, char text[SCANHOST_TEXT]) {
  (void)fd, (void)bytes, (void)writable, (void)pointer;
  snprintf(text, SCANHOST_TEXT, "this GPU imports no memory");
  return SCANHOST_DEVICE_ERROR;
}

static int unmap(void* pointer, uint64_t bytes, char text[SCANHOST_TEXT]) { return map(0, bytes, 0, &pointer, text); }

static int allocate(uint64_t bytes, void** pointer, char text[SCANHOST_TEXT]) {
  *pointer = calloc(1, bytes);
  if (*pointer) return SCANHOST_OK;
  snprintf(text, SCANHOST_TEXT, "%llu bytes are too many", (unsigned long long)bytes);
  return SCANHOST_OUT_OF_MEMORY;
}

static int release(void* pointer, char text[SCANHOST_TEXT]) {
  (void)text;
  free(pointer);
  return SCANHOST_OK;
}

static int copies;

static int copy_memory(void* to, const void* from, uint64_t bytes, char text[SCANHOST_TEXT]) {
  // a, b and the output on the way to the device, the output before the launch, then back.
  if (fault == CANNOT_COPY && ++copies > 4) {
    snprintf(text, SCANHOST_TEXT, "the bus is broken");
    return SCANHOST_DEVICE_ERROR;
  }
  memcpy(to, from, bytes);
  return SCANHOST_OK;
}

static const scanhost_kernel kernel = {.abi = SCANHOST_ABI,
                                       .copy = SCANHOST_CUDA,
                                       .op = "affine_scan",
                                       .prepare = prepare,
                                       .launch = launch,
                                       .map = map,
                                       .unmap = unmap,
                                       .allocate = allocate,
                                       .release = release,
                                       .copy_memory = copy_memory};

__attribute__((constructor)) static void offer(void) { scanhost_register(&kernel); }
