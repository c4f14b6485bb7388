"""Bars on who is failed: groups of people, and those who stand where few others do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bar import Bar, bar_of_tables
from localface.evaluation.metrics import by_group
from summary import PATH, PLAIN, Row, costs_of, gap, hopeful, names, of

SMALLEST = 20  # people of a group, and as many others, to compare
APART = 0.05
LONELY = 0.02
FAIR = (PATH, "face-knn")


def fairness_bars(rows: Sequence[Row]) -> Iterator[Bar]:
    """Groups within 5 points of the others, the lonely within 2 of the median person."""
    told = list(groups_of_tables(rows, PLAIN))
    if told:
        worlds = list(dict.fromkeys(one.world for one in told))
        behind = [
            (one.others - one.share, one.words) for one in told if one.others - one.share > APART
        ]
        yield bar_of_tables(
            f"found for every group of {SMALLEST} people or more: at most 5 points behind the "
            "others",
            behind,
            worlds,
        )
    some = hopeful(rows)
    for key, words in (("found", "answered"), ("sound", "soundly")):
        apart, shares = _gap(some, PLAIN, key)
        wanted = f"loneliest tenth behind the median person: at most 2 points ({words})"
        yield Bar(wanted, shares, apart <= LONELY)
    for method in FAIR:
        if any(row["method"] == method for row in rows):
            both = [f"{key} {_gap(some, method, key)[1]}" for key in ("found", "sound")]
            yield Bar(f"the same of {method}, for comparison", "; ".join(both), None)


class Group(NamedTuple):
    """Found in one group of a table, beside everybody else there."""

    world: str
    kind: str
    group: str
    asked: int
    share: float
    sound: float
    cost: float
    asked_others: int
    others: float

    @property
    def words(self) -> str:
        """The group beside the others."""
        mine = f"{self.kind} {self.group}, {self.share:.0%} of {self.asked}"
        return f"{self.world}: {mine} beside {self.others:.0%} of {self.asked_others}"


def groups_of_tables(rows: Sequence[Row], method: str) -> Iterator[Group]:
    """Every group that is large enough, of every table that has groups."""
    for world in names(rows, "world"):
        mine = of(rows, world=world, method=method)
        for kind in mine[0]["groups"] if mine else ():
            yield from _groups(world, kind, mine)


def _groups(world: str, kind: str, mine: Sequence[Row]) -> Iterator[Group]:
    labels = [row["groups"][kind] for row in mine]
    found, sound = (
        by_group([bool(row[key]) for row in mine], costs_of(mine), labels)
        for key in ("found", "sound")
    )
    for one, soundly in zip(found, sound, strict=True):
        asked_others = len(mine) - one.asked
        if one.asked >= SMALLEST and asked_others >= SMALLEST:
            others = (sum(bool(row["found"]) for row in mine) - one.found) / asked_others
            yield Group(
                world,
                kind,
                str(one.group),
                one.asked,
                one.share,
                soundly.share,
                one.cost,
                asked_others,
                others,
            )


def _gap(rows: Sequence[Row], method: str, key: str) -> tuple[float, str]:
    one = gap(rows, method, key)
    shares = f"{one.lowest.n} of {one.lowest.of} beside {one.middle.n} of {one.middle.of}"
    return one.gap.mean, f"{100 * one.gap.mean:.1f} points ({shares})"
