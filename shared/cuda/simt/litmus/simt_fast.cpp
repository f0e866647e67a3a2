#define SIMT_FAST 1
#include "simt/copy.h"
namespace {
#include "kernel.cu"
}
#include "litmus.inl"

extern "C" int litmus_fast(const litmus_run* run, scanhost_report* report) { return run_litmus(run, report); }
