package discover

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// buildGo links every target that has not failed yet.
func (b *builder) buildGo(ctx context.Context, targets []*target) error {
	overlay, err := b.writeOverlay(targets)
	if err != nil {
		return err
	}
	var together, alone []*target
	outputs := map[string]bool{}
	for _, t := range targets {
		if !t.ok() {
			continue
		}
		// The joint call names executables after their folders.
		name := filepath.Base(t.dir)
		t.output = filepath.Join(b.dir, "go", b.request.Backend, name)
		if !t.inTree || outputs[name] {
			t.output = filepath.Join(b.dir, "go", b.request.Backend+"-alone", t.name)
			alone = append(alone, t)
			continue
		}
		outputs[name] = true
		together = append(together, t)
	}
	if len(together) > 0 && !b.goTogether(ctx, together, overlay) {
		// Which of them failed is not always to be read from the output: a file that does not parse stops the go
		// tool before it begins. Asking for each costs little, since what does compile is in the go tool's cache.
		alone = append(together, alone...)
	}
	for _, t := range alone {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.goAlone(ctx, t, overlay)
	}
	return ctx.Err()
}

func (b *builder) goTogether(ctx context.Context, targets []*target, overlay string) bool {
	started := time.Now()
	dir := filepath.Dir(targets[0].output)
	arguments := b.goArguments(overlay, dir+string(filepath.Separator))
	for _, t := range targets {
		relative, err := filepath.Rel(b.root, t.dir)
		if err != nil {
			return false
		}
		arguments = append(arguments, "./"+filepath.ToSlash(relative))
	}
	b.request.Progress(fmt.Sprintf("building %s for %s", counted(len(targets), "executable"), b.request.Backend))
	if os.MkdirAll(dir, 0o755) != nil {
		return false
	}
	if _, err := b.run(ctx, b.root, nil, b.tools.goTool, arguments...); err != nil {
		return false
	}
	for _, t := range targets {
		t.built.Took += time.Since(started)
	}
	return true
}

func (b *builder) goAlone(ctx context.Context, t *target, overlay string) {
	started := time.Now()
	b.request.Progress("building " + t.name + " for " + b.request.Backend)
	dir, arguments := b.root, b.goArguments(overlay, t.output)
	if t.inTree {
		relative, err := filepath.Rel(b.root, t.dir)
		if err != nil {
			t.fail(err)
			return
		}
		arguments = append(arguments, "./"+filepath.ToSlash(relative))
	} else {
		dir, arguments = t.dir, append(arguments, ".")
	}
	var extra []string
	if !t.inTree && b.request.Backend == "simt" {
		headers, err := b.headers(ctx, t)
		if err != nil {
			t.fail(b.refused(t, "go", []byte(err.Error()), err))
			return
		}
		extra = []string{"CGO_CXXFLAGS=-g -O2 -I" + headers}
	}
	if output, err := b.run(ctx, dir, extra, b.tools.goTool, arguments...); err != nil {
		t.fail(b.refused(t, "go", output, err))
	}
	t.built.Took += time.Since(started)
}

func (b *builder) goArguments(overlay, output string) []string {
	// Stamping the revision would link anew after every commit, and fails in a checkout of another user.
	arguments := []string{"build", "-buildvcs=false", "-o", output}
	if overlay != "" {
		arguments = append(arguments, "-tags", "cuda", "-overlay", overlay)
	}
	return arguments
}

// headers is the folder of shared/cuda that a plugin compiles against: its module's, which outside the
// repository is the version that its go.mod names.
func (b *builder) headers(ctx context.Context, t *target) (string, error) {
	if t.inTree {
		return filepath.Join(b.root, "shared", "cuda"), nil
	}
	output, err := b.run(ctx, t.dir, nil, b.tools.goTool, "list", "-find", "-f", "{{.Dir}}", "scanhost/shared/cuda")
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	last := lines[len(lines)-1]
	if err != nil || !filepath.IsAbs(last) {
		return "", fmt.Errorf("%s: its go.mod does not lead to scanhost/shared/cuda: %s", t.dir, firstError(string(output)+"\n"))
	}
	return last, nil
}

// writeOverlay gives each target a file that links its object. The file is not in the folder itself, because
// it holds this machine's paths; it names the object by content hash, because the go tool looks at the flags
// of a package and not at the files that they name.
func (b *builder) writeOverlay(targets []*target) (string, error) {
	if b.request.Backend != "cuda" {
		return "", nil
	}
	replace := map[string]string{}
	for _, t := range targets {
		if !t.ok() {
			continue
		}
		text := fmt.Sprintf("//go:build cuda\n\npackage main\n\n// #cgo LDFLAGS: %s\nimport \"C\"\n", b.tools.nvcc.linkFlags(t.object))
		path := filepath.Join(b.dir, "link", t.name+".go")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(t.dir, "link_cuda.go")] = path
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o644)
}

// run runs a tool with cgo on, as the host itself was built, so that the two share what they compile. When ctx
// ends, the compilers that the tool started end too.
func (b *builder) run(ctx context.Context, dir string, extra []string, name string, arguments ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, arguments...)
	c.Dir = dir
	c.Env = append(append(os.Environ(), "CGO_ENABLED=1"), extra...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 2 * time.Second
	output := &watched{seen: b.request.Progress}
	c.Stdout, c.Stderr = output, output
	err := c.Run()
	return output.all.Bytes(), err
}

// watched keeps all output and passes on the lines that explain a long wait.
type watched struct {
	all  bytes.Buffer
	line []byte
	seen func(string)
}

func (w *watched) Write(p []byte) (int, error) {
	w.all.Write(p)
	w.line = append(w.line, p...)
	for {
		i := bytes.IndexByte(w.line, '\n')
		if i < 0 {
			return len(p), nil
		}
		if line := string(w.line[:i]); strings.HasPrefix(line, "go: downloading ") {
			w.seen(line)
		}
		w.line = w.line[i+1:]
	}
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
