package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"scanhost/host/internal/report"
	"scanhost/shared/op"
)

// calibrationMB are array sizes at which a good scan takes about 5, 70 and 500 us on an H200.
var calibrationMB = []float64{4, 96, 704}

// calibrate compares the clocks, with all plugins alive.
func (j benching) calibrate(ctx context.Context) (err error) {
	s, err := j.stage(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	o := *j.options
	o.arrayMB, o.rows = calibrationMB, 0
	if len(o.lengths) == 0 {
		o.lengths = []int64{2048}
	}
	var problems []op.Problem
	if problems, err = o.problems(); err != nil {
		return err
	}
	sweep := newSweep(o.seed, environment(ctx, "cuda", j.device))
	checks, err := s.runner.Calibrate(ctx, sweep, s.entries, problems)
	for _, c := range checks {
		fmt.Fprintln(j.out, c)
	}
	files, trouble := j.files()
	if trouble == nil && files.dir != "" && len(checks) > 0 {
		trouble = saveJSON(filepath.Join(files.dir, "calibrate.json"), checks)
	}
	return errors.Join(err, trouble)
}

// selfTest times every kernel against itself.
func (j benching) selfTest(ctx context.Context) (err error) {
	s, err := j.stage(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	test, err := s.runner.SelfTest(ctx, s.entries, selfTestProblems())
	if err != nil {
		return err
	}
	report.SelfTestText(j.out, test, report.StyleOf(j.out))
	files, err := j.files()
	if err == nil && files.dir != "" {
		err = saveJSON(filepath.Join(files.dir, "self-test.json"), test)
	}
	if err == nil && !test.Pass {
		err = errFailed
	}
	return err
}

// selfTestProblems are so many that a handful of kernels makes the comparisons that are needed.
func selfTestProblems() []op.Problem {
	o := benchOptions{dtype: string(op.FP32), arrayMB: []float64{12, 16, 20, 24, 32, 40, 48}}
	problems, err := o.problems()
	if err != nil {
		panic(fmt.Sprint("self-test: ", err)) // the shapes are constants
	}
	return problems
}
