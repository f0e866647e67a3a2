package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// directoryPrefix begins the name of every directory made here.
const directoryPrefix = "scanhost-"

// longestBase keeps a socket's path within the 108 bytes of sockaddr_un: the directory, and the directory and
// file that go-plugin adds, have up to 59 bytes together.
const longestBase = 45

// directory is the 0700 directory that holds everything a child may leave behind. A lock on it says that its
// host lives.
type directory struct {
	path string
	lock *os.File
}

func newDirectory() (directory, error) {
	bases := []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm"}
	var failures []error
	for _, base := range bases {
		if len(base) > longestBase {
			continue
		}
		d, err := newDirectoryIn(base)
		if err == nil {
			clearOnce.Do(func() { clearStale(base, staleAge) })
			return d, nil
		}
		failures = append(failures, err)
	}
	return directory{}, fmt.Errorf("no directory for sockets: none of %s is writable and at most %d bytes long: %w",
		strings.Join(bases, ", "), longestBase, errors.Join(failures...))
}

func newDirectoryIn(base string) (directory, error) {
	path, err := os.MkdirTemp(base, directoryPrefix)
	if err != nil {
		return directory{}, err
	}
	lock, err := lockDirectory(path)
	if err != nil {
		os.RemoveAll(path)
		return directory{}, err
	}
	return directory{path, lock}, nil
}

func lockDirectory(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return file, nil
}

func (d directory) remove() {
	os.RemoveAll(d.path)
	d.lock.Close()
}

// staleAge leaves another host the time between making its directory and locking it.
const staleAge = time.Minute

var clearOnce sync.Once

// clearStale removes the directories of hosts that were killed before they could.
func clearStale(base string, age time.Duration) {
	paths, _ := filepath.Glob(filepath.Join(base, directoryPrefix+"*"))
	for _, path := range paths {
		var info unix.Stat_t
		err := unix.Lstat(path, &info)
		if err != nil || info.Mode&unix.S_IFMT != unix.S_IFDIR || int(info.Uid) != os.Getuid() ||
			time.Since(time.Unix(info.Mtim.Unix())) < age {
			continue
		}
		if lock, err := lockDirectory(path); err == nil {
			directory{path, lock}.remove()
		}
	}
}
