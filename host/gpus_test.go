package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scanhost/host/internal/judge"
	"scanhost/host/internal/machine"
)

// fakeSMI answers the two questions that the host has for nvidia-smi: two whole GPUs, as a machine's would be.
const fakeSMI = `#!/bin/sh
case "$1" in
-L) printf 'GPU 0: NVIDIA H200 (UUID: GPU-aaaa)\nGPU 1: NVIDIA L4 (UUID: GPU-bbbb)\n' ;;
*) printf 'NVIDIA H200, GPU-aaaa, 580.1, 143771 MiB, 9.0\nNVIDIA L4, GPU-bbbb, 580.1, 23034 MiB, 8.9\n' ;;
esac
`

// withFakeSMI gives the test two GPUs to choose from.
func withFakeSMI(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(fakeSMI), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestGPUsAreChosenAmongTheVisible(t *testing.T) {
	withFakeSMI(t)
	for _, c := range []struct{ visible, flag, want, err string }{
		{"0,1", "", "GPU-aaaa GPU-bbbb", ""},
		{"1,0", "0", "GPU-bbbb", ""},
		{"1", "GPU-b", "GPU-bbbb", ""},
		{"0,1", "1,0", "GPU-bbbb GPU-aaaa", ""},
		{"1", "1", "", `gpu "1" is not here; accepted are 0 or GPU-bbbb`},
		{"", "", "", "hides every GPU"},
		{"2", "", "", `"2" is no GPU here; accepted are 0 or GPU-aaaa, 1 or GPU-bbbb`},
	} {
		t.Setenv("CUDA_VISIBLE_DEVICES", c.visible)
		var flag gpuFlag
		if c.flag != "" {
			flag = strings.Split(c.flag, ",")
		}
		devices, err := flag.choose(context.Background(), "cuda")
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "\n") {
				t.Errorf("visible %q, gpu %q: error is %v, want %s", c.visible, c.flag, err, c.err)
			}
			continue
		}
		var got []string
		for _, d := range devices {
			got = append(got, d.UUID)
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("visible %q, gpu %q: %v (%v), want %s", c.visible, c.flag, got, err, c.want)
		}
	}
}

func TestBenchTakesOneGPU(t *testing.T) {
	withFakeSMI(t)
	t.Setenv("CUDA_VISIBLE_DEVICES", "1,0")
	if _, err := (gpuFlag{"0", "1"}).chooseOne(context.Background(), "cuda"); err == nil || !strings.Contains(err.Error(), "one is accepted") {
		t.Errorf("two GPUs: %v", err)
	}
	d, err := gpuFlag(nil).chooseOne(context.Background(), "cuda")
	if err != nil || d.UUID != "GPU-bbbb" || d.Folder() != "l4" {
		t.Errorf("none named: %v (%v), want the first that is visible", d, err)
	}
}

func TestDoctorListsWhatIsVisibleAndWhatIsNot(t *testing.T) {
	withFakeSMI(t)
	t.Setenv("CUDA_VISIBLE_DEVICES", "1")
	all, err := machine.GPUs(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	devices, err := machine.Visible(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	list := gpuFindings(all, devices)
	if len(list) != 2 || list[0].Name != "gpu 0" || !strings.Contains(list[0].Found, "L4, GPU-bbbb") || !list[0].OK ||
		list[1].OK || !strings.Contains(list[1].Found, "GPU-aaaa") || list[1].Backend != "" {
		t.Errorf("findings are %+v", list)
	}
}

func TestReplayNamesTheGPUWhereThereAreSeveral(t *testing.T) {
	row := judge.KernelResult{GPU: &judge.GPU{Number: 1, UUID: "GPU-bbbb"}, Cases: []judge.CaseResult{{Replay: "verify"}}}
	for gpus, want := range map[int]string{1: "verify", 2: "verify --gpu GPU-bbbb"} {
		row.Cases[0].Replay = "verify"
		judging{options: judge.DefaultOptions()}.completeReplays([]judge.KernelResult{row}, gpus)
		if got := row.Cases[0].Replay; got != want {
			t.Errorf("%d GPUs: %q, want %q", gpus, got, want)
		}
	}
}

// A plugin is shown its own GPU, whatever the host sees.
func TestEngineShowsPluginsTheirGPUOnly(t *testing.T) {
	d := machine.Device{GPU: machine.GPU{UUID: "GPU-bbbb"}, Number: 1}
	e := workplace{device: &d}.engine(judge.Options{Environment: []string{"A=1"}})
	if got := strings.Join(e.Options.Environment, " "); got != "A=1 CUDA_VISIBLE_DEVICES=GPU-bbbb" || e.Parallel != 1 || e.GPU.Number != 1 {
		t.Errorf("environment %q, %d at a time on %+v", got, e.Parallel, e.GPU)
	}
}
