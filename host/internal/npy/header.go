package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// mostDimensions is what an operation's arrays have at most.
const mostDimensions = 3

// largestHeader is far more than a header of three dimensions can need; NumPy's own reader stops at 10,000.
const largestHeader = 1 << 16

// header reads the magic, version, length and dictionary of a .npy image of the given size, and returns how many
// bytes they took.
func (s *source) header(size int64) (int64, error) {
	notNpy := fmt.Errorf("%s: found no NumPy array (its first bytes are not a .npy or .npz file's); accepted are .npy and .npz files", s.info.Source)
	var start [8]byte
	if _, err := io.ReadFull(s.data, start[:]); err != nil {
		return 0, s.readError(err, notNpy)
	}
	if string(start[:6]) != "\x93NUMPY" {
		return 0, notNpy
	}
	short := fmt.Errorf("%s: found a file that ends inside its header; it is truncated", s.info.Source)
	width := 2
	switch start[6] {
	case 1:
	case 2, 3:
		width = 4
	default:
		return 0, fmt.Errorf("%s: found .npy format version %d.%d; accepted are 1.0, 2.0 and 3.0", s.info.Source, start[6], start[7])
	}
	var field [4]byte
	if _, err := io.ReadFull(s.data, field[:width]); err != nil {
		return 0, s.readError(err, short)
	}
	length := int64(binary.LittleEndian.Uint32(field[:]))
	used := 8 + int64(width) + length
	switch {
	case length > largestHeader:
		return 0, fmt.Errorf("%s: found a header of %d bytes; accepted are up to %d", s.info.Source, length, largestHeader)
	case used > size:
		return 0, short
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(s.data, text); err != nil {
		return 0, s.readError(err, short)
	}
	return used, s.describe(string(text))
}

// readError tells a file that ends too soon from one that cannot be read or unpacked.
func (s *source) readError(err, short error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return short
	}
	return fmt.Errorf("%s: found damaged data (%w)", s.info.Source, err)
}

// describe judges the dictionary.
func (s *source) describe(text string) error {
	d, err := parseDictionary(text)
	if err != nil {
		return fmt.Errorf("%s: found a header that is no NumPy dictionary (%w)", s.info.Source, err)
	}
	if s.info.Kind, err = kindOf(d.descr); err != nil {
		return fmt.Errorf("%s: %w", s.info.Source, err)
	}
	if len(d.shape) < 1 || len(d.shape) > mostDimensions {
		return fmt.Errorf("%s: found %d dimensions; accepted are 1 to %d", s.info.Source, len(d.shape), mostDimensions)
	}
	if d.fortran && len(d.shape) > 1 {
		return fmt.Errorf("%s: found Fortran (column-major) order; accepted is C order, as numpy.ascontiguousarray gives it", s.info.Source)
	}
	for _, n := range d.shape {
		if n < 0 {
			return fmt.Errorf("%s: found a dimension of %d; accepted are 0 and more", s.info.Source, n)
		}
	}
	if !elementsFit(d.shape, s.info.Kind.Size()) {
		return fmt.Errorf("%s: found shape %v, whose size overflows; no file can hold it", s.info.Source, d.shape)
	}
	s.info.Shape = d.shape
	return nil
}

func kindOf(descr string) (Kind, error) {
	const accepted = "accepted are little-endian fp64, fp32 and fp16, and bf16 as uint16 with --dtype bf16"
	switch descr {
	case "<f8":
		return FP64, nil
	case "<f4":
		return FP32, nil
	case "<f2":
		return FP16, nil
	case "<u2":
		return Words, nil
	}
	switch {
	case strings.HasPrefix(descr, "["):
		return "", fmt.Errorf("found a structured dtype; %s", accepted)
	case descr == "|O":
		return "", fmt.Errorf("found an array of Python objects; %s", accepted)
	case strings.HasPrefix(descr, ">"):
		return "", fmt.Errorf("found big-endian dtype %q; %s", descr, accepted)
	}
	return "", fmt.Errorf("found dtype %q; %s", descr, accepted)
}

// dictionary is the three entries of a header. A structured dtype is kept as it is written.
type dictionary struct {
	descr   string
	fortran bool
	shape   []int64
}

// parseDictionary reads the Python literal that NumPy writes: three entries in any order, and nothing else.
func parseDictionary(text string) (dictionary, error) {
	var d dictionary
	p := literal{rest: text}
	seen := map[string]bool{}
	p.want("{")
	for p.err == nil && !p.have("}") {
		key := p.quoted()
		p.want(":")
		if seen[key] {
			p.fail("entry %q twice", key)
		}
		seen[key] = true
		switch key {
		case "descr":
			d.descr = p.descr()
		case "fortran_order":
			d.fortran = p.boolean()
		case "shape":
			d.shape = p.tuple()
		default:
			p.fail("entry %q", key)
		}
		if !p.have(",") && !p.peek("}") {
			p.fail("no comma after %q", key)
		}
	}
	if p.skip(); p.err == nil && p.rest != "" {
		p.fail("text after the dictionary")
	}
	if p.err == nil && len(seen) != 3 {
		p.fail("%d of the entries descr, fortran_order and shape", len(seen))
	}
	return d, p.err
}

// literal is a cursor over a Python literal; the first failure sticks.
type literal struct {
	rest string
	err  error
}

func (p *literal) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	p.rest = ""
}

func (p *literal) skip() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

func (p *literal) peek(token string) bool {
	p.skip()
	return strings.HasPrefix(p.rest, token)
}

func (p *literal) have(token string) bool {
	if !p.peek(token) {
		return false
	}
	p.rest = p.rest[len(token):]
	return true
}

func (p *literal) want(token string) {
	if !p.have(token) {
		p.fail("no %q where one belongs", token)
	}
}

func (p *literal) quoted() string {
	quote := "'"
	if p.peek(`"`) {
		quote = `"`
	}
	p.want(quote)
	value, rest, ok := strings.Cut(p.rest, quote)
	if !ok || strings.Contains(value, `\`) {
		p.fail("a string without end or with escapes")
		return ""
	}
	p.rest = rest
	return value
}

// descr is a string, or a list that is kept whole: brackets are matched, quoted ones included, since such a
// dtype is refused anyway and its extent alone matters.
func (p *literal) descr() string {
	if !p.peek("[") {
		return p.quoted()
	}
	depth := 0
	for i, c := range p.rest {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth == 0 {
			list := p.rest[:i+1]
			p.rest = p.rest[i+1:]
			return list
		}
	}
	p.fail("a list without end")
	return ""
}

func (p *literal) boolean() bool {
	if p.have("True") {
		return true
	}
	p.want("False")
	return false
}

func (p *literal) tuple() []int64 {
	shape := []int64{}
	p.want("(")
	for p.err == nil && !p.have(")") {
		p.skip()
		end := strings.IndexAny(p.rest, ",) \tL")
		if end < 0 {
			p.fail("a shape without end")
			break
		}
		n, err := strconv.ParseInt(p.rest[:end], 10, 64)
		if err != nil {
			p.fail("dimension %q", p.rest[:end])
			break
		}
		p.rest = p.rest[end:]
		p.have("L") // as Python 2 wrote long integers
		shape = append(shape, n)
		if !p.have(",") && !p.peek(")") {
			p.fail("no comma in the shape")
		}
	}
	return shape
}
