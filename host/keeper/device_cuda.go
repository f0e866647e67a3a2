//go:build cuda

package main

// #include "keeper.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"scanhost/shared/contract/keeperv1"
)

// gpu is the device behind keeper.h. The host adds link_cuda.go, which links what nvcc made of keeper.cu.
type gpu struct{}

const withCUDA = true

func openDevice() (device, error) {
	var text [C.KEEPER_TEXT]C.char
	return gpu{}, worded(C.keeper_start(&text[0]), &text)
}

func worded(status C.int, text *[C.KEEPER_TEXT]C.char) error {
	switch status {
	case C.KEEPER_OK:
		return nil
	case C.KEEPER_OUT_OF_MEMORY:
		return fmt.Errorf("%w: %s", errOutOfMemory, C.GoString(&text[0]))
	}
	return errors.New(C.GoString(&text[0]))
}

func (b buffer) c() C.keeper_buffer {
	return C.keeper_buffer{address: C.uint64_t(b.address), map_bytes: C.uint64_t(b.mapBytes),
		offset: C.uint64_t(b.offset), bytes: C.uint64_t(b.bytes), pattern: C.uint32_t(b.pattern)}
}

func (gpu) info() (*keeperv1.InfoResponse, error) {
	var text [C.KEEPER_TEXT]C.char
	var i C.keeper_info
	if err := worded(C.keeper_read_info(&i, &text[0]), &text); err != nil {
		return nil, err
	}
	var id [16]byte
	for k, v := range i.uuid {
		id[k] = byte(v)
	}
	return &keeperv1.InfoResponse{
		Name: C.GoString(&i.name[0]), Uuid: fmt.Sprintf("GPU-%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]),
		Driver: driverVersion(int(i.driver)), Runtime: cudaVersion(int(i.runtime)),
		ComputeMajor: uint32(i.major), ComputeMinor: uint32(i.minor), Multiprocessors: uint32(i.multiprocessors),
		L2Bytes: uint64(i.l2_bytes), MemoryBytes: uint64(i.memory_bytes), MemoryFreeBytes: uint64(i.memory_free_bytes),
		PeakBytesPerSecond: float64(i.peak_bytes_per_second), MemoryExport: i.memory_export != 0,
	}, nil
}

func cudaVersion(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// driverVersion is the driver's own number where the kernel module shows it, otherwise its CUDA version.
func driverVersion(cuda int) string {
	text, _ := os.ReadFile("/proc/driver/nvidia/version")
	for _, word := range strings.Fields(string(text)) {
		if strings.Count(word, ".") >= 1 && word[0] >= '0' && word[0] <= '9' {
			return word
		}
	}
	return cudaVersion(cuda)
}

func (gpu) allocate(bytes, guard uint64, pattern uint32) (buffer, int, error) {
	var text [C.KEEPER_TEXT]C.char
	var b C.keeper_buffer
	var fd C.int
	status := C.keeper_allocate(C.uint64_t(bytes), C.uint64_t(guard), C.uint32_t(pattern), &b, &fd, &text[0])
	if err := worded(status, &text); err != nil {
		return buffer{}, -1, err
	}
	return buffer{uint64(b.address), uint64(b.map_bytes), uint64(b.offset), uint64(b.bytes), uint32(b.pattern)}, int(fd), nil
}

func (gpu) free(b buffer) error {
	var text [C.KEEPER_TEXT]C.char
	c := b.c()
	return worded(C.keeper_free(&c, &text[0]), &text)
}

func (gpu) write(b buffer, p part) error {
	var text [C.KEEPER_TEXT]C.char
	c := b.c()
	return worded(C.keeper_write(&c, C.uint64_t(p.offset), C.uint64_t(p.bytes), C.int(p.fd), C.uint64_t(p.fdOffset), &text[0]), &text)
}

func (gpu) read(b buffer, p part) error {
	var text [C.KEEPER_TEXT]C.char
	c := b.c()
	return worded(C.keeper_read(&c, C.uint64_t(p.offset), C.uint64_t(p.bytes), C.int(p.fd), C.uint64_t(p.fdOffset), &text[0]), &text)
}

func (gpu) poison(b *buffer, pattern uint32) error {
	var text [C.KEEPER_TEXT]C.char
	c := b.c()
	err := worded(C.keeper_poison(&c, C.uint32_t(pattern), &text[0]), &text)
	b.pattern = uint32(c.pattern)
	return err
}

func (gpu) inspect(b buffer) (inspection, error) {
	var text [C.KEEPER_TEXT]C.char
	var found C.keeper_inspection
	c := b.c()
	err := worded(C.keeper_inspect(&c, &found, &text[0]), &text)
	return inspection{found.guards_intact != 0, int64(found.first_bad), uint64(found.hash)}, err
}

func (gpu) canary() error {
	var text [C.KEEPER_TEXT]C.char
	return worded(C.keeper_canary(&text[0]), &text)
}
