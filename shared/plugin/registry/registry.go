// Package registry holds the compiled copies of a kernel that are linked into this program and calls
// them through the C ABI of shared/cuda/abi.h. The SDK drives plugins with it, and tests drive kernels
// with it in their own process.
package registry

/*
#cgo CFLAGS: -I${SRCDIR}/../../cuda
#include <stdlib.h>
#include "abi.h"

int scanhost_registered_count(void);
const scanhost_kernel *scanhost_registered(int i);
int scanhost_call_prepare(const scanhost_kernel *, const scanhost_problem *, uint64_t *, char *);
int scanhost_call_launch(const scanhost_kernel *, const scanhost_problem *, const scanhost_set *, uint32_t, uint32_t,
                         uint32_t, void *, uint64_t, const scanhost_simt *, scanhost_report *);
int scanhost_call_map(const scanhost_kernel *, int, uint64_t, int, void **, char *);
int scanhost_call_unmap(const scanhost_kernel *, void *, uint64_t, char *);
int scanhost_call_allocate(const scanhost_kernel *, uint64_t, void **, char *);
int scanhost_call_release(const scanhost_kernel *, void *, char *);
int scanhost_call_copy(const scanhost_kernel *, void *, const void *, uint64_t, char *);
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// Copy says which machine a kernel was compiled for.
type Copy int

const (
	CUDA      Copy = C.SCANHOST_CUDA
	SimtFast  Copy = C.SCANHOST_SIMT_FAST
	SimtCheck Copy = C.SCANHOST_SIMT_CHECK
)

// Status is the result of a call: 0, a Finding.Kind of kernel.proto, or Unsupported.
type Status int

const (
	OK          Status = C.SCANHOST_OK
	Unsupported Status = C.SCANHOST_UNSUPPORTED
)

// Kernel is one copy.
type Kernel struct {
	c    *C.scanhost_kernel
	Op   string
	Copy Copy
}

// Find returns the copy of an op's kernel for a machine. A program holds one kernel for each op.
func Find(op string, kind Copy) (Kernel, error) {
	for i := range int(C.scanhost_registered_count()) {
		c := C.scanhost_registered(C.int(i))
		if c.abi != C.SCANHOST_ABI {
			return Kernel{}, fmt.Errorf("a kernel was compiled for ABI %d; this program speaks %d", c.abi, C.SCANHOST_ABI)
		}
		if C.GoString(c.op) == op && Copy(c.copy) == kind {
			return Kernel{c, op, kind}, nil
		}
	}
	return Kernel{}, fmt.Errorf("no kernel of %s for copy %d is linked into this program", op, kind)
}

// Has says whether any linked kernel is a copy of this kind.
func Has(kind Copy) bool {
	for i := range int(C.scanhost_registered_count()) {
		if Copy(C.scanhost_registered(C.int(i)).copy) == kind {
			return true
		}
	}
	return false
}

// Problem is a problem in ABI order.
type Problem struct {
	DType   int32
	Options uint32 // bit i: the op's option i
	Dims    []int64
	Tuning  []int64
}

func (p Problem) c() C.scanhost_problem {
	out := C.scanhost_problem{dtype: C.int32_t(p.DType), options: C.uint32_t(p.Options)}
	for i, d := range p.Dims {
		out.dims[i] = C.int64_t(d)
	}
	for i, t := range p.Tuning {
		out.tuning[i] = C.int64_t(t)
	}
	return out
}

// Array is one array as the kernel sees it. A nil Pointer means that the problem lacks it.
type Array struct {
	Pointer  unsafe.Pointer
	Bytes    uint64
	Writable bool
}

// Simt says how the simulated GPU runs a batch; see SimtOptions in kernel.proto.
type Simt struct {
	Mode                    int32
	ResidentBlocks, Workers uint32
	Seed                    uint64
	Graph                   uint64 // CUDA: not 0 replays the batch as a graph; see abi.h
}

// Report is what a batch left behind.
type Report struct {
	Status                                       Status
	Text                                         string
	Completed, BadLaunch                         uint32
	BadSeed                                      uint64
	DeviceMS                                     float64
	Read, Written                                []uint64 // bytes, by array
	WorkspaceRead, WorkspaceWritten              uint64
	Barriers, Shuffles, Atomics, Lookback, Steps uint64
}

// Prepare asks for the workspace of a problem, or why it is refused.
func (k Kernel) Prepare(p Problem) (workspace uint64, status Status, text string) {
	c, buffer := p.c(), newText()
	defer C.free(unsafe.Pointer(buffer))
	var bytes C.uint64_t
	status = Status(C.scanhost_call_prepare(k.c, &c, &bytes, buffer))
	return uint64(bytes), status, C.GoString(buffer)
}

// Sets are the arrays of a problem's launches in C's memory, so that a timed batch does not build them.
type Sets struct {
	c *C.scanhost_set
	n int
}

// NewSets is freed by Free.
func NewSets(sets [][]Array) Sets {
	s := Sets{(*C.scanhost_set)(C.calloc(C.size_t(len(sets)), C.sizeof_scanhost_set)), len(sets)}
	for i, arrays := range sets {
		set := &unsafe.Slice(s.c, s.n)[i]
		for k, a := range arrays {
			set.arrays[k].pointer = a.Pointer
			set.arrays[k].bytes = C.uint64_t(a.Bytes)
			if a.Writable {
				set.arrays[k].writable = 1
			}
		}
	}
	return s
}

// Free ends the sets; a zero Sets has nothing to free.
func (s Sets) Free() { C.free(unsafe.Pointer(s.c)) }

// Batch is a number of launches; launch i works on set (First + i) mod the number of sets.
type Batch struct {
	First, Launches uint32
	Workspace       unsafe.Pointer
	WorkspaceBytes  uint64
	Simt            Simt
}

// Launch runs a batch on sets that are used once.
func (k Kernel) Launch(p Problem, sets [][]Array, first, launches uint32, workspace unsafe.Pointer, workspaceBytes uint64, simt Simt) Report {
	s := NewSets(sets)
	defer s.Free()
	return k.Run(p, s, Batch{first, launches, workspace, workspaceBytes, simt})
}

// Run runs a batch.
func (k Kernel) Run(p Problem, sets Sets, b Batch) Report {
	c := p.c()
	how := C.scanhost_simt{mode: C.int32_t(b.Simt.Mode), resident_blocks: C.uint32_t(b.Simt.ResidentBlocks),
		workers: C.uint32_t(b.Simt.Workers), seed: C.uint64_t(b.Simt.Seed), graph: C.uint64_t(b.Simt.Graph)}
	report := (*C.scanhost_report)(C.calloc(1, C.sizeof_scanhost_report))
	defer C.free(unsafe.Pointer(report))
	status := C.scanhost_call_launch(k.c, &c, sets.c, C.uint32_t(sets.n), C.uint32_t(b.First), C.uint32_t(b.Launches),
		b.Workspace, C.uint64_t(b.WorkspaceBytes), &how, report)
	return fromC(Status(status), report)
}

func fromC(status Status, r *C.scanhost_report) Report {
	out := Report{Status: status, Text: C.GoString(&r.text[0]), Completed: uint32(r.completed), BadLaunch: uint32(r.bad_launch),
		BadSeed: uint64(r.bad_seed), DeviceMS: float64(r.device_ms),
		WorkspaceRead: uint64(r.counters.workspace_read), WorkspaceWritten: uint64(r.counters.workspace_written),
		Barriers: uint64(r.counters.barriers), Shuffles: uint64(r.counters.shuffles), Atomics: uint64(r.counters.atomics),
		Lookback: uint64(r.counters.lookback_steps), Steps: uint64(r.counters.steps)}
	for i := range C.SCANHOST_ARRAYS {
		out.Read = append(out.Read, uint64(r.counters.bytes_read[i]))
		out.Written = append(out.Written, uint64(r.counters.bytes_written[i]))
	}
	return out
}

// Map maps a device buffer by descriptor. CUDA copies only.
func (k Kernel) Map(fd int, bytes uint64, writable bool) (unsafe.Pointer, error) {
	w := C.int(0)
	if writable {
		w = 1
	}
	buffer := newText()
	defer C.free(unsafe.Pointer(buffer))
	var pointer unsafe.Pointer
	if status := C.scanhost_call_map(k.c, C.int(fd), C.uint64_t(bytes), w, &pointer, buffer); status != C.SCANHOST_OK {
		return nil, fmt.Errorf("mapping %d bytes of device memory: %s", bytes, C.GoString(buffer))
	}
	return pointer, nil
}

// Unmap undoes Map.
func (k Kernel) Unmap(pointer unsafe.Pointer, bytes uint64) error {
	buffer := newText()
	defer C.free(unsafe.Pointer(buffer))
	if status := C.scanhost_call_unmap(k.c, pointer, C.uint64_t(bytes), buffer); status != C.SCANHOST_OK {
		return fmt.Errorf("unmapping device memory: %s", C.GoString(buffer))
	}
	return nil
}

// Allocate gives zeroed workspace. CUDA copies only.
func (k Kernel) Allocate(bytes uint64) (unsafe.Pointer, Status, string) {
	buffer := newText()
	defer C.free(unsafe.Pointer(buffer))
	var pointer unsafe.Pointer
	status := Status(C.scanhost_call_allocate(k.c, C.uint64_t(bytes), &pointer, buffer))
	return pointer, status, C.GoString(buffer)
}

// Release undoes Allocate.
func (k Kernel) Release(pointer unsafe.Pointer) error {
	buffer := newText()
	defer C.free(unsafe.Pointer(buffer))
	if status := C.scanhost_call_release(k.c, pointer, buffer); status != C.SCANHOST_OK {
		return fmt.Errorf("freeing device memory: %s", C.GoString(buffer))
	}
	return nil
}

// CopyMemory copies between host and device. CUDA copies only.
func (k Kernel) CopyMemory(to, from unsafe.Pointer, bytes uint64) error {
	buffer := newText()
	defer C.free(unsafe.Pointer(buffer))
	if status := C.scanhost_call_copy(k.c, to, from, C.uint64_t(bytes), buffer); status != C.SCANHOST_OK {
		return fmt.Errorf("copying %d bytes between host and device: %s", bytes, C.GoString(buffer))
	}
	return nil
}

func newText() *C.char { return (*C.char)(C.calloc(1, C.SCANHOST_TEXT)) }
