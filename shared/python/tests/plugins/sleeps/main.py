"""Hangs in a call that lets other threads run."""

import time

import scanhost


@scanhost.kernel("affine_scan")
def scan(problem: scanhost.AffineProblem, arrays: scanhost.AffineArrays) -> None:
    time.sleep(1000)


scanhost.serve(__file__)
