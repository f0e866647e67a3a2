"""plugins/accelerated_scan_triton in Triton's interpreter, where the package is, and plugins/accelerated_scan_warp with a
stand-in for the package's compiled kernel, which needs nvcc and a GPU."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
from baselines import let_triton_interpret, names_of, torch, walk, whole_numbers

import scanhost


def problem(rows: int, length: int) -> scanhost.AffineProblem:
    return scanhost.AffineProblem(rows, length, "fp32", False, False, False, {}, "cuda")


@pytest.fixture
def triton(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    pytest.importorskip("accelerated_scan")
    let_triton_interpret(monkeypatch)
    return names_of("accelerated_scan_triton", monkeypatch)


@pytest.fixture
def warp(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    def warpscan_forward(gates: Any, tokens: Any, out: Any, reverse: bool) -> None:
        batch, channels, _ = gates.shape
        assert channels == 1 and out.shape == tokens.shape == gates.shape
        assert gates.is_contiguous() and tokens.is_contiguous() and out.is_contiguous()
        assert gates.stride(0) == gates.shape[2] or batch == 1, "the kernel counts rows by this stride"
        out[:, 0] = walk(gates[:, 0], tokens[:, 0], reverse)[0]

    stand_in = ModuleType("accelerated_scan.warp")
    stand_in.warpscan_forward = warpscan_forward  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "accelerated_scan", ModuleType("accelerated_scan"))
    monkeypatch.setitem(sys.modules, "accelerated_scan.warp", stand_in)
    monkeypatch.setenv("PATH", "/usr/bin")  # the plugin sets it
    return names_of("accelerated_scan_warp", monkeypatch)


@pytest.mark.parametrize("length", [1, 2, 33, 2048, 2049, 4100])
def test_the_packages_triton_kernel_writes_into_h(triton: dict[str, Any], length: int) -> None:
    a, b = whole_numbers(3, length, torch.float32)
    h = torch.full_like(b, float("nan"))
    triton["scan_into"](h, a, b)
    assert torch.equal(h, walk(a, b, False)[0])


@pytest.mark.parametrize("reverse", [False, True])
def test_the_packages_cuda_kernel_gets_what_it_asks_for(warp: dict[str, Any], reverse: bool) -> None:
    a, b = whole_numbers(3, 64, torch.float32)
    h = torch.full_like(b, float("nan"))
    warp["scan_into"](h, a, b, reverse)
    assert torch.equal(h, walk(a, b, reverse)[0])


@pytest.mark.parametrize(
    ("rows", "length", "said"),
    [
        (1, 16, "length 16 is not a power of two from 32 to 65536"),
        (1, 33, "length 33 is not"),
        (1, 131072, "length 131072 is not"),
        (32768, 65536, "2147483648 elements are over 2147483647"),
    ],
)
def test_shapes_beyond_the_cuda_kernel_are_unsupported(warp: dict[str, Any], rows: int, length: int, said: str) -> None:
    with pytest.raises(scanhost.Unsupported, match=said):
        warp["check"](problem(rows, length))


def test_shapes_beyond_the_triton_kernel_are_unsupported(triton: dict[str, Any]) -> None:
    with pytest.raises(scanhost.Unsupported, match="2147483648 elements are over 2147483647"):
        triton["check_and_load"](problem(2, 1 << 30))


def test_nothing_to_scan_is_supported(warp: dict[str, Any], triton: dict[str, Any]) -> None:
    for rows, length in ((0, 64), (3, 0)):
        warp["check"](problem(rows, length))
        triton["check_and_load"](problem(rows, length))
