"""plugins/torch_hillis_steele, where torch is."""

from __future__ import annotations

from typing import Any

import pytest
from baselines import names_of, torch, walk, whole_numbers


@pytest.fixture
def baseline(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    return names_of("torch_hillis_steele", monkeypatch)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 31, 32, 33, 100])
def test_passes_equal_the_walk(baseline: dict[str, Any], length: int, reverse: bool) -> None:
    a, b = whole_numbers(3, length, torch.float32)
    h = torch.full_like(b, float("nan"))
    baseline["scan_into"](h, a, b, reverse)
    assert torch.equal(h, walk(a, b, reverse)[0])


def test_a_replayed_graph_computes_anew(baseline: dict[str, Any]) -> None:
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    a, b = torch.rand(4, 3000, device="cuda"), torch.randn(4, 3000, device="cuda")
    expected, h = torch.empty_like(b), torch.empty_like(b)
    baseline["scan_into"](expected, a, b, False)
    replay = baseline["capture"](lambda: baseline["scan_into"](h, a, b, False))
    for _ in range(3):
        h.fill_(float("nan"))
        replay()
        torch.cuda.synchronize()
        assert torch.equal(h, expected)
