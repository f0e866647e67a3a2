package discover

import (
	"fmt"
	"strings"
)

// Choose picks plugins by name, in the order of names. An unknown name is refused with the nearest known one.
func Choose(all []Plugin, names []string) ([]Plugin, error) {
	var chosen []Plugin
	taken := map[string]bool{}
	for _, name := range names {
		p, ok := byName(all, name)
		if !ok {
			return nil, unknown(all, name)
		}
		if !taken[name] {
			taken[name] = true
			chosen = append(chosen, p)
		}
	}
	return chosen, nil
}

func byName(all []Plugin, name string) (Plugin, bool) {
	for _, p := range all {
		if p.Name() == name {
			return p, true
		}
	}
	return Plugin{}, false
}

func unknown(all []Plugin, name string) error {
	if len(all) == 0 {
		return fmt.Errorf("plugin %q is not known, and no other: run inside the scanhost repository, or say --plugin-dir DIR", name)
	}
	names := make([]string, len(all))
	nearest, distance := "", 4 // further off, a suggestion is a riddle
	for i, p := range all {
		names[i] = p.Name()
		if d := editDistance(name, p.Name()); d < distance {
			nearest, distance = p.Name(), d
		}
	}
	if nearest != "" {
		return fmt.Errorf("plugin %q is not known; did you mean %q? (known: %s)", name, nearest, strings.Join(names, ", "))
	}
	return fmt.Errorf("plugin %q is not known; known are %s", name, strings.Join(names, ", "))
}

// editDistance counts the bytes to insert, delete or replace (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
