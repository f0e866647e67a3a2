// What the Go tests call: one litmus by name, in one copy.
#pragma once
#include "../../abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char* name;
  const float *a, *b;  // n elements each
  float* h;            // h_bytes
  int64_t n;
  uint64_t h_bytes;
  uint32_t launches;
  scanhost_simt simt;
} litmus_run;

// Returns an enum scanhost_status, or -1 if there is no litmus of this name.
int litmus_fast(const litmus_run* run, scanhost_report* report);
int litmus_check(const litmus_run* run, scanhost_report* report);

#ifdef __cplusplus
}
#endif
