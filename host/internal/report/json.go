package report

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"scanhost/host/internal/judge"
)

// JSON writes any result of a command, indented, as --json shows it.
func JSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(value)
}

// Save writes a run to path.json and its text to path.txt, and gives the path of the former. A reader
// never sees half a file: each is written beside its place and renamed into it.
func Save(path string, run judge.Run) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("results cannot be written: %w", err)
	}
	name := path + ".json"
	if err := replace(name, func(w io.Writer) error { return JSON(w, run) }); err != nil {
		return "", err
	}
	text := func(w io.Writer) error {
		Text(w, run, Style{})
		return nil
	}
	return name, replace(path+".txt", text)
}

func replace(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("results cannot be written: %w", err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	err = write(f)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
