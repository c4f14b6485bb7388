"""The history of the headline figures: one line for each version that was recorded."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

from bench_tables import figure_text
from shapes import SHAPES

HISTORY = Path(__file__).parent / "history.md"
FIGURES = (
    "path only, alone: median queries",
    "with actions, alone: median queries",
    "path only, alone: p99 / median",
    "path only, lock-step: people a second",
)
ABOUT = """\
# Speed by version

A line for each version that was recorded by `python benchmarks/bench.py --record LABEL`. In each
cell, for that shape: the median in queries path only / with actions / p99 over median path only /
people a second and core in lock-step, path only. The shapes are those of
`benchmarks/shape_tables.py`; lines of different machines compare in queries only.

"""


def record(label: str, figures: dict[str, float], path: Path) -> None:
    """Append the headline figures of one version."""
    before = path.read_text(encoding="utf-8") if path.exists() else ABOUT + heading()
    path.write_text(before + history_line(label, commit(), figures), encoding="utf-8")


def heading() -> str:
    """The first two lines of the table."""
    columns = ["version", "commit", "day", *SHAPES]
    return f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"


def history_line(label: str, at: str, figures: dict[str, float]) -> str:
    """One line of the table; what was not measured is left empty."""
    cells = [label, at, datetime.now(UTC).date().isoformat()]
    for shape in SHAPES:
        values = [figures.get(f"{shape}, {one}") for one in FIGURES]
        known = [figure_text(value) for value in values if value is not None]
        cells.append(" / ".join(known) if len(known) == len(FIGURES) else "")
    return f"| {' | '.join(cells)} |\n"


def commit() -> str:
    """The commit that was measured, marked where files were changed since; else a dash."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=9"]
    try:
        told = subprocess.run(
            command, cwd=HISTORY.parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "-"
    return told.stdout.strip()
