"""plugins/torch_hillis_steele, where torch is."""

from __future__ import annotations

import runpy
from typing import Any

import pytest
from fakehost import PACKAGE

import scanhost
from scanhost import _kernels

torch = pytest.importorskip("torch")


@pytest.fixture
def baseline(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The plugin's names, without its serving."""
    monkeypatch.setattr(scanhost, "serve", lambda file: None)
    monkeypatch.setattr(_kernels, "registered", {})
    monkeypatch.setenv("CUDA_MODULE_LOADING", "LAZY")  # the plugin sets it
    return runpy.run_path(str(PACKAGE.parent.parent / "plugins/torch_hillis_steele/main.py"))


def walk(a: Any, b: Any, reverse: bool) -> Any:
    h, state = torch.empty_like(b), torch.zeros_like(b[:, 0])
    steps = range(b.shape[1])
    for t in reversed(steps) if reverse else steps:
        state = a[:, t] * state + b[:, t]
        h[:, t] = state
    return h


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 31, 32, 33, 100])
def test_passes_equal_the_walk(baseline: dict[str, Any], length: int, reverse: bool) -> None:
    random = torch.Generator().manual_seed(7)
    a = torch.randint(-1, 2, (3, length), generator=random).float()  # with b whole, every grouping is exact
    b = torch.randint(-9, 10, (3, length), generator=random).float()
    h = torch.full_like(b, float("nan"))
    baseline["scan_into"](h, a, b, reverse)
    assert torch.equal(h, walk(a, b, reverse))


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
