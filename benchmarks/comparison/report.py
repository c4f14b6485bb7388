"""Writes the report: one self-contained page, with the same as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from advantages import advantages_section
from bars import bars
from cell_files import Cell, Rules
from circumstances import TITLE, opening
from figured import digest
from localface.cases.readiness.document import (
    DocumentBlock,
    Heading,
    picture_svgs_by_name,
    render_html,
    render_markdown,
)
from sections import (
    ablations_section,
    bars_section,
    diversity_section,
    failures_section,
    fairness_section,
    reading_section,
    tables_section,
)
from summary import Figures, Row, tables

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
    blocks = [
        *opening(rows, cells, rules),
        *bars_section(rows),
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
    everything = {"bars": [one._asdict() for one in bars(rows)], "tables": figures}
    plain.write_text(
        json.dumps(_known(everything), default=float, allow_nan=False), encoding="utf-8"
    )
    short = rules.out / "digest.md"
    short.write_text(
        render_markdown([*_digest(rows, found, cells, rules), *ablations_section(changes)]),
        encoding="utf-8",
    )
    return [page, text, plain, short]


def _digest(
    rows: Sequence[Row], found: dict[str, list[Figures]], cells: Sequence[Cell], rules: Rules
) -> Iterator[DocumentBlock]:
    """What fits on a page of the documentation."""
    yield from opening(rows, cells, rules)
    yield from bars_section(rows)
    yield Heading(2, "Table by table")
    for world, methods in found.items():
        yield digest(world, methods)
    yield from advantages_section(rows)
    yield from reading_section()


def _known(value: Any) -> Any:
    """The same without NaN and infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _known(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_known(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
