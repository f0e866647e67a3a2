// Package scaffold writes a new plugin: a folder that builds and passes at once, to be edited.
//
// Inside the scanhost repository a plugin is a package of its module. Outside it is a module of its own,
// whose go.mod replaces scanhost by the repository on this disk and requires exactly what that requires,
// so that it builds without asking a network.
package scaffold

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"scanhost/shared/contract"
)

//go:embed template
var templates embed.FS

// common has what starting kernels of all operations share; every other folder is named for the operation of its own.
const common = "common"

// Ops are the operations that there is a starting kernel for.
func Ops() []string {
	var names []string
	folders, err := templates.ReadDir("template")
	if err != nil {
		panic(err) // it is embedded
	}
	for _, f := range folders {
		if f.Name() != common {
			names = append(names, f.Name())
		}
	}
	return names
}

// Plan is a plugin to be written.
type Plan struct {
	Name   string
	Op     string // of Ops
	Parent string // folder in which the plugin's is made
	Repo   string // root of the scanhost repository
	InTree bool   // Parent is in the repository's module
	Verify string // command that verifies the plugin, for its README
}

// Write makes the folder and gives its path. An existing folder is refused and left as it is; what was
// begun is removed when it cannot be finished.
func Write(p Plan) (string, error) {
	if err := contract.ValidateName(p.Name); err != nil {
		return "", err
	}
	if !slices.Contains(Ops(), p.Op) {
		return "", fmt.Errorf("operation is %q; accepted are %s", p.Op, strings.Join(Ops(), ", "))
	}
	if err := os.MkdirAll(p.Parent, 0o755); err != nil {
		return "", fmt.Errorf("folder for the plugin cannot be made: %w", err)
	}
	dir := filepath.Join(p.Parent, p.Name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		if os.IsExist(err) {
			return "", fmt.Errorf("%s exists; give another name or remove it first", dir)
		}
		return "", fmt.Errorf("folder for the plugin cannot be made: %w", err)
	}
	if err := fill(dir, p); err != nil {
		os.RemoveAll(dir)
		return "", err
	}
	return dir, nil
}

func fill(dir string, p Plan) error {
	values := struct{ Name, Headers, Verify string }{p.Name, filepath.Join(p.Repo, "shared", "cuda"), p.Verify}
	if p.InTree {
		rel, err := filepath.Rel(dir, values.Headers)
		if err != nil {
			return err
		}
		// SRCDIR is cgo's: the folder of the source, wherever the repository is cloned.
		values.Headers = "${SRCDIR}/" + rel
	}
	entries, err := fs.Glob(templates, "template/*/*")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if of := path.Base(path.Dir(e)); of != common && of != p.Op {
			continue
		}
		t, err := template.ParseFS(templates, e)
		if err != nil {
			return err
		}
		var text bytes.Buffer
		if err := t.Execute(&text, values); err != nil {
			return err
		}
		name := filepath.Join(dir, strings.TrimSuffix(path.Base(e), ".tmpl"))
		if err := os.WriteFile(name, text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if p.InTree {
		return nil
	}
	return writeModule(dir, p)
}

func writeModule(dir string, p Plan) error {
	ours, err := os.ReadFile(filepath.Join(p.Repo, "go.mod"))
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(p.Repo, "go.sum"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module(string(ours), p)), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644)
}

// module is the plugin's go.mod: the repository's own, under another name and without its tool.
func module(ours string, p Plan) string {
	var b strings.Builder
	for line := range strings.Lines(ours) {
		switch {
		case strings.HasPrefix(line, "module "):
			fmt.Fprintf(&b, "module example.com/scanhost-plugins/%s\n", p.Name)
		case strings.HasPrefix(line, "tool "):
		default:
			b.WriteString(line)
		}
	}
	fmt.Fprintf(&b, "\nrequire scanhost v0.0.0\n\nreplace scanhost => %s\n", quote(p.Repo))
	return b.String()
}

// quote is for a path in go.mod, which needs quotes only around what is not plain.
func quote(name string) string {
	if strings.ContainsAny(name, " \t()[],'`\"") {
		return fmt.Sprintf("%q", name)
	}
	return name
}
