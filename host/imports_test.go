package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// allowed says what the files of a top folder may import of this module: host and plugins both build on
// shared, and never on each other. It is what keeps a plugin replaceable by a program in another language.
var allowed = map[string][]string{
	"host":    {"scanhost/host/", "scanhost/shared/"},
	"shared":  {"scanhost/shared/"},
	"plugins": {"scanhost/shared/"},
}

func TestImportsGoFromHostAndPluginsToShared(t *testing.T) {
	for top, prefixes := range allowed {
		files := 0
		err := filepath.WalkDir(filepath.Join("..", top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			files++
			checkImports(t, path, prefixes)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if files == 0 {
			t.Errorf("%s has no Go files; this test looks in the wrong place", top)
		}
	}
}

func checkImports(t *testing.T, path string, prefixes []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	for _, spec := range file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		if strings.HasPrefix(imported, "scanhost/") && !startsWithAny(imported, prefixes) {
			t.Errorf("%s imports %s; it may import %s", path, imported, strings.Join(prefixes, " and "))
		}
	}
}

func startsWithAny(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
