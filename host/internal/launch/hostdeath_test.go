package launch

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"scanhost/shared/contract"
)

// hostFlag starts this test binary as a host with three children: one that notices the end of fd 3, one that
// does not, and one that does not and is stopped.
const hostFlag = "--host"

func actAsHost() {
	executable, err := os.Executable()
	if err != nil {
		os.Exit(1)
	}
	last := ""
	for _, fault := range []string{"none", "outlive-host", "outlive-host"} {
		p, err := Start(context.Background(), Command{Path: executable, Args: []string{"--fault", fault}, Service: contract.KernelService})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if last == fault {
			_ = unix.Kill(p.Pid(), unix.SIGSTOP)
		}
		last = fault
		fmt.Println(p.Pid())
	}
	fmt.Println(0)
	select {}
}

// startHost runs a host whose directories are in base, and returns it with its children's pids.
func startHost(t *testing.T, base string) (host *exec.Cmd, children []int) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host = exec.Command(executable, hostFlag)
	host.Env = append(os.Environ(), "TMPDIR="+base)
	host.Stderr = os.Stderr
	output, err := host.StdoutPipe()
	if err == nil {
		err = host.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		var pid int
		fmt.Sscan(lines.Text(), &pid)
		if pid == 0 {
			break
		}
		children = append(children, pid)
	}
	return host, children
}

func TestChildrenDieWithTheHost(t *testing.T) {
	base, err := os.MkdirTemp("", "h") // short enough for sockets, which t.TempDir is not
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	host, children := startHost(t, base)
	if len(children) != 3 {
		t.Fatalf("the host has %d children; 3 are expected", len(children))
	}
	clearStale(base, 0)
	if left := entries(base); left != 3 {
		t.Errorf("%d directories; the 3 of a living host must not be cleared", left)
	}
	_ = host.Process.Kill()
	_ = host.Wait()
	died := time.Now()
	for _, pid := range children {
		for alive(pid) {
			if time.Since(died) > time.Second {
				t.Fatalf("child %d outlives the host by more than a second", pid)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	clearStale(base, 0)
	if left := entries(base); left != 0 {
		t.Errorf("%d directories of a dead host are left", left)
	}
}

func entries(dir string) int {
	list, _ := os.ReadDir(dir)
	return len(list)
}

// alive is false for a zombie that nobody reaps.
func alive(pid int) bool {
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && len(environment) > 0
}
