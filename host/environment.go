package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"scanhost/host/internal/discover"
	"scanhost/host/internal/machine"
)

// environment is what a result depends on beside the plugins' sources; devices are the run's.
func environment(ctx context.Context, backend string, devices ...machine.Device) map[string]string {
	env := map[string]string{
		"backend": backend,
		"go":      runtime.Version(),
		"cores":   fmt.Sprint(runtime.NumCPU()),
		"system":  kernelRelease(),
	}
	set := func(key, value string) {
		if value != "" {
			env[key] = value
		}
	}
	set("g++", machine.FindTool(ctx, "g++", "--version").Version)
	set("revision", revision(ctx))
	if backend == "cuda" {
		if nvcc, err := findNVCC(ctx); err == nil {
			set("nvcc", release(nvcc))
		}
		for _, d := range devices {
			set(fmt.Sprintf("gpu %d", d.Number), d.Name+", "+d.UUID+", "+d.Memory)
			set("driver", d.Driver)
		}
	}
	return env
}

func kernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return runtime.GOOS
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:]) + " " + runtime.GOARCH
}

// revision is the repository's commit, and whether its files differ from it.
func revision(ctx context.Context) string {
	root := discover.Root()
	if root == "" {
		return ""
	}
	commit, err := machine.Ask(ctx, "git", "-C", root, "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return ""
	}
	changed, err := machine.Ask(ctx, "git", "-C", root, "status", "--porcelain", "--untracked-files=no")
	if err == nil && strings.TrimSpace(changed) != "" {
		return strings.TrimSpace(commit) + " (modified)"
	}
	return strings.TrimSpace(commit)
}
