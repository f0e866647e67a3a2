package discover

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// PythonVariable names the Python that runs plugins in Python, instead of those in PATH.
const PythonVariable = "SCANHOST_PYTHON"

// pythonNames are looked up in PATH, in this order.
var pythonNames = []string{"python3", "python3.11", "python3.12", "python3.13", "python3.14"}

// probeTime bounds what an interpreter may take to say what it has; reading a framework from a cold disk is slow.
const probeTime = 120 * time.Second

//go:embed python_probe.py
var probeScript string

// python is an interpreter and what it has of what a plugin needs.
type python struct {
	Executable string            `json:"executable"`
	Version    string            `json:"version"`
	Missing    string            `json:"missing"` // modules, or an older Python's shortcoming; empty: it will do
	Packages   map[string]string `json:"packages"`
}

// buildPython finds a Python that has what the plugin needs: the environment made for it before, or one that is
// installed. Where there is none and the request says Install, it makes the environment.
func (b *builder) buildPython(ctx context.Context, p Plugin, built *Built) {
	started := time.Now()
	defer func() { built.Took = time.Since(started) }()
	m := p.Manifest
	if !slices.Contains(m.Backends, b.request.Backend) && !(b.request.Backend == "simt" && slices.Contains(m.Backends, "cpu")) {
		built.Err = fmt.Errorf("%s has no backend %s; it has %s", m.Name, b.request.Backend, strings.Join(m.Backends, ", "))
		return
	}
	for _, program := range m.Programs {
		if _, err := exec.LookPath(program); err != nil {
			built.Err = fmt.Errorf("%s needs %s, which is not in PATH", m.Name, program)
			return
		}
	}
	chosen, err := b.findPython(ctx, p)
	if err != nil {
		built.Err = err
		return
	}
	built.Executable = append([]string{chosen.Executable, "-B"}, b.sdkStart()...)
	built.Executable = append(built.Executable, filepath.Join(p.Dir, "main.py"))
	built.Hash, built.Err = b.pythonHash(p, chosen)
}

// findPython is the first interpreter that will do.
func (b *builder) findPython(ctx context.Context, p Plugin) (python, error) {
	var base *python // the first that an environment can be made from
	var short []string
	for _, path := range b.pythons(p) {
		found, err := b.probe(ctx, path, p.Manifest.Imports)
		switch {
		case ctx.Err() != nil:
			return python{}, ctx.Err()
		case err != nil:
			short = append(short, err.Error())
		case found.Missing == "":
			return found, nil
		default:
			short = append(short, fmt.Sprintf("%s (%s) lacks %s", path, found.Version, found.Missing))
			if base == nil && !strings.HasPrefix(found.Missing, "Python ") {
				base = &found
			}
		}
	}
	if len(short) == 0 {
		return python{}, fmt.Errorf("python3 is not in PATH; %s needs Python 3.11 or newer", p.Name())
	}
	switch {
	case base == nil:
		return python{}, errors.New(short[0])
	case p.Manifest.Requirements == "":
		return python{}, fmt.Errorf("%s; install it, or name a Python that has it in %s", short[0], PythonVariable)
	case !b.request.Install:
		return python{}, fmt.Errorf("%s; go tool host build %s makes an environment that has it", short[0], b.asArgument(p))
	}
	return b.makeEnvironment(ctx, p, *base)
}

// asArgument names the plugin on a command line, with the place where it is found.
func (b *builder) asArgument(p Plugin) string {
	if filepath.Dir(p.Dir) == filepath.Join(b.root, "plugins") {
		return p.Name()
	}
	return p.Name() + " --plugin-dir " + p.Dir
}

// pythons are the interpreters to ask, best first. A name in PATH need not be one: version managers put names
// there that only complain.
func (b *builder) pythons(p Plugin) []string {
	made, _ := filepath.Glob(filepath.Join(b.environmentFolder(p, p.Manifest.Requirements), "*", environmentMarker))
	var paths []string
	for _, marker := range made {
		paths = append(paths, filepath.Join(filepath.Dir(marker), "bin", "python"))
	}
	if own := os.Getenv(PythonVariable); own != "" {
		return append(paths, own)
	}
	for _, name := range pythonNames {
		if path, err := exec.LookPath(name); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// probe asks an interpreter what it has, under the environment that a plugin gets.
func (b *builder) probe(ctx context.Context, path string, modules []string) (python, error) {
	var found python
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	c := exec.CommandContext(ctx, path, append([]string{"-B", "-c", probeScript, b.sdkFolder()}, modules...)...)
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			c.Env = append(c.Env, name+"="+value)
		}
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 2 * time.Second
	var said bytes.Buffer
	c.Stderr = &said
	output, err := c.Output()
	if err == nil {
		// What it imports may print, so its own line is the last.
		lines := bytes.Split(bytes.TrimSpace(output), []byte("\n"))
		err = json.Unmarshal(lines[len(lines)-1], &found)
	}
	switch {
	case ctx.Err() != nil:
		return found, fmt.Errorf("%s does not say within %v what it has", path, probeTime)
	case err != nil:
		return found, fmt.Errorf("%s does not work: %w%s", path, err, lastLine(said.String()))
	}
	return found, nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + last
	}
	return ""
}

// sdkFolder holds the package scanhost. Outside the repository it is empty: the SDK is then one of the packages.
func (b *builder) sdkFolder() string {
	if b.root == "" {
		return ""
	}
	return filepath.Join(b.root, "shared", "python", "src")
}

func (b *builder) sdkStart() []string {
	if folder := b.sdkFolder(); folder != "" {
		return []string{filepath.Join(folder, "scanhost", "__main__.py")}
	}
	return []string{"-m", "scanhost"}
}

// pythonHash covers what the plugin computes with: its files, the SDK's, and the versions of the packages.
func (b *builder) pythonHash(p Plugin, chosen python) (string, error) {
	h := sha256.New()
	versions, err := json.Marshal(chosen.Packages) // sorted by name
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "%s %s %s\n", b.request.Backend, chosen.Version, versions)
	if err := hashFolder(h, p.Dir, notCompiled); err != nil {
		return "", err
	}
	if folder := b.sdkFolder(); folder != "" {
		if err := hashFolder(h, folder, notCompiled); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func notCompiled(path string) bool { return filepath.Ext(path) != ".pyc" }
