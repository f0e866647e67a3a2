//go:build !cuda

#define SIMT_FAST 1
#include "simt/copy.h"
namespace {
#include "kernel.cu"
}
