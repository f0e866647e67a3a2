package discover

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakePython is a shell script in a Python's place. Beside it, the file lacks says which modules it reports as
// missing; what it makes with -m venv lacks what the file env-lacks says, and pip there ends with the status in pip.
const fakePython = `#!/bin/sh
here=$(dirname "$0")
case "$1 $2" in
"-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && cp "$here/env-lacks" "$3/bin/lacks" && cp "$here/pip" "$3/bin/pip" ;;
"-m pip") echo "$@" >> "$here/installed"; [ "$(cat "$here/pip")" = 0 ] || { echo "ERROR: no such wheel"; exit 1; } ;;
*) echo "{\"executable\": \"$0\", \"version\": \"3.12.0\", \"missing\": \"$(cat "$here/lacks")\", \"packages\": {\"numpy\": \"2.0\"}}" ;;
esac
`

// pythonCheckout is a repository with a plugin in Python and the fake as the only Python.
func pythonCheckout(t *testing.T, lacks, envLacks, pip string) (root, bin string) {
	t.Helper()
	root = checkout(t)
	dir := filepath.Join(root, "plugins", "snake")
	put(t, filepath.Join(dir, "plugin.toml"), "language = \"python\"\nimports = [\"torch\"]\nrequirements = \"requirements.txt\"\n"+
		strings.Replace(manifestOf("snake"), `"simt", "cuda"`, `"cpu"`, 1))
	put(t, filepath.Join(dir, "requirements.txt"), "torch==1.0 --hash=sha256:00\n")
	put(t, filepath.Join(dir, "main.py"), "print(1)\n")
	put(t, filepath.Join(root, "shared", "python", "src", "scanhost", "__main__.py"), "")
	if err := os.RemoveAll(filepath.Join(root, "plugins", "tiny")); err != nil {
		t.Fatal(err)
	}
	bin = t.TempDir()
	put(t, filepath.Join(bin, "python"), fakePython)
	put(t, filepath.Join(bin, "lacks"), lacks)
	put(t, filepath.Join(bin, "env-lacks"), envLacks)
	put(t, filepath.Join(bin, "pip"), pip)
	if err := os.Chmod(filepath.Join(bin, "python"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(PythonVariable, filepath.Join(bin, "python"))
	return root, bin
}

func TestInstalledPythonThatHasEverythingIsTaken(t *testing.T) {
	root, bin := pythonCheckout(t, "", "", "0")
	r := BuildRequest{Backend: "simt", CacheDir: t.TempDir(), Install: true}
	named, _ := build(t, r)
	b := named["snake"]
	want := []string{filepath.Join(bin, "python"), "-B", filepath.Join(root, "shared/python/src/scanhost/__main__.py"), filepath.Join(root, "plugins/snake/main.py")}
	if b.Err != nil || strings.Join(b.Executable, " ") != strings.Join(want, " ") {
		t.Errorf("it is started by %q (%v), want %q", b.Executable, b.Err, want)
	}
	put(t, filepath.Join(root, "plugins", "snake", "main.py"), "print(2)\n")
	edited, _ := build(t, r)
	if edited["snake"].Hash == b.Hash {
		t.Error("the hash does not change with main.py")
	}
	put(t, filepath.Join(root, "plugins", "snake", "__pycache__", "main.cpython-312.pyc"), "compiled")
	if again, _ := build(t, r); again["snake"].Hash != edited["snake"].Hash {
		t.Error("the hash changes with what Python compiled")
	}
}

func TestMissingPackagesAreNamedAndNothingIsInstalled(t *testing.T) {
	_, bin := pythonCheckout(t, "torch, grpc", "", "0")
	cache := t.TempDir()
	named, _ := build(t, BuildRequest{Backend: "simt", CacheDir: cache})
	text := ""
	if err := named["snake"].Err; err != nil {
		text = err.Error()
	}
	for _, want := range []string{filepath.Join(bin, "python"), "lacks torch, grpc", "host build snake"} {
		if !strings.Contains(text, want) {
			t.Errorf("error is %q, want one with %q", text, want)
		}
	}
	if made, err := filepath.Glob(filepath.Join(cache, "python", "*")); len(made) > 0 || err != nil {
		t.Errorf("%v was made (%v)", made, err)
	}
}

func TestInstallMakesAnEnvironmentThatIsUsedFromThenOn(t *testing.T) {
	_, _ = pythonCheckout(t, "torch", "", "0")
	r := BuildRequest{Backend: "simt", CacheDir: t.TempDir(), Install: true}
	named, _ := build(t, r)
	made := named["snake"]
	if made.Err != nil || !strings.HasPrefix(made.Executable[0], r.CacheDir) {
		t.Fatalf("it is started by %q (%v), want a Python in %s", made.Executable, made.Err, r.CacheDir)
	}
	installed, err := os.ReadFile(filepath.Join(filepath.Dir(made.Executable[0]), "installed"))
	if err != nil || !strings.Contains(string(installed), "--require-hashes") || strings.Count(string(installed), "\n") != 1 {
		t.Errorf("pip was called with %q (%v), want one call with --require-hashes", installed, err)
	}
	r.Install = false
	if again, _ := build(t, r); again["snake"].Err != nil || again["snake"].Executable[0] != made.Executable[0] {
		t.Errorf("the next build takes %q (%v), want %q", again["snake"].Executable, again["snake"].Err, made.Executable[0])
	}
}

func TestMissingProgramIsNamed(t *testing.T) {
	root, _ := pythonCheckout(t, "", "", "0")
	path := filepath.Join(root, "plugins", "snake", "plugin.toml")
	manifest, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]string{"sh": "", "no_such_compiler": "snake needs no_such_compiler, which is not in PATH"} {
		put(t, path, fmt.Sprintf("programs = [%q]\n%s", program, manifest))
		named, _ := build(t, BuildRequest{Backend: "simt", CacheDir: t.TempDir()})
		got := ""
		if err := named["snake"].Err; err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("with program %s the error is %q, want %q", program, got, want)
		}
	}
}

