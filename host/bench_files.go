package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// saveJSON replaces a file, so that a reader never sees half of one.
func saveJSON(path string, value any) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("results cannot be written: %w", err)
	}
	defer os.Remove(f.Name())
	if err := json.NewEncoder(f).Encode(value); err != nil {
		f.Close()
		return fmt.Errorf("results cannot be written: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("results cannot be written: %w", err)
	}
	return os.Rename(f.Name(), path)
}
