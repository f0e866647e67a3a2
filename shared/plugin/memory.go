package plugin

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"scanhost/shared/contract/kernelv1"
	"scanhost/shared/plugin/registry"
)

// mapping is one buffer of the host's in this process.
type mapping struct {
	base     unsafe.Pointer
	bytes    uint64
	kind     kernelv1.BufferKind
	writable bool
	// device is this process's own copy of host memory on the GPU, nil elsewhere. Kernels work on it.
	device unsafe.Pointer
}

// memory is what kernels work on.
func (m mapping) memory() unsafe.Pointer {
	if m.device != nil {
		return m.device
	}
	return m.base
}

// mapBuffer maps the descriptor of a buffer: inputs cannot be written through the result.
func mapBuffer(k registry.Kernel, fd int, b *kernelv1.Buffer) (mapping, error) {
	m := mapping{bytes: b.MapBytes, kind: b.Kind, writable: b.Writable}
	switch b.Kind {
	case kernelv1.BufferKind_BUFFER_KIND_CUDA_VMM:
		var err error
		m.base, err = k.Map(fd, b.MapBytes, b.Writable)
		return m, err
	case kernelv1.BufferKind_BUFFER_KIND_MEMFD:
		protection := unix.PROT_READ
		if b.Writable {
			protection |= unix.PROT_WRITE
		}
		base, err := unix.MmapPtr(fd, 0, nil, uintptr(b.MapBytes), protection, unix.MAP_SHARED)
		if err != nil {
			return m, fmt.Errorf("mapping buffer %d (%s, %d bytes): %w", b.Id, b.Role, b.MapBytes, err)
		}
		m.base = base
		if k.Copy == registry.CUDA {
			return m.copied(k)
		}
		return m, nil
	}
	return m, fmt.Errorf("buffer %d (%s) is of kind %v; memfd and cuda_vmm are known", b.Id, b.Role, b.Kind)
}

// copied allocates device memory for a mapping of host memory and copies all of it there, guard bands included.
func (m mapping) copied(k registry.Kernel) (mapping, error) {
	device, status, text := k.Allocate(m.bytes)
	var err error
	switch status {
	case registry.OK:
		m.device = device
		err = k.CopyMemory(m.device, m.base, m.bytes)
	case registry.Status(kernelv1.Finding_OUT_OF_MEMORY):
		err = errOutOfMemory{text}
	default:
		err = fmt.Errorf("allocating %d bytes of device memory: %s", m.bytes, text)
	}
	if err != nil {
		return mapping{}, errors.Join(err, m.unmap(k))
	}
	return m, nil
}

// toDevice brings what the host last put into the outputs, its poison, to their copies on the device; toHost brings
// results back. Both do nothing where kernels work on the host's buffers themselves.
func (p *prepared) toDevice() error {
	return p.copyOutputs(func(m mapping) error { return p.kernel.CopyMemory(m.device, m.base, m.bytes) })
}

func (p *prepared) toHost() error {
	return p.copyOutputs(func(m mapping) error { return p.kernel.CopyMemory(m.base, m.device, m.bytes) })
}

func (p *prepared) copyOutputs(one func(mapping) error) error {
	for _, m := range p.mappings {
		if m.device == nil || !m.writable {
			continue
		}
		if err := one(m); err != nil {
			return err
		}
	}
	return nil
}

func (m mapping) unmap(k registry.Kernel) error {
	if m.kind == kernelv1.BufferKind_BUFFER_KIND_CUDA_VMM {
		return k.Unmap(m.base, m.bytes)
	}
	var err error
	if m.device != nil {
		err = k.Release(m.device)
	}
	return errors.Join(err, unix.MunmapPtr(m.base, uintptr(m.bytes)))
}

// workspace is scratch memory that a kernel keeps from launch to launch and from problem to problem. It
// grows to the largest request and is zeroed only when it grows: resetting it is the launch's job.
type workspace struct {
	pointer unsafe.Pointer
	bytes   uint64
	pages   mapping // simt: the pages around it
}

// workspaceAlignment suits 16-byte status words and the CUDA allocator's own 256.
const workspaceAlignment = 256

// errOutOfMemory tells a request that is too large from a broken device.
type errOutOfMemory struct{ text string }

func (e errOutOfMemory) Error() string { return e.text }

func (w *workspace) reserve(k registry.Kernel, bytes uint64) error {
	if bytes <= w.bytes {
		return nil
	}
	if err := w.free(k); err != nil {
		return err
	}
	if k.Copy == registry.CUDA {
		pointer, status, text := k.Allocate(bytes)
		switch status {
		case registry.OK:
			w.pointer, w.bytes = pointer, bytes
			return nil
		case registry.Status(kernelv1.Finding_OUT_OF_MEMORY):
			return errOutOfMemory{text}
		}
		return fmt.Errorf("allocating %d bytes of workspace: %s", bytes, text)
	}
	return w.reserveHost(bytes)
}

// reserveHost ends the workspace at an inaccessible page, so that an overrun faults in the fast copy too,
// where nothing else looks.
func (w *workspace) reserveHost(bytes uint64) error {
	page := uint64(unix.Getpagesize())
	rounded := (bytes + workspaceAlignment - 1) &^ (workspaceAlignment - 1)
	body := (rounded + page - 1) &^ (page - 1)
	base, err := unix.MmapPtr(-1, 0, nil, uintptr(body+2*page), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return errOutOfMemory{fmt.Sprintf("reserving %d bytes of workspace: %v", bytes, err)}
	}
	inside := unsafe.Slice((*byte)(unsafe.Add(base, page)), body)
	if err := unix.Mprotect(inside, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return errOutOfMemory{fmt.Sprintf("reserving %d bytes of workspace: %v", bytes, err)}
	}
	w.pages = mapping{base: base, bytes: body + 2*page, kind: kernelv1.BufferKind_BUFFER_KIND_MEMFD}
	w.pointer, w.bytes = unsafe.Add(base, page+body-rounded), bytes
	return nil
}

func (w *workspace) free(k registry.Kernel) error {
	if w.bytes == 0 {
		return nil
	}
	old := *w
	*w = workspace{}
	if k.Copy == registry.CUDA {
		return k.Release(old.pointer)
	}
	return old.pages.unmap(k)
}
