package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sbinet/npyio"
	"scanhost/shared/op"
)

// image is a version 1.0 file with the given dictionary entries and data.
func image(descr, fortran, shape string, data []byte) []byte {
	text := fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n", descr, fortran, shape)
	head := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(head[8:], uint16(len(text)))
	return append(append(head, text...), data...)
}

func place(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func packed(t testing.TB, arrays map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, content := range arrays {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func doubles(values ...float64) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

func singles(values ...float32) []byte {
	out := make([]byte, 4*len(values))
	op.Encode(out, values, op.FP32)
	return out
}

// read gives the values of an array in a dtype, as float32.
func read(t testing.TB, path string, dtype op.DType) ([]float32, []string, error) {
	t.Helper()
	info, err := Peek(path, "a", dtype)
	if err != nil {
		return nil, nil, err
	}
	dst := make([]byte, info.Elements()*dtype.Size())
	notes, err := Read(path, "a", dtype, dst)
	if err != nil {
		return nil, nil, err
	}
	values := make([]float32, info.Elements())
	op.Decode(values, dst, dtype)
	return values, notes, nil
}

func TestReadsAndConverts(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	three := "(3,)"
	for _, c := range []struct {
		name    string
		content []byte
		dtype   op.DType
		want    []float32
		note    string
	}{
		{"fp32", image("'<f4'", "False", three, singles(1, inf, nan)), op.FP32, []float32{1, inf, nan}, ""},
		{"fp64 that fits", image("'<f8'", "False", three, doubles(1, 0.5, math.Inf(1))), op.FP32, []float32{1, 0.5, inf}, ""},
		{"fp64 rounded", image("'<f8'", "False", three, doubles(0.1, 0.5, 1e-60)), op.FP32, []float32{0.1, 0.5, 0}, "changed 2 of 3"},
		{"fp16", image("'<f2'", "False", three, []byte{0, 0x3c, 1, 0, 0, 0x7c}), op.FP32, []float32{1, 0x1p-24, inf}, ""},
		{"bf16 words", image("'<u2'", "False", three, []byte{0x80, 0x3f, 0, 0xc0, 0, 0}), op.BF16, []float32{1, -2, 0}, ""},
		{"fp32 to bf16", image("'<f4'", "False", "(2,)", singles(1+0x1p-8+0x1p-20, 1+0x1p-8)), op.BF16, []float32{1 + 0x1p-7, 1}, "changed 2 of 2"},
		// 1 + 2^-8 lies between two bf16 values, and what decides is far below fp32's last bit.
		{"fp64 rounds once", image("'<f8'", "False", "(1,)", doubles(1+0x1p-8+0x1p-40)), op.BF16, []float32{1 + 0x1p-7}, "changed 1 of 1"},
		{"empty", image("'<f4'", "False", "(0,)", nil), op.FP32, []float32{}, ""},
		{"one row of Fortran order", image("'<f4'", "True", "(1,)", singles(4)), op.FP32, []float32{4}, ""},
		{"double quotes and spaces", image(`"<f4"`, "False", "( 1 ,2 )", singles(4, 5)), op.FP32, []float32{4, 5}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, notes, err := read(t, place(t, "a.npy", c.content), c.dtype)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fmt.Sprint(c.want), fmt.Sprint(got)); diff != "" {
				t.Error(diff)
			}
			if joined := strings.Join(notes, ""); (joined != "") != (c.note != "") || !strings.Contains(joined, c.note) {
				t.Errorf("note %q, want %q", joined, c.note)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	good := image("'<f4'", "False", "(2, 3)", singles(1, 2, 3, 4, 5, 6))
	longHeader := append([]byte("\x93NUMPY\x02\x00\xff\xff\xff\x7f"), "{'descr': '<f4'"...)
	for _, c := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"nothing", nil, "no NumPy array"},
		{"text", []byte("1 2 3 4 5 6 7 8 9"), "no NumPy array"},
		{"truncated data", good[:len(good)-1], "found 23 bytes of data where shape [2 3] of fp32 takes 24"},
		{"truncated header", good[:20], "ends inside its header"},
		{"truncated length", good[:9], "ends inside its header"},
		{"trailing bytes", append(bytes.Clone(good), 0), "nothing after it"},
		{"header length", longHeader, "header of 2147483647 bytes"},
		{"version", []byte("\x93NUMPY\x09\x00\x00\x00\x00"), "version 9.0"},
		{"big-endian", image("'>f4'", "False", "(1,)", singles(1)), `big-endian dtype ">f4"`},
		{"integers", image("'<i8'", "False", "(1,)", doubles(1)), `dtype "<i8"`},
		{"words", image("'<u2'", "False", "(1,)", []byte{0, 0}), "--dtype bf16"},
		{"objects", image("'|O'", "False", "(1,)", singles(1)), "Python objects"},
		{"structured", image("[('x', '<f4'), ('y', '<f4')]", "False", "(1,)", singles(1, 2)), "structured dtype"},
		{"Fortran", image("'<f4'", "True", "(2, 2)", singles(1, 2, 3, 4)), "Fortran"},
		{"scalar", image("'<f4'", "False", "()", singles(1)), "found 0 dimensions"},
		{"cube", image("'<f4'", "False", "(1, 1, 1, 1)", singles(1)), "found 4 dimensions"},
		{"negative", image("'<f4'", "False", "(-1,)", nil), "dimension of -1"},
		{"overflow", image("'<f4'", "False", "(4294967296, 4294967296)", nil), "overflows"},
		{"overflow hidden by 0", image("'<f4'", "False", "(0, 9223372036854775807)", nil), "overflows"},
		{"dimension past int64", image("'<f4'", "False", "(9223372036854775808,)", nil), "no NumPy dictionary"},
		{"no shape", []byte("\x93NUMPY\x01\x00\x02\x00{}"), "no NumPy dictionary"},
		{"not a dictionary", []byte("\x93NUMPY\x01\x00\x04\x00True"), "no NumPy dictionary"},
		{"entry twice", []byte("\x93NUMPY\x01\x00\x24\x00{'descr': '<f4', 'descr': '<f4'}     "), "twice"},
		{"fp64 past fp32", image("'<f8'", "False", "(2,)", doubles(1, 1e39)), "1e+39 at element 1"},
		{"damaged archive", []byte("PK\x03\x04 and no more"), "damaged zip"},
		{"empty archive", packed(t, nil), "no array"},
		{"archive of others", packed(t, map[string][]byte{"x.npy": good, "y.npy": good}), `2 arrays (x, y); accepted is one array, one named "a"`},
		{"text in an archive", packed(t, map[string][]byte{"a.npy": []byte("hello")}), "no NumPy array"},
		{"short in an archive", packed(t, map[string][]byte{"a.npy": good[:len(good)-4]}), "truncated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := place(t, "data.npy", c.content)
			_, _, err := read(t, path, op.FP32)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) {
				t.Errorf("%v\nwant the path and %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a sentence: %q", err)
			}
		})
	}
	folder := t.TempDir()
	for path, want := range map[string]string{folder: "a folder", filepath.Join(folder, "no.npy"): "no such file", "/dev/zero": "a device"} {
		if _, err := Peek(path, "a", op.FP32); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestArchives(t *testing.T) {
	one := image("'<f4'", "False", "(1,)", singles(1))
	two := image("'<f4'", "False", "(1,)", singles(2))
	many := place(t, "many.npz", packed(t, map[string][]byte{"a.npy": one, "b.npy": two}))
	single := place(t, "single.npz", packed(t, map[string][]byte{"series.npy": two}))
	for path, want := range map[string]float32{many: 1, many + ":a": 1, many + ":b": 2, single: 2, single + ":series": 2} {
		got, _, err := read(t, path, op.FP32)
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v, %v; want %v", filepath.Base(path), got, err, want)
		}
	}
	for path, want := range map[string]string{many + ":c": `but not "c"`, place(t, "x.npy", one) + ":c": "no zip archive"} {
		if _, _, err := read(t, path, op.FP32); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", filepath.Base(path), err, want)
		}
	}
}

// A flipped bit in an archive's stored data is found by its checksum, which zip looks at only past the end.
func TestDamagedArchiveIsRefused(t *testing.T) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	f, err := w.CreateHeader(&zip.FileHeader{Name: "a.npy", Method: zip.Store})
	if err != nil {
		t.Fatal(err)
	}
	content := image("'<f4'", "False", "(2,)", singles(1, 2))
	_, _ = f.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	damaged := out.Bytes()
	damaged[bytes.Index(damaged, content)+len(content)-1] ^= 1
	if _, _, err := read(t, place(t, "a.npz", damaged), op.FP32); err == nil || !strings.Contains(err.Error(), "damaged data") {
		t.Errorf("%v, want damaged data", err)
	}
}

