package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"scanhost/shared/contract"
)

// testPython names a Python with grpcio, numpy and protobuf. CI sets it.
const testPython = "SCANHOST_TEST_PYTHON"

// pythonCommand runs a plugin in Python of shared/python/tests/plugins.
func pythonCommand(t *testing.T, plugin string) Command {
	t.Helper()
	python := os.Getenv(testPython)
	if python == "" {
		found, err := exec.LookPath("python3")
		if err != nil || exec.Command(found, "-c", "import tomllib, grpc, numpy, google.protobuf").Run() != nil {
			t.Skipf("there is no python3 with grpcio, numpy and protobuf; set %s to one", testPython)
		}
		python = found
	}
	sdk, err := filepath.Abs("../../../shared/python")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(sdk, "tests", "plugins", plugin)
	return Command{Path: python, Args: []string{"-B", filepath.Join(sdk, "src", "scanhost", "__main__.py"), filepath.Join(dir, "main.py")},
		Dir: dir, Service: contract.KernelService, Limits: shortLimits}
}

func TestPluginInPythonIsEndedLikeAnyOther(t *testing.T) {
	for _, c := range []struct {
		plugin, kind string
		silence      time.Duration
	}{
		{"does_nothing", "pass", shortLimits.Silence},
		{"sleeps", "hung", shortLimits.Silence}, // the heart beats on, and the call's deadline ends it
		{"holds_gil", "hung", callLimit / 2},    // no thread of it can beat, and silence ends it before
	} {
		t.Run(c.plugin, func(t *testing.T) {
			t.Parallel()
			command := pythonCommand(t, c.plugin)
			command.Limits.Silence = c.silence
			p, err := Start(t.Context(), command)
			if err != nil {
				t.Fatal(err)
			}
			p.Heartbeat()
			began := time.Now()
			err = p.oneCase(t)
			t.Log(err)
			if kindOf(err) != c.kind {
				t.Errorf("got %s (%v); %s is expected", kindOf(err), err, c.kind)
			}
			if took := time.Since(began); took > longest {
				t.Errorf("took %v; %v is the limit", took, longest)
			}
			if stop := p.Stop(t.Context()); stop != nil {
				t.Error(stop)
			}
			nothingLeft(t, p)
		})
	}
}
