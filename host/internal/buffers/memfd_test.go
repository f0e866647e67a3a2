package buffers

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"scanhost/shared/op"
)

func array(role string, output bool, n int64) op.Array {
	return op.Array{Role: role, DType: op.FP32, Shape: []int64{n}, Output: output}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestInputCannotBeWrittenByAnyOtherWay(t *testing.T) {
	a := must[Array](t)(Memfd{}.Input(array("a", false, 1000), func(dst []byte) error {
		copy(dst, "values")
		return nil
	}))
	defer a.Close()
	size := int(a.Message().MapBytes)
	if _, err := unix.Mmap(a.FD(), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); !errors.Is(err, unix.EPERM) {
		t.Errorf("writable mapping: %v, want EPERM", err)
	}
	if _, err := unix.Pwrite(a.FD(), []byte("x"), 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("pwrite: %v, want EPERM", err)
	}
	reopened, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", a.FD()), os.O_RDWR, 0)
	if err == nil {
		if _, err := reopened.WriteAt([]byte("x"), 0); !errors.Is(err, unix.EPERM) {
			t.Errorf("write through a reopened descriptor: %v, want EPERM", err)
		}
		reopened.Close()
	}
	if err := unix.Ftruncate(a.FD(), 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("truncate: %v, want EPERM", err)
	}
	got := make([]byte, 4000)
	if err := a.Read(got); err != nil || !bytes.HasPrefix(got, []byte("values")) {
		t.Errorf("contents are %q (%v)", got[:6], err)
	}
}

func TestOutputGuardsCatchOneByteOnEitherSide(t *testing.T) {
	for _, n := range []int64{0, 1, 1000, 16384} {
		a := must[Array](t)(Memfd{}.Output(array("h", true, n)))
		size := int(a.Message().MapBytes)
		if err := unix.Ftruncate(a.FD(), 0); !errors.Is(err, unix.EPERM) {
			t.Errorf("n=%d: truncate: %v, want EPERM", n, err)
		}
		view := must[[]byte](t)(unix.Mmap(a.FD(), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED))
		start := int(a.Message().Offset)
		for _, at := range []int{-start, -1, int(n) * 4, size - start - 1} {
			if _, intact, _ := a.Guards(); !intact {
				t.Fatalf("n=%d: guards are not intact after poisoning", n)
			}
			view[start+at] ^= 1
			if first, intact, _ := a.Guards(); intact || first != int64(at) {
				t.Errorf("n=%d: byte %d changed, guards say %d, intact %v", n, at, first, intact)
			}
			if err := a.Poison(); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(unix.Munmap(view), a.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestHalfPrecisionOutputHasGuardsAtOddEnds(t *testing.T) {
	a := must[Array](t)(Memfd{}.Output(op.Array{Role: "h", DType: op.FP16, Shape: []int64{3}, Output: true}))
	defer a.Close()
	if first, intact, _ := a.Guards(); !intact {
		t.Errorf("guards of a 6-byte array are broken at %d before anyone wrote", first)
	}
}

func TestHashTellsContentsApart(t *testing.T) {
	fill := func(v byte) func([]byte) error {
		return func(dst []byte) error { dst[len(dst)-1] = v; return nil }
	}
	a := must[Array](t)(Memfd{}.Input(array("a", false, 64), fill(1)))
	b := must[Array](t)(Memfd{}.Input(array("a", false, 64), fill(2)))
	defer a.Close()
	defer b.Close()
	ha, _ := a.Hash()
	hb, _ := b.Hash()
	if ha == hb {
		t.Errorf("arrays that differ in one byte have one hash %x", ha)
	}
}

func TestNoDescriptorIsLeft(t *testing.T) {
	count := func() int {
		entries := must[[]os.DirEntry](t)(os.ReadDir("/proc/self/fd"))
		return len(entries)
	}
	before := count()
	for range 20 {
		a := must[Array](t)(Memfd{}.Output(array("h", true, 10)))
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := (Memfd{}).Input(array("a", false, 10), func([]byte) error { return errors.New("no values") }); err == nil {
			t.Fatal("a failing fill made an array")
		}
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}
