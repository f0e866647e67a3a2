package discover

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkout writes a repository with one header and a plugin that prints what its kernel answers, and changes to
// it. embed.go is this repository's own: it is what makes the go tool notice an edited header.
func checkout(t *testing.T) string {
	t.Helper()
	embed, err := os.ReadFile("../../../shared/cuda/embed.go")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"go.mod":                     "module scanhost\n\ngo 1.26.0\n",
		"shared/cuda/embed.go":       string(embed),
		"shared/cuda/answer.cuh":     "#define HEADER 10\n",
		"shared/cuda/abi.h":          "",
		"shared/cuda/glue.inl":       "",
		"shared/cuda/simt/copy.h":    "",
		"shared/cuda/simt/glue.inl":  "",
		"host/keeper/keeper.cu":      "extern \"C\" int answer() { return 99; }\n",
		"host/keeper/main.go":        "package main\n\n// int answer(void);\nimport \"C\"\n\nfunc main() { println(C.answer()) }\n",
		"plugins/tiny/plugin.toml":   manifestOf("tiny"),
		"plugins/tiny/kernel.cu":     "#include \"answer.cuh\"\nextern \"C\" int answer() { return HEADER + 1; }\n",
		"plugins/tiny/simt_fast.cpp": "//go:build !cuda\n\n#include \"kernel.cu\"\n",
		"plugins/tiny/main.go":       tinyMain,
	}
	for name, text := range files {
		put(t, filepath.Join(root, name), text)
	}
	t.Chdir(root)
	return root
}

const tinyMain = `package main

// #cgo !cuda CXXFLAGS: -I${SRCDIR}/../../shared/cuda
// int answer(void);
import "C"

import (
	_ "embed"
	"fmt"

	"scanhost/shared/cuda"
)

//go:embed kernel.cu
var kernel string

var _ = cuda.Sources

func main() { fmt.Println(C.answer()) }
`

func manifestOf(name string) string {
	return "schema = 1\nname = \"" + name + "\"\nversion = \"0.1.0\"\nprotocol = [1]\nbackends = [\"simt\", \"cuda\"]\n" +
		"[[op]]\nname = \"affine_scan\"\ndtypes = [\"fp32\"]\n"
}

// put writes a file and the folders that it needs.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func build(t *testing.T, r BuildRequest) (map[string]Built, *Built) {
	t.Helper()
	plugins, err := Find(nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Plugins = plugins
	built, keeper, err := Build(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]Built{}
	for _, b := range built {
		named[b.Plugin.Name()] = b
	}
	return named, keeper
}

func answerOf(t *testing.T, b Built) string {
	t.Helper()
	if b.Err != nil {
		t.Fatal(b.Err)
	}
	output, err := exec.Command(b.Executable[0], b.Executable[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", b.Executable, err, output)
	}
	return strings.TrimSpace(string(output))
}

func TestEditedKernelOrHeaderRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a plugin four times")
	}
	root := checkout(t)
	r := BuildRequest{Backend: "simt", CacheDir: t.TempDir()}
	var before []Built
	for _, step := range []struct{ file, text, want string }{
		{"", "", "11"},
		{"plugins/tiny/kernel.cu", "#include \"answer.cuh\"\nextern \"C\" int answer() { return HEADER + 2; }\n", "12"},
		{"shared/cuda/answer.cuh", "#define HEADER 20\n", "22"},
	} {
		if step.file != "" {
			put(t, filepath.Join(root, step.file), step.text)
		}
		named, _ := build(t, r)
		b := named["tiny"]
		if got := answerOf(t, b); got != step.want {
			t.Errorf("after editing %q the plugin answers %s, want %s", step.file, got, step.want)
		}
		for _, old := range before {
			if old.Hash == b.Hash || old.Executable[0] == b.Executable[0] {
				t.Errorf("after editing %q hash or executable is that of an earlier build", step.file)
			}
		}
		before = append(before, b)
	}
	if got := answerOf(t, before[0]); got != "11" {
		t.Errorf("the first executable answers %s now, want 11: a later build changed it", got)
	}
	again, _ := build(t, r)
	if last := before[2]; again["tiny"].Hash != last.Hash || again["tiny"].Executable[0] != last.Executable[0] {
		t.Errorf("a build of the same sources gives another hash or executable")
	}
}

