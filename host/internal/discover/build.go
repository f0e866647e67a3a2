package discover

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// BuildRequest says what to build and for which machine.
type BuildRequest struct {
	Plugins  []Plugin
	Backend  string   // cuda or simt
	Archs    []string // cuda: sm_90, ...; empty: the GPUs that are present
	CacheDir string   // empty: scanhost in the user's cache folder
	Install  bool     // plugins in Python may get an environment, for which packages are downloaded
	Progress func(line string)
}

// Built is a plugin that can be started, or why it cannot.
type Built struct {
	Plugin     Plugin
	Executable []string // argv; the program's path is absolute
	Hash       string   // SHA-256, hex, of sources, flags and compilers; of the files of a plugin that came built
	Err        error    // a *BuildError where a compiler refused
	Took       time.Duration
}

// BuildError is a compiler's refusal of one plugin.
type BuildError struct {
	Plugin string
	First  string // the first error among what the compiler wrote
	Log    string // file with all it wrote
}

func (e *BuildError) Error() string {
	return fmt.Sprintf("%s does not build: %s (all of it: %s)", e.Plugin, e.First, e.Log)
}

// Build makes an executable of every plugin and, for cuda, of the keeper (otherwise nil). A plugin that does
// not build costs its own entry. The error is for what stops all of them: no compiler, no GPU to compile for,
// a cache folder that cannot be written.
//
// The Go plugins of this repository are built by one call of the go tool, since several at once would compile
// what they share again and again. Executables go to the cache folder under names that hold their contents'
// hash, so that a second host that builds other sources does not change what a first one is running.
func Build(ctx context.Context, r BuildRequest) ([]Built, *Built, error) {
	b, err := newBuilder(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	built := make([]Built, len(r.Plugins))
	var targets []*target
	for i, p := range r.Plugins {
		built[i].Plugin = p
		switch {
		case p.Err != nil:
			built[i].Err = p.Err
		case p.Manifest.ManagedPython():
			b.buildPython(ctx, p, &built[i])
		case len(p.Manifest.Entry) > 0:
			built[i].Executable, built[i].Hash, built[i].Err = prebuilt(p)
		case !slices.Contains(p.Manifest.Backends, r.Backend):
			built[i].Err = fmt.Errorf("%s has no backend %s; it has %s", p.Name(), r.Backend, strings.Join(p.Manifest.Backends, ", "))
		default:
			t := &target{name: p.Name(), dir: p.Dir, source: "kernel.cu", inTree: p.InTree, built: &built[i]}
			if t.cccl, built[i].Err = b.findCCCL(ctx, p); t.ok() {
				targets = append(targets, t)
			}
		}
	}
	var keeper *Built
	if r.Backend == "cuda" {
		if b.root == "" {
			return nil, nil, errors.New("the keeper is built from the scanhost repository, and this folder is not inside it; change to it first")
		}
		dir := filepath.Join(b.root, "host", "keeper")
		keeper = &Built{Plugin: Plugin{Dir: dir, InTree: true}}
		targets = append(targets, &target{name: "keeper", dir: dir, source: "keeper.cu", inTree: true, built: keeper})
	}
	if len(targets) == 0 {
		return built, keeper, nil
	}
	return built, keeper, b.build(ctx, targets)
}

// target is one executable to build from source.
type target struct {
	name   string
	dir    string
	source string // what nvcc compiles
	cccl   string // folder of CUB's headers, where they are not the toolkit's
	inTree bool
	built  *Built
	object string // what nvcc made of source; empty on simt
	output string // where the go tool puts the executable
}

func (t *target) fail(err error) { t.built.Err = err }

func (t *target) ok() bool { return t.built.Err == nil }

// builder holds what one call of Build works with.
type builder struct {
	request BuildRequest
	root    string // of the repository; empty outside
	cache   string // shared by all checkouts
	dir     string // of this checkout in the cache
	tools   tools
}

func newBuilder(_ context.Context, r BuildRequest) (*builder, error) {
	if r.Backend != "simt" && r.Backend != "cuda" {
		return nil, fmt.Errorf("backend is %q; cuda and simt are built", r.Backend)
	}
	if r.Progress == nil {
		r.Progress = func(string) {}
	}
	cache, err := cacheFolder(r.CacheDir)
	if err != nil {
		return nil, err
	}
	b := &builder{request: r, root: Root(), cache: cache}
	id := "outside"
	if b.root != "" {
		id = filepath.Base(b.root) + "-" + shortHash(b.root)
	}
	b.dir = filepath.Join(cache, id)
	return b, nil
}

func cacheFolder(asked string) (string, error) {
	if asked == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no folder to build in: %w; set XDG_CACHE_HOME", err)
		}
		asked = filepath.Join(user, "scanhost")
	}
	return filepath.Abs(asked)
}

// build runs with the checkout locked: two hosts that build at once would take each other's files for their own.
func (b *builder) build(ctx context.Context, targets []*target) error {
	for _, sub := range []string{"logs", "link"} {
		if err := os.MkdirAll(filepath.Join(b.dir, sub), 0o755); err != nil {
			return fmt.Errorf("the folder to build in: %w", err)
		}
	}
	unlock, err := Lock(ctx, filepath.Join(b.dir, "lock"), func() { b.request.Progress("waiting for another host that is building") })
	if err != nil {
		return err
	}
	defer unlock()
	if b.tools, err = findTools(ctx, b.request); err != nil {
		return err
	}
	if b.request.Backend == "cuda" {
		if err := b.compileObjects(ctx, targets); err != nil {
			return err
		}
	}
	if err := b.buildGo(ctx, targets); err != nil {
		return err
	}
	for _, t := range targets {
		if !t.ok() {
			continue
		}
		if t.built.Hash, err = b.sourceHash(ctx, t); err != nil {
			t.fail(err)
			continue
		}
		path, err := b.publish(t)
		if err != nil {
			t.fail(err)
			continue
		}
		t.built.Executable = []string{path}
	}
	b.prune()
	return ctx.Err()
}

func (b *builder) log(t *target, tool string) string {
	return filepath.Join(b.dir, "logs", t.name+"-"+tool+".log")
}

// refused makes the error of a target from what the compiler wrote.
func (b *builder) refused(t *target, tool string, output []byte, cause error) error {
	path := b.log(t, tool)
	if err := os.WriteFile(path, output, 0o644); err != nil {
		path = err.Error()
	}
	first := firstError(string(output))
	if first == "" {
		first = fmt.Sprintf("%s: %v", tool, cause)
	}
	return &BuildError{Plugin: t.name, First: first, Log: path}
}
