//go:build !cuda && !race

#include "simt/copy.h"
namespace {
#include "kernel.cu"
}
