package npy

import (
	"archive/zip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// openFile opens path, or, where no such file exists and it reads ARCHIVE:NAME, the archive.
func openFile(path string) (*os.File, string, error) {
	entry := ""
	stat, err := os.Stat(path)
	if i := strings.LastIndexByte(path, ':'); errors.Is(err, fs.ErrNotExist) && i > 0 {
		if inner, innerErr := os.Stat(path[:i]); innerErr == nil {
			stat, err, path, entry = inner, nil, path[:i], path[i+1:]
		}
	}
	if err != nil {
		return nil, "", unreadable(path, err)
	}
	if !stat.Mode().IsRegular() {
		return nil, "", fmt.Errorf("%s: found %s; accepted are .npy and .npz files", path, nature(stat.Mode()))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, "", unreadable(path, err)
	}
	return file, entry, nil
}

// unreadable says why without naming the path twice.
func unreadable(path string, err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return fmt.Errorf("%s: cannot be read: %w", path, errno)
	}
	return fmt.Errorf("%s: cannot be read: %w", path, err)
}

func nature(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something that is no file"
}

// enter goes on inside an archive: to the array named, the one named for the role, or the only one. It returns
// the size of the array's .npy image.
func (s *source) enter(file *os.File, size int64, entry, role string) (int64, error) {
	archive, err := zip.NewReader(file, size)
	if err != nil {
		return 0, fmt.Errorf("%s: found a damaged zip archive (%w); accepted are .npy files and .npz archives", s.info.Source, err)
	}
	member, err := choose(archive.File, s.info.Source, entry, role)
	if err != nil {
		return 0, err
	}
	if entry == "" {
		s.info.Source += ":" + arrayName(member)
	}
	if member.Flags&1 != 0 {
		return 0, fmt.Errorf("%s: found an encrypted array; accepted are plain ones", s.info.Source)
	}
	if member.UncompressedSize64 > 1<<62 {
		return 0, fmt.Errorf("%s: found an array of %d bytes, which no archive can hold", s.info.Source, member.UncompressedSize64)
	}
	data, err := member.Open()
	if err != nil {
		return 0, fmt.Errorf("%s: found an array that cannot be unpacked (%w)", s.info.Source, err)
	}
	s.data, s.closes = data, append(s.closes, data)
	return int64(member.UncompressedSize64), nil
}

func arrayName(f *zip.File) string { return strings.TrimSuffix(f.Name, ".npy") }

func choose(files []*zip.File, source, entry, role string) (*zip.File, error) {
	wanted := entry
	if wanted == "" {
		wanted = role
	}
	var names []string
	for _, f := range files {
		if arrayName(f) == wanted {
			return f, nil
		}
		names = append(names, arrayName(f))
	}
	if entry == "" && len(files) == 1 {
		return files[0], nil
	}
	slices.Sort(names)
	found := fmt.Sprintf("%d arrays (%s)", len(names), abbreviated(names))
	if len(names) == 0 {
		found = "no array"
	}
	if entry != "" {
		return nil, fmt.Errorf("%s: found %s but not %q", source, found, entry)
	}
	return nil, fmt.Errorf("%s: found %s; accepted is one array, one named %q, or ARCHIVE.npz:NAME", source, found, role)
}

func abbreviated(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}
