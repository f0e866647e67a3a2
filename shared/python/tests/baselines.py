"""What the tests of the baselines in Python share."""

from __future__ import annotations

import os
import runpy
from typing import Any

import pytest
from fakehost import PACKAGE

import scanhost
from scanhost import _kernels

# Triton decides when it is imported whether kernels are compiled for a GPU or interpreted here.
os.environ["TRITON_INTERPRET"] = "1"
torch = pytest.importorskip("torch")

PLUGINS = PACKAGE.parent.parent / "plugins"


def names_of(plugin: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names in a plugin's main.py, without its serving."""
    monkeypatch.setattr(scanhost, "serve", lambda file: None)
    monkeypatch.setattr(_kernels, "registered", {})
    monkeypatch.setenv("CUDA_MODULE_LOADING", "LAZY")  # the plugins set it
    return runpy.run_path(str(PLUGINS / plugin / "main.py"))


def walk(a: Any, b: Any, reverse: bool, h0: Any = None) -> tuple[Any, Any]:
    """The recurrence itself in fp32: every state, and the last one of each row."""
    a, b = a.float(), b.float()
    h, state = torch.empty_like(b), torch.zeros(b.shape[0]) if h0 is None else h0
    steps = range(b.shape[1])
    for t in reversed(steps) if reverse else steps:
        state = a[:, t] * state + b[:, t]
        h[:, t] = state
    return h, state


def whole_numbers(rows: int, length: int, dtype: Any) -> tuple[Any, Any]:
    """Inputs of which every grouping gives the same bits, since nothing is rounded in any of these types."""
    random = torch.Generator().manual_seed(7)
    a = torch.randint(-1, 2, (rows, length), generator=random).to(dtype)
    b = torch.randint(-9, 10, (rows, length), generator=random).to(dtype)
    return a, b


def let_triton_interpret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Triton 3.6 takes the bound of a loop, an array of one element, for an integer; NumPy 2.4 does no longer."""
    interpreter: Any = pytest.importorskip("triton.runtime.interpreter")
    patch = interpreter._patch_lang_tensor

    def patch_index_too(tensor: Any, scope: Any) -> None:
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: self.handle.data.item())

    monkeypatch.setattr(interpreter, "_patch_lang_tensor", patch_index_too)
