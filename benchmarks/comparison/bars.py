"""The bars that we hold ourselves to, each with what was measured.

Whoever is compared is compared on the same people: those whom the peer was asked about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from summary import (
    Row,
    among,
    gap,
    hopeful,
    mean,
    middle,
    names,
    of,
    of_steps,
    ours,
    peers,
    share,
    values,
)

DICE = "dice-"
PER_PERSON = "face-built-per-person"
PATH = "localface-path"
FAIR = (PATH, "localface-states-path", "localface-states", "face-knn")
LEVEL = 0.005  # by which retrained models may agree less and still count as agreeing as often


class Bar(NamedTuple):
    """What was wanted, what was measured, whether that is enough (None: no bar), where not."""

    wanted: str
    measured: str
    met: bool | None
    where: str = ""


def bars(rows: Sequence[Row]) -> list[Bar]:
    """Every bar."""
    sound = [
        _sound(rows, "localface", "as it comes"),
        _sound(rows, "localface-states", 'with ends="states"'),
    ]
    return [
        *_promises(rows),
        *sound,
        *_optimum(rows),
        *_speed(rows),
        *_fair(rows),
        _retrained(rows),
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
    part = of_steps(mine, "traversable")
    walked = sum(row["steps"] for row in mine)
    yield Bar(
        "steps traversable, independent judge: at least 99 %",
        f"{part:.2%} of {walked:,.0f}",
        part >= 0.99,
    )


def _sound(rows: Sequence[Row], setting: str, words: str) -> Bar:
    """One of our settings beside every peer, on the people that the peer was asked about."""
    behind = []
    worlds = names(rows, "world")
    for world in worlds:
        for peer in peers(of(rows, world=world)):
            theirs = of(rows, world=world, method=peer)
            mine = share(of(among(rows, theirs), method=setting), "sound")
            best = share(theirs, "sound")
            if best > mine + 1e-9:
                behind.append(
                    (
                        best - mine,
                        f"{world}: {peer} {best:.0%} beside {mine:.0%} of {len(theirs)} people",
                    )
                )
    return Bar(
        f"sound success at least every peer's, {words}", _tables(behind, worlds), *_behind(behind)
    )


def _optimum(rows: Sequence[Row]) -> Iterator[Bar]:
    mine = [row for row in of(rows, method=PATH) if row.get("settled") is not None]
    if not mine:
        return
    over = values(mine, "over_optimum")
    seen = np.array([row["rows_seen"] / row["rows_of"] for row in mine])
    settled = sum(bool(row["settled"]) for row in mine)
    near = int((over <= 1.05 + 1e-9).sum())
    yield Bar(
        "path within 5 % of the optimum over all data, tables of 10,000 rows and more",
        f"{near} of {len(over)} people (median {np.median(over):.3f}, worst {over.max():.3f} "
        f"times; {settled} settled, the rest beside a proven lower bound)",
        near == len(over),
    )
    yield Bar(
        "at most 5 % of the rows seen there, on average",
        f"mean {seen.mean():.2%}, median {np.median(seen):.2%}, most {seen.max():.2%}; "
        f"{int((seen <= 0.05).sum())} of {len(seen)} people",
        float(seen.mean()) <= 0.05,
    )


def _speed(rows: Sequence[Row]) -> Iterator[Bar]:
    """The path alone, as peers give no actions; a peer cut off at the limit would take longer."""
    slow = []
    faster = []
    ratios = []
    worlds = names(rows, "world")
    for world in worlds:
        for peer in peers(of(rows, world=world)):
            theirs = [
                row for row in of(rows, world=world, method=peer) if row["seconds"] is not None
            ]
            mine = middle(of(among(rows, theirs), method=PATH), "seconds")
            if not theirs or not np.isfinite(mine):
                continue
            ratio = middle(theirs, "seconds") / mine
            if peer.startswith(DICE) or peer == PER_PERSON:
                ratios.append(ratio)
                slow += (
                    [(-ratio, f"{world}: {peer} takes {ratio:.1f} times as long")]
                    if ratio < 10
                    else []
                )
            sound = share(of(rows, world=world, method=peer), "sound")
            if sound > 0 and ratio < 1:
                beside = f"{1e3 * ratio * mine:.1f} beside {1e3 * mine:.1f} ms"
                faster.append((-ratio, f"{world}: {peer} ({beside}, sound {sound:.0%})"))
    if ratios:
        wanted = (
            "path at least 10 times as fast as every DiCE mode and FACE built per person, medians"
        )
        yield Bar(
            wanted,
            f"median {np.median(ratios):.0f} times, least {min(ratios):.1f} times",
            *_behind(slow),
        )
    wanted = "path as fast as the fastest peer that returns any sound answer, medians"
    yield Bar(wanted, _tables(faster, worlds), *_behind(faster))


def _fair(rows: Sequence[Row]) -> Iterator[Bar]:
    """Of people who have any target: answered at all, or soundly (an entry step may dip lower)."""
    some = hopeful(rows)
    told = {(method, key): _gap(some, method, key) for method in FAIR for key in ("found", "sound")}
    lowest = "lowest density decile behind the median person: at most 2 points"
    apart, words = told[PATH, "found"]
    yield Bar(f"{lowest} (answered)", words, apart <= 0.02)
    yield Bar(f"{lowest} (soundly)", told[PATH, "sound"][1], told[PATH, "sound"][0] <= 0.02)
    for method in FAIR[1:]:
        if any(row["method"] == method for row in rows):
            both = f"answered {told[method, 'found'][1]}; soundly {told[method, 'sound'][1]}"
            yield Bar(f"the same of {method}, for comparison", both, None)


def _gap(rows: Sequence[Row], method: str, key: str) -> tuple[float, str]:
    one = gap(rows, method, key)
    shares = f"{one.lowest.n} of {one.lowest.of} beside {one.middle.n} of {one.middle.of}"
    return one.gap.mean, f"{100 * one.gap.mean:.1f} points ({shares})"


def _retrained(rows: Sequence[Row]) -> Bar:
    """A peer is ahead if valid more often at no higher cost than any of our settings."""
    ahead = []
    worlds = names(rows, "world")
    for world in worlds:
        here = of(rows, world=world)
        for peer in peers(here):
            theirs = of(here, method=peer)
            got = of(theirs, found=1.0)
            settings = [one for one in names(here, "method") if ours(one)]
            if share(theirs, "found") >= 0.5 and not any(
                _as_robust(of(here, method=one), got) for one in settings
            ):
                agreed = mean(got, "retrained")
                ahead.append(
                    (agreed, f"{world}: {peer} {agreed:.0%} at a length of {middle(got, 'l2'):.2g}")
                )
    return Bar(
        "validity under 20 retrained models at least every peer's at equal cost (of peers that "
        "answer half or more)",
        f"{_tables(ahead, worlds)}; the curves are below",
        *_behind(ahead),
    )


def _as_robust(mine: Sequence[Row], theirs: Sequence[Row]) -> bool:
    """Whether one of our settings is as robust at no higher cost; it must answer half of them."""
    mine = of(among(mine, theirs), found=1.0)
    if 2 * len(mine) < len(theirs):
        return False
    same = among(theirs, mine)
    dearer = middle(mine, "l2") > middle(same, "l2") + 1e-9
    return not dearer and mean(mine, "retrained") >= mean(same, "retrained") - LEVEL


Behind = Sequence[tuple[float, str]]
"""Where we are behind: by how much, in some measure, and in words that begin with the table."""


def _tables(behind: Behind, worlds: Sequence[str]) -> str:
    return f"on {len(worlds) - len({_table(words) for _, words in behind})} of {len(worlds)} tables"


def _behind(behind: Behind) -> tuple[bool, str]:
    """Whether nobody is ahead, and else who is most so on each table."""
    told = []
    for table in dict.fromkeys(_table(words) for _, words in behind):
        here = sorted((one for one in behind if _table(one[1]) == table), reverse=True)
        told.append(here[0][1] + (f" (and {len(here) - 1} more)" if len(here) > 1 else ""))
    return not behind, "; ".join(told)


def _table(words: str) -> str:
    return words.partition(":")[0]
