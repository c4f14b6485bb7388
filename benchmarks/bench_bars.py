"""The bars: what is asked for, beside what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench_peers import DICE
from bench_tables import Report

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Bar:
    """One thing asked for: the words, the name of its figure, the bar."""

    words: str
    figure: str
    bar: float
    at_least: bool = False


def bars_of(shapes: Sequence[str], ordinary: Sequence[str]) -> Iterator[Bar]:
    """All bars, for the shapes that were measured."""
    for shape in ordinary:
        yield _alone("path only, queries", shape, "path only", "median queries", 12)
        yield _alone("with actions, queries", shape, "with actions", "median queries", 40)
    for shape in shapes:
        yield _alone("path only, p99 / median", shape, "path only", "p99 / median", 20)
        yield _alone("with actions, p99 / median", shape, "with actions", "p99 / median", 20)
    yield _alone("path only, median ms", "planes", "path only", "median ms", 3)
    yield _alone("path only, max ms", "planes", "path only", "max ms", 30)
    yield _alone("relax=True, max ms", "planes", "relax=True", "max ms", 100)
    yield _alone('cost="safest", max ms', "planes", 'cost="safest"', "max ms", 100)
    for shape in ("adult", "german"):
        yield _alone("with actions, median ms", shape, "with actions", "median ms", 10)
    for shape in ("readiness", "ordinary"):
        for way, wanted in (("path only", 1_000), ("with actions", 250)):
            words = f"{shape}, lock-step, {way}, people a second and core"
            figure = f"{shape}, {way}, lock-step: people a second"
            yield Bar(words, figure, wanted, at_least=True)
    for shape in shapes:
        figure = f"{shape}: fastest sound peer over ours"
        yield Bar(f"{shape}, the fastest sound peer over ours", figure, 1, at_least=True)
        for name in DICE:
            yield Bar(f"{shape}, {name} over ours", f"{shape}: {name} over ours", 10, at_least=True)
    yield Bar("ordinary, fitting, s", "ordinary: s fitting", 1)
    yield Bar("import localface, s beyond NumPy and SciPy", "import s", 0.2)
    yield Bar("large tables, exponent of the median", "exponent", 0.35)
    yield Bar("large tables, exponent of the mean", "exponent of the mean", 0.35)
    yield Bar("large tables, memory that stays, times float32", "memory", 1.5)
    yield Bar("large tables, memory answering at most, times float32", "memory at most", 1.5)


def _alone(words: str, shape: str, way: str, figure: str, bar: float) -> Bar:
    return Bar(f"{shape}, one at a time, {words}", f"{shape}, {way}, alone: {figure}", bar)


def bars_report(figures: Figures, shapes: Sequence[str], ordinary: Sequence[str]) -> Report:
    """What was asked for beside what was measured; what was not measured is left out."""
    report = Report("Bars", ["", "measured", "bar", "reached"])
    for one in bars_of(shapes, ordinary):
        if one.figure in figures:
            measured = figures[one.figure]
            reached = measured >= one.bar if one.at_least else measured <= one.bar
            limit = f"at {'least' if one.at_least else 'most'} {one.bar:,g}"
            report.rows.append([one.words, measured, limit, "yes" if reached else "no"])
    met = sum(row[-1] == "yes" for row in report.rows)
    report.notes.append(f"{met} of {len(report.rows)} reached.")
    return report
