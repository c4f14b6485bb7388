"""Bars on processor time: beside peers, and in the tails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bar import Bar, bar_of_tables, worst_of_each
from summary import PATH, PLAIN, Row, among, middle, names, of, peers, quantile, share

DICE = "dice-"
TAIL = 20  # times the median that one person in a hundred may take
QUICKEST = 6  # tables on which nobody who is ever sound may be quicker


def time_bars(rows: Sequence[Row]) -> Iterator[Bar]:
    """The path alone beside peers, who give no actions; and the tail of both."""
    worlds = names(rows, "world")
    yield from _beside_dice(rows, worlds)
    faster = [
        (
            -ratio,
            f"{world}: {peer} ({1e3 * theirs:.1f} beside {1e3 * mine:.1f} ms, {sound:.0%} sound)",
        )
        for world, peer, theirs, mine, sound in _compared(rows, worlds)
        for ratio in [theirs / mine]
        if sound > 0 and ratio < 1
    ]
    yield bar_of_tables(
        "path as fast as the fastest peer that returns any sound answer, medians",
        faster,
        worlds,
        least=QUICKEST,
    )
    for method, words in ((PATH, "path only"), (PLAIN, "with actions")):
        long = []
        for world in worlds:
            mine = of(rows, world=world, method=method)
            times = quantile(mine, "seconds", 0.99) / middle(mine, "seconds")
            if times > TAIL:
                long.append((times, f"{world}: {times:.0f} times"))
        yield bar_of_tables(f"p99 at most {TAIL} times the median, {words}", long, worlds)


def _beside_dice(rows: Sequence[Row], worlds: Sequence[str]) -> Iterator[Bar]:
    found = [one for one in _compared(rows, worlds) if one[1].startswith(DICE)]
    if not found:
        return
    ratios = [theirs / mine for _, _, theirs, mine, _ in found]
    slow = [
        (-ratio, f"{world}: {peer} takes {ratio:.1f} times as long")
        for (world, peer, *_), ratio in zip(found, ratios, strict=True)
        if ratio < 10
    ]
    yield Bar(
        "path at least 10 times as fast as every DiCE mode, medians",
        f"median {np.median(ratios):.0f} times, least {min(ratios):.1f} times",
        not slow,
        worst_of_each(slow),
    )


def _compared(
    rows: Sequence[Row], worlds: Sequence[str]
) -> Iterator[tuple[str, str, float, float, float]]:
    """Table, peer, its median seconds and ours on the same people, how often it is sound.

    A peer that was cut off at the limit would have taken longer.
    """
    for world in worlds:
        here = of(rows, world=world)
        for peer in peers(here):
            theirs = [row for row in of(here, method=peer) if row["seconds"] is not None]
            mine = middle(of(among(here, theirs), method=PATH), "seconds")
            if theirs and np.isfinite(mine):
                sound = share(of(here, method=peer), "sound")
                yield world, peer, middle(theirs, "seconds"), mine, sound
