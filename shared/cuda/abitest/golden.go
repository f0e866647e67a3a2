package abitest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scanhost/shared/plugin/registry"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew instead of comparing")

// goldenShapes are few and small, but meet tails, several tiles of every kernel, and every option.
var goldenShapes = []struct {
	rows, length int64
	options      []string
}{
	{1, 1, nil}, {3, 33, []string{"h0"}}, {2, 1185, []string{"reverse"}}, {2, 2048, []string{"h0", "last_state"}},
	{2, 20001, []string{"reverse", "h0", "last_state"}}, {1, 70000, nil},
}

// Golden compares the bits of fixed cases with those in a file: one line for each case, its hash and its name.
// Every machine must give the same, so a run on a GPU can be held against the file too: the hash is the first
// 16 bytes of SHA-256 over the outputs, h then last_state.
func (k Kernel) Golden(t *testing.T, path string) {
	var lines strings.Builder
	for _, regime := range []string{"exact", "signs", "near1"} {
		for _, s := range goldenShapes {
			if k.Longest > 0 && s.length > k.Longest {
				continue
			}
			c := k.Case(t, regime, s.rows, s.length, s.options...)
			fmt.Fprintf(&lines, "%s %s\n", k.Run(t, c, nil, registry.Simt{}).Hash(), c.Name)
		}
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	compareLines(t, path, string(want), lines.String())
}

func compareLines(t *testing.T, path, want, got string) {
	t.Helper()
	wanted, given := strings.Split(want, "\n"), strings.Split(got, "\n")
	if len(wanted) != len(given) {
		t.Fatalf("%s has %d lines; this run made %d (go test -args -update writes it anew)", path, len(wanted), len(given))
	}
	for i := range wanted {
		if wanted[i] != given[i] {
			t.Errorf("%s:%d: %s; this run gives %s", path, i+1, wanted[i], given[i])
		}
	}
}

// Agreement compares two golden files, of kernels that group differently: where every operation is exact the
// bits must be equal, and elsewhere some must differ, or the files would be of one grouping.
func Agreement(t *testing.T, path, other string) {
	read := func(path string) map[string]string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		hashes := map[string]string{}
		for line := range strings.Lines(string(text)) {
			hash, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			hashes[name] = hash
		}
		return hashes
	}
	mine, theirs := read(path), read(other)
	shared, differ := 0, 0
	for name, hash := range mine {
		their, both := theirs[name]
		switch {
		case !both:
		case hash == their:
			shared++
		case strings.Contains(name, ":exact:"):
			t.Errorf("%s: %s and %s differ, although every operation is exact", name, path, other)
		default:
			differ++
		}
	}
	if shared == 0 || differ == 0 {
		t.Errorf("%s and %s share the bits of %d cases and differ in %d; both should happen", path, other, shared, differ)
	}
}
