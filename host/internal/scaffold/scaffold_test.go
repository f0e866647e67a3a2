package scaffold

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scanhost/shared/contract"
)

// repo is a repository in miniature.
func repo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	gomod := "module scanhost\n\ngo 1.26.0\n\ntool scanhost/host\n\nrequire example.com/dep v1.0.0\n"
	for name, text := range map[string]string{"go.mod": gomod, "go.sum": "example.com/dep v1.0.0 h1:x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAPluginInTheTreeIsPartOfItsModule(t *testing.T) {
	root := repo(t)
	dir, err := Write(Plan{Name: "mine", Op: "affine_scan", Parent: filepath.Join(root, "plugins"), Repo: root, InTree: true, Verify: "go tool host verify --plugin mine"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := contract.ParseManifest(read(t, dir, "plugin.toml"))
	if err != nil || m.Name != "mine" {
		t.Errorf("manifest: %+v, %v", m, err)
	}
	if main := read(t, dir, "main.go"); !strings.Contains(main, `"-I${SRCDIR}/../../shared/cuda"`) {
		t.Errorf("the headers must be found in any clone:\n%s", main)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		t.Error("a folder in the tree must not be a module")
	}
	if !strings.Contains(read(t, dir, "README.md"), "go tool host verify --plugin mine") {
		t.Error("the README must say how to verify")
	}
}

func TestAPluginOutsideIsAModuleThatReplacesScanhost(t *testing.T) {
	root := repo(t)
	dir, err := Write(Plan{Name: "far", Op: "affine_scan", Parent: filepath.Join(t.TempDir(), "a", "b"), Repo: root})
	if err != nil {
		t.Fatal(err)
	}
	want := "module example.com/scanhost-plugins/far\n\ngo 1.26.0\n\n\nrequire example.com/dep v1.0.0\n\nrequire scanhost v0.0.0\n\nreplace scanhost => " + root + "\n"
	if got := read(t, dir, "go.mod"); got != want {
		t.Errorf("go.mod is\n%s\nwant\n%s", got, want)
	}
	if read(t, dir, "go.sum") != read(t, root, "go.sum") {
		t.Error("go.sum must be the repository's")
	}
	if main := read(t, dir, "main.go"); !strings.Contains(main, `"-I`+root+`/shared/cuda"`) {
		t.Errorf("the headers must be found from outside:\n%s", main)
	}
}

func TestBadNamesAndExistingFoldersAreRefused(t *testing.T) {
	root, parent := repo(t), t.TempDir()
	for _, name := range []string{"", "Mine", "9lives", "a/b", "../up", "with space"} {
		if _, err := Write(Plan{Name: name, Op: "affine_scan", Parent: parent, Repo: root}); err == nil || !strings.Contains(err.Error(), "lower-case") {
			t.Errorf("name %q: got %v", name, err)
		}
	}
	own := filepath.Join(parent, "mine")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(Plan{Name: "mine", Op: "affine_scan", Parent: parent, Repo: root}); err == nil || !strings.Contains(err.Error(), own) {
		t.Errorf("an existing folder must be named and refused, got %v", err)
	}
}

func TestWhatCannotBeFinishedIsRemoved(t *testing.T) {
	parent := t.TempDir()
	if _, err := Write(Plan{Name: "mine", Op: "affine_scan", Parent: parent, Repo: t.TempDir()}); err == nil {
		t.Fatal("a repository without go.mod must be an error")
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
