"""A complete plugin: the recurrence itself, one step of every row at a time, in float64."""

import numpy as np

import scanhost


@scanhost.kernel("affine_scan")
def scan(problem: scanhost.AffineProblem, arrays: scanhost.AffineArrays) -> None:
    a, b, h = arrays.a.numpy(), arrays.b.numpy(), arrays.h.numpy()
    state = arrays.h0.numpy().astype(np.float64) if arrays.h0 else np.zeros(problem.rows)
    steps = range(problem.length)
    with np.errstate(all="ignore"):  # Inf and NaN are data
        for t in reversed(steps) if problem.reverse else steps:
            state = a[:, t] * state + b[:, t]
            h[:, t] = state
        if arrays.last:
            arrays.last.numpy()[:] = state


scanhost.serve(__file__)
