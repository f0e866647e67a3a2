package discover

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const goodManifest = `schema = 1
name = "NAME"
version = "0.1.0"
protocol = [1]
backends = ["simt"]
[[op]]
name = "affine_scan"
dtypes = ["fp32"]
`

// plugin writes a plugin folder named as its plugin and gives its path.
func plugin(t *testing.T, place, name string) string {
	t.Helper()
	dir := filepath.Join(place, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ManifestFile), strings.Replace(goodManifest, "NAME", name, 1))
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// place is a temporary folder with its links resolved, as Find gives paths back.
func place(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func names(plugins []Plugin) string {
	var n []string
	for _, p := range plugins {
		n = append(n, p.Name())
	}
	return strings.Join(n, " ")
}

func TestFindSearchesTheRepositoryTheFlagsAndThePath(t *testing.T) {
	repo, flag, path := place(t), place(t), place(t)
	write(t, filepath.Join(repo, "go.mod"), "module scanhost\n\ngo 1.26\n")
	plugin(t, filepath.Join(repo, "plugins"), "tree")
	single := plugin(t, flag, "single")
	plugin(t, path, "far")
	if err := os.MkdirAll(filepath.Join(path, "notes"), 0o755); err != nil {
		t.Fatal(err) // no plugin.toml: not a plugin, and no error
	}
	deep := filepath.Join(repo, "host", "internal")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(deep)
	t.Setenv(PathVariable, path)
	got, err := Find([]string{single})
	if err != nil || names(got) != "far single tree" {
		t.Fatalf("Find: %q, %v; want far single tree", names(got), err)
	}
	for _, p := range got {
		if p.InTree != (p.Name() == "tree") {
			t.Errorf("%s: InTree is %v", p.Name(), p.InTree)
		}
	}
}

func TestAFolderFoundTwiceIsOnePlugin(t *testing.T) {
	dir := place(t)
	one := plugin(t, dir, "one")
	link := filepath.Join(place(t), "link")
	if err := os.Symlink(one, link); err != nil {
		t.Fatal(err)
	}
	got, err := findIn("", []string{dir, one, link})
	if err != nil || names(got) != "one" {
		t.Fatalf("found %q, %v; want one", names(got), err)
	}
}

func TestABadManifestCostsItsOwnRow(t *testing.T) {
	dir := place(t)
	plugin(t, dir, "good")
	bad := plugin(t, dir, "bad")
	write(t, filepath.Join(bad, ManifestFile), strings.Replace(goodManifest, `"NAME"`, `"../../evil"`, 1))
	got, err := findIn("", []string{dir})
	if err != nil || names(got) != "bad good" {
		t.Fatalf("found %q, %v; want bad good", names(got), err)
	}
	if e := got[0].Err; e == nil || !strings.Contains(e.Error(), "evil") || !strings.Contains(e.Error(), ManifestFile) {
		t.Errorf("the error must name the file and what it holds: %v", e)
	}
	if got[1].Err != nil {
		t.Errorf("good: %v", got[1].Err)
	}
}

func TestOneNameInTwoFoldersIsRefused(t *testing.T) {
	first, second := place(t), place(t)
	a, b := plugin(t, first, "same"), plugin(t, second, "same")
	_, err := findIn("", []string{first, second})
	if err == nil || !strings.Contains(err.Error(), a) || !strings.Contains(err.Error(), b) {
		t.Fatalf("want an error naming %s and %s, got %v", a, b, err)
	}
}

func TestWorldWritableFoldersAreRefused(t *testing.T) {
	dir := place(t)
	p := plugin(t, dir, "open")
	if err := os.Chmod(p, 0o777); err != nil {
		t.Fatal(err)
	}
	got, err := findIn("", []string{dir})
	if err != nil || len(got) != 1 || got[0].Err == nil {
		t.Fatalf("a world-writable plugin must be a bad one: %+v, %v", got, err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := findIn("", []string{dir}); err == nil || !strings.Contains(err.Error(), "0777") {
		t.Fatalf("a world-writable place must be refused with its mode, got %v", err)
	}
}

func TestAMissingPlaceIsRefused(t *testing.T) {
	if _, err := findIn("", []string{"/no/such/place"}); err == nil || !strings.Contains(err.Error(), "/no/such/place") {
		t.Fatalf("got %v", err)
	}
}

func TestAModuleBelowTheRootIsNotInTree(t *testing.T) {
	repo := place(t)
	dir := plugin(t, filepath.Join(repo, "elsewhere"), "own")
	if !InModule(repo, dir) {
		t.Fatal("a folder of the module must be in tree")
	}
	write(t, filepath.Join(dir, "go.mod"), "module own\n")
	if InModule(repo, dir) {
		t.Fatal("a folder with its own go.mod is another module")
	}
}

func TestChooseSuggestsTheNearestName(t *testing.T) {
	dir := place(t)
	plugin(t, dir, "lookback")
	plugin(t, dir, "blelloch")
	all, err := findIn("", []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Choose(all, []string{"lookback", "blelloch", "lookback"})
	if err != nil || names(got) != "lookback blelloch" {
		t.Fatalf("chose %q, %v", names(got), err)
	}
	if _, err := Choose(all, []string{"lookbak"}); err == nil || !strings.Contains(err.Error(), `did you mean "lookback"?`) {
		t.Errorf("got %v", err)
	}
	if _, err := Choose(all, []string{"quicksort"}); err == nil || strings.Contains(err.Error(), "did you mean") {
		t.Errorf("a far name must get the list and no suggestion: %v", err)
	}
}

func TestFindingIsFast(t *testing.T) {
	dir := place(t)
	for i := range 26 {
		plugin(t, dir, "kernel_"+string(rune('a'+i)))
	}
	start := time.Now()
	if _, err := findIn("", []string{dir}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 200*time.Millisecond {
		t.Errorf("26 plugins took %v; host list has 200 ms", took)
	}
}
