package discover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// tools are the compilers of one build.
type tools struct {
	goTool   string
	versions []string // of go and of the C++ compiler
	nvcc     NVCC     // cuda only
	archs    []string // cuda only
}

func findTools(ctx context.Context, r BuildRequest) (tools, error) {
	var t tools
	var err error
	if t.goTool, err = findGo(); err != nil {
		return t, err
	}
	if t.versions, err = findCompilers(ctx, t.goTool); err != nil || r.Backend != "cuda" {
		return t, err
	}
	if t.nvcc, err = FindNVCC(ctx); err != nil {
		return t, err
	}
	if t.archs = r.Archs; len(t.archs) == 0 {
		t.archs, err = GPUArchs(ctx)
	}
	return t, errors.Join(err, checkArchs(t.archs))
}

func findGo() (string, error) {
	for _, place := range []string{"go", "/usr/local/go/bin/go"} {
		if path, err := exec.LookPath(place); err == nil {
			return path, nil
		}
	}
	return "", errors.New("go is not in PATH; plugins are built with Go 1.26 or newer, from https://go.dev/dl")
}

// findCompilers asks the go tool which C and C++ compilers it uses, since CC and CXX may be set in several ways,
// and says what to install where one is missing: the go tool's own message does not.
func findCompilers(ctx context.Context, goTool string) ([]string, error) {
	output, err := exec.CommandContext(ctx, goTool, "env", "-json", "GOVERSION", "CC", "CXX").Output()
	if err != nil {
		return nil, fmt.Errorf("%s env: %w", goTool, err)
	}
	var env struct{ GOVERSION, CC, CXX string }
	if err := json.Unmarshal(output, &env); err != nil {
		return nil, fmt.Errorf("%s env: %w", goTool, err)
	}
	versions := []string{env.GOVERSION}
	for _, c := range []struct{ language, command string }{{"C", env.CC}, {"C++", env.CXX}} {
		words := strings.Fields(c.command)
		if len(words) == 0 {
			return nil, fmt.Errorf("the go tool has no %s compiler; install gcc and g++ (apt install build-essential, or dnf install gcc-c++)", c.language)
		}
		path, err := exec.LookPath(words[0])
		if err != nil {
			return nil, fmt.Errorf("the %s compiler %q is not in PATH; install gcc and g++ (apt install build-essential, or dnf install gcc-c++)", c.language, words[0])
		}
		version, err := exec.CommandContext(ctx, path, "--version").Output()
		if err != nil {
			return nil, fmt.Errorf("%s --version: %w", path, err)
		}
		first, _, _ := strings.Cut(string(version), "\n")
		versions = append(versions, first)
	}
	return versions, nil
}

var (
	marked     = regexp.MustCompile(`(?i)\b(fatal )?error\b ?[:#]|undefined reference|cannot find -l`) // gcc, nvcc, ld
	positioned = regexp.MustCompile(`^\S+:\d+(:\d+)?: `)                                               // the go compiler, which does not say error
)

// firstError picks the line to show of what a compiler wrote: the first that says error, otherwise the first with
// a position, otherwise the first that is no heading.
func firstError(output string) string {
	var position, other string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "go: downloading "):
		case marked.MatchString(line):
			return line
		case position == "" && positioned.MatchString(line) && !strings.Contains(line, "warning:") && !strings.Contains(line, "note:"):
			position = line
		case other == "":
			other = line
		}
	}
	if position != "" {
		return position
	}
	return other
}
