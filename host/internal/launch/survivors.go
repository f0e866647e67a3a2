package launch

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// killMarked kills every process that carries mark in its environment until none is left, and returns how
// many there were. Descendants inherit the mark whatever group, session or parent they moved to.
func killMarked(mark string, limit time.Duration) int {
	killed := map[int]bool{}
	deadline := time.Now().Add(limit)
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		alive := marked(mark)
		for _, pid := range alive {
			killed[pid] = true
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if len(alive) == 0 || time.Now().After(deadline) {
			return len(killed)
		}
		time.Sleep(wait)
	}
}

// marked lists the live processes with mark in their environment. A zombie's environment reads empty.
func marked(mark string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var pids []int
	for _, file := range files {
		environment, err := os.ReadFile(file) // fails for other users' processes, which are none of ours
		if err != nil || !hasEntry(environment, mark) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func hasEntry(environment []byte, entry string) bool {
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if string(variable) == entry {
			return true
		}
	}
	return false
}
