package faulty

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scanhost/shared/contract"
)

func TestMain(m *testing.M) {
	MainIfAsked()
	os.Exit(m.Run())
}

func TestReadmeListsEveryFault(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), Table()) {
		t.Errorf("README.md lacks the table, which is:\n%s", Table())
	}
}

func TestFaultsAreNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Faults {
		if seen[f.Name] || f.Text == "" || f.Verdict == "" {
			t.Errorf("fault %+v is there twice or lacks a text", f)
		}
		seen[f.Name] = true
	}
}

func TestFolderIsAPluginFolder(t *testing.T) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Faults {
		dir := filepath.Join(t.TempDir(), f.Name)
		if err := Folder(dir, executable, f.Name); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "plugin.toml"))
		if err != nil {
			t.Fatal(err)
		}
		m, err := contract.ParseManifest(string(text))
		if err != nil || m.Name != PluginName(f.Name) {
			t.Errorf("manifest of %s: name %q, %v", f.Name, m.Name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, m.Entry[0])); err != nil {
			t.Error(err)
		}
	}
	if err := Folder(t.TempDir(), executable, "no-such-fault"); err == nil {
		t.Error("a fault that does not exist got a folder")
	}
}

// newTestJob is two rows of four, with room around h for what writes beside it.
func newTestJob(options ...string) *job {
	h := array{mapping: make([]byte, 64), offset: 16}
	h.view(8)
	j := &job{rows: 2, length: 4, reverse: slices.Contains(options, "reverse"), arrays: map[string]array{
		"a":          {values: []float32{2, 3, 4, 5, 1, 1, 1, 1}},
		"b":          {values: []float32{1, 2, 3, 4, 1, 1, 1, 1}},
		"h":          h,
		"h0":         {values: []float32{1, 10}},
		"last_state": {values: make([]float32, 2)},
	}}
	return j
}

func TestHonestScan(t *testing.T) {
	j := newTestJob()
	j.honest()
	if want := []float32{3, 11, 47, 239, 11, 12, 13, 14}; !slices.Equal(j.arrays["h"].values, want) {
		t.Errorf("got %v; %v is expected", j.arrays["h"].values, want)
	}
	if want := []float32{239, 14}; !slices.Equal(j.arrays["last_state"].values, want) {
		t.Errorf("got %v; %v is expected", j.arrays["last_state"].values, want)
	}
	j = newTestJob("reverse")
	j.honest()
	if want := []float32{239, 119, 39, 9, 14, 13, 12, 11}; !slices.Equal(j.arrays["h"].values, want) {
		t.Errorf("reverse: got %v; %v is expected", j.arrays["h"].values, want)
	}
}

// A fault of the data that leaves the data right would make a judge look bad, or good.
func TestDataFaultsChangeTheOutput(t *testing.T) {
	honest := newTestJob()
	honest.honest()
	for _, name := range []string{"wrong-answer", "swapped-operands", "nan-output", "unwritten", "nondeterministic", "out-of-bounds", "before-bounds"} {
		f, ok := Lookup(name)
		if !ok {
			t.Fatal(name)
		}
		j := newTestJob()
		j.number = 1
		(&server{fault: f}).run(j)
		same := slices.Equal(j.arrays["h"].mapping, honest.arrays["h"].mapping)
		if same {
			t.Errorf("%s changes nothing", name)
		}
		inside := slices.EqualFunc(j.arrays["h"].values, honest.arrays["h"].values, func(x, y float32) bool {
			return math.Float32bits(x) == math.Float32bits(y)
		})
		if outside := strings.HasSuffix(name, "bounds"); inside != outside {
			t.Errorf("%s: values right: %v", name, inside)
		}
	}
}
