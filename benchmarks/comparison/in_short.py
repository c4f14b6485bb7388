"""The few lines that tell most of it: some methods side by side, all tables taken together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from figured import count, percent
from localface.cases.readiness.document import DocumentBlock, Heading, Table
from summary import (
    LASTING,
    PLAIN,
    Row,
    among,
    mean,
    middle,
    names,
    of,
    share,
    sound_heldout,
    starts_common,
)

COLUMNS = {
    PLAIN: "LocalFACE",
    LASTING: "`lasting=0.9`",
    "nice-sparse": "NICE",
    "wachter": "Wachter",
    "face-knn": "FACE",
    "dice-genetic": "DiCE genetic",
    "treecf": "treecf",
}

Figure = Callable[[Sequence[Row]], float]
"""From what a method said to people of one table to one number."""


def in_short(rows: Sequence[Row]) -> Iterator[DocumentBlock]:
    """Means over tables, of the people whom every one of these methods was asked about."""
    methods = [method for method in COLUMNS if any(row["method"] == method for row in rows)]
    for method in methods:
        rows = among(rows, of(rows, method=method))
    people = len(of(rows, method=methods[0])) if methods else 0
    body = tuple(
        (words, *(shown(_over_tables(rows, method, figure)) for method in methods))
        for words, (figure, shown) in _LINES.items()
    )
    yield Heading(2, "In short")
    caption = f"Means over {len(names(rows, 'world'))} tables, the same {people} people for all"
    yield Table(caption, ("", *(COLUMNS[method] for method in methods)), body)


def _over_tables(rows: Sequence[Row], method: str, figure: Figure) -> float:
    """The mean over the tables on which there is such a number."""
    each = [figure(of(rows, world=world, method=method)) for world in names(rows, "world")]
    known = [one for one in each if np.isfinite(one)]
    return float(np.mean(known)) if known else float("nan")


def _answers(figure: Callable[[Sequence[Row], str], float], key: str) -> Figure:
    return lambda rows: figure(of(rows, found=1.0), key)


def _ground(rows: Sequence[Row]) -> float:
    told = [{"sound": sound_heldout(row)} for row in rows if starts_common(row)]
    return share(told, "sound")


def _milliseconds(rows: Sequence[Row]) -> float:
    return 1e3 * middle(rows, "seconds")


_LINES: dict[str, tuple[Figure, Callable[[float], str]]] = {
    "people who get a sound answer": (lambda rows: share(rows, "sound"), percent),
    "the same by a judge with a density of its own": (_ground, percent),
    "features changed": (_answers(mean, "l0"), count),
    "effort, median, in standard deviations": (_answers(middle, "l1"), count),
    "retrained models that agree": (_answers(mean, "retrained"), percent),
    "processor time, median, ms": (_milliseconds, count),
}
