package npy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"scanhost/shared/op"
)

// CheckWritable says beforehand whether Write can put a file at path, by making one beside it and removing it.
func CheckWritable(path string) error {
	target, err := resolve(path)
	if err != nil {
		return err
	}
	temporary, err := create(target)
	if err != nil {
		return unwritable(path, err)
	}
	return errors.Join(temporary.Close(), os.Remove(temporary.Name()))
}

// Write puts an array of little-endian elements at path, over what is there, once it is whole on disk. bf16 is
// written as 16-bit words, since NumPy has no such type.
func Write(path string, shape []int64, dtype op.DType, data []byte) error {
	if want := (op.Array{Shape: shape, DType: dtype}).Bytes(); int64(len(data)) != want {
		return fmt.Errorf("%s: shape %v of %s takes %d bytes; given were %d", path, shape, dtype, want, len(data))
	}
	target, err := resolve(path)
	if err != nil {
		return err
	}
	temporary, err := create(target)
	if err != nil {
		return unwritable(path, err)
	}
	err = errors.Join(fill(temporary, shape, dtype, data), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), target)
	}
	if err != nil {
		_ = os.Remove(temporary.Name()) // the first error is the one to tell
		return unwritable(path, err)
	}
	return nil
}

// resolve follows links, so that a link stays one, and refuses what is there but no file.
func resolve(path string) (string, error) {
	if strings.HasSuffix(path, ".npz") {
		return "", fmt.Errorf("%s: found the name of an archive; accepted for output is a .npy file", path)
	}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		// A link to nothing, or to a pipe as /dev/stdout can be, would be replaced by a file.
		if _, err := os.Lstat(path); err == nil {
			return "", fmt.Errorf("%s: found a link that leads to no file; accepted for output is a file", path)
		}
		return path, nil
	}
	if err != nil {
		return "", unwritable(path, err)
	}
	stat, err := os.Stat(target)
	if err != nil {
		return "", unwritable(path, err)
	}
	if !stat.Mode().IsRegular() {
		return "", fmt.Errorf("%s: found %s; accepted for output is a file", path, nature(stat.Mode()))
	}
	return target, nil
}

// create makes the temporary file beside its target, where a rename stays on one file system. Unlike os.CreateTemp
// it leaves the permissions to the umask, as for any file a user asks for.
func create(target string) (*os.File, error) {
	name := fmt.Sprintf(".%s.%d.%x.tmp", filepath.Base(target), os.Getpid(), time.Now().UnixNano())
	return os.OpenFile(filepath.Join(filepath.Dir(target), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

func unwritable(path string, err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("%s: cannot be written: %w", path, err)
}

func fill(file *os.File, shape []int64, dtype op.DType, data []byte) error {
	w := bufio.NewWriter(file)
	_, headErr := w.Write(headerOf(shape, dtype))
	_, dataErr := w.Write(data)
	return errors.Join(headErr, dataErr, w.Flush(), file.Sync())
}

// headerOf is a version 1.0 header, padded so that the data start at a multiple of 64 bytes.
func headerOf(shape []int64, dtype op.DType) []byte {
	descr := map[op.DType]string{op.FP32: "<f4", op.FP16: "<f2", op.BF16: "<u2"}[dtype]
	dims := ""
	for _, d := range shape {
		dims += fmt.Sprintf("%d, ", d)
	}
	if len(shape) > 1 {
		dims = strings.TrimSuffix(dims, ", ")
	} else {
		dims = strings.TrimSuffix(dims, " ")
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, dims)
	const fixed = 10
	text += strings.Repeat(" ", 63-(fixed+len(text))%64) + "\n"
	head := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(head[8:], uint16(len(text)))
	return append(head, text...)
}
