"""The files that answers are kept in: one for each method on each split of a table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Cell:
    """One method on one split of one table."""

    world: str
    seed: int
    method: str

    def file(self, out: Path) -> Path:
        """Where its lines are."""
        return out / "cells" / self.world / str(self.seed) / f"{self.method}.jsonl"

    @property
    def command(self) -> str:
        """What runs it again."""
        return f"python benchmarks/comparison --cell {self.world} {self.seed} {self.method}"


@dataclass(frozen=True, slots=True)
class Rules:
    """How many people, how long, and where."""

    people: int
    limit: float
    out: Path
    data: Path | None = None


def lines(path: Path) -> list[dict[str, Any]]:
    """What is written so far; a line that was cut short does not count."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return found


def complete(cell: Cell, rules: Rules) -> bool:
    """Whether a cell needs no more work."""
    done = lines(cell.file(rules.out))
    return bool(done) and done[-1].get("done") is True
