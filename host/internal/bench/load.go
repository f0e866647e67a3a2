package bench

import (
	"encoding/json"
	"fmt"
	"os"
)

// Schema is the version of Sweep that this host writes and reads.
const Schema = 1

// Load reads a sweep that host bench wrote. What is none is refused in one sentence.
func Load(path string) (Sweep, error) {
	var s Sweep
	data, err := os.ReadFile(path)
	if err != nil {
		return s, fmt.Errorf("benchmark cannot be read: %w", err)
	}
	var head struct {
		Schema  *int             `json:"schema"`
		Cells   *json.RawMessage `json:"cells"`
		Kernels *json.RawMessage `json:"kernels"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return s, fmt.Errorf("%s is not a benchmark's JSON: %w", path, err)
	}
	switch {
	case head.Cells == nil && head.Kernels != nil:
		return s, fmt.Errorf("%s holds verdicts of run-all or verify; a benchmark of host bench is needed", path)
	case head.Schema == nil || head.Cells == nil:
		return s, fmt.Errorf("%s is JSON, but has no schema and cells, so host bench did not write it", path)
	case *head.Schema != Schema:
		return s, fmt.Errorf("%s has schema %d; this host reads %d", path, *head.Schema, Schema)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return Sweep{}, fmt.Errorf("%s is not a benchmark's JSON: %w", path, err)
	}
	return s, nil
}
