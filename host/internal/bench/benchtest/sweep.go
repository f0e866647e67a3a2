// Package benchtest makes benchmark runs whose truth is known, for tests of what is made of them.
package benchtest

import (
	"math"
	"math/rand/v2"
	"time"

	"scanhost/host/internal/bench"
	"scanhost/shared/op"
)

// World is what a run is made in.
type World struct {
	GPU       string // short name; h200 where empty
	Lengths   []int64
	ArrayMB   []int64
	Processes int     // of each contender
	Rounds    int     // of each process
	Placement float64 // standard deviation of a process's bias, relative
	Noise     float64 // of a sample, relative
	Twin      bool    // lookback_items runs a second time, as A/A
	Seed      uint64
	// Slower multiplies the time of a contender by its name.
	Slower map[string]float64
}

// Small is a world of a few cells with little noise.
func Small() World {
	return World{Lengths: []int64{512, 2048, 65536}, ArrayMB: []int64{96}, Processes: 1, Rounds: 15, Noise: 0.003, Twin: true, Seed: 1}
}

// kernel is a contender and the part of the ceiling that its own traffic reaches.
type kernel struct {
	name, plugin, improves string
	read, written          float64
	reach                  float64
	longest                int64
}

var kernels = []kernel{
	{"blelloch", "blelloch", "", 2, 1, 0.62, 2048},
	{"multiblock", "multiblock", "blelloch", 4, 3, 0.86, 0},
	{"lookback", "lookback", "multiblock", 2, 1, 0.28, 0},
	{"lookback_items", "lookback_items", "lookback", 2, 1, 0.88, 0},
	{"lookback_items#2", "lookback_items", "lookback", 2, 1, 0.88, 0},
}

// Sweep makes a run.
func (w World) Sweep() bench.Sweep {
	if w.GPU == "" {
		w.GPU = "h200"
	}
	gpu, err := bench.KnownGPU(w.GPU)
	if err != nil {
		panic(err)
	}
	gpu.UUID, gpu.Driver = "GPU-"+w.GPU, "580.00"
	s := bench.Sweep{Schema: bench.Schema, Command: []string{"host", "bench"}, Seed: w.Seed, GPU: gpu,
		Started: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC), Took: 97 * time.Second,
		Environment: map[string]string{"gpu": gpu.Name, "driver": gpu.Driver, "git": "0123456"}}
	random := rand.New(rand.NewPCG(w.Seed, 2))
	for _, mb := range w.ArrayMB {
		stream := 0.88 * gpu.Peak
		s.Ceilings = append(s.Ceilings, bench.Ceiling{ArrayBytes: mb << 20, Stream: stream, Best: 1.01 * stream})
	}
	for _, k := range kernels {
		if k.name == "lookback_items#2" && !w.Twin {
			continue
		}
		s.Contenders = append(s.Contenders, bench.Contender{Name: k.name, Plugin: k.plugin, Version: "0.1.0", Role: "kernel", Backend: "cuda",
			Hash: "hash of " + k.plugin, ImprovesOn: k.improves, Read: k.read, Written: k.written})
		for _, mb := range w.ArrayMB {
			for _, length := range w.Lengths {
				s.Cells = append(s.Cells, w.cell(random, s, k, mb, length))
			}
		}
	}
	return s
}

func (w World) cell(random *rand.Rand, s bench.Sweep, k kernel, mb, length int64) bench.Cell {
	bytes := mb << 20
	ceiling, _ := s.Ceiling(bytes)
	c := bench.Cell{Contender: k.name, ArrayBytes: bytes, CountedRead: k.read + 0.004, CountedWrote: k.written + 0.002, Verdict: "pass",
		Problem: op.Problem{Op: "affine_scan", DType: op.FP32, Dims: map[string]int64{"rows": bytes / 4 / length, "length": length}}}
	c.Predicted = (k.read + k.written) * float64(bytes) / ceiling.Stream
	if k.longest > 0 && length > k.longest {
		c.Verdict, c.Detail = "unsupported", "length is over 2048"
		return c
	}
	seconds := c.Predicted / k.reach
	if slower := w.Slower[k.name]; slower > 0 {
		seconds *= slower
	}
	for p := range w.Processes {
		bias := math.Exp(w.Placement * random.NormFloat64())
		for r := range w.Rounds {
			n := max(1, int((0.01+0.03*random.Float64())/seconds))
			x := bench.Sample{Round: p*w.Rounds + r, Process: p, Launches: n, SMClock: 1980, Memory: 3201}
			x.Device = seconds * bias * float64(n) * math.Exp(w.Noise*random.NormFloat64())
			x.Seconds = x.Device + 0.0003*(1+0.05*random.NormFloat64())
			c.Samples = append(c.Samples, x)
			c.Launches, c.Checked = c.Launches+n, c.Checked+n
		}
	}
	c.Summarize(w.Seed)
	c.Reference = 0.0003
	return c
}
