package discover

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"scanhost/host/internal/machine"
)

// NVCC is a CUDA compiler and the folders that belong to it.
type NVCC struct {
	Path    string
	Version string // what --version prints
	Lib     string // holds libcudart_static.a; empty where the linker finds it by itself
}

// nvccFlags are the same for every kernel. Contraction is off because the simulated GPU has to give the same bits;
// a fused operation is written fmaf.
var nvccFlags = []string{"-O3", "-std=c++17", "-fmad=false", "-lineinfo", "-Xcompiler=-fPIC"}

// FindNVCC looks where CUDA_HOME and CUDA_PATH say, in PATH, and where toolkits usually are.
func FindNVCC(ctx context.Context) (NVCC, error) {
	var places []string
	for _, v := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if dir := os.Getenv(v); dir != "" {
			places = append(places, filepath.Join(dir, "bin", "nvcc"))
		}
	}
	for _, place := range append(places, "nvcc", "/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc") {
		path, err := exec.LookPath(place)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err != nil {
			continue
		}
		version, err := machine.Ask(ctx, path, "--version")
		if err != nil {
			return NVCC{}, err
		}
		return NVCC{Path: path, Version: version, Lib: runtimeFolder(path)}, nil
	}
	return NVCC{}, errors.New("nvcc was not found by CUDA_HOME, CUDA_PATH, PATH or in /usr/local/cuda; install the CUDA toolkit, 12.0 or newer, and set CUDA_HOME to its folder")
}

// runtimeFolder knows the layouts of NVIDIA's installers and of its packages for pip.
func runtimeFolder(nvcc string) string {
	prefix := filepath.Dir(filepath.Dir(nvcc))
	machine := map[string]string{"amd64": "x86_64-linux", "arm64": "sbsa-linux"}[runtime.GOARCH]
	for _, sub := range []string{"lib64", "targets/" + machine + "/lib", "lib"} {
		dir := filepath.Join(prefix, sub)
		if _, err := os.Stat(filepath.Join(dir, "libcudart_static.a")); err == nil {
			return dir
		}
	}
	return ""
}

func (n NVCC) linkFlags(object string) string {
	flags := []string{quoted(object)}
	if n.Lib != "" {
		flags = append(flags, quoted("-L"+n.Lib))
	}
	return strings.Join(append(flags, "-lcudart_static", "-ldl", "-lrt", "-lpthread", "-lstdc++"), " ")
}

// quoted keeps a path with spaces one cgo flag.
func quoted(s string) string {
	if strings.ContainsAny(s, " ") {
		return `"` + s + `"`
	}
	return s
}

var archRule = regexp.MustCompile(`^sm_[1-9][0-9]{1,2}[af]?$`)

// GPUArchs gives the architectures of the GPUs that are present, such as sm_90.
func GPUArchs(ctx context.Context) ([]string, error) {
	gpus, err := machine.GPUs(ctx)
	if err == nil && len(gpus) == 0 {
		err = errors.New("nvidia-smi lists none")
	}
	if err != nil {
		return nil, fmt.Errorf("no GPU to compile for: %w; name an architecture with --arch sm_90", err)
	}
	var archs []string
	for _, g := range gpus {
		archs = append(archs, "sm_"+strings.ReplaceAll(g.Compute, ".", ""))
	}
	slices.Sort(archs)
	return slices.Compact(archs), nil
}

func checkArchs(archs []string) error {
	for _, a := range archs {
		if !archRule.MatchString(a) {
			return fmt.Errorf("architecture %q is not one; such as sm_90 is accepted", a)
		}
	}
	return nil
}

// compileObjects runs nvcc for all targets, as many at a time as there are cores.
func (b *builder) compileObjects(ctx context.Context, targets []*target) error {
	if err := os.MkdirAll(filepath.Join(b.cache, "objects"), 0o755); err != nil {
		return err
	}
	var all sync.WaitGroup
	cores := make(chan struct{}, runtime.NumCPU())
	for _, t := range targets {
		all.Go(func() {
			cores <- struct{}{}
			defer func() { <-cores }()
			if err := b.compileObject(ctx, t); err != nil {
				t.fail(err)
			}
		})
	}
	all.Wait()
	return ctx.Err()
}

// compileObject leaves the object under a name made of all that went into it, and publishes it whole: another
// host may be reading the same folder.
func (b *builder) compileObject(ctx context.Context, t *target) error {
	started := time.Now()
	headers, err := b.headers(ctx, t)
	if err != nil {
		return b.refused(t, "go", []byte(err.Error()), err)
	}
	flags := slices.Clone(nvccFlags)
	for _, a := range b.tools.archs {
		flags = append(flags, "-gencode=arch="+strings.Replace(a, "sm_", "compute_", 1)+",code="+a)
	}
	key, err := objectKey(t, headers, flags, b.tools.nvcc.Version)
	if err != nil {
		return err
	}
	t.object = filepath.Join(b.cache, "objects", "kernel-"+key+".o")
	if touch(t.object) == nil {
		return nil
	}
	temporary := filepath.Join(b.cache, "objects", fmt.Sprintf("%s-%d.tmp.o", key, os.Getpid()))
	defer os.Remove(temporary)
	if t.cccl != "" {
		flags = append(flags, "-I"+t.cccl) // the toolkit's own come after it
	}
	arguments := append(flags, "-I"+headers, "-c", filepath.Join(t.dir, t.source), "-o", temporary)
	output, err := b.run(ctx, t.dir, nil, b.tools.nvcc.Path, arguments...)
	if err != nil {
		return b.refused(t, "nvcc", output, err)
	}
	if err := os.Rename(temporary, t.object); err != nil {
		return err
	}
	t.built.Took = time.Since(started)
	b.request.Progress(fmt.Sprintf("compiled %s of %s for %s in %.1f s", t.source, t.name, strings.Join(b.tools.archs, ", "), t.built.Took.Seconds()))
	return nil
}

// objectKey covers every file that the compiler may read of ours, its flags and its version.
func objectKey(t *target, headers string, flags []string, version string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q\n", t.source, flags, version)
	if err := hashFolder(h, t.dir, nvccReads); err != nil {
		return "", err
	}
	if err := hashFolder(h, headers, nvccReads); err != nil {
		return "", err
	}
	if err := hashCCCL(h, t); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// nvccReads leaves out the simulated GPU, whose headers only g++ sees.
func nvccReads(path string) bool {
	return !strings.HasPrefix(path, "simt/") && slices.Contains([]string{".cu", ".cuh", ".h", ".hpp", ".inl"}, filepath.Ext(path))
}
