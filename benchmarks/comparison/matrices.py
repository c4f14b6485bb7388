"""Tables with a line for each method and a column for each table of data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from answer_bars import ENOUGH, both_answered
from fairness_bars import groups_of_tables
from figured import count, percent, seconds
from lasting_bars import Held, beside
from localface.cases.readiness.document import DocumentBlock, Heading, Paragraph, Table
from methods import METHODS
from summary import (
    LASTING,
    PATH,
    PLAIN,
    Row,
    among,
    mean,
    middle,
    names,
    of,
    ours,
    quantile,
    share,
    sound_heldout,
    starts_common,
)

Cell = Callable[[Sequence[Row], str], str]
"""From the rows of one table and a method to what is shown."""


def matrix(caption: str, rows: Sequence[Row], methods: Sequence[str], cell: Cell) -> Table:
    """One line a method, one column a table."""
    worlds = names(rows, "world")
    here = {world: of(rows, world=world) for world in worlds}
    body = tuple((method, *(cell(here[world], method) for world in worlds)) for method in methods)
    return Table(caption, ("method", *worlds), body)


def plain_methods(rows: Sequence[Row]) -> list[str]:
    """Methods as they come, ours first."""
    return [one for one in names(rows, "method") if not METHODS[one].tuned]


def matrices_section(rows: Sequence[Row]) -> Iterator[DocumentBlock]:
    """What tells most of it, all tables side by side."""
    every = names(rows, "method")
    some = [one for one in plain_methods(rows) if one != PATH]
    yield Heading(2, "Who gets a sound answer")
    yield matrix("Sound, and in brackets LocalFACE on the same people", rows, every, _sound)
    yield Heading(2, "Ground, by other judges")
    common = [row for row in rows if starts_common(row)]
    yield matrix(
        "Sound by the density of held-out people, of those who start on its common ground",
        common,
        some,
        _sound_heldout,
    )
    yield matrix(
        "Ends that boosted trees take for a row as they take 95 % of people, of answers",
        rows,
        some,
        _row_like,
    )
    yield Heading(2, "Features and effort")
    caption = "Features changed and effort, means of sound answers; in brackets LocalFACE's to "
    theirs = [one for one in some if not ours(one)]
    yield matrix(f"{caption}the same people", rows, theirs, _asked_of_people)
    yield from _lasting(rows)
    yield from _groups(rows)
    yield Heading(2, "Time")
    yield matrix("Processor seconds a person: p50, p95, p99", rows, plain_methods(rows), _tails)


def _sound(rows: Sequence[Row], method: str) -> str:
    theirs = of(rows, method=method)
    if ours(method) or not theirs:
        return percent(share(theirs, "sound"))
    mine = share(of(among(rows, theirs), method=PLAIN), "sound")
    return f"{percent(share(theirs, 'sound'))} ({percent(mine)})"


def _sound_heldout(rows: Sequence[Row], method: str) -> str:
    theirs = of(rows, method=method)
    told = [{"sound": sound_heldout(row)} for row in theirs]
    if ours(method) or not theirs:
        return percent(share(told, "sound"))
    mine = [{"sound": sound_heldout(row)} for row in of(among(rows, theirs), method=PLAIN)]
    return f"{percent(share(told, 'sound'))} ({percent(share(mine, 'sound'))})"


def _row_like(rows: Sequence[Row], method: str) -> str:
    got = of(rows, method=method, found=1.0)
    return percent(share([{"like": row["likeness"] >= 0.05} for row in got], "like"))


def _asked_of_people(rows: Sequence[Row], method: str) -> str:
    theirs, mine = both_answered(rows, method, sound=True)
    if len(theirs) < ENOUGH:
        return "-"
    pairs = [(count(mean(one, "l0")), count(mean(one, "l1"))) for one in (theirs, mine)]
    return "{}, {} ({}, {})".format(*pairs[0], *pairs[1])


def _lasting(rows: Sequence[Row]) -> Iterator[DocumentBlock]:
    settings = [one for one in names(rows, "method") if ours(one) and one != PATH]
    yield Heading(2, "Under retrained models")
    shared = rows
    for setting in settings:
        shared = among(shared, of(shared, method=setting))
    yield matrix(
        "Refits that agree, at which median effort, the same people for all settings",
        shared,
        settings,
        _agreed,
    )
    yield matrix(
        "Refits that agree with a peer; in brackets with ours at its effort",
        rows,
        [one for one in plain_methods(rows) if not ours(one)],
        _agreed_beside,
    )
    yield Paragraph(f"With {LASTING}, of all answers: {_wishes(rows)}.")


def _agreed(rows: Sequence[Row], method: str) -> str:
    got = of(rows, method=method, found=1.0)
    return f"{percent(mean(got, 'retrained'))} at {count(middle(got, 'l1'))}"


def _agreed_beside(rows: Sequence[Row], method: str) -> str:
    held: Held | None = beside(rows, method)
    if held is None:
        return "-"
    mine = percent(held.ours) if held.ours else "none so cheap"
    return f"{percent(held.theirs)} ({mine})"


def _wishes(rows: Sequence[Row]) -> str:
    told = []
    for world in names(rows, "world"):
        got = of(rows, world=world, method=LASTING, found=1.0)
        kept = [row for row in got if (row["stated"] or 0) >= 0.9]
        agreed = (
            f"{percent(mean(got, 'retrained'))}, other families {percent(mean(got, 'families'))}"
        )
        told.append(f"{world} {agreed} ({len(kept)} of {len(got)} say that they keep it)")
    return "; ".join(told)


def _groups(rows: Sequence[Row]) -> Iterator[DocumentBlock]:
    body = tuple(
        (
            f"{one.world}, {one.kind}",
            one.group,
            str(one.asked),
            percent(one.share),
            percent(one.sound),
            percent(one.others),
            count(one.cost),
        )
        for one in groups_of_tables(rows, PLAIN)
    )
    if body:
        columns = ("table", "group", "asked", "found", "sound", "others found", "median length")
        yield Heading(2, "By group")
        yield Table("LocalFACE by group", columns, body)


def _tails(rows: Sequence[Row], method: str) -> str:
    mine = of(rows, method=method)
    return ", ".join(seconds(quantile(mine, "seconds", at)) for at in (0.5, 0.95, 0.99))
