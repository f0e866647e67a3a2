"""The CUDA kernel of the package accelerated-scan as published, on the host's buffers."""

import os
import sys
from pathlib import Path

# The package asks ninja, which may be in this Python's own environment, whether its kernel is compiled.
os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]

import scanhost
import scanhost_torch

import torch
from accelerated_scan.warp import warpscan_forward

SHORTEST, LONGEST = 32, 65536
MOST_ELEMENTS = 2**31 - 1  # it counts positions of the whole array in 32 bits


def scan_into(h: torch.Tensor, a: torch.Tensor, b: torch.Tensor, reverse: bool) -> None:
    """What the package's scan() launches, into h instead of a new array full of zeros. The package has (batch,
    channels, time)."""
    warpscan_forward(a[:, None], b[:, None], h[:, None], reverse)


def check(problem: scanhost.AffineProblem) -> None:
    length, elements = problem.length, problem.rows * problem.length
    if elements and (length & (length - 1) or not SHORTEST <= length <= LONGEST):
        raise scanhost.Unsupported(f"length {length} is not a power of two from {SHORTEST} to {LONGEST}")
    if elements > MOST_ELEMENTS:
        raise scanhost.Unsupported(f"{elements} elements are over {MOST_ELEMENTS}, which the package counts in 32 bits")
    if elements:
        a = torch.ones(1, length, device="cuda")
        scan_into(torch.empty_like(a), a, a, problem.reverse)  # loads the kernel


@scanhost.kernel("affine_scan", prepare=check, capture=scanhost_torch.capture)
@torch.inference_mode()
def scan(problem: scanhost.AffineProblem, arrays: scanhost.AffineArrays) -> None:
    a, b, _, h, last = scanhost_torch.affine_tensors(arrays)
    if problem.rows and problem.length:
        scan_into(h, a, b, problem.reverse)
    if last is not None:
        last.copy_(h[:, 0 if problem.reverse else -1]) if problem.length else last.zero_()


scanhost.serve(__file__)
