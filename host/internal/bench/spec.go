package bench

import (
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/BurntSushi/toml"
)

// Spec is a committed list of bars that a sweep is held to: host bench --spec FILE.
//
//	schema = 1
//
//	[[bar]]
//	name = "long rows stay at the ceiling"
//	plugin = "lookback_items"              # a contender's name, with its tuning if that is not the default
//	min_length = 2048
//	array_mb = 768
//	percent_of_ceiling_at_least = 80
//
//	[[bar]]
//	name = "level 2 pays for its traffic"
//	plugin = "multiblock"
//	against = "blelloch"
//	length = 2048
//	times_as_long_at_least = 2.1           # time of plugin over time of against
//	times_as_long_at_most = 2.56
//
// A bar is judged for each cell that it covers. It passes where the whole interval of the measured value keeps
// it, fails where the whole interval breaks it, and is undecided between.
type Spec struct {
	Schema int   `toml:"schema"`
	Bars   []Bar `toml:"bar"`
}

// Bar is one thing that must hold.
type Bar struct {
	Name      string   `toml:"name"`
	Plugin    string   `toml:"plugin"`
	Length    int64    `toml:"length"`     // exactly this L; 0: any
	MinLength int64    `toml:"min_length"` // and above; 0: any
	MaxLength int64    `toml:"max_length"` // and below; 0: any
	ArrayMB   int64    `toml:"array_mb"`   // of 2^20 bytes; 0: any
	Ceiling   *float64 `toml:"percent_of_ceiling_at_least"`
	Against   string   `toml:"against"`
	AtLeast   *float64 `toml:"times_as_long_at_least"`
	AtMost    *float64 `toml:"times_as_long_at_most"`
}

// LoadSpec reads a spec. A mistake in it is one sentence.
func LoadSpec(path string) (Spec, error) {
	var s Spec
	data, err := os.ReadFile(path)
	if err != nil {
		return s, fmt.Errorf("spec cannot be read: %w", err)
	}
	meta, err := toml.Decode(string(data), &s)
	if err != nil {
		return s, fmt.Errorf("spec %s is not TOML: %s", path, strings.ReplaceAll(err.Error(), "\n", " "))
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return s, fmt.Errorf("spec %s has the key %q, which means nothing here", path, unknown[0].String())
	}
	if s.Schema != 1 {
		return s, fmt.Errorf("spec %s has schema %d; this host reads 1", path, s.Schema)
	}
	if len(s.Bars) == 0 {
		return s, fmt.Errorf("spec %s has no [[bar]]", path)
	}
	for i, b := range s.Bars {
		if err := b.validate(); err != nil {
			return s, fmt.Errorf("spec %s, bar %d (%s): %w", path, i+1, b.Name, err)
		}
	}
	return s, nil
}

func (b Bar) validate() error {
	ratio := b.AtLeast != nil || b.AtMost != nil
	switch {
	case b.Name == "":
		return fmt.Errorf("name is missing")
	case b.Plugin == "":
		return fmt.Errorf("plugin is missing")
	case min(b.Length, b.MinLength, b.MaxLength, b.ArrayMB) < 0:
		return fmt.Errorf("lengths and array_mb are positive numbers")
	case b.Length > 0 && (b.MinLength > 0 || b.MaxLength > 0):
		return fmt.Errorf("length excludes min_length and max_length")
	case b.MaxLength > 0 && b.MinLength > b.MaxLength:
		return fmt.Errorf("min_length %d is over max_length %d, so nothing is covered", b.MinLength, b.MaxLength)
	case b.Ceiling == nil && !ratio:
		return fmt.Errorf("nothing must hold: give percent_of_ceiling_at_least, times_as_long_at_least or times_as_long_at_most")
	case b.Ceiling != nil && ratio:
		return fmt.Errorf("a percentage and a ratio are two bars")
	case ratio != (b.Against != ""):
		return fmt.Errorf("against and times_as_long_at_least or times_as_long_at_most belong together")
	case b.Against == b.Plugin:
		return fmt.Errorf("%s against itself says nothing", b.Plugin)
	}
	for _, limit := range []*float64{b.Ceiling, b.AtLeast, b.AtMost} {
		if limit != nil && (math.IsNaN(*limit) || math.IsInf(*limit, 0) || *limit <= 0) {
			return fmt.Errorf("limit %v is not a positive number", *limit)
		}
	}
	if b.AtLeast != nil && b.AtMost != nil && *b.AtLeast > *b.AtMost {
		return fmt.Errorf("times_as_long_at_least %v is over times_as_long_at_most %v", *b.AtLeast, *b.AtMost)
	}
	return nil
}

// covers says whether a bar is about a cell.
func (b Bar) covers(c Cell) bool {
	l := c.Length()
	return c.Contender == b.Plugin && (b.Length == 0 || l == b.Length) && l >= b.MinLength &&
		(b.MaxLength == 0 || l <= b.MaxLength) && (b.ArrayMB == 0 || c.ArrayBytes == b.ArrayMB*mib)
}

// demand is what must hold, in words.
func (b Bar) demand() string {
	var parts []string
	if b.Ceiling != nil {
		return fmt.Sprintf(">= %g %% of ceiling", *b.Ceiling)
	}
	if b.AtLeast != nil {
		parts = append(parts, fmt.Sprintf(">= %g", *b.AtLeast))
	}
	if b.AtMost != nil {
		parts = append(parts, fmt.Sprintf("<= %g", *b.AtMost))
	}
	return strings.Join(parts, " and ") + " times " + b.Against
}
