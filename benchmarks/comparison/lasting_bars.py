"""Bars on retrained models: refits that no search has seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from answer_bars import ENOUGH, both_answered
from bar import Bar, bar_of_tables
from summary import LASTING, PATH, Row, among, mean, middle, names, of, ours, peers, share

LEVEL = 0.005  # by which refits may agree less and still count as agreeing as often
VALID = 0.88  # of refits, with a wish of 90 %
BINS = 5
WITHIN = 0.05  # by which what is stated may differ from what is seen, in each bin
ALIKE = 1e-6  # of an effort: what differs by less is the same effort
WANTED = 7  # tables on which no peer may be ahead


def lasting_bars(rows: Sequence[Row]) -> Iterator[Bar]:
    """Equal effort, the wish of 90 %, and whether what is stated holds."""
    worlds = names(rows, "world")
    held = [one for world in worlds for one in _ahead(of(rows, world=world), sound=False)]
    where = [(apart, words) for apart, words, _ in held]
    wanted = "refits agree at equal effort at least as often as with every peer's"
    yield bar_of_tables(f"{wanted} answers", where, worlds, least=WANTED)
    dearer = [(apart, words) for apart, words, reached in held if reached]
    yield bar_of_tables(
        f"{wanted} answers, of peers that are no cheaper than every answer of ours", dearer, worlds
    )._replace(met=None)
    sound = [one for world in worlds for one in _ahead(of(rows, world=world), sound=True)]
    yield bar_of_tables(
        f"{wanted} sound answers", [(apart, words) for apart, words, _ in sound], worlds
    )._replace(met=None)
    if any(row["method"] == LASTING for row in rows):
        yield _wish(rows, worlds)
        yield _calibration(rows, worlds)


def _ahead(rows: Sequence[Row], *, sound: bool) -> Iterator[tuple[float, str, bool]]:
    """Peers that answer half or more and are ahead of our curve; whether it goes that low."""
    for peer in peers(rows):
        if share(of(rows, method=peer), "found") < 0.5:
            continue
        held = beside(rows, peer, sound=sound)
        if held is None or held.ours >= held.theirs - LEVEL or (sound and held.people < ENOUGH):
            continue
        mine = f"{held.ours:.0%}" if held.ours else "none of ours"
        words = f"{peer} {held.theirs:.0%} beside {mine} at an effort of {held.effort:.2g}"
        told = f"{rows[0]['world']}: {words}, {held.people} people"
        yield held.theirs - held.ours, told, held.ours > 0


class Held(NamedTuple):
    """How often refits agree with a peer, and with ours at the peer's effort (0: none so cheap)."""

    theirs: float
    ours: float
    effort: float
    people: int


def beside(rows: Sequence[Row], peer: str, *, sound: bool = False) -> Held | None:
    """A peer beside our curve, of the people about whom all our settings were asked.

    The curve leads from setting to setting, each beside the peer on the people whom both answer.
    """
    settings = curve_settings(rows)
    for setting in settings:
        rows = among(rows, of(rows, method=setting))
    pairs = [both_answered(rows, peer, sound=sound, setting=setting) for setting in settings]
    most = max((len(mine) for _, mine in pairs), default=0)
    pairs = [(theirs, mine) for theirs, mine in pairs if mine and 2 * len(mine) >= most]
    if not pairs:
        return None
    efforts = [middle(mine, "l1") / middle(theirs, "l1") for theirs, mine in pairs]
    agreed = [mean(mine, "retrained") for _, mine in pairs]
    theirs = max(pairs, key=lambda pair: len(pair[0]))[0]
    mine = _on_curve(efforts, agreed)
    return Held(mean(theirs, "retrained"), mine, middle(theirs, "l1"), len(theirs))


def curve_settings(rows: Sequence[Row]) -> list[str]:
    """Our settings that end in actions."""
    return [method for method in names(rows, "method") if ours(method) and method != PATH]


def _on_curve(efforts: Sequence[float], agreed: Sequence[float]) -> float:
    """What the curve has at the peer's effort, 1; nothing below our least effort."""
    order = np.argsort(efforts)
    across = np.array(efforts)[order]
    up = np.maximum.accumulate(np.array(agreed)[order])
    if across[0] > 1 + ALIKE:
        return 0.0
    return float(np.interp(1.0 + ALIKE, across, up))


def _wish(rows: Sequence[Row], worlds: Sequence[str]) -> Bar:
    short = []
    for world in worlds:
        mine = of(rows, world=world, method=LASTING, found=1.0)
        agreed = mean(mine, "retrained")
        if agreed < VALID:
            kept = [row for row in mine if (row["stated"] or 0) >= 0.9]
            words = f"{agreed:.0%} of all, {mean(kept, 'retrained'):.0%} of the {len(kept)} of "
            words += f"{len(mine)} that say that they keep it"
            short.append((VALID - agreed, f"{world}: {words}"))
    return bar_of_tables(f"lasting=0.9: at least {VALID:.0%} of refits agree", short, worlds)


def calibration(rows: Sequence[Row]) -> list[tuple[float, float, int]]:
    """Stated, seen and how many answers, in bins with as many answers each."""
    told = [row for row in rows if row["found"] and row.get("stated") is not None]
    if len(told) < 2 * BINS:
        return []
    order = sorted(told, key=lambda row: row["stated"])
    bins = np.array_split(np.arange(len(order)), BINS)
    each = [[order[number] for number in some] for some in bins]
    return [(mean(some, "stated"), mean(some, "retrained"), len(some)) for some in each]


def _calibration(rows: Sequence[Row], worlds: Sequence[str]) -> Bar:
    off = []
    for world in worlds:
        for stated, seen, n in calibration(of(rows, world=world)):
            if abs(stated - seen) > WITHIN:
                words = f"{world}: {stated:.0%} stated, {seen:.0%} seen of {n} answers"
                off.append((abs(stated - seen), words))
    return bar_of_tables(
        f"what answers state is within {100 * WITHIN:.0f} points of what refits show, in each of "
        f"{BINS} bins",
        off,
        worlds,
    )
