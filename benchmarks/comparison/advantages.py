"""Where a peer is better than LocalFACE."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from figured import count, percent, seconds
from localface.cases.readiness.document import DocumentBlock, Heading, Table
from summary import PLAIN, Row, among, mean, middle, names, of, peers, share


class Advantage(NamedTuple):
    """A figure to be better in: words, column, how it is summed up and shown, the better sign."""

    words: str
    key: str
    figure: Callable[[Sequence[Row], str], float]
    shown: Callable[[float], str]
    sign: int
    answered: bool = True  # of those whom both answer; else of all whom both were asked about


ADVANTAGES = (
    Advantage("answers more people", "found", share, percent, 1, answered=False),
    Advantage("faster", "seconds", middle, seconds, -1, answered=False),
    Advantage("fewer features changed", "l0", middle, count, -1),
    Advantage("less effort", "l1", middle, count, -1),
    Advantage("over more common ground", "lowest_density", middle, percent, 1),
    Advantage("ends deeper among those who have it (yNN)", "ynn", mean, percent, 1),
    Advantage("looks more like a row", "likeness", middle, percent, 1),
    Advantage("refits agree more often", "retrained", mean, percent, 1),
)


def advantages_section(rows: Sequence[Row]) -> Iterator[DocumentBlock]:
    """The peer that is furthest ahead in each figure, table by table, on the same people."""
    worlds = names(rows, "world")
    here = {world: of(rows, world=world) for world in worlds}
    body = tuple(
        (advantage.words, *(_furthest_ahead(here[world], advantage) for world in worlds))
        for advantage in ADVANTAGES
    )
    yield Heading(2, "Where a peer is better")
    caption = (
        "The peer that is furthest ahead, by more than 2 %, of those that answer over a tenth; in "
        "brackets LocalFACE on the same people"
    )
    yield Table(caption, ("in what", *worlds), body)


def _furthest_ahead(rows: Sequence[Row], advantage: Advantage) -> str:
    some = [peer for peer in peers(rows) if share(of(rows, method=peer), "found") > 0.1]
    beside = [(peer, *_both_figures(rows, peer, advantage)) for peer in some]
    ahead = [one for one in beside if advantage.sign * (one[1] - one[2]) > 0.02 * abs(one[2])]
    if not ahead:
        return "-"
    peer, theirs, mine = max(ahead, key=lambda one: advantage.sign * (one[1] - one[2]))
    return f"{peer} {advantage.shown(theirs)} ({advantage.shown(mine)})"


def _both_figures(rows: Sequence[Row], peer: str, advantage: Advantage) -> tuple[float, float]:
    """A peer's figure and ours, on the same people."""
    theirs = of(rows, method=peer)
    mine = of(rows, method=PLAIN)
    if advantage.answered:
        theirs = of(theirs, found=1.0)
        mine = of(mine, found=1.0)
    theirs, mine = among(theirs, mine), among(mine, theirs)
    return advantage.figure(theirs, advantage.key), advantage.figure(mine, advantage.key)
