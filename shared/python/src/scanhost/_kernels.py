"""The decorator by which a plugin names its kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ._affine import NAME as AFFINE_SCAN
from ._affine import AffineArrays, AffineProblem

Launch = Callable[[AffineProblem, AffineArrays], None]
Prepare = Callable[[AffineProblem], int | None]
Capture = Callable[[Callable[[], None]], Callable[[], None]]


@dataclass(frozen=True)
class Kernel:
    """One operation of a plugin."""

    launch: Launch
    prepare: Prepare | None
    capture: Capture | None


registered: dict[str, Kernel] = {}


def kernel(
    op: Literal["affine_scan"], *, prepare: Prepare | None = None, capture: Capture | None = None
) -> Callable[[Launch], Launch]:
    """Makes the decorated function the plugin's kernel of an operation.

    The function is one launch: it reads the inputs and writes every element of the outputs. On cuda it may
    return before the GPU has finished, as long as its work is ordered by the default stream.

    prepare is called once for every problem, before its launches and outside every measurement: it compiles,
    warms up, raises Unsupported, and returns the bytes of memory that a launch allocates beyond its arrays
    (None for none to speak of). What plugin.toml declares (dtypes, max_length, options) is refused without it.

    capture(run) makes a CUDA graph of what run() gives the GPU, without leaving it to run, and returns the
    function that replays it on the default stream. Where launching costs more than computing, the host times
    replays as well.
    """
    if op != AFFINE_SCAN:
        raise ValueError(f"operation {op!r} is not known; {AFFINE_SCAN!r} is")
    if op in registered:
        raise ValueError(f"operation {op!r} has a kernel already: {registered[op].launch.__qualname__}")

    def register(launch: Launch) -> Launch:
        registered[op] = Kernel(launch, prepare, capture)
        return launch

    return register
