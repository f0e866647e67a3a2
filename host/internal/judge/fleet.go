package judge

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"scanhost/host/internal/machine"
)

// Place is a GPU that kernels can be judged on, or will be once it is free.
type Place struct {
	Name string // in messages
	// Open waits for the GPU and makes it ready; close gives it back. The context ends when no kernel is left to
	// judge, so that a place which others keep busy holds nobody up.
	Open func(context.Context) (e *Engine, close func() error, err error)
}

// Fleet judges on several GPUs at a time. Each takes the next kernel when it is done with one, and keeps that kernel
// to its end, so that one plugin at a time holds a GPU. A GPU that fails gets no more work, and the others go on.
type Fleet struct {
	Places   []Place
	Progress func(Event) // may be nil; one call at a time
}

// Run judges every op of every target. Its error says which GPUs failed; kernels that none was left for are not-run
// with that reason. The results are in the order of the targets.
func (f *Fleet) Run(ctx context.Context, targets []Target) ([]KernelResult, error) {
	q := newQueue(targets, f.Progress)
	troubles := make([]error, len(f.Places))
	shared := newMemoryShare()
	var all sync.WaitGroup
	for i, p := range f.Places {
		all.Go(func() {
			if err := p.work(ctx, q, shared); err != nil {
				troubles[i] = fmt.Errorf("%s gets no more work: %w", p.Name, err)
			}
		})
	}
	all.Wait()
	trouble := errors.Join(troubles...)
	q.refuseRest(ctx, trouble)
	return q.results(), trouble
}

// work judges kernels until none is left or the place fails.
func (p Place) work(ctx context.Context, q *queue, shared *memoryShare) (err error) {
	opening, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-q.drained:
			cancel()
		case <-opening.Done():
		}
	}()
	e, closePlace, err := p.Open(opening)
	if err != nil {
		if opening.Err() != nil {
			return nil // interrupted, or the others were faster
		}
		return err
	}
	defer func() { err = errors.Join(err, closePlace()) }()
	e.shared = shared
	return e.work(ctx, q)
}

// memoryShare bounds what the large cases of several GPUs take of this machine's memory together. One alone is
// always let in: whether it fits is asked where its arrays are made.
type memoryShare struct {
	mu   sync.Mutex
	less *sync.Cond
	used int64
	most int64
}

// newMemoryShare leaves half of what is available to everything else.
func newMemoryShare() *memoryShare {
	m := &memoryShare{}
	m.less = sync.NewCond(&m.mu)
	if have, err := machine.AvailableMemory(); err == nil {
		m.most = have / 2
	}
	return m
}

// take waits until need fits beside what others hold. A nil share has no bound.
func (m *memoryShare) take(need int64) (release func()) {
	if m == nil {
		return func() {}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.used > 0 && m.used+need > m.most {
		m.less.Wait()
	}
	m.used += need
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.used -= need
		m.less.Broadcast()
	}
}
