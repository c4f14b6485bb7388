"""Measure how far the tests of a folder cover its own modules, statements and branches.

    python tools/coverage_by_folder.py [search engine answers]

Every module of these folders has to reach the bar by the tests of its own folder alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

BAR = 85.0
FOLDERS = ("search", "engine", "answers")


def measured(folder: str) -> dict[str, float]:
    """The coverage of each module of a folder, in per cent, branches included."""
    with tempfile.TemporaryDirectory() as temporary:
        report = Path(temporary) / "coverage.json"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", f"tests/{folder}"]
        command += [f"--cov=src/localface/{folder}", "--cov-branch", "--cov-report="]
        command += [f"--cov-report=json:{report}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        files = json.loads(report.read_text(encoding="utf-8"))["files"]
    return {name: one["summary"]["percent_covered"] for name, one in files.items()}


def main(folders: list[str]) -> int:
    """Print every module with its coverage; 1 where one is below the bar."""
    below = 0
    for folder in folders or FOLDERS:
        for name, share in sorted(measured(folder).items()):
            mark = "" if share > BAR else f"  below {BAR:.0f}"
            below += bool(mark)
            print(f"{share:5.1f} %  {name}{mark}")
    return int(below > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
