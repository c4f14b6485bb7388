"""How the report opens: who was compared, on which machine, with which versions."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from cell_files import Cell, Rules
from localface import __version__
from localface.cases.readiness.document import Bullets, DocumentBlock, Heading, Paragraph
from localface.evaluation.baselines.peers import PACKAGES
from methods import METHODS, missing
from summary import Row, names

TITLE = "Evidence: LocalFACE beside its peers"


def opening(rows: Sequence[Row], cells: Sequence[Cell], rules: Rules) -> Iterator[DocumentBlock]:
    people = {(row["world"], row["seed"], row["person"]) for row in rows}
    worlds = names(rows, "world")
    seeds = names(rows, "seed")
    yield Heading(1, TITLE)
    yield Paragraph(
        f"{len(people):,} people of {len(worlds)} tables ({', '.join(worlds)}), {len(seeds)} "
        f"splits each, and {len(names(rows, 'method'))} methods. Each gets the same model, the "
        f"same people, the same constraints and {rules.limit:g} s of processor time a person; "
        "whoever gets no answer is in the denominator. All are judged by the same code, with "
        "which no method searches.",
        "lead",
    )
    yield Bullets(tuple(_circumstances(cells, rules)))


def _circumstances(cells: Sequence[Cell], rules: Rules) -> Iterator[str]:
    yield f"Date: {datetime.now(UTC).date().isoformat()}. Machine: {_machine()}."
    packages = ["numpy", "scipy", "scikit-learn", "pandas", *PACKAGES]
    versions = ", ".join(f"{name} {_version(name)}" for name in packages)
    python = platform.python_version()
    yield f"Versions: localface {__version__}, Python {python}, {versions}."
    yield f"Command: python benchmarks/comparison {' '.join(_shown(sys.argv[1:]))}".strip() + "."
    if cells:
        yield f"Any cell again: {cells[0].command} (with the same --people, --limit and --data)."
    gone = {why for name in METHODS if (why := missing(name)) is not None}
    if gone:
        yield f"Missing here, and therefore not compared: {'; '.join(sorted(gone))}."


def _shown(arguments: Sequence[str]) -> Iterator[str]:
    """The command without the paths of this machine."""
    for before, one in zip(["", *arguments], arguments, strict=False):
        yield "FOLDER" if before in ("--data", "--out") else one


def _machine() -> str:
    model = platform.processor() or platform.machine()
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
            model = next(
                line.partition(":")[2].strip() for line in file if line.startswith("model name")
            )
    except (OSError, StopIteration):
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
