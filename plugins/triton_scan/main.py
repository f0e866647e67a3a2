"""A plain Triton scan: one program a row, which walks it tile by tile with tl.associative_scan and carries the state.

What one writes with Triton in half an hour, and so the bar for what a kernel in CUDA has to be worth.
"""

import scanhost
import scanhost_torch

import torch
import triton
import triton.language as tl


@triton.jit
def combine(a_left, b_left, a_right, b_right):
    """The map that does left first, then right."""
    return a_left * a_right, a_right * b_left + b_right


@triton.jit
def scan_row(a, b, h0, h, last, length, REVERSE: tl.constexpr, TILE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, TILE)
    state = 0.0
    if h0 is not None:
        state = tl.load(h0 + row)
    tiles = tl.cdiv(length, TILE)
    for i in range(0, tiles):
        # Addresses ascend in either direction, so that neighbouring lanes load together.
        t = (tiles - 1 - i if REVERSE else i) * TILE + lane
        at = row * length + t
        # Beyond the row are maps that change nothing.
        factor = tl.load(a + at, mask=t < length, other=1.0).to(tl.float32)
        term = tl.load(b + at, mask=t < length, other=0.0).to(tl.float32)
        factor, term = tl.associative_scan((factor, term), 0, combine, reverse=REVERSE)
        states = factor * state + term
        tl.store(h + at, states.to(h.dtype.element_ty), mask=t < length)
        # A tensor has no last element to ask for; the others add nothing.
        state = tl.sum(tl.where(lane == (0 if REVERSE else TILE - 1), states, 0.0), 0)
    if last is not None:
        tl.store(last + row, state)


def scan_into(
    h: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    h0: torch.Tensor | None,
    last: torch.Tensor | None,
    reverse: bool,
    tile: int,
    warps: int,
) -> None:
    rows, length = a.shape
    tile = min(tile, triton.next_power_of_2(max(length, 1)))
    if rows:  # a row without elements still has a last state
        scan_row[(rows,)](a, b, h0, h, last, length, REVERSE=reverse, TILE=tile, num_warps=warps)


def compile_and_load(problem: scanhost.AffineProblem) -> None:
    """Runs a small problem for which Triton compiles the same code: it compiles anew for a length of 1, for multiples
    of 16, and for tiles."""
    device = torch.device("cuda")
    tile = min(problem.tuning["tile"], triton.next_power_of_2(max(problem.length, 1)))
    length = tile + problem.length % 16 if problem.length > tile else problem.length
    a = torch.ones(1, length, dtype=scanhost_torch.DTYPES[problem.dtype], device=device)
    state = torch.zeros(1, device=device)
    h0, last = state if problem.h0 else None, torch.empty_like(state) if problem.last_state else None
    scan_into(torch.empty_like(a), a, a, h0, last, problem.reverse, tile, problem.tuning["warps"])


@scanhost.kernel("affine_scan", prepare=compile_and_load, capture=scanhost_torch.capture)
@torch.inference_mode()
def scan(problem: scanhost.AffineProblem, arrays: scanhost.AffineArrays) -> None:
    a, b, h0, h, last = scanhost_torch.affine_tensors(arrays)
    scan_into(h, a, b, h0, last, problem.reverse, problem.tuning["tile"], problem.tuning["warps"])


scanhost.serve(__file__)
