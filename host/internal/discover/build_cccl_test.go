package discover

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakePip stands for a Python whose pip unpacks headers, or fails, as the file pip beside it says.
const fakePip = `#!/bin/sh
here=$(dirname "$0")
echo "$@" >> "$here/installed"
for word in "$@"; do
  [ "$previous" = --target ] && target=$word
  previous=$word
done
case $(cat "$here/pip") in
fails) echo "ERROR: no such wheel"; exit 1 ;;
cub) mkdir -p "$target/nvidia/cu13/include/cccl/cub" && echo "// new" > "$target/nvidia/cu13/include/cccl/cub/version.cuh" ;;
esac
`

// cubCheckout is a repository with a plugin that needs CUB's headers beside one that does not, a toolkit, and the fake
// as the only Python.
func cubCheckout(t *testing.T, pip string) (root, bin, nvccLog string) {
	t.Helper()
	nvccLog = toolkit(t)
	root = checkout(t)
	for _, name := range []string{"kernel.cu", "main.go"} {
		text, err := os.ReadFile(filepath.Join(root, "plugins", "tiny", name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(root, "plugins", "peer", name), string(text))
	}
	put(t, filepath.Join(root, "plugins", "peer", "plugin.toml"), "cccl = \"cccl.txt\"\n"+manifestOf("peer"))
	put(t, filepath.Join(root, "plugins", "peer", "cccl.txt"), "nvidia-cuda-cccl==1.0 --hash=sha256:00\n")
	bin = t.TempDir()
	put(t, filepath.Join(bin, "python"), fakePip)
	put(t, filepath.Join(bin, "pip"), pip)
	if err := os.Chmod(filepath.Join(bin, "python"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(PythonVariable, filepath.Join(bin, "python"))
	t.Setenv(CCCLVariable, "")
	return root, bin, nvccLog
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

func TestCUBHeadersAreInstalledOnlyWhereAskedAndKept(t *testing.T) {
	_, bin, nvccLog := cubCheckout(t, "cub")
	r := BuildRequest{Backend: "cuda", Archs: []string{"sm_90"}, CacheDir: t.TempDir()}
	named, _ := build(t, r)
	if err := named["peer"].Err; err == nil || !strings.Contains(err.Error(), "go tool host build peer") || text(t, filepath.Join(bin, "installed")) != "" {
		t.Errorf("without Install the error is %v, and pip was called with %q", err, text(t, filepath.Join(bin, "installed")))
	}
	if err := named["tiny"].Err; err != nil {
		t.Errorf("the plugin beside it: %v", err)
	}
	r.Install = true
	for range 2 {
		named, _ = build(t, r)
		if err := named["peer"].Err; err != nil {
			t.Fatal(err)
		}
		r.Install = false
	}
	if said := text(t, filepath.Join(bin, "installed")); !strings.Contains(said, "--require-hashes") || strings.Count(said, "\n") != 1 {
		t.Errorf("pip was called with %q, want one call with --require-hashes", said)
	}
	if said := text(t, nvccLog); !strings.Contains(said, "nvidia/cu13/include/cccl -I") {
		t.Errorf("nvcc was called with %q, want the installed headers before others", said)
	}
}

func TestCUBHeadersOfANamedFolderAreFollowed(t *testing.T) {
	_, bin, nvccLog := cubCheckout(t, "fails")
	own := t.TempDir()
	put(t, filepath.Join(own, "cub", "version.cuh"), "// one")
	t.Setenv(CCCLVariable, own)
	r := BuildRequest{Backend: "cuda", Archs: []string{"sm_90"}, CacheDir: t.TempDir(), Install: true}
	first, _ := build(t, r)
	if err := first["peer"].Err; err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(own, "cub", "version.cuh"), "// two")
	second, _ := build(t, r)
	if first["peer"].Hash == second["peer"].Hash || first["tiny"].Hash != second["tiny"].Hash {
		t.Error("a change of CUB's headers changes the hashes of other plugins than those that include it")
	}
	if n := strings.Count(text(t, nvccLog), "-I"+own); n != 2 {
		t.Errorf("nvcc ran %d times with the folder, want 2", n)
	}
	if said := text(t, filepath.Join(bin, "installed")); said != "" {
		t.Errorf("pip was called with %q", said)
	}
}

func TestCUBHeadersThatCannotBeHadCostTheirOwnPlugin(t *testing.T) {
	empty := t.TempDir()
	for _, c := range []struct{ name, pip, folder, python, want string }{
		{"no such wheel", "fails", "", "", "ERROR: no such wheel"},
		{"another package", "nothing", "", "", "cccl.txt does not pin what peer needs: there is no cub/version.cuh in it"},
		{"no Python", "cub", "", "/nowhere/python", "/nowhere/python is not in PATH; SCANHOST_CCCL may name a folder"},
		{"an empty folder", "cub", empty, "", "SCANHOST_CCCL is " + empty + ", where cub/version.cuh is not"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cubCheckout(t, c.pip)
			t.Setenv(CCCLVariable, c.folder)
			if c.python != "" {
				t.Setenv(PythonVariable, c.python)
			}
			named, _ := build(t, BuildRequest{Backend: "cuda", Archs: []string{"sm_90"}, CacheDir: t.TempDir(), Install: true})
			if err := named["peer"].Err; err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
			if err := named["tiny"].Err; err != nil {
				t.Errorf("the plugin beside it: %v", err)
			}
		})
	}
}

func TestCUBHeadersAreNoMatterOfTheSimulatedGPU(t *testing.T) {
	root, _, _ := cubCheckout(t, "fails")
	put(t, filepath.Join(root, "plugins", "peer", "simt_fast.cpp"), text(t, filepath.Join(root, "plugins", "tiny", "simt_fast.cpp")))
	named, _ := build(t, BuildRequest{Backend: "simt", CacheDir: t.TempDir(), Install: true})
	if err := named["peer"].Err; err != nil {
		t.Error(err)
	}
}
