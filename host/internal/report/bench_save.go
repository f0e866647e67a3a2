package report

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"scanhost/host/internal/bench"
)

// SaveSweep writes a sweep beside path: path.json with every sample, path.txt, path.csv, and a figure for each
// array size, path-96MB.svg and .png. It gives the paths, the JSON's first. No reader sees half a file.
func SaveSweep(path string, s bench.Sweep, baseline string) ([]string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("results cannot be written: %w", err)
	}
	files := []struct {
		name  string
		write func(io.Writer) error
	}{
		{path + ".json", func(w io.Writer) error { return JSON(w, s) }},
		{path + ".txt", func(w io.Writer) error { return SweepText(w, s, baseline, Full, Style{}) }},
		{path + ".csv", func(w io.Writer) error { return CSV(w, s) }},
	}
	for _, f := range Figures(s) {
		for _, format := range []string{"svg", "png"} {
			name := fmt.Sprintf("%s-%s.%s", path, f.Name, format)
			files = append(files, struct {
				name  string
				write func(io.Writer) error
			}{name, func(w io.Writer) error { return f.Write(w, format) }})
		}
	}
	var paths []string
	for _, f := range files {
		if err := replace(f.name, f.write); err != nil {
			return paths, err
		}
		paths = append(paths, f.name)
	}
	return paths, nil
}
