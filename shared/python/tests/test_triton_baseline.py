"""plugins/triton_scan in Triton's interpreter, where torch and triton are. No GPU is needed."""

from __future__ import annotations

from typing import Any

import pytest
from baselines import let_triton_interpret, names_of, torch, walk, whole_numbers


@pytest.fixture
def baseline(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    let_triton_interpret(monkeypatch)
    return names_of("triton_scan", monkeypatch)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [1, 2, 511, 512, 513, 1600])
@pytest.mark.parametrize("states", [False, True])
def test_tiles_equal_the_walk(baseline: dict[str, Any], length: int, reverse: bool, states: bool) -> None:
    a, b = whole_numbers(3, length, torch.float32)
    h0, last = (torch.tensor([3.0, -2.0, 5.0]), torch.full((3,), float("nan"))) if states else (None, None)
    h = torch.full_like(b, float("nan"))
    baseline["scan_into"](h, a, b, h0, last, reverse, 512, 4)
    expected, final = walk(a, b, reverse, h0)
    assert torch.equal(h, expected)
    assert last is None or torch.equal(last, final)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_state_is_fp32_whatever_is_stored(baseline: dict[str, Any], dtype: str) -> None:
    """256 + 1 is 256 in bfloat16, 2048 + 1 is 2048 in float16: a state of that type would stop growing."""
    b = torch.ones(1, 3000, dtype=getattr(torch, dtype))
    h, last = torch.full_like(b, float("nan")), torch.full((1,), float("nan"))
    baseline["scan_into"](h, b, b, None, last, False, 1024, 4)
    assert last.item() == 3000
    torch.testing.assert_close(h.float(), walk(b, b, False)[0], rtol=2**-7, atol=0)  # the interpreter cuts bfloat16 off


def test_rows_without_elements_keep_their_state(baseline: dict[str, Any]) -> None:
    empty, h0, last = torch.empty(2, 0), torch.tensor([3.0, -2.0]), torch.full((2,), float("nan"))
    baseline["scan_into"](empty, empty, empty, h0, last, False, 512, 4)
    assert torch.equal(last, h0)
    none = torch.empty(0, 8)
    baseline["scan_into"](none, none, none, None, torch.empty(0), False, 512, 4)


def test_an_infinity_stays_in_its_row(baseline: dict[str, Any]) -> None:
    a, b = torch.full((3, 700), 0.5), torch.ones(3, 700)
    b[1, 600] = float("inf")
    h = torch.empty_like(b)
    baseline["scan_into"](h, a, b, None, None, False, 512, 4)
    assert torch.isfinite(h[[0, 2]]).all() and torch.isfinite(h[1, :600]).all()
    assert (h[1, 600:] == float("inf")).all()
