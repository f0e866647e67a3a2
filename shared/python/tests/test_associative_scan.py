"""plugins/torch_associative_scan, where torch is. Its one-kernel mode is for GPUs; here the operator runs as PyTorch's
tree of whole-array operations, which composes the same maps."""

from __future__ import annotations

from typing import Any

import pytest
from baselines import names_of, torch, walk, whole_numbers


@pytest.fixture
def baseline(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    return names_of("torch_associative_scan", monkeypatch)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [1, 2, 3, 32, 100])
@pytest.mark.parametrize("states", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_scan_equals_the_walk(baseline: dict[str, Any], length: int, reverse: bool, states: bool, dtype: str) -> None:
    a, b = whole_numbers(3, length, getattr(torch, dtype))
    h0, last = (torch.tensor([3.0, -2.0, 5.0]), torch.full((3,), float("nan"))) if states else (None, None)
    h = torch.full_like(b, float("nan"))
    baseline["scan_into"](h, a, b, h0, last, reverse, "generic")
    expected, final = walk(a, b, reverse, h0)
    assert torch.equal(h, expected.to(h.dtype))
    assert last is None or torch.equal(last, final)


def test_rows_without_elements_keep_their_state(baseline: dict[str, Any]) -> None:
    from scanhost import AffineArrays, AffineProblem, Array

    memory = torch.tensor([3.0, -2.0])
    last = torch.full((2,), float("nan"))
    empty = Array((2, 0), "fp32", True, "cpu", memory.data_ptr(), memory)
    h0 = Array((2,), "fp32", False, "cpu", memory.data_ptr(), memory)
    problem = AffineProblem(2, 0, "fp32", False, True, True, {}, "cuda")
    arrays = AffineArrays(empty, empty, h0, empty, Array((2,), "fp32", True, "cpu", last.data_ptr(), last))
    baseline["scan"](problem, arrays)
    assert torch.equal(last, memory)
