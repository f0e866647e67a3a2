package main

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"scanhost/host/internal/bench/benchtest"
)

// makeSweep writes a benchmark whose truth is known:
//
//	makesweep FILE [gpu=l4] [seed=2] [L=2048,4096] [mb=768] [KERNEL=1.05]...
//
// A kernel's number multiplies its time.
func makeSweep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: makesweep FILE [KEY=VALUE]...")
	}
	w := benchtest.Small()
	w.Slower = map[string]float64{}
	for _, arg := range args[1:] {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "gpu":
			w.GPU = value
		case "seed":
			w.Seed = uint64(integers(ts, value)[0])
		case "L":
			w.Lengths = integers(ts, value)
		case "mb":
			w.ArrayMB = integers(ts, value)
		default:
			factor, err := strconv.ParseFloat(value, 64)
			ts.Check(err)
			w.Slower[key] = factor
		}
	}
	data, err := json.Marshal(w.Sweep())
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

func integers(ts *testscript.TestScript, list string) []int64 {
	var all []int64
	for _, s := range strings.Split(list, ",") {
		n, err := strconv.ParseInt(s, 10, 64)
		ts.Check(err)
		all = append(all, n)
	}
	return all
}
