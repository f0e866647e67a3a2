package discover

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestFirstError(t *testing.T) {
	for name, c := range map[string]struct{ output, want string }{
		"g++": {"# scanhost/plugins/x\nIn file included from simt_fast.cpp:4:\nkernel.cu:9:2: warning: unused\nkernel.cu:12:3: error: 'foo' was not declared\n",
			"kernel.cu:12:3: error: 'foo' was not declared"},
		"nvcc":    {"kernel.cu(12): error: identifier \"foo\" is undefined\n\n1 error detected\n", "kernel.cu(12): error: identifier \"foo\" is undefined"},
		"go":      {"go: downloading a v1\n# scanhost/plugins/x\n./main.go:3:17: too many return values\n", "./main.go:3:17: too many return values"},
		"ld":      {"# x\n/usr/bin/ld: a.o: in function `f':\na.c:3: undefined reference to `g'\ncollect2: error: ld returned 1\n", "a.c:3: undefined reference to `g'"},
		"go list": {"package scanhost/x: no Go files in /x\n", "package scanhost/x: no Go files in /x"},
		"nothing": {"", ""},
	} {
		if got := firstError(c.output); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

const holdLock = "SCANHOST_TEST_HOLDS_LOCK"

// TestHolderOfTheLock is the process that the next test kills.
func TestHolderOfTheLock(t *testing.T) {
	path := os.Getenv(holdLock)
	if path == "" {
		t.Skip("started by TestLockOfAKilledBuilderIsFree")
	}
	if _, err := Lock(t.Context(), path, func() {}); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("held\n")
	select {}
}

func TestLockOfAKilledBuilderIsFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	holder := exec.Command(os.Args[0], "-test.run=^TestHolderOfTheLock$")
	holder.Env = append(os.Environ(), holdLock+"="+path)
	output, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer holder.Wait()
	defer holder.Process.Kill()
	if _, err := output.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Lock(ctx, path, func() {}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it is held: %v, want the deadline", err)
	}
	waited := make(chan struct{})
	go func() {
		<-waited
		holder.Process.Kill()
	}()
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	unlock, err := Lock(ctx, path, func() { close(waited) })
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
