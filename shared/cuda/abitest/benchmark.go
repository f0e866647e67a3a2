package abitest

import (
	"fmt"
	"runtime"
	"testing"

	"scanhost/shared/plugin/registry"
)

// Benchmark measures how fast the simulated GPU runs the kernel on one core and, where there are two, on both. It
// says nothing of a real GPU.
func (k Kernel) Benchmark(b *testing.B, rows, length int64) {
	for workers := 1; workers <= min(2, runtime.NumCPU()); workers++ {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) { k.benchmark(b, rows, length, uint32(workers)) })
	}
}

func (k Kernel) benchmark(b *testing.B, rows, length int64, workers uint32) {
	c, o, kernel := k.Case(b, "decay", rows, length), operation(b), k.find(b)
	problem := k.problem(o, c.Problem)
	scratch, status, text := kernel.Prepare(problem)
	if status != registry.OK {
		b.Fatal(text)
	}
	var workspace Workspace
	workspace.reserve(b, scratch)
	a := newArrays(b, o, c)
	launch := func(n int) {
		r := kernel.Launch(problem, [][]registry.Array{a.set}, 0, uint32(n), workspace.memory.pointer(),
			uint64(len(workspace.memory.body)), registry.Simt{Mode: fast, Workers: workers})
		if r.Status != registry.OK {
			b.Fatal(r.Text)
		}
	}
	launch(1) // sets up stacks
	b.SetBytes(3 * rows * length * k.dtype().Size())
	b.ResetTimer()
	launch(b.N)
	b.ReportMetric(float64(rows*length)*float64(b.N)/1e6/b.Elapsed().Seconds(), "Melem/s")
}
