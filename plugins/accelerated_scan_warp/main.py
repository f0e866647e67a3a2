"""The CUDA kernel of the package accelerated-scan as published, on the host's buffers."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

# The host asks for eager loading; for the thousands of kernels of PyTorch it takes seconds, during which the heart
# would not beat. Before torch.
os.environ["CUDA_MODULE_LOADING"] = "LAZY"
# The package asks ninja, which may be in this Python's own environment, whether its kernel is compiled.
os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]

import torch
from accelerated_scan.warp import warpscan_forward

import scanhost

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


def capture(run: Callable[[], None]) -> Callable[[], None]:
    """A batch as one CUDA graph."""
    run()  # what loads lazily cannot load during a capture
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


@scanhost.kernel("affine_scan", prepare=check, capture=capture)
@torch.inference_mode()
def scan(problem: scanhost.AffineProblem, arrays: scanhost.AffineArrays) -> None:
    a, b, h = (torch.from_dlpack(x) for x in (arrays.a, arrays.b, arrays.h))
    if problem.rows and problem.length:
        scan_into(h, a, b, problem.reverse)
    if arrays.last:
        last = torch.from_dlpack(arrays.last)
        last.copy_(h[:, 0 if problem.reverse else -1]) if problem.length else last.zero_()


scanhost.serve(__file__)
