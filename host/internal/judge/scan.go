package judge

import (
	"context"
	"fmt"
	"time"

	"scanhost/host/internal/buffers"
	"scanhost/shared/contract"
	"scanhost/shared/op"
)

// Scan runs one problem on the caller's own arrays, once, under the same watch as a case: inputs that the
// plugin cannot write, outputs between guard bands, deadlines, and the comparison with the reference.
//
// data has every array of the problem by role, little-endian: the inputs filled, the outputs of the right
// size. After verdict Pass, and after Wrong, the outputs hold what the kernel computed. The error is the
// host's own trouble.
func (e *Engine) Scan(ctx context.Context, target Target, p op.Problem, data map[string][]byte) (result KernelResult, err error) {
	r := &kernelRun{engine: e, target: target, declared: contract.Op{Name: p.Op}}
	if declared, ok := target.Manifest.Op(p.Op); ok {
		r.declared = declared
	}
	r.begin()
	r.result.GPU = e.GPU
	started := time.Now()
	defer func() { result.Time = time.Since(started) }()
	if target.Refused != "" {
		r.refuse(target.Refused, target.Reason)
		return r.result, nil
	}
	if r.op, err = op.Lookup(p.Op); err != nil {
		return r.result, err
	}
	t := &trial{kernelRun: r, c: op.Case{Regime: "own data", Problem: p}, data: data, infos: r.op.Arrays(p)}
	t.res = CaseResult{Regime: t.c.Regime, Problem: p, Tuning: e.Options.Tuning, Verdict: Pass}
	err = t.scan(ctx)
	if closed := t.close(); err == nil {
		err = closed
	}
	if stopped := r.stop(); err == nil {
		err = stopped
	}
	r.add(t.res)
	r.conclude()
	if ctx.Err() != nil {
		r.interrupt(0)
	}
	return r.result, err
}

func (t *trial) scan(ctx context.Context) error {
	if err := t.placeArrays(); err != nil {
		return err
	}
	for _, step := range []func(context.Context) *failure{t.start, t.prepare, t.launchOnce, t.releaseIfPrepared} {
		if f := step(ctx); f != nil {
			t.res.Verdict, t.res.Detail = f.verdict, f.detail
			t.result.Log = f.log
			return f.wedged
		}
		if t.res.Verdict != Pass {
			return nil
		}
	}
	return nil
}

// placeArrays lays the host's data out where the plugin can reach it.
func (t *trial) placeArrays() (err error) {
	t.arrays = make([]buffers.Array, len(t.infos))
	for i, a := range t.infos {
		switch {
		case a.Shape == nil:
		case a.Output:
			t.arrays[i], err = t.engine.Space.Output(a)
		default:
			t.arrays[i], err = t.engine.Space.Input(a, func(dst []byte) error { copy(dst, t.data[a.Role]); return nil })
		}
		if err != nil {
			return fmt.Errorf("the host could not make %s of %d bytes: %w", a.Role, a.Bytes(), err)
		}
	}
	return nil
}

func (t *trial) launchOnce(ctx context.Context) *failure { return t.once(ctx, nil) }

func (t *trial) releaseIfPrepared(ctx context.Context) *failure {
	if t.handle == 0 {
		return nil
	}
	return t.release(ctx)
}
