package machine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAskGivesUpOnAProgramThatDoesNotEnd(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Ask(ctx, "sleep", "30")
	if err == nil || !strings.Contains(err.Error(), "sleep did not answer") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestAskSaysWhatTheProgramSaid(t *testing.T) {
	_, err := Ask(context.Background(), "sh", "-c", "echo no device >&2; exit 9")
	if err == nil || !strings.Contains(err.Error(), "no device") {
		t.Errorf("got %v", err)
	}
}

func TestParseGPUs(t *testing.T) {
	gpus, err := parseGPUs("NVIDIA H200, GPU-1, 580.1, 143771 MiB, 9.0\nNVIDIA RTX A4000, GPU-2, 580.1, 16376 MiB, 8.6\n")
	if err != nil || len(gpus) != 2 || gpus[0].Compute != "9.0" {
		t.Fatalf("%+v, %v", gpus, err)
	}
	if a, b := gpus[0].Folder(), gpus[1].Folder(); a != "h200" || b != "rtx-a4000" {
		t.Errorf("folders are %q and %q", a, b)
	}
	if _, err := parseGPUs("No devices were found\n"); err == nil {
		t.Error("an answer of another form must be an error")
	}
}

func TestParseMemAvailable(t *testing.T) {
	n, err := parseMemAvailable("MemTotal:  10 kB\nMemAvailable:    4 kB\n")
	if err != nil || n != 4096 {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := parseMemAvailable("MemTotal: 10 kB\n"); err == nil {
		t.Error("a missing line must be an error")
	}
}

func TestAControlGroupsLimitCounts(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("memory.max", "max\n")
	put("memory.current", "100\n")
	if _, ok := groupMemory(dir); ok {
		t.Error("max is no limit")
	}
	put("memory.max", "150\n")
	if left, ok := groupMemory(dir); !ok || left != 50 {
		t.Errorf("left %d, %v; want 50", left, ok)
	}
}
