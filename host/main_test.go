package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"scanhost/host/internal/machine"
	"scanhost/shared/faulty"
)

// TestMain lets the test binary be the commands that scripts and tests run: host itself; faulty, the plugin that
// misbehaves on request; fakekeeper, a GPU's keeper without the GPU; and gpuholder, a host as another one sees it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"host":   main,
		"faulty": func() { os.Exit(faulty.Main(os.Args[1:])) },

		"fakekeeper": serveFakeKeeper,
		"gpuholder":  holdGPU,
	})
}

// TestScripts runs every behaviour in testdata/script. Builds in them use this user's caches, or they would
// compile the Go library for each script.
func TestScripts(t *testing.T) {
	repo, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("REPO", repo)
			e.Setenv("NO_COLOR", "1")
			e.Setenv("BIN", strings.Split(e.Getenv("PATH"), ":")[0])
			return passGoCaches(e)
		},
		Condition: func(name string) (bool, error) {
			if name != "gpu" {
				return false, fmt.Errorf("condition %q is not known; gpu is", name)
			}
			return machine.HasGPU(), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"makenpy":   makeNPY,
			"makesweep": makeSweep,
			"replays":   replays,
		},
	})
}

func passGoCaches(e *testscript.Env) error {
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	e.Setenv("HOME", home)
	for _, name := range []string{"GOCACHE", "GOPATH", "GOMODCACHE", "GOFLAGS", "GOPROXY", "CC", "CXX"} {
		if value, ok := os.LookupEnv(name); ok {
			e.Setenv(name, value)
		}
	}
	return nil
}

// exits runs a command and asks for its exit status, which exec only divides into good and bad:
//
//	exits 2 host verify
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND [ARGUMENT...]")
	}
	status := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		status = fmt.Sprint(exitStatus(err))
	}
	if status != args[0] {
		ts.Fatalf("exit status is %s, want %s", status, args[0])
	}
}
