// Package litmus holds small kernels with planted bugs, and their correct twins, for the tests of the simulated GPU.
// A checker is believed only in pairs: the bug it must name and the twin it must pass.
package litmus

/*
#cgo CXXFLAGS: -std=c++17 -O3 -g -Wno-tsan -fsanitize=thread -I${SRCDIR}/../..
#include <stdlib.h>
#include <string.h>
#include "litmus.h"
*/
import "C"

import (
	_ "embed"
	"fmt"
	"unsafe"

	"scanhost/shared/cuda"
	_ "scanhost/shared/cuda/simt" // under every tag: these kernels run on nothing else
)

// Kernel is the source, and Headers what it includes: embedded so that cgo compiles the package anew when one
// changes, as in a plugin.
//
//go:embed kernel.cu
var Kernel string

//go:embed litmus.inl
var table string

// Headers are those of the package under test.
var Headers = cuda.Sources

// Mode is scanhost_simt's.
type Mode int32

const (
	Fast Mode = iota
	Count
	Explore
)

// Status is enum scanhost_status.
type Status int

const (
	OK            Status = C.SCANHOST_OK
	Deadlock      Status = C.SCANHOST_DEADLOCK
	Divergence    Status = C.SCANHOST_DIVERGENCE
	Race          Status = C.SCANHOST_RACE
	Uninitialised Status = C.SCANHOST_UNINITIALISED
	Unordered     Status = C.SCANHOST_UNORDERED
	OutOfBounds   Status = C.SCANHOST_OUT_OF_BOUNDS
	InputWrite    Status = C.SCANHOST_INPUT_WRITE
	Fault         Status = C.SCANHOST_FAULT
	Refused       Status = C.SCANHOST_REFUSED
)

// Run says how to run a litmus. Zero fields mean the simulated GPU's defaults, one launch, and len(A) outputs.
type Run struct {
	Name     string
	Mode     Mode
	Seed     uint64
	Resident uint32
	Workers  uint32
	Launches uint32
	A, B     []float32
	Outputs  int
}

// Report is what came back. H is all NaN before the first launch.
type Report struct {
	Status    Status
	Text      string
	Completed uint32
	Seed      uint64
	Counters  Counters
	H         []float32
}

// Counters are scanhost_counters, by the arrays a, b and h.
type Counters struct {
	Read, Written                                        [3]uint64
	WorkspaceRead, WorkspaceWritten                      uint64
	Barriers, Shuffles, Atomics, LookbackSteps, Schedule uint64
}

// Do runs a litmus.
func (r Run) Do() (Report, error) {
	if len(r.A) != len(r.B) || len(r.A) == 0 {
		return Report{}, fmt.Errorf("litmus %s: a has %d elements and b %d; they must have equally many, at least 1", r.Name, len(r.A), len(r.B))
	}
	outputs := r.Outputs
	if outputs == 0 {
		outputs = len(r.A)
	}
	name := C.CString(r.Name)
	a, b, h := device(len(r.A)), device(len(r.A)), device(outputs)
	defer func() {
		for _, p := range []unsafe.Pointer{unsafe.Pointer(name), a, b, h} {
			C.free(p)
		}
	}()
	copy(floats(a, len(r.A)), r.A)
	copy(floats(b, len(r.B)), r.B)
	C.memset(h, 0xff, C.size_t(4*outputs))
	run := C.litmus_run{name: name, a: (*C.float)(a), b: (*C.float)(b), h: (*C.float)(h), n: C.int64_t(len(r.A)),
		h_bytes: C.uint64_t(4 * outputs), launches: C.uint32_t(max(r.Launches, 1)),
		simt: C.scanhost_simt{mode: C.int32_t(r.Mode), resident_blocks: C.uint32_t(r.Resident), workers: C.uint32_t(r.Workers), seed: C.uint64_t(r.Seed)}}
	var report C.scanhost_report
	status := call(r.Mode, &run, &report)
	if status < 0 {
		return Report{}, fmt.Errorf("litmus %s does not exist in this build for mode %d", r.Name, r.Mode)
	}
	return Report{Status: Status(status), Text: C.GoString(&report.text[0]), Completed: uint32(report.completed),
		Seed: uint64(report.bad_seed), Counters: counters(&report.counters), H: append([]float32(nil), floats(h, outputs)...)}, nil
}

// device allocates as the keeper would: aligned, and with room on both sides that is not the array's.
func device(n int) unsafe.Pointer { return C.aligned_alloc(256, C.size_t((4*n+255)/256*256)) }

func floats(p unsafe.Pointer, n int) []float32 { return unsafe.Slice((*float32)(p), n) }

func counters(c *C.scanhost_counters) Counters {
	out := Counters{WorkspaceRead: uint64(c.workspace_read), WorkspaceWritten: uint64(c.workspace_written),
		Barriers: uint64(c.barriers), Shuffles: uint64(c.shuffles), Atomics: uint64(c.atomics),
		LookbackSteps: uint64(c.lookback_steps), Schedule: uint64(c.steps)}
	for i := range out.Read {
		out.Read[i], out.Written[i] = uint64(c.bytes_read[i]), uint64(c.bytes_written[i])
	}
	return out
}
