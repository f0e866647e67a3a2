"""plugin.toml, and Describe answered from it, so that the two cannot drift apart."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._contract import BACKENDS, DTYPES, PROTOCOL
from ._errors import RequestError, Unsupported
from ._generated import kernel_pb2 as pb


@dataclass(frozen=True)
class Manifest:
    """One plugin.toml. The host has checked it already, and refuses what Describe says otherwise."""

    keys: Mapping[str, Any]

    @staticmethod
    def read(path: Path) -> Manifest:
        return Manifest(tomllib.loads(path.read_text(encoding="utf-8")))

    @property
    def ops(self) -> list[Mapping[str, Any]]:
        return list(self.keys.get("op", []))

    @property
    def backends(self) -> list[str]:
        """Those of plugin.toml that a Python plugin can have: cpu and cuda."""
        return [b for b in self.keys.get("backends", []) if b in BACKENDS]

    def describe(self, source_hash: str, capabilities: list[str]) -> pb.DescribeResponse:
        """The answer to Describe. A plugin of several backends leaves the field open: Prepare names one of them."""
        keys = self.keys
        only = self.backends[0] if len(self.backends) == 1 else None
        return pb.DescribeResponse(
            name=keys["name"],
            version=keys["version"],
            protocol=PROTOCOL,
            capabilities=capabilities,
            ops=[_op(o) for o in self.ops],
            backend=BACKENDS[only] if only else pb.BACKEND_UNSPECIFIED,
            tunables=[
                pb.Tunable(name=t["name"], values=t["values"], default=t["default"]) for t in keys.get("tunable", [])
            ],
            improves_on=keys.get("improves_on", ""),
            source_hash=source_hash,
            run_to_run=keys.get("run_to_run", False),
        )

    def refuse(self, op: str, dtype: str, length: int, options: list[str]) -> None:
        """Raises Unsupported for a problem beyond the limits that plugin.toml declares."""
        declared = next((o for o in self.ops if o["name"] == op), None)
        if declared is None:
            raise RequestError(f"operation {op!r} is not one of this plugin's")
        ceiling = declared.get("max_length", 0)
        if ceiling and length > ceiling:
            raise Unsupported(f"length {length} is over {ceiling}")
        if dtype not in declared["dtypes"]:
            raise Unsupported(f"dtype {dtype} is not one of {', '.join(declared['dtypes'])}")
        for option in options:
            if option not in declared.get("options", []):
                raise Unsupported(f"option {option} is not one of this kernel's")

    def tuning(self, asked: Mapping[str, int]) -> dict[str, int]:
        """The value of every tunable: the host's, or the default."""
        chosen: dict[str, int] = {}
        for t in self.keys.get("tunable", []):
            value = asked.get(t["name"], t["default"])
            if value not in t["values"]:
                raise RequestError(f"tunable {t['name']} is {value}; accepted are {t['values']}")
            chosen[t["name"]] = value
        unknown = sorted(set(asked) - set(chosen))
        if unknown:
            raise RequestError(f"tunable {unknown[0]!r} is not one of this plugin's")
        return chosen


def _op(keys: Mapping[str, Any]) -> pb.OpSupport:
    return pb.OpSupport(
        op=keys["name"],
        dtypes=[DTYPES[d] for d in keys["dtypes"]],
        max_length=keys.get("max_length", 0),
        options=keys.get("options", []),
        arrays_read=keys.get("arrays_read", 0),
        arrays_written=keys.get("arrays_written", 0),
        workspace_bytes_per_element=keys.get("workspace_bytes_per_element", 0),
    )
