"""The requirements of this repository's plugins."""

from __future__ import annotations

import re
from pathlib import Path

from fakehost import PACKAGE


def pins(path: Path) -> dict[str, str]:
    """Every package with its version and hashes."""
    lines = path.read_text().replace("\\\n", " ").splitlines()
    packages = [line.split("==", 1) for line in lines if line and not line.startswith("#")]
    return {name: re.sub(" +", " ", rest) for name, rest in packages}


def test_plugins_agree_on_every_package_and_pin_it_by_hash() -> None:
    agreed: dict[str, str] = {}
    files = sorted(PACKAGE.parent.parent.glob("plugins/*/requirements.txt"))
    assert files
    for path in files:
        for name, pin in pins(path).items():
            assert "--hash=sha256:" in pin, f"{path}: {name} has no hash"
            assert agreed.setdefault(name, pin) == pin, f"{path}: {name} is another one than in the files before"
