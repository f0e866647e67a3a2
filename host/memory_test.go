package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"scanhost/host/internal/buffers"
	"scanhost/host/internal/judge"
	"scanhost/shared/contract"
	"scanhost/shared/contract/keeperv1"
	"scanhost/shared/op"
)

func TestMemoryIsCopiedWhereItCannotBeExported(t *testing.T) {
	keeper := &buffers.Keeper{}
	for _, c := range []struct {
		memory  memoryFlag
		exports bool
		copied  bool
		err     string
	}{
		{"auto", true, false, ""},
		{"auto", false, true, ""},
		{"exported", true, false, ""},
		{"exported", false, false, "--memory copied works"},
		{"copied", true, true, ""},
		{"copied", false, true, ""},
	} {
		w, err := c.memory.choose(workplace{space: keeper}, c.exports)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s, exports %v: %v", c.memory, c.exports, err)
			}
			continue
		}
		_, copied := w.space.(buffers.Memfd)
		if err != nil || copied != c.copied || copied != slices.Equal(w.lost, lostByCopying) || copied != (w.needs == contract.CapabilityCopied) {
			t.Errorf("%s, exports %v: %+v, %v", c.memory, c.exports, w, err)
		}
	}
}

func TestDoctorNamesWhatIsLostAndStillTakesTheGPU(t *testing.T) {
	tools := []finding{{Name: "g++", OK: true, Backend: "simt"}, {Name: "nvcc", OK: true, Backend: "cuda"}}
	for _, exports := range []bool{true, false} {
		f := exportFinding(finding{Name: "memory export", Backend: "cuda"}, &keeperv1.InfoResponse{MemoryExport: exports})
		if f.OK != exports || strings.Contains(f.Fix, lostByCopying[0]) == exports {
			t.Errorf("export %v: %+v", exports, f)
		}
		if got := usable(append(tools, f)); !slices.Equal(got, []string{"cuda", "simt"}) {
			t.Errorf("export %v: run-all can work on %v", exports, got)
		}
	}
	broken := finding{Name: "memory export", Backend: "cuda", Fix: "the keeper has to build"}
	if got := usable(append(tools, broken)); !slices.Equal(got, []string{"simt"}) {
		t.Errorf("without a keeper run-all can work on %v", got)
	}
}

func TestScanSaysWhatWasNotChecked(t *testing.T) {
	for _, v := range []judge.Verdict{judge.Pass, judge.Wrong} {
		for _, lost := range [][]string{nil, lostByCopying} {
			var out bytes.Buffer
			k := judge.KernelResult{Verdict: v, Lost: lost, Cases: []judge.CaseResult{{Verdict: v, Comparison: &op.Comparison{}}}}
			if err := (&scanOptions{sharedFlags: &sharedFlags{}}).tell(&out, k); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(out.String(), "not checked"); n != min(1, len(lost)) {
				t.Errorf("%s, lost %d: said %d times in\n%s", v, len(lost), n, &out)
			}
		}
	}
}
