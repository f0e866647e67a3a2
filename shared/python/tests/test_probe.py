"""The script by which the host asks a Python what it has."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from fakehost import PACKAGE

PROBE = PACKAGE.parent.parent / "host/internal/discover/python_probe.py"


def probe(*modules: str, **variables: str) -> Any:
    """Its answer, under the code that the host gives to -c."""
    command = [sys.executable, "-B", "-c", PROBE.read_text(), str(PACKAGE / "src"), *modules]
    said = subprocess.run(command, env={"PATH": "/usr/bin"} | variables, capture_output=True, text=True, check=True)
    return json.loads(said.stdout.splitlines()[-1])


def test_what_is_missing_is_named() -> None:
    assert probe("numpy")["missing"] == ""
    assert probe("no_such_module")["missing"] == "no_such_module"
    assert probe("no_such_package.part", "numpy.no_such_part")["missing"] == "no_such_package.part, numpy.no_such_part"


def test_a_module_finds_the_programs_beside_its_python(tmp_path: Path) -> None:
    (tmp_path / "asks.py").write_text("import os\nraise RuntimeError(os.environ['PATH'])\n")
    said = probe("asks", PYTHONPATH=str(tmp_path))["missing"]
    assert said == f"a working asks ({Path(sys.executable).parent}:/usr/bin)"
