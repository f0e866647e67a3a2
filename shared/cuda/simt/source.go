package simt

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
)

var programCounter = regexp.MustCompile(`pc 0x([0-9a-f]+)`)

// Annotate replaces every "pc 0x..." in a report of this process by the source line, as "kernel.cu:52". Addresses
// without one stay as they are.
func Annotate(text string) string {
	return programCounter.ReplaceAllStringFunc(text, func(found string) string {
		pc, err := strconv.ParseUint(programCounter.FindStringSubmatch(found)[1], 16, 64)
		if err != nil {
			return found
		}
		if line, err := SourceLine(pc); err == nil {
			return line
		}
		return found
	})
}

// SourceLine returns the file and line of an address in this executable, as the linker saw it. Where the code was
// inlined from a header, the lines it was inlined at follow: "tile_state.cuh:80 in kernel.cu:41".
func SourceLine(pc uint64) (string, error) {
	data, err := executableDWARF()
	if err != nil {
		return "", err
	}
	reader := data.Reader()
	unit, err := reader.SeekPC(pc)
	if err != nil {
		return "", fmt.Errorf("pc 0x%x: %w", pc, err)
	}
	lines, err := data.LineReader(unit)
	if err != nil || lines == nil {
		return "", fmt.Errorf("pc 0x%x: its unit has no line table: %w", pc, err)
	}
	var entry dwarf.LineEntry
	if err := lines.SeekPC(pc, &entry); err != nil {
		return "", fmt.Errorf("pc 0x%x: %w", pc, err)
	}
	text := place(entry.File.Name, int64(entry.Line))
	for _, call := range inlinedCalls(data, reader, lines.Files(), pc) {
		text += " in " + call
	}
	return text, nil
}

func place(file string, line int64) string { return fmt.Sprintf("%s:%d", filepath.Base(file), line) }

// inlinedCalls lists the calls that were inlined around pc, innermost first, leaving out those in the simulated
// GPU's own headers. The reader stands after the unit's entry.
func inlinedCalls(data *dwarf.Data, reader *dwarf.Reader, files []*dwarf.LineFile, pc uint64) []string {
	var calls []string
	for depth := 1; depth > 0; {
		entry, err := reader.Next()
		if err != nil || entry == nil || entry.Tag == dwarf.TagCompileUnit {
			break
		}
		if entry.Tag == 0 {
			depth--
			continue
		}
		if !covers(data, entry, pc) {
			if entry.Children && entry.Tag != dwarf.TagNamespace {
				reader.SkipChildren()
			} else if entry.Children {
				depth++
			}
			continue
		}
		if entry.Children {
			depth++
		}
		file, _ := entry.Val(dwarf.AttrCallFile).(int64)
		line, _ := entry.Val(dwarf.AttrCallLine).(int64)
		if entry.Tag == dwarf.TagInlinedSubroutine && file > 0 && int(file) < len(files) && files[file] != nil &&
			filepath.Ext(files[file].Name) != ".h" {
			calls = append([]string{place(files[file].Name, line)}, calls...)
		}
	}
	return calls
}

func covers(data *dwarf.Data, entry *dwarf.Entry, pc uint64) bool {
	ranges, err := data.Ranges(entry)
	if err != nil {
		return false
	}
	for _, r := range ranges {
		if r[0] <= pc && pc < r[1] {
			return true
		}
	}
	return false
}

var executableDWARF = sync.OnceValues(func() (*dwarf.Data, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("source lines: %w", err)
	}
	file, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("source lines of %s: %w", path, err)
	}
	defer file.Close()
	data, err := file.DWARF()
	if err != nil {
		return nil, fmt.Errorf("source lines of %s: %w", path, err)
	}
	return data, nil
})
