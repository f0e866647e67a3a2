package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// AvailableMemory is the bytes that can be allocated without swapping: what the kernel estimates, or what
// the control group leaves, where that is less.
func AvailableMemory() (int64, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	free, err := parseMemAvailable(string(text))
	if err != nil {
		return 0, err
	}
	if left, ok := groupMemory("/sys/fs/cgroup"); ok {
		free = min(free, left)
	}
	return free, nil
}

func parseMemAvailable(meminfo string) (int64, error) {
	for line := range strings.Lines(meminfo) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemAvailable:" {
			kib, err := strconv.ParseInt(f[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/meminfo has no MemAvailable")
}

func groupMemory(dir string) (int64, bool) {
	limit, ok := readInt(dir + "/memory.max") // "max" where there is none
	if !ok {
		return 0, false
	}
	used, ok := readInt(dir + "/memory.current")
	return max(0, limit-used), ok
}

func readInt(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// Limit is one of the process's resource limits.
type Limit struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
	Text  string `json:"text"`
}

// Limits lists the resource limits that a run may meet.
func Limits() []Limit {
	var limits []Limit
	for _, l := range []struct {
		name     string
		resource int
	}{{"memlock", unix.RLIMIT_MEMLOCK}, {"nofile", unix.RLIMIT_NOFILE}} {
		var r unix.Rlimit
		if unix.Getrlimit(l.resource, &r) != nil {
			continue
		}
		text := strconv.FormatUint(r.Cur, 10)
		if r.Cur == unix.RLIM_INFINITY {
			text = "unlimited"
		}
		limits = append(limits, Limit{l.name, r.Cur, text})
	}
	return limits
}