func TestPluginThatDoesNotBuildCostsItselfOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("builds plugins")
	}
	root := checkout(t)
	for name, text := range map[string]string{
		"bad_cpp/simt_fast.cpp": "//go:build !cuda\n\nint answer( { return 1; }\n",
		"bad_cpp/main.go":       tinyMain,
		"bad_cpp/kernel.cu":     "",
		"bad_go/main.go":        "package main\n\nfunc main() { return 1 }\n",
		"no_go/main.go":         "not a Go file\n", // stops the go tool before it compiles anything
	} {
		put(t, filepath.Join(root, "plugins", name), text)
	}
	for _, name := range []string{"bad_cpp", "bad_go", "no_go"} {
		put(t, filepath.Join(root, "plugins", name, "plugin.toml"), manifestOf(name))
	}
	named, _ := build(t, BuildRequest{Backend: "simt", CacheDir: t.TempDir()})
	if got := answerOf(t, named["tiny"]); got != "11" {
		t.Errorf("tiny answers %s, want 11", got)
	}
	for name, want := range map[string]string{"bad_cpp": "simt_fast.cpp:3", "bad_go": "main.go:3", "no_go": "main.go:1:1"} {
		var refused *BuildError
		if !errors.As(named[name].Err, &refused) {
			t.Errorf("%s: error is %v, want a BuildError", name, named[name].Err)
			continue
		}
		log, err := os.ReadFile(refused.Log)
		if !strings.Contains(refused.First, want) || err != nil || !strings.Contains(string(log), want) {
			t.Errorf("%s: first error is %q (log: %v), want one at %s", name, refused.First, err, want)
		}
	}
}

func TestPrebuiltPluginNeedsNoCompiler(t *testing.T) {
	root := checkout(t)
	if err := os.RemoveAll(filepath.Join(root, "plugins", "tiny")); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "plugins", "ready")
	put(t, filepath.Join(dir, "plugin.toml"), "entry = [\"sh\", \"run.sh\", \"7\"]\n"+manifestOf("ready"))
	put(t, filepath.Join(dir, "run.sh"), "echo $1\n")
	empty := t.TempDir()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(sh, filepath.Join(empty, "sh")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", empty) // there is no go in it
	r := BuildRequest{Backend: "simt", CacheDir: t.TempDir()}
	named, _ := build(t, r)
	if got := answerOf(t, named["ready"]); got != "7" {
		t.Errorf("it answers %s, want 7", got)
	}
	put(t, filepath.Join(dir, "run.sh"), "echo $1 #\n")
	if again, _ := build(t, r); again["ready"].Hash == named["ready"].Hash {
		t.Error("the hash does not change with the plugin's files")
	}
}

func TestMissingCompilerIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the go tool")
	}
	checkout(t)
	plugins, err := Find(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CXX", "no-such-compiler")
	_, _, err = Build(context.Background(), BuildRequest{Plugins: plugins, Backend: "simt", CacheDir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), `"no-such-compiler"`) || !strings.Contains(err.Error(), "install") {
		t.Errorf("error is %v, want one that names the compiler and what to install", err)
	}
}

func TestEveryPluginHereFollowsItsSources(t *testing.T) {
	root := mustAbs(t, "../../..")
	mains, err := filepath.Glob(filepath.Join(root, "plugins", "*", "main.go"))
	if err != nil || len(mains) == 0 {
		t.Fatalf("no plugins found: %v", err)
	}
	for _, main := range mains {
		text, err := os.ReadFile(main)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for _, want := range []string{"\t\"scanhost/shared/cuda\"", "//go:embed kernel.cu"} {
			if !slices.Contains(lines, want) {
				t.Errorf("%s lacks the line %q; without it an edit is not noticed", main, strings.TrimSpace(want))
			}
		}
	}
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
