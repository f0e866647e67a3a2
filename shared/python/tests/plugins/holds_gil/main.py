"""Hangs in a call that holds the GIL, so that no thread of this process runs any more, its heart included."""

import ctypes

import scanhost


@scanhost.kernel("affine_scan")
def scan(problem: scanhost.AffineProblem, arrays: scanhost.AffineArrays) -> None:
    ctypes.PyDLL(None).pause()


scanhost.serve(__file__)
