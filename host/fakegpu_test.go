package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"scanhost/host/internal/discover"
	"scanhost/host/internal/judge"
	"scanhost/host/internal/machine"
	"scanhost/host/internal/report"
	"scanhost/shared/contract"
	"scanhost/shared/contract/keeperv1"
	"scanhost/shared/faulty"
)

// fakeKeeper is the keeper of a GPU that exports no memory, so that the host keeps the arrays. One whose UUID begins
// with GPU-sick fails its canary.
type fakeKeeper struct {
	keeperv1.UnimplementedKeeperServer
	uuid string
}

func (k fakeKeeper) Info(context.Context, *keeperv1.InfoRequest) (*keeperv1.InfoResponse, error) {
	return &keeperv1.InfoResponse{Name: "a CPU", Uuid: k.uuid}, nil
}

func (k fakeKeeper) Canary(context.Context, *keeperv1.CanaryRequest) (*keeperv1.CanaryResponse, error) {
	if strings.HasPrefix(k.uuid, "GPU-sick") || strings.Contains(k.uuid, ",") {
		return &keeperv1.CanaryResponse{Text: "wrong sum on " + k.uuid}, nil
	}
	return &keeperv1.CanaryResponse{Ok: true}, nil
}

func serveFakeKeeper() {
	server := fakeKeeper{uuid: os.Getenv("CUDA_VISIBLE_DEVICES")}
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: contract.Handshake,
		VersionedPlugins: map[int]goplugin.PluginSet{
			contract.ProtocolVersion: {contract.KeeperService: &contract.KeeperPlugin{Service: server}},
		},
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server { return grpc.NewServer(options...) },
		Logger:     hclog.New(&hclog.LoggerOptions{Level: hclog.Off}),
	})
}

// holdGPU is a host as the lock between hosts knows it: it takes a GPU and works until a file is there.
//
//	gpuholder UUID FILE
func holdGPU() {
	d := machine.Device{GPU: machine.GPU{UUID: os.Args[1], Name: "of a test"}}
	unlock, err := lockGPU(context.Background(), d, func(format string, args ...any) { fmt.Printf(format+"\n", args...) })
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	for range 6000 {
		if _, err := os.Stat(os.Args[2]); err == nil {
			fmt.Println("given back")
			unlock()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Println("nobody made", os.Args[2])
	os.Exit(1)
}

// onFakes runs the faults on fake GPUs of these UUIDs.
func onFakes(t *testing.T, uuids []string, faults ...string) ([]judge.KernelResult, error) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := func(name string) string {
		p, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	b := builtTargets{keeper: &discover.Built{Executable: []string{path("fakekeeper")}}}
	for _, f := range faults {
		m, err := contract.ParseManifest(faulty.Manifest(f))
		if err != nil {
			t.Fatal(err)
		}
		b.targets = append(b.targets, judge.Target{Manifest: m, Argv: []string{path("faulty"), "--fault", f}, Backend: "cpu"})
	}
	var devices []machine.Device
	for i, u := range uuids {
		devices = append(devices, machine.Device{GPU: machine.GPU{UUID: u, Name: "fake"}, Number: i})
	}
	o := judge.DefaultOptions()
	cases, err := parseCases([]string{"affine_scan:near1:rows=3:length=33:none:fp32:seed=1"})
	if err != nil {
		t.Fatal(err)
	}
	o.Cases = cases
	return b.judge(context.Background(), o, "auto", devices, report.NewProgress(&strings.Builder{}))
}

func TestRunUsesTheGPUsThatWork(t *testing.T) {
	// Slow plugins first: a GPU that is not needed any more before it was found sick is no failure.
	results, err := onFakes(t, []string{"GPU-sick", "GPU-well"}, "slow-start", "slow-start", "exit-in-launch", "none")
	if err == nil || !strings.Contains(err.Error(), "GPU 0 (GPU-sick) gets no more work") || !strings.Contains(err.Error(), "wrong sum on GPU-sick") {
		t.Errorf("error is %v", err)
	}
	for i, want := range []judge.Verdict{judge.Pass, judge.Pass, judge.Crashed, judge.Pass} {
		if r := results[i]; r.Verdict != want || r.GPU == nil || r.GPU.Number != 1 {
			t.Errorf("row %d: %s (%s) on %v, want %s on GPU 1", i, r.Verdict, r.Detail, r.GPU, want)
		}
	}
}

func TestRunWithoutAWorkingGPUHasRowsAndAnError(t *testing.T) {
	results, err := onFakes(t, []string{"GPU-sick"}, "none")
	if err == nil || errors.Is(err, errFailed) {
		t.Errorf("error is %v; want the GPU's, which is not a kernel's failure", err)
	}
	if r := results[0]; r.Verdict != judge.NotRun || !strings.Contains(r.Detail, "wrong sum on GPU-sick") {
		t.Errorf("%s (%s), want not-run with the reason", r.Verdict, r.Detail)
	}
}

func TestRunWaitsForAGPUThatAnotherHostHolds(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	d := machine.Device{GPU: machine.GPU{UUID: "GPU-well"}}
	unlock, err := lockGPU(context.Background(), d, func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(context.Background())
	waits := make(chan string, 1)
	built := &discover.Built{Executable: []string{filepath.Join(dir, "never-started")}}
	_, err = startKeeper(ctx, built, d, func(format string, args ...any) { waits <- fmt.Sprintf(format, args...); cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v; want the interruption, before any keeper starts", err)
	}
	if text := <-waits; !strings.Contains(text, "waiting for another host that works on GPU 0 (GPU-well)") {
		t.Errorf("the notice is %q", text)
	}
}
