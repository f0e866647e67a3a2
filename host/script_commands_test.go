package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

func exitStatus(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	return -1
}

// makeNPY writes an array that scripts cannot spell:
//
//	makenpy FILE DTYPE SHAPE VALUE...     makenpy a.npy <f4 3,4 0.5
//
// The values are repeated until the shape is full. It is written here by hand, and not by the host's own
// package, so that the two check each other.
func makeNPY(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: makenpy FILE DTYPE SHAPE VALUE...")
	}
	elements, dims := int64(1), strings.Split(args[2], ",")
	for _, d := range dims {
		n, err := strconv.ParseInt(d, 10, 64)
		ts.Check(err)
		elements *= n
	}
	shape := strings.Join(dims, ", ")
	if len(dims) == 1 {
		shape += ","
	}
	order := "False"
	dtype, fortran := strings.CutSuffix(args[1], "/fortran")
	if fortran {
		order = "True"
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }", dtype, order, shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	out = append(out, header...)
	for i := range elements {
		v, err := strconv.ParseFloat(args[3+int(i)%(len(args)-3)], 64)
		ts.Check(err)
		out = appendNumber(ts, out, dtype, v)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out, 0o644))
}

func appendNumber(ts *testscript.TestScript, out []byte, dtype string, v float64) []byte {
	switch dtype {
	case "<f4":
		return binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
	case ">f4":
		return binary.BigEndian.AppendUint32(out, math.Float32bits(float32(v)))
	case "<f8":
		return binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	case "<i4":
		return binary.LittleEndian.AppendUint32(out, uint32(int32(v)))
	}
	ts.Fatalf("dtype %q is not one that makenpy writes", dtype)
	return nil
}

// replays runs the first replay command in the last command's standard output, which must fail again.
func replays(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: replays")
	}
	_, command, found := strings.Cut(ts.ReadFile("stdout"), "replay: go tool host ")
	if !found {
		ts.Fatalf("standard output has no replay command")
	}
	command, _, _ = strings.Cut(command, "\n")
	exits(ts, false, []string{"1", "sh", "-c", "exec host " + command})
}
