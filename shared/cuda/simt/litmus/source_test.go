//go:build !race

package litmus

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// Program counters become source lines in an ordinary build, also where the code was inlined.
func TestFindingsNameSourceLines(t *testing.T) {
	want := regexp.MustCompile(`^status 5: block \d+ thread 0 reads workspace at byte \d+, kernel\.cu:\d+, stored by block \d+, kernel\.cu:\d+; the reader's fence`)
	program := filepath.Join(t.TempDir(), "show")
	if out, err := exec.Command("go", "build", "-o", program, "./show").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program, "look_back/no_reader_fence").CombinedOutput()
	if err != nil || !want.Match(out) {
		t.Errorf("%v, printed %q; want %s", err, out, want)
	}
}
