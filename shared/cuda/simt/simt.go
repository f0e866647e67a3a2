// Package simt is the simulated GPU that runs a kernel.cu compiled by g++.
package simt

/*
#cgo CXXFLAGS: -std=c++17 -O3 -g
#include "../abi.h"
*/
import "C"
