package npy

import (
	"bytes"
	"testing"

	"scanhost/shared/op"
)

// No bytes may panic, or make a reader promise more elements than a file that small can hold; what is accepted
// must survive being written and read again.
func FuzzRead(f *testing.F) {
	good := image("'<f4'", "False", "(2, 3)", singles(1, 2, 3, 4, 5, 6))
	f.Add(good)
	f.Add(good[:30])
	f.Add(image("'<f8'", "False", "(3,)", doubles(1, 2, 3)))
	f.Add(image("[('x', '<f4')]", "True", "(1, 2L, 3)", nil))
	f.Add(packed(f, map[string][]byte{"a.npy": good}))
	f.Add([]byte("\x93NUMPY\x03\x00\xff\xff\x00\x00{'shape': ("))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := place(t, "f.npy", content)
		info, err := Peek(path, "a", op.FP32)
		if err != nil {
			return
		}
		if info.Elements() > 1<<20 {
			return // an archive may compress this well
		}
		values, _, err := read(t, path, op.FP32)
		if err != nil {
			return
		}
		if err := Write(path, info.Shape, op.FP32, singles(values...)); err != nil {
			t.Fatal(err)
		}
		again, _, err := read(t, path, op.FP32)
		if err != nil || len(again) != len(values) {
			t.Fatalf("%d values became %d: %v", len(values), len(again), err)
		}
	})
}

// The header alone, without files, so that a fuzzer gets through many. What is accepted has a size.
func FuzzHeader(f *testing.F) {
	f.Add(image("'<f4'", "False", "(2, 3)", nil))
	f.Add(image("'<f8'", "True", "(3,)", nil))
	f.Add(image("[('x', '<f4'), ('y', [('z', '<f4')])]", "False", "(1, 2L)", nil))
	f.Add([]byte("\x93NUMPY\x02\x00\x10\x00\x00\x00{'shape': (1,), "))
	f.Fuzz(func(t *testing.T, content []byte) {
		s := source{data: bytes.NewReader(content)}
		used, err := s.header(int64(len(content)))
		if err != nil {
			return
		}
		if used > int64(len(content)) || len(s.info.Shape) < 1 || len(s.info.Shape) > 2 || s.info.Elements() < 0 || !elementsFit(s.info.Shape, s.info.Kind.Size()) {
			t.Fatalf("%q: %d bytes, %+v", content, used, s.info)
		}
	})
}
