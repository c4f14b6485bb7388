"""The tables of figures that a benchmark prints."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from localface import __version__
from timing import single_threaded


@dataclass(frozen=True, slots=True)
class Report:
    """One table of figures."""

    title: str
    columns: list[str]
    rows: list[list[Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def lines(self, *, markdown: bool) -> Iterator[str]:
        """The table, aligned, or as Markdown."""
        cells = [self.columns, *([figure_text(value) for value in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        yield f"## {self.title}" if markdown else self.title
        yield ""
        for i, row in enumerate(cells):
            if markdown:
                yield f"| {' | '.join(row)} |"
            else:
                first, *rest = (one.rjust(width) for one, width in zip(row, widths, strict=True))
                yield "  ".join(["", row[0].ljust(len(first)), *rest])
            if markdown and i == 0:
                yield f"|{'---|' * len(row)}"
        yield ""
        yield from (f"{'' if markdown else '  '}{note}\n" for note in self.notes)


def figure_text(value: Any) -> str:
    """A figure with the digits that mean something."""
    if isinstance(value, str) or not np.isfinite(value):
        return str(value)
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:,.0f}"
    return (
        f"{value:.4f}"
        if 0.99 <= value < 1
        else f"{value:.1f}"
        if abs(value) >= 10
        else f"{value:.2f}"
    )


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    threads = ", ".join(
        sorted({f"{one['internal_api']} {one['num_threads']}" for one in threadpool_info()})
    )
    clock = "processor time" if single_threaded() else "the clock"
    return {
        "localface": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "threads": threads,
        "ratios by": clock,
        "load of late": " ".join(f"{load:.1f}" for load in os.getloadavg()),
    }


def publish(reports: Sequence[Report], figures: dict[str, float], out: Path) -> None:
    """Print the tables, and write them down."""
    print(_document(reports, markdown=False))
    write_down(reports, figures, out)
    print(f"written to {out / 'bench.md'} and {out / 'bench.json'}")


def write_down(reports: Sequence[Report], figures: dict[str, float], out: Path) -> None:
    """Write the tables as Markdown, with every figure by its name as JSON."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "bench.md").write_text(_document(reports, markdown=True) + "\n", encoding="utf-8")
    tables = [asdict(one) for one in reports]
    document = {"machine": machine(), "figures": figures, "tables": tables}
    text = json.dumps(document, indent=1, default=float)
    (out / "bench.json").write_text(text + "\n", encoding="utf-8")


def _document(reports: Sequence[Report], *, markdown: bool) -> str:
    heading = "; ".join(f"{what} {value}" for what, value in machine().items())
    lines = [line for one in reports for line in one.lines(markdown=markdown)]
    return "\n".join([heading, "", *lines])