func TestPluginsOfTheSameRequirementsShareAnEnvironment(t *testing.T) {
	root, _ := pythonCheckout(t, "torch", "", "0")
	other := filepath.Join(root, "plugins", "viper")
	if err := os.CopyFS(other, os.DirFS(filepath.Join(root, "plugins", "snake"))); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(other, "plugin.toml"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(other, "plugin.toml"), strings.Replace(string(manifest), "snake", "viper", 1))
	r := BuildRequest{Backend: "simt", CacheDir: t.TempDir(), Install: true}
	named, _ := build(t, r)
	snake, viper := named["snake"], named["viper"]
	if snake.Err != nil || viper.Err != nil || snake.Executable[0] != viper.Executable[0] {
		t.Errorf("started by %q (%v) and %q (%v), want one Python", snake.Executable, snake.Err, viper.Executable, viper.Err)
	}
	put(t, filepath.Join(other, "requirements.txt"), "torch==2.0 --hash=sha256:00\n")
	named, _ = build(t, r)
	if viper = named["viper"]; viper.Err != nil || viper.Executable[0] == snake.Executable[0] {
		t.Errorf("other requirements are started by %q (%v), want another Python", viper.Executable, viper.Err)
	}
}

func TestFailedInstallSaysWhyAndIsNotTakenLater(t *testing.T) {
	for _, c := range []struct{ envLacks, pip, want string }{
		{"", "1", "ERROR: no such wheel"},
		{"torch", "0", "requirements.txt does not pin all that snake needs: it lacks torch"},
	} {
		t.Run(c.want, func(t *testing.T) {
			pythonCheckout(t, "torch", c.envLacks, c.pip)
			r := BuildRequest{Backend: "simt", CacheDir: t.TempDir(), Install: true}
			named, _ := build(t, r)
			if err := named["snake"].Err; err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
			var refused *BuildError
			if c.pip == "1" && !errors.As(named["snake"].Err, &refused) {
				t.Errorf("error is %T, want a BuildError with pip's log", named["snake"].Err)
			}
			r.Install = false
			if again, _ := build(t, r); again["snake"].Err == nil {
				t.Error("half an environment was taken")
			}
		})
	}
}

func TestPythonThatIsNoneOrHangsCostsItsOwnPlugin(t *testing.T) {
	_, bin := pythonCheckout(t, "", "", "0")
	put(t, filepath.Join(bin, "python"), "#!/bin/sh\necho 'command not found' >&2\nexit 127\n")
	named, _ := build(t, BuildRequest{Backend: "simt", CacheDir: t.TempDir()})
	if err := named["snake"].Err; err == nil || !strings.Contains(err.Error(), "command not found") {
		t.Errorf("error is %v, want what the interpreter wrote", err)
	}
	put(t, filepath.Join(bin, "python"), "#!/bin/sh\nsleep 1000\n")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := (&builder{}).probe(ctx, filepath.Join(bin, "python"), nil); err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("a Python that hangs gives %v after %v", err, time.Since(began))
	}
}
