"""Operation affine_scan: h[t] = a[t] * h[t-1] + b[t] along each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ._buffers import Array
from ._contract import BACKEND_NAMES, DTYPE_NAMES
from ._errors import RequestError
from ._generated import kernel_pb2 as pb

NAME: Final = "affine_scan"
_OPTIONS: Final = ("reverse", "h0", "last_state")


@dataclass(frozen=True)
class AffineProblem:
    """What a launch computes: everything but the values."""

    rows: int
    length: int
    dtype: str  # of a, b and h: fp32, fp16 or bf16. States are fp32 always
    reverse: bool  # each row is walked from its last element to its first, and h0 enters there
    h0: bool  # there is an initial state for each row; otherwise it is 0
    last_state: bool  # the state after the last step of the walk is wanted
    tuning: Mapping[str, int]  # every tunable of plugin.toml with the value to use
    backend: str  # cpu or cuda


@dataclass(frozen=True)
class AffineArrays:
    """The arrays of one launch: a, b and h are (rows, length), h0 and last (rows)."""

    a: Array
    b: Array
    h0: Array | None  # where the problem has h0
    h: Array  # output: every element is written by every launch
    last: Array | None  # output, where the problem has last_state


def problem_of(wire: pb.Problem, tuning: Mapping[str, int], backend: int) -> AffineProblem:
    """Reads a problem and refuses what is none of this operation's."""
    if wire.dtype not in DTYPE_NAMES:
        raise RequestError(f"dtype {wire.dtype} is not known; 1, 2 and 3 are")
    dims = dict(wire.dims)
    if set(dims) != {"rows", "length"} or min(dims.values()) < 0:
        raise RequestError(f"dims are {dims}; affine_scan has rows and length, 0 or more each")
    options = list(wire.options)
    unknown = [o for o in options if o not in _OPTIONS]
    if unknown or len(set(options)) != len(options):
        raise RequestError(f"options are {options}; affine_scan has each of {', '.join(_OPTIONS)} once")
    return AffineProblem(
        rows=dims["rows"],
        length=dims["length"],
        dtype=DTYPE_NAMES[wire.dtype],
        reverse="reverse" in options,
        h0="h0" in options,
        last_state="last_state" in options,
        tuning=tuning,
        backend=BACKEND_NAMES[backend],
    )


def options_of(problem: AffineProblem) -> list[str]:
    """The options that are on."""
    return [o for o in _OPTIONS if getattr(problem, o)]


def arrays_of(problem: AffineProblem, by_role: Mapping[str, Array]) -> AffineArrays:
    """Names the arrays of a set, and refuses a set that is not whole."""
    whole, states = (problem.rows, problem.length), (problem.rows,)
    expected: dict[str, tuple[tuple[int, ...], bool]] = {"a": (whole, False), "b": (whole, False), "h": (whole, True)}
    if problem.h0:
        expected["h0"] = (states, False)
    if problem.last_state:
        expected["last_state"] = (states, True)
    if set(by_role) != set(expected):
        raise RequestError(f"a set has the roles {sorted(by_role)}; this problem's are {sorted(expected)}")
    for role, (shape, writable) in expected.items():
        dtype = "fp32" if role in ("h0", "last_state") else problem.dtype
        got = by_role[role]
        if (got.shape, got.dtype, got.writable) != (shape, dtype, writable):
            raise RequestError(
                f"{role} is {got.dtype} of shape {got.shape}, writable {got.writable}; "
                f"it should be {dtype} of {shape}, writable {writable}"
            )
    return AffineArrays(by_role["a"], by_role["b"], by_role.get("h0"), by_role["h"], by_role.get("last_state"))
