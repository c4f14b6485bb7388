"""A bar that we hold ourselves to, and how it is told where it is missed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Bar(NamedTuple):
    """What was wanted, what was measured, whether that is enough (None: no bar), where not."""

    wanted: str
    measured: str
    met: bool | None
    where: str = ""


Behind = Sequence[tuple[float, str]]
"""Where a bar is missed: by how much, in some measure, and in words that begin with the table."""


def bar_of_tables(wanted: str, behind: Behind, worlds: Sequence[str], *, least: int = 0) -> Bar:
    """A bar that is met on a table where nothing is behind; on all of them, or on ``least``."""
    good = len(worlds) - len({_table(words) for _, words in behind})
    met = good >= min(least or len(worlds), len(worlds))
    return Bar(wanted, f"on {good} of {len(worlds)} tables", met, worst_of_each(behind))


def worst_of_each(behind: Behind) -> str:
    """The worst miss on each table, and how many more there are."""
    told = []
    for table in dict.fromkeys(_table(words) for _, words in behind):
        here = sorted((one for one in behind if _table(one[1]) == table), reverse=True)
        told.append(here[0][1] + (f" (and {len(here) - 1} more)" if len(here) > 1 else ""))
    return "; ".join(told)


def _table(words: str) -> str:
    return words.partition(":")[0]
