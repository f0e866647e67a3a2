"""Runs a plugin's main.py with this SDK: python3 .../scanhost/__main__.py .../main.py

The host starts plugins this way, so that one needs no SDK installed and no path of this repository.
"""

import runpy
import sys
from pathlib import Path

main = Path(sys.argv[1]).resolve()
# In place of this folder, whose modules are not top-level ones.
sys.path[0:1] = [str(main.parent), str(Path(__file__).resolve().parent.parent)]
sys.argv = sys.argv[1:]
runpy.run_path(str(main), run_name="__main__")
