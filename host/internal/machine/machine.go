// Package machine says what this machine has that a run depends on: compilers, GPUs, memory, limits.
//
// Whatever answers through another program (nvidia-smi above all, which waits for the driver and can wait
// for ever) is asked in a child with a deadline, and given up on when even killing it does not end it.
package machine

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// askFor bounds every question to another program.
const askFor = 5 * time.Second

// Ask runs a program and gives its standard output. It returns within two deadlines, whatever the program does.
func Ask(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	done := make(chan error, 1)
	go func() { done <- cmd.Run() }()
	select {
	case err := <-done:
		if ctx.Err() != nil {
			return "", fmt.Errorf("%s did not answer within %v", name, askFor)
		}
		if err != nil && errs.Len() > 0 {
			err = fmt.Errorf("%s: %w: %s", name, err, firstLine(errs.String()))
		}
		return out.String(), err
	case <-afterDone(ctx):
		// Killed and still not reaped: it hangs in the kernel. Its buffers are left to it.
		return "", fmt.Errorf("%s does not end, even when killed", name)
	}
}

func afterDone(ctx context.Context) <-chan struct{} {
	late := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(2*time.Second, func() { close(late) }) })
	return late
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// Tool is a program that builds need.
type Tool struct {
	Name    string `json:"name"`
	Path    string `json:"path,omitempty"` // empty: not here
	Version string `json:"version,omitempty"`
}

// FindTool looks a program up and asks for its version.
func FindTool(ctx context.Context, name string, versionArgs ...string) Tool {
	path, err := exec.LookPath(name)
	if err != nil {
		return Tool{Name: name}
	}
	return versionOf(ctx, name, path, versionArgs)
}

func versionOf(ctx context.Context, name, path string, args []string) Tool {
	t := Tool{Name: name, Path: path}
	if text, err := Ask(ctx, path, args...); err == nil {
		t.Version = firstLine(text)
	}
	return t
}
