package contract

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/BurntSushi/toml"
)

// Manifest is plugin.toml: what a plugin says of itself before anything of it runs. The SDK answers
// Describe from the same file, so the two cannot drift apart.
type Manifest struct {
	Schema     int      `toml:"schema"` // 1
	Name       string   `toml:"name"`
	Version    string   `toml:"version"`  // semantic
	Protocol   []int    `toml:"protocol"` // major versions of the contract it speaks
	Role       string   `toml:"role"`     // kernel (default) or baseline
	Language   string   `toml:"language"` // go (default), python, or anything with an entry
	Backends   []string `toml:"backends"` // cuda, simt, cpu
	ImprovesOn string   `toml:"improves_on"`
	RunToRun   bool     `toml:"run_to_run"`
	Entry      []string `toml:"entry"` // argv of a prebuilt executable, relative to the folder; empty: built from source
	// Of a plugin in Python without an entry, which is main.py under a Python that the host finds or makes.
	Imports      []string  `toml:"imports"`      // modules it needs beside the SDK's own
	Programs     []string  `toml:"programs"`     // names that must be in PATH, such as nvcc: no environment brings them
	Requirements string    `toml:"requirements"` // file for pip, in the folder: every package pinned, with hashes
	CCCL         string    `toml:"cccl"`         // the same for a kernel.cu that includes CUB: pins nvidia-cuda-cccl
	Ops          []Op      `toml:"op"`
	Tunables     []Tunable `toml:"tunable"`
}

// Op is one operation a plugin implements, with its limits and declared traffic.
type Op struct {
	Name             string   `toml:"name"`
	DTypes           []string `toml:"dtypes"`
	MaxLength        int64    `toml:"max_length"` // 0: no ceiling
	Options          []string `toml:"options"`
	ArraysRead       float64  `toml:"arrays_read"`
	ArraysWritten    float64  `toml:"arrays_written"`
	WorkspacePerElem float64  `toml:"workspace_bytes_per_element"`
}

// Tunable is a choice the host may make for a plugin.
type Tunable struct {
	Name    string  `toml:"name"`
	Values  []int64 `toml:"values"`
	Default int64   `toml:"default"`
}

var (
	nameRule    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	versionRule = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
)

// ParseManifest reads plugin.toml. The error names the key, what it holds and what is accepted.
func ParseManifest(text string) (Manifest, error) {
	var m Manifest
	meta, err := toml.Decode(text, &m)
	if err != nil {
		return m, err
	}
	if extra := meta.Undecoded(); len(extra) > 0 {
		return m, fmt.Errorf("key %q is not one of plugin.toml's", extra[0].String())
	}
	if m.Role == "" {
		m.Role = "kernel"
	}
	if m.Language == "" {
		m.Language = "go"
	}
	return m, m.validate()
}

func (m Manifest) validate() error {
	switch {
	case m.Schema != 1:
		return fmt.Errorf("schema is %d; 1 is accepted", m.Schema)
	case ValidateName(m.Name) != nil:
		return ValidateName(m.Name)
	case !versionRule.MatchString(m.Version):
		return fmt.Errorf("version is %q; a semantic version such as 0.1.0 is accepted", m.Version)
	case !slices.Contains(m.Protocol, ProtocolVersion):
		return fmt.Errorf("protocol is %v; this host speaks %d", m.Protocol, ProtocolVersion)
	case m.Role != "kernel" && m.Role != "baseline":
		return fmt.Errorf("role is %q; kernel and baseline are accepted", m.Role)
	case m.validateLanguage() != nil:
		return m.validateLanguage()
	case len(m.Ops) == 0:
		return fmt.Errorf("there is no [[op]]; a plugin implements at least one")
	case len(m.Backends) == 0:
		return fmt.Errorf("backends is empty; cuda, simt and cpu are accepted")
	}
	for _, b := range m.Backends {
		if b != "cuda" && b != "simt" && b != "cpu" {
			return fmt.Errorf("backends has %q; cuda, simt and cpu are accepted", b)
		}
	}
	for _, o := range m.Ops {
		if o.Name == "" || len(o.DTypes) == 0 {
			return fmt.Errorf("[[op]] %q lacks a name or dtypes", o.Name)
		}
		if o.MaxLength < 0 {
			return fmt.Errorf("[[op]] %s: max_length is %d; 0 (no ceiling) or more is accepted", o.Name, o.MaxLength)
		}
	}
	for _, t := range m.Tunables {
		if t.Name == "" || !slices.Contains(t.Values, t.Default) {
			return fmt.Errorf("[[tunable]] %q: default %d is not among its values %v", t.Name, t.Default, t.Values)
		}
	}
	return nil
}

func (m Manifest) validateLanguage() error {
	switch {
	case m.Language != "go" && m.Language != "python" && len(m.Entry) == 0:
		return fmt.Errorf("language is %q and entry is empty; entry says what to run", m.Language)
	case (len(m.Imports) > 0 || len(m.Programs) > 0 || m.Requirements != "") && !m.ManagedPython():
		return fmt.Errorf("imports, programs and requirements are for language \"python\" without an entry; language is %q and entry %q", m.Language, m.Entry)
	case m.Requirements != "" && !filepath.IsLocal(m.Requirements):
		return fmt.Errorf("requirements is %q; a path inside the plugin's folder is accepted", m.Requirements)
	case m.CCCL != "" && (m.Language != "go" || len(m.Entry) > 0 || !slices.Contains(m.Backends, "cuda")):
		return fmt.Errorf("cccl is for language \"go\" without an entry and backend cuda; language is %q, entry %q and backends %q", m.Language, m.Entry, m.Backends)
	case m.CCCL != "" && !filepath.IsLocal(m.CCCL):
		return fmt.Errorf("cccl is %q; a path inside the plugin's folder is accepted", m.CCCL)
	}
	return nil
}

// ManagedPython says whether the host chooses the Python that runs the plugin's main.py.
func (m Manifest) ManagedPython() bool { return m.Language == "python" && len(m.Entry) == 0 }

// ValidateName refuses what is not a plugin's name.
func ValidateName(name string) error {
	if !nameRule.MatchString(name) {
		return fmt.Errorf("name is %q; accepted are lower-case letters, digits and _, 64 at most, a letter first", name)
	}
	return nil
}

// Op finds the manifest's entry for an operation.
func (m Manifest) Op(name string) (Op, bool) {
	for _, o := range m.Ops {
		if o.Name == name {
			return o, true
		}
	}
	return Op{}, false
}
