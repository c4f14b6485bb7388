"""A user's script, run in a process of its own from a folder that is not the project's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"


def run_script(script: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run it, and return what it printed."""
    return subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(SOURCE), "MPLBACKEND": "Agg"},
        check=False,
    )
