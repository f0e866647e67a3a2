package report

import (
	"strings"
	"testing"

	"scanhost/host/internal/judge"
)

func TestRowsOfSeveralGPUsNameThem(t *testing.T) {
	row := func(plugin string, gpu *judge.GPU) judge.KernelResult {
		return judge.KernelResult{Plugin: plugin, Op: "affine_scan", Backend: "cuda", GPU: gpu, Verdict: judge.Pass}
	}
	a, b := &judge.GPU{Number: 0, UUID: "GPU-a"}, &judge.GPU{Number: 1, UUID: "GPU-b"}
	var several, one strings.Builder
	Table(&several, judge.Run{Kernels: []judge.KernelResult{row("first", b), row("second", a), row("third", nil)}}, Style{})
	for _, want := range []string{"first   cuda:1 ", "second  cuda:0 ", "third   cuda "} {
		if !strings.Contains(several.String(), want) {
			t.Errorf("%q is missing in\n%s", want, several.String())
		}
	}
	Table(&one, judge.Run{Kernels: []judge.KernelResult{row("first", a), row("second", a)}}, Style{})
	if strings.Contains(one.String(), "cuda:") {
		t.Errorf("one GPU is named in each row:\n%s", one.String())
	}
}