// NumPy wrote this archive, so its headers are the real ones.
func TestReadsWhatNumPyWrote(t *testing.T) {
	path := "../../../shared/op/testdata/affine_random.npz:decay_7x31.h"
	info, err := Peek(path, "h", op.FP32)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Info{Source: path, Kind: FP64, Shape: []int64{7, 31}}, info); diff != "" {
		t.Error(diff)
	}
}

func TestWriteIsReadByOthers(t *testing.T) {
	for _, shape := range [][]int64{{3}, {2, 3}, {0}, {3, 0}} {
		path := filepath.Join(t.TempDir(), "h.npy")
		elements := (op.Array{Shape: shape, DType: op.FP32}).Elements()
		want := make([]float32, elements)
		for i := range want {
			want[i] = float32(i) + 0.5
		}
		if err := Write(path, shape, op.FP32, singles(want...)); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var theirs []float32
		if err := npyio.Read(bytes.NewReader(content), &theirs); err != nil {
			t.Fatalf("%v: npyio: %v", shape, err)
		}
		ours, _, err := read(t, path, op.FP32)
		if err != nil || fmt.Sprint(ours) != fmt.Sprint(want) || fmt.Sprint(theirs) != fmt.Sprint(want) {
			t.Errorf("%v: %v and %v, %v; want %v", shape, ours, theirs, err, want)
		}
		if start := len(content) - 4*len(want); start%64 != 0 {
			t.Errorf("data start at %d, no multiple of 64", start)
		}
		info, err := Peek(path, "h", op.FP32)
		if err != nil || fmt.Sprint(info.Shape) != fmt.Sprint(shape) {
			t.Errorf("shape %v, %v; want %v", info.Shape, err, shape)
		}
	}
}

