"""The tables of the report in which every line is a method."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from localface.cases.readiness.document import Table
from localface.evaluation.metrics import Interval
from summary import Figures

Format = Callable[[float], str]


def percent(value: float) -> str:
    """A share as one reads it."""
    return (
        "-"
        if not np.isfinite(value)
        else f"{100 * value:.0f}\u00a0%"
        if value in (0, 1)
        else f"{100 * value:.1f}\u00a0%"
    )


def seconds(value: float) -> str:
    """Seconds to two digits."""
    return "-" if not np.isfinite(value) else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def count(value: float) -> str:
    """A number to three digits."""
    return "-" if not np.isfinite(value) else f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def within(share: Interval) -> str:
    """The interval of a share over seeds, where there is one, in percent."""
    known = np.isfinite(share.low)
    return (
        f"{100 * max(share.low, 0):.0f}\u00a0to\u00a0{100 * min(share.high, 1):.0f}"
        if known
        else "-"
    )


_SERVED: dict[str, tuple[str, Format]] = {
    "sound, held-out density": ("sound_heldout", percent),
    "valid": ("valid", percent),
    "breaks a constraint": ("broken", percent),
    "traversable steps": ("traversable", percent),
    "looks like a row": ("row_like", percent),
}
_TAKEN: dict[str, tuple[str, Format]] = {
    "set-up s": ("setup", seconds),
    "median s": ("seconds", seconds),
    "p95 s": ("p95", seconds),
    "p99 s": ("p99", seconds),
    "model calls": ("calls", count),
    "rows scored": ("records", count),
    "rows seen": ("rows_seen", percent),
}
_PROPOSED: dict[str, tuple[str, Format]] = {
    "changed": ("changed", count),
    "effort": ("effort", count),
    "L2": ("cost", count),
    "redundant": ("redundancy", percent),
    "end's density": ("density", percent),
    "rows that look less like one": ("likeness", percent),
    "k-NN distance": ("knn_distance", count),
    "outliers": ("outliers", percent),
    "yNN": ("ynn", percent),
    "refits agree": ("retrained", percent),
    "other families agree": ("families", percent),
}
_REACHED: dict[str, tuple[str, Format]] = {
    "features a step": ("sparsity", count),
    "over straight line": ("detour", count),
    "rarest ground": ("lowest", percent),
    "mean ground": ("average", percent),
    "traversable, held-out density": ("traversable_heldout", percent),
    "people nearby, fewest": ("people", count),
    "score never falls": ("monotone", percent),
}


def served(world: str, methods: Sequence[Figures]) -> Table:
    """Who gets an answer, and who a sound one."""
    body = tuple(
        (
            one.method,
            str(one.asked),
            percent(one.found.mean),
            percent(one.sound.mean),
            within(one.sound),
            *rest,
        )
        for one in methods
        for rest in [_cells(one, _SERVED)]
    )
    columns = ("method", "asked", "found", "sound", "95 % interval", *_SERVED)
    return Table(
        f"{world}: who gets a sound answer (found and sound: of everybody asked)", columns, body
    )


def taken(world: str, methods: Sequence[Figures]) -> Table:
    """What it takes to answer, of time, of the model and of other people's rows."""
    body = tuple((one.method, *_cells(one, _TAKEN)) for one in methods)
    return Table(f"{world}: what an answer takes", ("method", *_TAKEN), body)


def proposed(world: str, methods: Sequence[Figures]) -> Table:
    """What the answers are like."""
    return _answered(f"{world}: where the answers lead", methods, _PROPOSED)


def reached(world: str, methods: Sequence[Figures]) -> Table:
    """What the ways are like."""
    return _answered(f"{world}: what the ways are like (a jump is one step)", methods, _REACHED)


def _answered(
    caption: str, methods: Sequence[Figures], columns: dict[str, tuple[str, Format]]
) -> Table:
    body = tuple((one.method, *_cells(one, columns)) for one in methods if np.isfinite(one.cost))
    return Table(caption, ("method", *columns), body)


def _cells(one: Figures, columns: dict[str, tuple[str, Format]]) -> tuple[str, ...]:
    return tuple(shown(getattr(one, name)) for name, shown in columns.values())
