// Package buffers holds the arrays of a case where a plugin can reach them and the host can still trust
// them: inputs that no plugin can write, outputs that are poisoned before every launch and lie between
// guard bands.
//
// There are two spaces behind one interface: memfds for the simulated GPU and for plugins that compute on
// the CPU, and the keeper's device memory for a real GPU.
package buffers

import (
	"scanhost/shared/contract"
	"scanhost/shared/contract/kernelv1"
	"scanhost/shared/op"
)

// Poison is what every 32-bit word of an output and its guard bands holds before a launch. It is a NaN in
// fp32, fp16 and bf16, with a payload that no arithmetic produces.
const Poison uint32 = 0xFFA5FFA5

// GuardBytes is the least width of a guard band. It is wider than one tile of any kernel here, so that a
// kernel that runs one tile too far is caught inside it.
const GuardBytes = 64 << 10

// Space is where arrays live.
type Space interface {
	// Input makes an array that plugins can only read, filled by fill.
	Input(a op.Array, fill func(dst []byte) error) (Array, error)
	// Output makes an array that plugins can write, poisoned.
	Output(a op.Array) (Array, error)
	// Close frees what belongs to the space itself; arrays are closed one by one, before.
	Close() error
}

// Array is one array of a case.
type Array interface {
	// Message describes the array to a plugin.
	Message() *kernelv1.Buffer
	// FD is the descriptor to send under Message().Id. It stays the array's.
	FD() int
	// Poison fills an output and its guard bands.
	Poison() error
	// Guards gives the offset, in bytes from the array's first, of the first guard byte that changed.
	Guards() (first int64, intact bool, err error)
	// Hash is equal for equal contents within this process. It is for comparing launches.
	Hash() (uint64, error)
	// Read copies the contents out; dst has the array's size.
	Read(dst []byte) error
	Close() error
}

func message(id uint64, a op.Array, kind kernelv1.BufferKind, offset, mapBytes uint64) *kernelv1.Buffer {
	return &kernelv1.Buffer{Id: id, Kind: kind, Role: a.Role, Writable: a.Output, Dtype: contract.DTypeToProto(a.DType),
		Shape: a.Shape, Offset: offset, MapBytes: mapBytes}
}
