package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unscripted are commands of the manual that no script runs, each with its reason.
var unscripted = map[string]string{
	`host verify --plugin lookback --wrap "compute-sanitizer --tool memcheck"`: "the tool comes with CUDA; another tool is wrapped in verify_deadlines",
}

// TestTheManualsCommandsAreRunByScripts keeps the manual honest: a command shown there is in a script, word for word.
func TestTheManualsCommandsAreRunByScripts(t *testing.T) {
	manual, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	scripts := allScripts(t)
	shown := 0
	for line := range strings.Lines(string(manual)) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "//\thost ")
		if !ok {
			continue
		}
		shown++
		command = "host " + command
		if unscripted[command] == "" && !strings.Contains(scripts, " "+command+"\n") {
			t.Errorf("no script runs %q", command)
		}
	}
	if shown == 0 {
		t.Error("the manual shows no command, or this test does not find them")
	}
}

func allScripts(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// TestExamplesInHelpParse runs every example's flags through the command that it names.
func TestExamplesInHelpParse(t *testing.T) {
	root := newRoot()
	for _, c := range append(root.Commands(), root) {
		if c.Example == "" {
			t.Errorf("%s has no example", c.Name())
		}
		for line := range strings.Lines(c.Example) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "    ")
			line = strings.TrimPrefix(line, "go tool ")
			if arguments, ok := strings.CutPrefix(line, "host "); ok {
				parseExample(t, arguments)
			}
		}
	}
}

func parseExample(t *testing.T, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, " > ")
	line = strings.ReplaceAll(line, `"compute-sanitizer --tool memcheck"`, "compute-sanitizer")
	command, rest, err := newRoot().Find(strings.Fields(line))
	if err == nil {
		err = command.ParseFlags(rest)
	}
	if err == nil {
		err = command.ValidateArgs(command.Flags().Args())
	}
	if err != nil {
		t.Errorf("example %q: %v", line, err)
	}
}

func TestEveryCommandTeaches(t *testing.T) {
	for _, c := range newRoot().Commands() {
		if len(c.Long) < 100 {
			t.Errorf("%s: its help of %d letters teaches nothing", c.Name(), len(c.Long))
		}
		if strings.Contains(c.Long, "\t") {
			t.Errorf("%s: a tab in its help", c.Name())
		}
		for line := range strings.Lines(c.Long) {
			if len(line) > 116 {
				t.Errorf("%s: %q is too wide to read", c.Name(), line)
			}
		}
	}
}
