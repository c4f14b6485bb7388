"""Writes the report: one self-contained page, with the same as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import curves
from advantages import advantages_section
from bar import Bar
from bars import bars
from cell_files import Cell, Rules
from circumstances import TITLE, opening
from in_short import in_short
from localface.cases.readiness.document import (
    DocumentBlock,
    Figure,
    Heading,
    picture_svgs_by_name,
    render_html,
    render_markdown,
)
from matrices import matrices_section
from sections import (
    ablations_section,
    bars_section,
    diversity_section,
    failures_section,
    fairness_section,
    reading_section,
    tables_section,
)
from summary import LASTING, Row, tables

# pictures full of names
WIDE = "figure {overflow-x: auto} figure svg.lf-figure {min-width: 40rem; max-width: 48rem}"


def write_report(
    rows: Sequence[Row],
    cells: Sequence[Cell],
    rules: Rules,
    *,
    changes: Sequence[Row] = (),
    several: Sequence[Row] = (),
) -> list[Path]:
    """Write comparison.md with figures/, comparison.html, comparison.json with every figure."""
    found = dict(tables(rows))
    held = bars(rows)
    blocks = [
        *opening(rows, cells, rules),
        *in_short(rows),
        *bars_section(held),
        *curves_section(rows),
        *matrices_section(rows),
        *tables_section(found),
        *fairness_section(rows),
        *advantages_section(rows),
        *diversity_section(several),
        *ablations_section(changes),
        *failures_section(cells, rules),
        *reading_section(),
    ]
    rules.out.mkdir(parents=True, exist_ok=True)
    page, text, plain = (rules.out / f"comparison.{end}" for end in ("html", "md", "json"))
    page.write_text(render_html(TITLE, blocks, style=WIDE), encoding="utf-8")
    text.write_text(render_markdown(blocks), encoding="utf-8")
    (rules.out / "figures").mkdir(exist_ok=True)
    for name, svg in picture_svgs_by_name(blocks).items():
        (rules.out / "figures" / f"{name}.svg").write_text(svg, encoding="utf-8")
    figures = {world: [one._asdict() for one in methods] for world, methods in found.items()}
    everything = {"bars": [one._asdict() for one in held], "tables": figures}
    plain.write_text(
        json.dumps(_known(everything), default=float, allow_nan=False), encoding="utf-8"
    )
    short = rules.out / "digest.md"
    short.write_text(render_markdown(list(_digest(rows, held, cells, rules))), encoding="utf-8")
    return [page, text, plain, short]


def curves_section(rows: Sequence[Row]) -> Iterator[DocumentBlock]:
    """How often refits agree, beside the effort, all tables in one picture."""
    if any(row["method"] == LASTING for row in rows):
        yield Heading(2, "Refits that agree, at which effort")
        yield Figure(
            curves.retrained(rows),
            "The line: LocalFACE's settings, from the least effort to the most; dashed: where it "
            "may pass states rarer than usual, or any.",
        )


def _digest(
    rows: Sequence[Row], held: Sequence[Bar], cells: Sequence[Cell], rules: Rules
) -> Iterator[DocumentBlock]:
    """What fits on a page of the documentation."""
    yield from opening(rows, cells, rules)
    yield from in_short(rows)
    yield from bars_section(held)
    yield from matrices_section(rows)
    yield from advantages_section(rows)
    yield from reading_section()


def _known(value: Any) -> Any:
    """The same without NaN and infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _known(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_known(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
