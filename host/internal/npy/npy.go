// Package npy reads and writes users' arrays: NumPy's .npy files, and arrays inside .npz archives.
//
// Peek says what a file holds from its header alone, so that a caller can judge shapes and sizes before it
// allocates anything. Read then fills a buffer, converting as it streams. Write replaces its target in one step:
// nobody ever sees half a file.
//
// Accepted are little-endian, C-order arrays of fp64, fp32 and fp16 with one to three dimensions, and bf16 as
// 16-bit unsigned words where the caller works in bf16. All else is refused in one sentence that names the file,
// what was found and what is accepted. NumPy's own readers are lenient about several of these (Fortran order,
// trailing bytes, headers that promise more than the file has), which is why the header is parsed here.
package npy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"scanhost/shared/op"
)

// Kind is the element type of a file.
type Kind string

const (
	FP64  Kind = "fp64"
	FP32  Kind = "fp32"
	FP16  Kind = "fp16"
	Words Kind = "16-bit words" // bf16, where the caller says so
)

// Size is the bytes of one element.
func (k Kind) Size() int64 {
	switch k {
	case FP64:
		return 8
	case FP32:
		return 4
	}
	return 2
}

// Info is what the header of an array says.
type Info struct {
	Source string // the file, and the array's name where it is in an archive
	Kind   Kind
	Shape  []int64 // one to three dimensions
}

// Elements is the product of the shape.
func (i Info) Elements() int64 {
	n := int64(1)
	for _, d := range i.Shape {
		n *= d
	}
	return n
}

// Peek reads the header of the array at path. A path is a .npy file, an archive that holds one array or one named
// for the role, or ARCHIVE.npz:NAME. dtype is what the caller will ask Read for.
func Peek(path, role string, dtype op.DType) (Info, error) {
	s, err := open(path, role, dtype)
	if err != nil {
		return Info{}, err
	}
	return s.info, s.Close()
}

// Read fills dst with the array's elements in dtype, little-endian. dst must have the size that Peek's shape takes.
// The notes, at most one, say what the conversion did to the values.
func Read(path, role string, dtype op.DType, dst []byte) (notes []string, err error) {
	s, err := open(path, role, dtype)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if want := s.info.Elements() * dtype.Size(); int64(len(dst)) != want {
		return nil, fmt.Errorf("%s: its %d elements take %d bytes as %s; the buffer has %d", s.info.Source, s.info.Elements(), want, dtype, len(dst))
	}
	note, err := s.convert(dst, dtype)
	if err != nil {
		return nil, err
	}
	if note != "" {
		notes = append(notes, note)
	}
	return notes, s.atEnd()
}

// source is an open array, positioned at its first element.
type source struct {
	info   Info
	data   io.Reader
	closes []io.Closer
}

func (s *source) Close() error {
	var err error
	for _, c := range slices.Backward(s.closes) {
		err = errors.Join(err, c.Close())
	}
	return err
}

func open(path, role string, dtype op.DType) (*source, error) {
	file, entry, err := openFile(path)
	if err != nil {
		return nil, err
	}
	s := &source{info: Info{Source: path}, closes: []io.Closer{file}}
	if err := s.begin(file, entry, role, dtype); err != nil {
		_ = s.Close() // the first error is the one to tell
		return nil, err
	}
	return s, nil
}

func (s *source) begin(file *os.File, entry, role string, dtype op.DType) error {
	stat, err := file.Stat()
	if err != nil {
		return err
	}
	size := stat.Size()
	s.data = file
	magic := make([]byte, 4)
	n, err := file.ReadAt(magic, 0)
	if err != nil && err != io.EOF {
		return err
	}
	archive := bytes.Equal(magic[:n], []byte("PK\x03\x04")) || bytes.Equal(magic[:n], []byte("PK\x05\x06"))
	switch {
	case archive:
		if size, err = s.enter(file, size, entry, role); err != nil {
			return err
		}
	case entry != "":
		return fmt.Errorf("%s: found no zip archive in front of the colon; accepted is ARCHIVE.npz:NAME", s.info.Source)
	}
	used, err := s.header(size)
	if err != nil {
		return err
	}
	return s.fits(size-used, dtype)
}

// fits refuses a file whose length is not what its header promises, and element types the caller has no use for.
func (s *source) fits(left int64, dtype op.DType) error {
	if s.info.Kind == Words && dtype != op.BF16 {
		return fmt.Errorf("%s: found 16-bit words (uint16); accepted are fp64, fp32 and fp16, and such words with --dtype bf16", s.info.Source)
	}
	want := s.info.Elements() * s.info.Kind.Size()
	switch {
	case left < want:
		return fmt.Errorf("%s: found %d bytes of data where shape %v of %s takes %d; the file is truncated or its header lies", s.info.Source, left, s.info.Shape, s.info.Kind, want)
	case left > want:
		return fmt.Errorf("%s: found %d bytes of data where shape %v of %s takes %d; accepted is one array and nothing after it", s.info.Source, left, s.info.Shape, s.info.Kind, want)
	}
	return nil
}

// atEnd reads past the data: an archive checks its checksum there.
func (s *source) atEnd() error {
	var one [1]byte
	n, err := s.data.Read(one[:])
	if n > 0 {
		return fmt.Errorf("%s: found more data than its header takes", s.info.Source)
	}
	if err != nil && err != io.EOF {
		return fmt.Errorf("%s: found damaged data (%w)", s.info.Source, err)
	}
	return nil
}

// elementsFit is the bytes of a shape, refused where they overflow.
func elementsFit(shape []int64, size int64) bool {
	bytes := size
	for _, d := range shape {
		if d != 0 && bytes > math.MaxInt64/d {
			return false
		}
		bytes *= max(d, 1)
	}
	return true
}
