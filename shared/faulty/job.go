package faulty

import (
	"fmt"
	"math"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"scanhost/shared/contract/kernelv1"
)

// array is one mapped buffer.
type array struct {
	fd      int
	mapping []byte
	offset  int
	values  []float32 // nil where the problem has no such array, or an empty one
}

func (a array) unmap() {
	_ = unix.Munmap(a.mapping)
	_ = unix.Close(a.fd)
}

func mapArray(fd int, b *kernelv1.Buffer) (array, error) {
	protection := unix.PROT_READ
	if b.Writable {
		protection |= unix.PROT_WRITE
	}
	mapping, err := unix.Mmap(fd, 0, int(b.MapBytes), protection, unix.MAP_SHARED)
	if err != nil {
		return array{}, fmt.Errorf("mapping %s: %w", b.Role, err)
	}
	elements := 1
	for _, n := range b.Shape {
		elements *= int(n)
	}
	a := array{fd: fd, mapping: mapping, offset: int(b.Offset)}
	a.view(elements)
	return a, nil
}

// view makes values show the mapping.
func (a *array) view(elements int) {
	if elements > 0 {
		a.values = unsafe.Slice((*float32)(unsafe.Pointer(&a.mapping[a.offset])), elements)
	}
}

// job is one launch.
type job struct {
	rows, length int
	reverse      bool
	arrays       map[string]array // by role
	number       int              // of launches before this one
}

func newJob(p *kernelv1.Problem, arrays map[string]array) *job {
	return &job{rows: int(p.Dims["rows"]), length: int(p.Dims["length"]),
		reverse: slices.Contains(p.Options, "reverse"), arrays: arrays}
}

func (j *job) row(role string, row int) []float32 {
	return j.arrays[role].values[row*j.length : (row+1)*j.length]
}

// at is the index of step t in the order of the scan.
func (j *job) at(t int) int {
	if j.reverse {
		return j.length - 1 - t
	}
	return t
}

// scan runs one recurrence for each row: step gives the next h from a, b and the last h.
func (j *job) scan(step func(row, t int, a, b, h float64) float64) {
	h0, last := j.arrays["h0"].values, j.arrays["last_state"].values
	for row := range j.rows {
		state := 0.0
		if h0 != nil {
			state = float64(h0[row])
		}
		if j.length > 0 {
			a, b, h := j.row("a", row), j.row("b", row), j.row("h", row)
			for t := range j.length {
				i := j.at(t)
				state = step(row, t, float64(a[i]), float64(b[i]), state)
				h[i] = float32(state)
			}
		}
		if last != nil {
			last[row] = float32(state)
		}
	}
}

func (j *job) honest() {
	j.scan(func(_, _ int, a, b, h float64) float64 { return a*h + b })
}

// swapped is the scan with combine(right, left): the a of everything before multiplies the new b.
func (j *job) swapped() {
	product := 1.0
	j.scan(func(_, t int, a, b, h float64) float64 {
		if t == 0 {
			product = 1
		}
		h += product * b
		product *= a
		return h
	})
}

// allButLast leaves the last element of h as the host left it.
func (j *job) allButLast() {
	h := j.arrays["h"].values
	if len(h) == 0 {
		j.honest()
		return
	}
	before := h[len(h)-1]
	j.honest()
	h[len(h)-1] = before
}

// middle changes one element of h.
func (j *job) middle(change func(float32) float32) {
	if h := j.arrays["h"].values; len(h) > 0 {
		h[len(h)/2] = change(h[len(h)/2])
	}
}

// flicker changes the last bit of one element in every second launch.
func (j *job) flicker() {
	if j.number%2 == 1 {
		j.middle(func(v float32) float32 { return math.Float32frombits(math.Float32bits(v) ^ 1) })
	}
}

// outside writes one word of h's mapping beside the array.
func (j *job) outside(offset int) {
	*(*float32)(unsafe.Pointer(&j.arrays["h"].mapping[offset])) = 1
}

func (j *job) overrun() {
	h := j.arrays["h"]
	j.outside(h.offset + 4*len(h.values))
}

func (j *job) underrun() { j.outside(j.arrays["h"].offset - 4) }

// writeInput writes through a mapping that is read-only.
func (j *job) writeInput() {
	j.arrays["a"].mapping[j.arrays["a"].offset] = 1
}

// reopenInput does what a read-only descriptor does not prevent.
func (j *job) reopenInput() {
	a := j.arrays["a"]
	file, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", a.fd), os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer file.Close()
	_, _ = file.WriteAt([]byte{1, 2, 3, 4}, int64(a.offset))
	if mapping, err := unix.Mmap(int(file.Fd()), 0, len(a.mapping), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
		mapping[a.offset] ^= 0x55
		_ = unix.Munmap(mapping)
	}
}

func (j *job) truncateOutput() { _ = unix.Ftruncate(j.arrays["h"].fd, 0) }
