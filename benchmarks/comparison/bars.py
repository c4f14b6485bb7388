"""The bars that we hold ourselves to, each with what was measured.

Whoever is compared is compared on the same people: those whom the peer was asked about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from answer_bars import answer_bars
from bar import Bar, bar_of_tables
from fairness_bars import fairness_bars
from lasting_bars import lasting_bars
from summary import (
    PATH,
    PLAIN,
    Row,
    among,
    names,
    of,
    of_steps,
    on_usual_floor,
    ours,
    peers,
    share,
    sound_heldout,
    starts_common,
    values,
)
from time_bars import time_bars

FOUND = 0.95  # of people, on every table


def bars(rows: Sequence[Row]) -> list[Bar]:
    """Every bar."""
    return [
        *_promises(rows),
        *_success(rows),
        *answer_bars(rows),
        *lasting_bars(rows),
        *fairness_bars(rows),
        *time_bars(rows),
        *_optimum(rows),
    ]


def _promises(rows: Sequence[Row]) -> Iterator[Bar]:
    mine = [row for row in rows if ours(row["method"]) and row["found"]]
    valid = sum(row["valid"] for row in mine)
    broken = sum(row["violations"] > 0 for row in mine)
    yield Bar(
        "every answer valid by a fresh call", f"{valid:.0f} of {len(mine)}", valid == len(mine)
    )
    yield Bar(
        "no constraint broken at any state",
        f"broken in {broken} of {len(mine)} answers",
        broken == 0,
    )
    usual = [row for row in mine if on_usual_floor(row["method"])]
    part = of_steps(usual, "traversable")
    walked = sum(row["steps"] for row in usual)
    yield Bar(
        "steps traversable, independent judge: at least 99 %",
        f"{part:.2%} of {walked:,.0f}",
        part >= 0.99,
    )


def _success(rows: Sequence[Row]) -> Iterator[Bar]:
    worlds = names(rows, "world")
    yield _found(rows, f"found by default: at least {FOUND:.0%} of people")
    allowed = [row for row in rows if row["valid"] and not row["violations"]]
    some = among(rows, allowed)
    yield _found(some, "the same of people whom any method here answers within their constraints")
    yield bar_of_tables(
        "sound success by default at least every peer's", _behind(rows, "sound"), worlds
    )
    common = [{**row, "sound_heldout": sound_heldout(row)} for row in rows if starts_common(row)]
    yield bar_of_tables(
        "the same by the density of held-out people, of those who start on its common ground",
        _behind(common, "sound_heldout"),
        worlds,
    )._replace(met=None)


def _found(rows: Sequence[Row], wanted: str) -> Bar:
    worlds = names(rows, "world")
    short = []
    for world in worlds:
        mine = of(rows, world=world, method=PLAIN)
        got = share(mine, "found")
        if got < FOUND:
            short.append((FOUND - got, f"{world}: {got:.0%} of {len(mine)} people"))
    return bar_of_tables(wanted, short, worlds)


def _behind(rows: Sequence[Row], key: str) -> list[tuple[float, str]]:
    """Which peers serve more people, of those that they were asked about."""
    behind = []
    for world in names(rows, "world"):
        for peer in peers(of(rows, world=world)):
            theirs = of(rows, world=world, method=peer)
            mine = share(of(among(rows, theirs), method=PLAIN), key)
            best = share(theirs, key)
            if best > mine + 1e-9:
                words = f"{world}: {peer} {best:.0%} beside {mine:.0%} of {len(theirs)} people"
                behind.append((best - mine, words))
    return behind


def _optimum(rows: Sequence[Row]) -> Iterator[Bar]:
    mine = [row for row in of(rows, method=PATH) if row.get("settled") is not None]
    if not mine:
        return
    over = values(mine, "over_optimum")
    seen = np.array([row["rows_seen"] / row["rows_of"] for row in mine])
    settled = sum(bool(row["settled"]) for row in mine)
    near = int((over <= 1.05 + 1e-9).sum())
    yield Bar(
        "path within 5 % of the shortest way over rows, tables of 5,000 rows and more",
        f"{near} of {len(over)} people (median {np.median(over):.3f}, worst {over.max():.3f} "
        f"times; {settled} settled, the rest beside a proven lower bound)",
        near == len(over),
    )
    yield Bar(
        "rows seen there, on average",
        f"mean {seen.mean():.2%}, median {np.median(seen):.2%}, most {seen.max():.2%}",
        None,
    )
