package judge

import (
	"encoding/json"
	"fmt"
	"os"
)

// Agreement is how far two runs gave equal bits for one kernel. Kernels whose grouping does not depend on the
// timing between blocks agree everywhere, also between a GPU and the simulated one.
type Agreement struct {
	Plugin    string `json:"plugin"`
	Op        string `json:"op"`
	Old       string `json:"old"` // backends
	New       string `json:"new"`
	Equal     int    `json:"equal"`     // cases whose outputs are equal bit for bit
	Different int    `json:"different"` // cases whose outputs are not
	First     string `json:"first,omitempty"`
	Sources   bool   `json:"same_sources"`
}

// LoadRun reads what run-all wrote.
func LoadRun(path string) (Run, error) {
	var r Run
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s is no result of run-all: %w", path, err)
	}
	if r.Schema != 1 || len(r.Kernels) == 0 {
		return r, fmt.Errorf("%s is no result of run-all: schema %d with %d kernels; schema 1 with kernels is accepted", path, r.Schema, len(r.Kernels))
	}
	return r, nil
}

// CompareBits compares the outputs of the cases that both runs have. Two runs without a common case are an error.
func CompareBits(older, newer Run) ([]Agreement, error) {
	var out []Agreement
	for _, a := range older.Kernels {
		for _, b := range newer.Kernels {
			if a.Plugin != b.Plugin || a.Op != b.Op {
				continue
			}
			if g := agreement(a, b); g.Equal+g.Different > 0 {
				out = append(out, g)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the two runs have no case in common that left an output")
	}
	return out, nil
}

func agreement(a, b KernelResult) Agreement {
	g := Agreement{Plugin: a.Plugin, Op: a.Op, Old: a.Backend, New: b.Backend, Sources: a.Hash == b.Hash}
	outputs := map[string]string{}
	for _, c := range a.Cases {
		outputs[c.Case] = c.Output
	}
	for _, c := range b.Cases {
		switch old := outputs[c.Case]; {
		case old == "" || c.Output == "":
		case old == c.Output:
			g.Equal++
		default:
			g.Different++
			if g.First == "" {
				g.First = c.Case
			}
		}
	}
	return g
}
