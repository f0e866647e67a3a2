package judge

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scanhost/shared/contract"
)

// copiedTarget is the plugin whose GPU is plain C and imports no memory.
func copiedTarget(t *testing.T) Target {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "faulty", "copied")
	program := filepath.Join(t.TempDir(), "copied")
	if out, err := exec.Command("go", "build", "-o", program, "./"+filepath.ToSlash(dir)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "plugin.toml"))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := contract.ParseManifest(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return Target{Manifest: manifest, Argv: []string{program}, Backend: "cuda"}
}

// What guard bands and poison show of a kernel on exported memory they show on copied memory too; what they do not is
// a kept blind spot, and the result names it.
func TestCopiedMemory(t *testing.T) {
	target := copiedTarget(t)
	for _, c := range []struct {
		name   string
		fault  int64
		want   Verdict
		detail string
	}{
		{"right", 0, Pass, ""},
		{"one past the end", 1, OutOfBounds, "of h was written"},
		{"one left out", 2, Unwritten, "1 of"},
		{"an input is written: only what it makes of the next launch is seen", 3, Wrong, ""},
		{"results do not come back", 4, DeviceError, "the bus is broken"},
		{"a later launch leaves the results of the first: new poison reached the device", 5, Unwritten, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := engine(t, small(t, 3))
			e.Options.Tuning = map[string]int64{"fault": c.fault}
			e.Needs, e.Lost = contract.CapabilityCopied, []string{"something"}
			results, err := e.Run(context.Background(), []Target{target})
			if err != nil {
				t.Fatal(err)
			}
			r := results[0]
			if r.Verdict != c.want || !strings.Contains(r.Detail, c.detail) {
				t.Errorf("%s (%s), want %s with %q", r.Verdict, r.Detail, c.want, c.detail)
			}
			if !slices.Equal(r.Lost, e.Lost) {
				t.Errorf("the row says that %v is lost", r.Lost)
			}
		})
	}
}

func TestCopiedMemoryNeedsACapability(t *testing.T) {
	e := engine(t, small(t, 1))
	e.Needs = "what nobody has"
	results, err := e.Run(context.Background(), []Target{copiedTarget(t)})
	if err != nil {
		t.Fatal(err)
	}
	if r := results[0]; r.Verdict != Unsupported || !strings.Contains(r.Detail, "what nobody has") || r.Run != 0 {
		t.Errorf("%s (%s), %d run", r.Verdict, r.Detail, r.Run)
	}
}
