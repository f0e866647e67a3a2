package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"scanhost/shared/contract/kernelv1"
)

func TestHonestPluginPassesAndExitsByItself(t *testing.T) {
	c := command(t, "none")
	c.Limits.Stop = 5 * time.Second // under the race detector an exit takes one
	p, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	p.Heartbeat()
	if err := p.oneCase(t); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e := p.Evidence(); e.Killed || e.ExitCode != 0 || !e.Ended {
		t.Errorf("evidence %q; a clean exit is expected", e)
	}
	nothingLeft(t, p)
}

// Start to first RPC is promised to take less than 150 ms.
func BenchmarkStartToFirstRPC(b *testing.B) {
	for b.Loop() {
		p := start(b, "none")
		if _, err := p.describe(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := p.Stop(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func TestChildIsConfined(t *testing.T) {
	t.Setenv("LD_PRELOAD", "")
	t.Setenv("CUDA_LAUNCH_BLOCKING", "1")
	c := command(t, "none")
	c.Env = []string{"CUDA_VISIBLE_DEVICES=GPU-1"}
	p, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill("the test is over")
	environment := procFile(t, p, "environ")
	for _, want := range []string{"CUDA_VISIBLE_DEVICES=GPU-1\n", "CUDA_DEVICE_ORDER=PCI_BUS_ID\n", "CUDA_MODULE_LOADING=EAGER\n", "PATH=", p.mark} {
		if !strings.Contains(environment, want) {
			t.Errorf("environment lacks %q", want)
		}
	}
	for _, never := range []string{"LD_PRELOAD", "CUDA_LAUNCH_BLOCKING"} {
		if strings.Contains(environment, never) {
			t.Errorf("environment has %s", never)
		}
	}
	if !strings.Contains(procFile(t, p, "status"), "NoNewPrivs:\t1") {
		t.Error("no_new_privs is not set")
	}
	for resource, most := range map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: maxFiles, unix.RLIMIT_FSIZE: maxFileBytes} {
		var limit unix.Rlimit
		if err := unix.Prlimit(p.Pid(), resource, nil, &limit); err != nil || limit.Max > most {
			t.Errorf("limit %d is %d (%v); at most %d is expected", resource, limit.Max, err, most)
		}
	}
	if group, err := unix.Getpgid(p.Pid()); err != nil || group != p.Pid() {
		t.Errorf("process group is %d (%v); %d is expected", group, err, p.Pid())
	}
	if input, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", p.Pid())); err != nil || input != os.DevNull {
		t.Errorf("standard input is %s (%v)", input, err)
	}
}

func procFile(t *testing.T, p *Process, name string) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.Pid(), name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\x00", "\n")
}

// no_new_privs cannot be taken back, so the threads that have it must end with their children. One may stay:
// the runtime parks the first thread of a process for ever instead of ending it.
func TestHostKeepsItsPrivileges(t *testing.T) {
	for range 4 {
		start(t, "none")
	}
	KillAll("the test is over")
	confined := func() (n int) {
		files, _ := filepath.Glob("/proc/self/task/*/status")
		for _, file := range files {
			if text, _ := os.ReadFile(file); strings.Contains(string(text), "NoNewPrivs:\t1") {
				n++
			}
		}
		return n
	}
	for deadline := time.Now().Add(2 * time.Second); confined() > 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d threads have no_new_privs and there is no child", confined())
		}
	}
}

func TestCallWithoutDeadlineIsRefused(t *testing.T) {
	p := start(t, "none")
	_, err := p.Kernel().Describe(context.Background(), &kernelv1.DescribeRequest{})
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("got %v; a refusal is expected", err)
	}
}

func TestStoppedChildIsNoticedWhileIdle(t *testing.T) {
	p := start(t, "none")
	p.Heartbeat()
	time.Sleep(300 * time.Millisecond)
	if p.LastBeat() == nil {
		t.Error("no beat arrived")
	}
	if err := unix.Kill(p.Pid(), unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
	case <-time.After(shortLimits.Silence + 2*time.Second):
		t.Fatal("it still lives")
	}
	if e := p.Evidence(); !e.Killed || !strings.Contains(e.Cause, "no heartbeat") {
		t.Errorf("evidence %q; silence is expected", e)
	}
}