func TestUnwritableIsKnownBeforehand(t *testing.T) {
	folder := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(folder, "none", "h.npy"): "no such file", folder: "a folder", "/dev/null": "a device",
		filepath.Join(folder, "h.npz"): "an archive", place(t, "file", nil) + "/h.npy": "not a directory",
	} {
		for name, act := range map[string]func() error{
			"CheckWritable": func() error { return CheckWritable(path) },
			"Write":         func() error { return Write(path, []int64{1}, op.FP32, singles(1)) },
		} {
			if err := act(); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path) {
				t.Errorf("%s(%s): %v, want %q", name, path, err, want)
			}
		}
	}
}

// Writing replaces a file, follows a link, and leaves nothing else behind.
func TestWriteLeavesOnlyItsTarget(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "h.npy"), filepath.Join(folder, "link.npy")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		if err := CheckWritable(name); err != nil {
			t.Fatal(err)
		}
		if err := Write(name, []int64{1}, op.FP32, singles(1)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v; want the file and its link", entries, err)
	}
	if stat, err := os.Lstat(link); err != nil || stat.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", stat, err)
	}
}

// /dev/stdout is such a link when the output is a pipe; it must not become a file.
func TestLinkToNothingIsNoOutput(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/proc/self/fd/no-such", link); err != nil {
		t.Fatal(err)
	}
	if err := CheckWritable(link); err == nil || !strings.Contains(err.Error(), "leads to no file") {
		t.Errorf("error %v", err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
}
