package op

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// inParallel calls work on consecutive ranges that make up [0, n), on every processor, and waits.
func inParallel(n int64, work func(from, to int64)) {
	workers := int64(runtime.GOMAXPROCS(0))
	if n < 2 || workers < 2 {
		if n > 0 {
			work(0, n)
		}
		return
	}
	grain := max(1, n/(8*workers)) // so that an uneven share is evened out
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			for from := next.Add(grain) - grain; from < n; from = next.Add(grain) - grain {
				work(from, min(from+grain, n))
			}
		})
	}
	group.Wait()
}
