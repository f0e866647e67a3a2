package judge

import (
	"bytes"
	"testing"

	"scanhost/shared/op"
)

func run(backend string, outputs map[string]string) Run {
	k := KernelResult{Plugin: "blelloch", Op: "affine_scan", Backend: backend, Hash: backend}
	for _, c := range []string{"one", "two", "three"} {
		if o, ok := outputs[c]; ok {
			k.Cases = append(k.Cases, CaseResult{Case: c, Output: o})
		}
	}
	return Run{Schema: 1, Kernels: []KernelResult{k}}
}

func TestBitsAreComparedCaseByCase(t *testing.T) {
	got, err := CompareBits(run("simt", map[string]string{"one": "aa", "two": "bb", "three": ""}),
		run("cuda", map[string]string{"one": "aa", "two": "cc", "three": "dd"}))
	want := Agreement{Plugin: "blelloch", Op: "affine_scan", Old: "simt", New: "cuda", Equal: 1, Different: 1, First: "two"}
	if err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("%+v (%v), want %+v", got, err, want)
	}
	if _, err := CompareBits(run("simt", map[string]string{"one": "aa"}), run("cuda", map[string]string{"two": "aa"})); err == nil {
		t.Error("runs without a common case agree")
	}
}

func TestNaNsOfAllMachinesAreOne(t *testing.T) {
	x86, nvidia := []byte{0, 0, 0xc0, 0xff, 0, 0, 0x80, 0x7f}, []byte{0xff, 0xff, 0xff, 0x7f, 0, 0, 0x80, 0x7f}
	oneNaN(x86, op.FP32)
	oneNaN(nvidia, op.FP32)
	if !bytes.Equal(x86, nvidia) || !bytes.Equal(x86[4:], []byte{0, 0, 0x80, 0x7f}) {
		t.Errorf("%x and %x; NaNs must be equal and infinity as it was", x86, nvidia)
	}
}
