"""Bars on what answers ask of people: how many features, how much effort."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bar import Bar, bar_of_tables
from summary import PLAIN, Row, among, mean, middle, names, of, peers

SPARSE = ("nice", "treecf", "wachter", "dice")  # peers that ours is held against in features
ENOUGH = 5  # people to compare on, at least
MOST_FEATURES = 6
WITHIN = 1.10  # times the least effort with as many features


def answer_bars(rows: Sequence[Row]) -> Iterator[Bar]:
    """Features beside the sparsest peer's sound answers, few at all, and the effort."""
    worlds = names(rows, "world")
    yield bar_of_tables(
        "features changed, mean and median, no more than in the sound answers of NICE, treecf, "
        "Wachter and DiCE to the same people",
        [one for world in worlds for one in _more_features(of(rows, world=world))],
        worlds,
    )
    yield _few_features(rows, worlds)
    yield bar_of_tables(
        "effort within 10 % of any peer's, where as many features change",
        [one for world in worlds for one in _more_effort(of(rows, world=world))],
        worlds,
    )


def _more_features(rows: Sequence[Row]) -> Iterator[tuple[float, str]]:
    for peer in peers(rows):
        theirs, mine = both_answered(rows, peer, sound=True)
        if not peer.startswith(SPARSE) or len(theirs) < ENOUGH:
            continue
        apart = max(
            mean(mine, "l0") - mean(theirs, "l0"), middle(mine, "l0") - middle(theirs, "l0")
        )
        if apart > 1e-9:
            each = f"{peer} {mean(theirs, 'l0'):.2f} beside {mean(mine, 'l0'):.2f}"
            yield apart, f"{rows[0]['world']}: {each} of {len(theirs)} people"


def _few_features(rows: Sequence[Row], worlds: Sequence[str]) -> Bar:
    short = []
    for world in worlds:
        got = of(rows, world=world, method=PLAIN, found=1.0)
        few = float(np.mean([row["l0"] <= MOST_FEATURES for row in got])) if got else 1.0
        if few < 0.99:
            short.append((1 - few, f"{world}: {few:.0%}"))
    return bar_of_tables(
        f"at most {MOST_FEATURES} features changed in at least 99 % of answers", short, worlds
    )


def _more_effort(rows: Sequence[Row]) -> Iterator[tuple[float, str]]:
    """Peers whose median effort is lower by more than a tenth, person by person as sparse."""
    for peer in peers(rows):
        theirs, mine = both_answered(rows, peer, sound=True)
        ratios = [
            ours["l1"] / one["l1"]
            for one, ours in zip(theirs, mine, strict=True)
            if one["l0"] == ours["l0"] and one["l1"] > 0
        ]
        times = float(np.median(ratios)) if len(ratios) >= ENOUGH else 0.0
        if times > WITHIN:
            yield times, f"{rows[0]['world']}: {times:.2f} times {peer}'s, {len(ratios)} people"


def both_answered(
    rows: Sequence[Row], peer: str, *, sound: bool = False, setting: str = PLAIN
) -> tuple[list[Row], list[Row]]:
    """A peer's rows and ours, person by person, of those whom both answer."""
    theirs = of(rows, method=peer, found=1.0)
    if sound:
        theirs = of(theirs, sound=1.0)
    mine = among(of(rows, method=setting, found=1.0), theirs)
    return among(theirs, mine), mine
