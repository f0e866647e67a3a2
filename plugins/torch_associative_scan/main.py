"""PyTorch's own associative scan, compiled: what a user of PyTorch gets without writing a kernel in any language."""

import scanhost
import scanhost_torch

import torch
import torch._dynamo
import torch._inductor.config
from torch._higher_order_ops import associative_scan

# Every shape is compiled for itself, as a model of fixed shapes would be; past these limits Dynamo gives up and calls
# the operator uncompiled, which is another algorithm.
torch._dynamo.config.recompile_limit = 1 << 20
torch._dynamo.config.accumulated_recompile_limit = 1 << 20
torch._inductor.config.compile_threads = 1  # in this process: a pool of others would outlive the problem

Maps = tuple[torch.Tensor, torch.Tensor]


def combine(left: Maps, right: Maps) -> Maps:
    """The map that does left first, then right."""
    return left[0] * right[0], right[0] * left[1] + right[1]


def scan_into(
    h: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    h0: torch.Tensor | None,
    last: torch.Tensor | None,
    reverse: bool,
    combine_mode: str = "pointwise",  # one kernel, for GPUs only; tests have the other one
) -> None:
    a, b = a.float(), b.float()
    first, end = (-1, 0) if reverse else (0, -1)
    if h0 is not None:
        steps = torch.arange(a.shape[1], device=a.device)
        b = torch.where(steps == first % a.shape[1], a * h0[:, None] + b, b)
    states = associative_scan(combine, (a, b), 1, reverse=reverse, combine_mode=combine_mode)[1]
    h.copy_(states)
    if last is not None:
        last.copy_(states[:, end])


compiled = torch.compile(scan_into, dynamic=False, fullgraph=True)


@torch.no_grad()
def compile_for(problem: scanhost.AffineProblem) -> None:
    """Compiles on arrays of the problem's shape that are gone afterwards."""
    if not problem.rows or not problem.length:
        return
    shape, device = (problem.rows, problem.length), torch.device("cuda")
    a, b, h = (torch.zeros(shape, dtype=scanhost_torch.DTYPES[problem.dtype], device=device) for _ in range(3))
    h0 = torch.zeros(problem.rows, device=device) if problem.h0 else None
    last = torch.empty(problem.rows, device=device) if problem.last_state else None
    compiled(h, a, b, h0, last, problem.reverse)
    del a, b, h
    torch.cuda.synchronize()
    torch.cuda.empty_cache()


@scanhost.kernel("affine_scan", prepare=compile_for, capture=scanhost_torch.capture)
@torch.no_grad()
def scan(problem: scanhost.AffineProblem, arrays: scanhost.AffineArrays) -> None:
    a, b, h0, h, last = scanhost_torch.affine_tensors(arrays)
    if problem.rows and problem.length:
        compiled(h, a, b, h0, last, problem.reverse)
    elif last is not None:
        last.zero_() if h0 is None else last.copy_(h0)


scanhost.serve(__file__)
