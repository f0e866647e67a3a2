package discover

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// fakeNVCC compiles with g++ and keeps its arguments, so that what surrounds the compiler is tested where there
// is none.
const fakeNVCC = `#!/bin/sh
if [ "$1" = --version ]; then echo "Cuda compilation tools, release 13.0"; exit; fi
echo "$@" >>"$FAKE_NVCC_LOG"
for word in "$@"; do
  case $previous in -o) output=$word ;; -c) input=$word ;; esac
  case $word in -I*) include=$word ;; esac
  previous=$word
done
exec g++ -x c++ -c "$input" -o "$output" "$include"
`

// toolkit installs the fake with an empty runtime library. Its folder has a space, as users' folders may.
func toolkit(t *testing.T) (log string) {
	t.Helper()
	home := filepath.Join(t.TempDir(), "cuda home")
	put(t, filepath.Join(home, "bin", "nvcc"), fakeNVCC)
	put(t, filepath.Join(home, "lib", "libcudart_static.a"), "!<arch>\n")
	if err := os.Chmod(filepath.Join(home, "bin", "nvcc"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CUDA_HOME", home)
	log = filepath.Join(t.TempDir(), "log")
	t.Setenv("FAKE_NVCC_LOG", log)
	return log
}

func TestCUDAObjectsAreLinkedAndFollowTheirSources(t *testing.T) {
	if testing.Short() {
		t.Skip("builds plugins")
	}
	log := toolkit(t)
	root := checkout(t)
	calls := func() []string {
		text, _ := os.ReadFile(log)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	r := BuildRequest{Backend: "cuda", Archs: []string{"sm_80", "sm_120"}, CacheDir: t.TempDir()}
	named, keeper := build(t, r)
	first := named["tiny"]
	if got := answerOf(t, first); got != "11" {
		t.Errorf("tiny answers %s, want 11", got)
	}
	if got := answerOf(t, *keeper); got != "99" {
		t.Errorf("the keeper answers %s, want 99", got)
	}
	if c := calls(); len(c) != 2 || !strings.Contains(c[0], "-gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_120,code=sm_120") ||
		!strings.Contains(c[0], "-fmad=false") {
		t.Errorf("nvcc was called so: %q", c)
	}
	put(t, filepath.Join(root, "shared/cuda/simt/copy.h"), "#error only g++ sees this\n")
	if named, _ = build(t, r); len(calls()) != 2 || named["tiny"].Hash != first.Hash {
		t.Errorf("a header of the simulated GPU alone led to %d calls of nvcc, want 2", len(calls()))
	}
	put(t, filepath.Join(root, "shared/cuda/answer.cuh"), "#define HEADER 30\n")
	named, _ = build(t, r)
	if got := answerOf(t, named["tiny"]); got != "31" || named["tiny"].Hash == first.Hash {
		t.Errorf("after editing a header tiny answers %s, want 31", got)
	}
	put(t, filepath.Join(root, "plugins/tiny/kernel.cu"), "int answer( {\n")
	named, keeper = build(t, r)
	if err := named["tiny"].Err; err == nil || !strings.Contains(err.Error(), "kernel.cu:1") {
		t.Errorf("a kernel that does not compile gives %v", err)
	}
	if got := answerOf(t, *keeper); got != "99" {
		t.Errorf("beside it the keeper answers %s, want 99", got)
	}
}

func TestRuntimeLibraryIsFoundInEveryLayout(t *testing.T) {
	machine := map[string]string{"amd64": "x86_64-linux", "arm64": "sbsa-linux"}[runtime.GOARCH]
	for _, sub := range []string{"lib64", "lib", "targets/" + machine + "/lib"} {
		home := t.TempDir()
		want := filepath.Join(home, sub)
		put(t, filepath.Join(want, "libcudart_static.a"), "")
		if got := runtimeFolder(filepath.Join(home, "bin", "nvcc")); got != want {
			t.Errorf("%s: found %q", sub, got)
		}
	}
	if got := runtimeFolder(filepath.Join(t.TempDir(), "bin", "nvcc")); got != "" {
		t.Errorf("without a library: found %q", got)
	}
}

func TestArchitecturesAreChecked(t *testing.T) {
	if err := checkArchs([]string{"sm_80", "sm_90a", "sm_120"}); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "90", "compute_90", "sm_", "sm_90 -o x"} {
		if checkArchs([]string{bad}) == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
