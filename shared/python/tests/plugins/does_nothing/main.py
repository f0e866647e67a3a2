"""Computes nothing, and ends as it is told to: what the host's tests of a Python process begin with."""

import scanhost


@scanhost.kernel("affine_scan")
def scan(problem: scanhost.AffineProblem, arrays: scanhost.AffineArrays) -> None:
    pass


scanhost.serve(__file__)
