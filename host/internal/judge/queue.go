package judge

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"scanhost/shared/contract"
)

// queue is the kernels of one run. Workers take them in the order of the targets; a kernel is one worker's from its
// first case to its last.
type queue struct {
	runs     []*kernelRun
	progress func(Event) // may be nil

	mu      sync.Mutex // guards what follows, and one call of progress at a time
	next    int        // of runs, to be taken
	told    int        // of runs, whose end was reported
	ended   []*Event   // of every run, nil until it ends
	drained chan struct{}
}

func newQueue(targets []Target, progress func(Event)) *queue {
	q := &queue{progress: progress, drained: make(chan struct{})}
	for _, t := range targets {
		ops := t.Manifest.Ops
		if len(ops) == 0 { // a manifest that could not be read
			ops = []contract.Op{{}}
		}
		for _, o := range ops {
			q.runs = append(q.runs, &kernelRun{queue: q, target: t, declared: o, place: len(q.runs)})
		}
	}
	q.ended = make([]*Event, len(q.runs))
	if len(q.runs) == 0 {
		close(q.drained)
	}
	return q
}

// take gives the next kernel, or nil. With the last one drained is closed.
func (q *queue) take() *kernelRun {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next == len(q.runs) {
		return nil
	}
	r := q.runs[q.next]
	if q.next++; q.next == len(q.runs) {
		close(q.drained)
	}
	return r
}

// report passes progress on, an end only after the ends of all kernels before it: the lines of a run are in the
// same order every time, whatever finished first.
func (q *queue) report(r *kernelRun, ev Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ev.Kernel == nil {
		q.tell(ev)
		return
	}
	for q.ended[r.place] = &ev; q.told < len(q.ended) && q.ended[q.told] != nil; q.told++ {
		q.tell(*q.ended[q.told])
	}
}

func (r *kernelRun) report(ev Event) {
	if r.queue != nil {
		r.queue.report(r, ev)
	}
}

func (r *kernelRun) reportEnd() {
	r.report(Event{Plugin: r.target.Manifest.Name, Op: r.declared.Name, Kernel: &r.result, Done: len(r.result.Cases), Total: r.total})
}

func (q *queue) tell(ev Event) {
	if q.progress != nil {
		q.progress(ev)
	}
}

// refuseRest gives the rows that no worker took their verdict. trouble is why there was none.
func (q *queue) refuseRest(ctx context.Context, trouble error) {
	for r := q.take(); r != nil; r = q.take() {
		switch {
		case r.target.Refused != "":
			r.refuse(r.target.Refused, r.target.Reason)
		case ctx.Err() != nil:
			r.refuse(Interrupted, "before it began")
		default:
			r.refuse(NotRun, strings.ReplaceAll(fmt.Sprint(trouble), "\n", "; "))
		}
		r.reportEnd()
	}
}

func (q *queue) results() []KernelResult {
	out := make([]KernelResult, len(q.runs))
	for i, r := range q.runs {
		out[i] = r.result
	}
	return out
}
