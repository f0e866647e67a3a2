"""What plugins in PyTorch share. Import it before torch: it decides how torch loads its kernels.

It is no part of scanhost itself, which needs no torch.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

# The host asks for eager loading, which is meant for plugins of a few kernels. For the thousands of PyTorch it takes
# seconds, during which the heart would not beat. prepare loads those that a launch needs.
os.environ["CUDA_MODULE_LOADING"] = "LAZY"

import torch
from torch.utils.dlpack import from_dlpack

from scanhost import AffineArrays, Array

__all__ = ["DTYPES", "AffineTensors", "affine_tensors", "capture"]

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


class AffineTensors(NamedTuple):
    """The arrays of an affine scan, not copied; None where the problem lacks them."""

    a: torch.Tensor
    b: torch.Tensor
    h0: torch.Tensor | None
    h: torch.Tensor
    last: torch.Tensor | None


def affine_tensors(arrays: AffineArrays) -> AffineTensors:
    def optional(array: Array | None) -> torch.Tensor | None:
        return from_dlpack(array) if array else None

    a, b, h = (from_dlpack(x) for x in (arrays.a, arrays.b, arrays.h))
    return AffineTensors(a, b, optional(arrays.h0), h, optional(arrays.last))


def capture(run: Callable[[], None]) -> Callable[[], None]:
    """A batch as one CUDA graph: the argument `capture` of scanhost.kernel."""
    run()  # what loads lazily cannot load during a capture
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    replay: Callable[[], None] = graph.replay
    return replay
