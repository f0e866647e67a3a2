"""Hillis and Steele's scan in pure PyTorch: log2(length) passes over the whole array.

Before the pass of distance d, position t holds the composed map of the d steps that end at t; the pass
composes it with that of the d steps before. What a user of PyTorch writes without a kernel of his own, and the
bar that every kernel here must clear by far.
"""

import scanhost
import scanhost_torch

import torch

WORKSPACE_ARRAYS = 3  # two for the products, one for the sums that h does not hold; h0 takes one more


def scan_into(h: torch.Tensor, a: torch.Tensor, b: torch.Tensor, reverse: bool) -> None:
    """h[t] = a[t] * h[t-1] + b[t] along dimension 1. The passes alternate between buffers, the last ends in h."""
    length = a.shape[1]
    passes = (length - 1).bit_length()
    if passes == 0:
        h.copy_(b)
        return
    spare = torch.empty_like(h)
    products = [torch.empty_like(h), torch.empty_like(h)]
    for i in range(passes):
        d = 1 << i
        ends, starts, alone = slice(d, None), slice(None, -d), slice(None, d)
        if reverse:
            ends, starts, alone = starts, ends, slice(-d, None)
        sums = h if (passes - i) % 2 else spare
        torch.addcmul(b[:, ends], a[:, ends], b[:, starts], out=sums[:, ends])
        sums[:, alone] = b[:, alone]
        if i < passes - 1:  # nobody reads the products of the last pass
            product = products[i % 2]
            torch.mul(a[:, ends], a[:, starts], out=product[:, ends])
            product[:, alone] = a[:, alone]
            a = product
        b = sums


def warm_up(problem: scanhost.AffineProblem) -> int:
    """Loads the kernels that a launch uses, outside every measurement."""
    if problem.backend == "cuda":
        sample = torch.ones(1, 8, device="cuda")
        for reverse in (False, True):
            scan_into(torch.empty_like(sample), sample, sample.clone(), reverse)
    return (WORKSPACE_ARRAYS + problem.h0) * 4 * problem.rows * problem.length


@scanhost.kernel("affine_scan", prepare=warm_up, capture=scanhost_torch.capture)
@torch.inference_mode()
def scan(problem: scanhost.AffineProblem, arrays: scanhost.AffineArrays) -> None:
    a, b, state, h, final = scanhost_torch.affine_tensors(arrays)
    first, last = (-1, 0) if problem.reverse else (0, -1)
    if problem.length and problem.rows:
        if state is not None:
            b = b.clone()  # the input is read-only
            b[:, first] += a[:, first] * state
        scan_into(h, a, b, problem.reverse)
        state = h[:, last]
    if final is not None:
        final.zero_() if state is None else final.copy_(state)


scanhost.serve(__file__)