func TestDescriptorsToAStoppedChildDoNotHoldTheHost(t *testing.T) {
	p := start(t, "none")
	if err := unix.Kill(p.Pid(), unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var err error
	for id := uint64(0); err == nil && id < 100_000; id++ {
		err = p.SendDescriptor(id, 0)
	}
	if err == nil || time.Since(began) > 3*time.Second {
		t.Errorf("after %v: %v; an error is expected", time.Since(began), err)
	}
	t.Log(err)
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := p.SendDescriptor(1, 0); !errors.Is(err, errSocketClosed) {
		t.Errorf("got %v; the process is gone", err)
	}
}

func TestCancelledStartEndsAtOnce(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := Start(ctx, command(t, "hang-before-handshake"))
	if kindOf(err) != string(Interrupted) || time.Since(began) > time.Second {
		t.Errorf("got %v after %v; interrupted at once is expected", err, time.Since(began))
	}
}

func TestMissingExecutable(t *testing.T) {
	c := command(t, "none")
	c.Path = filepath.Join(t.TempDir(), "nothing")
	_, err := Start(t.Context(), c)
	if kindOf(err) != string(BadPlugin) || !strings.Contains(err.Error(), c.Path) {
		t.Errorf("got %v; bad-plugin with the path is expected", err)
	}
	c = command(t, "none")
	c.Wrap = []string{"no-such-tool"}
	if _, err := Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), "no-such-tool") {
		t.Errorf("got %v; an error that names the tool is expected", err)
	}
}

// A wrapper that forks makes the plugin a grandchild.
func TestWrappedPluginEndsWithItsWrapper(t *testing.T) {
	c := command(t, "spin-in-launch")
	c.Wrap = []string{"sh", "-c", `"$@"; exit 7`, "sh"}
	p, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.oneCase(t); kindOf(err) != string(Hung) {
		t.Errorf("got %v; hung is expected", err)
	}
	nothingLeft(t, p)
}

func TestDeadlinesOff(t *testing.T) {
	c := command(t, "slow-start")
	c.Limits.Handshake, c.Limits.Scale = time.Millisecond, Off
	p, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill("the test is over"); err != nil {
		t.Error(err)
	}
}

func TestUnkillableChildIsReportedInTime(t *testing.T) {
	c := command(t, "spin-in-launch")
	c.Limits.Reap = 300 * time.Millisecond
	p, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	p.kill = func(int, syscall.Signal) error { return nil }
	err = p.oneCase(t)
	if kindOf(err) != string(Unkillable) {
		t.Errorf("got %v; unkillable is expected", err)
	}
	began := time.Now()
	if err := p.Kill("again"); !errors.Is(err, ErrUnkillable) || time.Since(began) > c.Limits.Reap/2 {
		t.Errorf("Kill gave %v after %v; %v at once is expected", err, time.Since(began), ErrUnkillable)
	}
	_ = unix.Kill(p.Pid(), unix.SIGKILL)
	<-p.Done()
}

func TestStopAllIsParallel(t *testing.T) {
	for range 4 {
		start(t, "no-shutdown")
	}
	began := time.Now()
	if failed := StopAll(t.Context()); len(failed) > 0 {
		t.Error(failed)
	}
	if took, one := time.Since(began), shortLimits.Shutdown+shortLimits.Stop; took > 3*one {
		t.Errorf("took %v; %v is the limit of one", took, one)
	}
	for p := range running.Range {
		t.Errorf("child %d is left", p.(*Process).Pid())
	}
}

func TestNothingLeaksOverFiftyCrashes(t *testing.T) {
	count := func() (goroutines, files int) {
		open, _ := os.ReadDir("/proc/self/fd")
		return runtime.NumGoroutine(), len(open)
	}
	goroutines, files := count()
	faults := []string{"crash-in-launch", "exit-before-handshake", "broken-handshake", "grandchild-holds-pipes", "panic-in-launch"}
	for i := range 50 {
		p, err := Start(t.Context(), command(t, faults[i%len(faults)]))
		if err == nil {
			p.Heartbeat()
			err = p.oneCase(t)
			_ = p.Stop(t.Context())
		}
		if err == nil {
			t.Fatal("a fault passed")
		}
	}
	for deadline := time.Now().Add(3 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		g, f := count()
		if g <= goroutines+2 && f <= files+1 {
			return
		}
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("goroutines %d, were %d; descriptors %d, were %d\n%s", g, goroutines, f, files, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
