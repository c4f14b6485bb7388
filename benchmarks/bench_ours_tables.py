"""The tables of our own figures: a line for every shape and way of asking."""

from __future__ import annotations

from typing import Any

from bench_ours import HEADLINE, KINDS, WAYS, Ours, shares
from bench_tables import Report

SINGLE = (
    "median ms",
    "p95 ms",
    "max ms",
    "p99 / median",
    "median queries",
    "p95 queries",
    "max queries",
    "people",
    "found %",
)
CROWDED = (
    "ms a person",
    "queries a person",
    "people a second",
    "times one at a time",
    "people",
    "found %",
    "alike",
)
IN_QUERIES = (
    "Milliseconds of the processor. A query is one brute-force search for the 50 nearest over the "
    "same table, taken between the answers. Each person is a one-row frame, held out of the table."
)
PER_CORE = (
    "People a second on one core. alike: the same status, rows, path, scores and actions as one "
    "at a time, bit for bit."
)


def ours_reports(titles: dict[str, str], measured: dict[str, Ours]) -> list[Report]:
    """Every table of our own, by the names of shapes."""
    return [
        _single(titles, measured),
        _crowded(titles, measured),
        _by_form(titles, measured),
        _where_time_goes(titles, measured),
    ]


def ours_figures(measured: dict[str, Ours]) -> dict[str, float]:
    """Every figure under one flat name: "readiness, path only, alone: median ms"."""
    figures = dict[str, float]()
    for shape, ours in measured.items():
        for way, alone in ours.alone.items():
            named = {f"{shape}, {way}, alone: {k}": v for k, v in alone.figures.items()}
            figures |= named
        for way, crowd in ours.together.items():
            named = {f"{shape}, {way}, lock-step: {k}": v for k, v in crowd.figures.items()}
            figures |= named
        figures |= {f"{shape}, path only, {form}: median ms": v for form, v in ours.forms.items()}
    return figures


def _single(titles: dict[str, str], measured: dict[str, Ours]) -> Report:
    report = Report("One at a time", ["shape", "asked", *SINGLE], notes=[IN_QUERIES])
    for shape, ours in measured.items():
        for way, alone in ours.alone.items():
            figures: dict[str, Any] = {**alone.figures, "found %": 100 * alone.found}
            report.rows.append([titles[shape], way, *(figures[one] for one in SINGLE)])
    return report


def _crowded(titles: dict[str, str], measured: dict[str, Ours]) -> Report:
    report = Report("In lock-step", ["shape", "asked", *CROWDED], notes=[PER_CORE])
    for shape, ours in measured.items():
        for way, crowd in ours.together.items():
            alone = ours.alone[way].spent
            mean = sum(one.worked for one in alone) / len(alone)
            figures: dict[str, Any] = {
                **crowd.figures,
                "found %": 100 * crowd.figures["found"],
                "times one at a time": 1e3 * mean / crowd.figures["ms a person"],
                "alike": "yes" if crowd.alike else "NO",
            }
            report.rows.append([titles[shape], way, *(figures[one] for one in CROWDED)])
    return report


def _by_form(titles: dict[str, str], measured: dict[str, Ours]) -> Report:
    forms = list(next(iter(measured.values())).forms)
    report = Report("By the form that a person comes in, path only, median ms", ["shape", *forms])
    report.rows.extend([titles[shape], *ours.forms.values()] for shape, ours in measured.items())
    report.notes.append(f"The same people in turns; the other tables take a {HEADLINE}.")
    return report


def _where_time_goes(titles: dict[str, str], measured: dict[str, Ours]) -> Report:
    kinds = list(dict.fromkeys(KINDS.values()))
    report = Report("Where the time goes, %", ["shape", "asked", *kinds, "the rest"])
    for shape, ours in measured.items():
        for way in WAYS:
            alone = ours.alone[way]
            crowd = ours.together[way]
            for how, answers, total in (
                ("one at a time", alone.answers, sum(one.wall for one in alone.spent)),
                ("lock-step", crowd.answers, crowd.spent.wall),
            ):
                parts = list(shares(answers, total).values())
                percent = [100 * part for part in (*parts, 1 - sum(parts))]
                report.rows.append([titles[shape], f"{way}, {how}", *percent])
    report.notes.append("counting: who in the box could be become. By the clock.")
    return report
