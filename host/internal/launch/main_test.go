package launch

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"scanhost/shared/contract"
	"scanhost/shared/contract/kernelv1"
	"scanhost/shared/faulty"
)

func TestMain(m *testing.M) {
	faulty.MainIfAsked()
	if len(os.Args) > 1 && os.Args[1] == hostFlag {
		actAsHost()
	}
	// Most of these tests wait for a deadline, so more of them than there are cores can run at a time.
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// shortLimits leave room for a loaded machine and the race detector where a fault does not run into them.
var shortLimits = Limits{Handshake: 10 * time.Second, Shutdown: 200 * time.Millisecond, Stop: 300 * time.Millisecond,
	Silence: 2 * time.Second, Transfer: 300 * time.Millisecond}

func command(t testing.TB, fault string) Command {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Command{Path: executable, Args: []string{"--fault", fault}, Service: contract.KernelService, Limits: shortLimits}
}

func start(t testing.TB, fault string) *Process {
	t.Helper()
	p, err := Start(t.Context(), command(t, fault))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill("the test is over") })
	return p
}

// callLimit is the deadline of every call in the tests.
const callLimit = 1500 * time.Millisecond

func (p *Process) describe(ctx context.Context) (reply *kernelv1.DescribeResponse, err error) {
	err = p.Call(ctx, "describe", callLimit, func(ctx context.Context) error {
		reply, err = p.Kernel().Describe(ctx, &kernelv1.DescribeRequest{})
		return err
	})
	return reply, err
}

// oneCase takes a process through describe, prepare and two launches of a tiny problem.
func (p *Process) oneCase(t testing.TB) error {
	ctx := t.Context()
	if _, err := p.describe(ctx); err != nil {
		return err
	}
	request := tinyProblem(t, p)
	var reply *kernelv1.PrepareResponse
	err := p.Call(ctx, "prepare", callLimit, func(ctx context.Context) (err error) {
		reply, err = p.Kernel().Prepare(ctx, request)
		return err
	})
	if err != nil || reply.GetUnsupported() != nil {
		return err
	}
	for range 2 {
		err = p.Call(ctx, "launch", callLimit, func(ctx context.Context) error {
			_, err := p.Kernel().Launch(ctx, &kernelv1.LaunchRequest{Handle: reply.GetPrepared().Handle, Launches: 1})
			return err
		})
		if err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond) // for a death that comes late
	}
	return nil
}

const (
	tinyBytes  = 3 * 4096
	tinyOffset = 4096
)

// tinyProblem sends three memfds for one row of 16 elements.
func tinyProblem(t testing.TB, p *Process) *kernelv1.PrepareRequest {
	set := &kernelv1.BufferSet{}
	for i, role := range []string{"a", "b", "h"} {
		fd := memfd(t)
		if err := p.SendDescriptor(uint64(i+1), fd); err != nil {
			t.Fatal(err)
		}
		unix.Close(fd)
		set.Buffers = append(set.Buffers, &kernelv1.Buffer{Id: uint64(i + 1), Kind: kernelv1.BufferKind_BUFFER_KIND_MEMFD, Role: role,
			Writable: role == "h", Dtype: kernelv1.DType_DTYPE_FP32, Shape: []int64{1, 16}, Offset: tinyOffset, MapBytes: tinyBytes})
	}
	return &kernelv1.PrepareRequest{Sets: []*kernelv1.BufferSet{set}, Backend: kernelv1.Backend_BACKEND_CPU,
		Problem: &kernelv1.Problem{Op: "affine_scan", Dtype: kernelv1.DType_DTYPE_FP32, Dims: map[string]int64{"rows": 1, "length": 16}}}
}

func memfd(t testing.TB) int {
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err == nil {
		err = unix.Ftruncate(fd, tinyBytes)
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_GROW|unix.F_SEAL_SHRINK)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// kindOf is the kind of a failure, "pass" for none.
func kindOf(err error) string {
	var f *Failure
	switch {
	case err == nil:
		return "pass"
	case errors.As(err, &f):
		return string(f.Kind)
	}
	return fmt.Sprintf("not a failure: %v", err)
}

// nothingLeft checks that p left no process and no directory.
func nothingLeft(t testing.TB, p *Process) {
	t.Helper()
	if pids := marked(p.mark); len(pids) > 0 {
		t.Errorf("processes %v are left", pids)
	}
	if _, err := os.Stat(p.dir.path); err == nil {
		t.Errorf("directory %s is left", p.dir.path)
	}
}
