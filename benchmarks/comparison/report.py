"""Writes the report: Markdown with its pictures, and one self-contained page, with the same words and numbers."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pictures
from bars import bars
from figured import count, digest, percent, proposed, reached, seconds, served, taken
from localface import __version__
from localface.cases.readiness.document import (
    Block,
    Bullets,
    Figure,
    Heading,
    Paragraph,
    Table,
    as_html,
    as_markdown,
    pictures_of,
)
from localface.evaluation.baselines.peers import PACKAGES
from methods import METHODS, missing
from running import Cell, Rules, lines
from summary import (
    OURS,
    Figures,
    Row,
    among,
    deciles,
    gap,
    groups,
    hopeful,
    mean,
    middle,
    names,
    of,
    peers,
    share,
    tables,
)

TITLE = "Evidence: LocalFACE beside its peers"
WIDE = "figure {overflow-x: auto} figure svg.lf-figure {min-width: 40rem; max-width: 48rem}"  # pictures full of names
COMPARED = (
    "localface-path",
    "localface-states-path",
    "face-knn",
    "face-kde",
    "face-eps",
    "straight-line",
)


def write_report(
    rows: Sequence[Row],
    cells: Sequence[Cell],
    rules: Rules,
    *,
    changes: Sequence[Row] = (),
    several: Sequence[Row] = (),
) -> list[Path]:
    """Write evidence.md with figures/, evidence.html, and evidence.json with every figure."""
    found = dict(tables(rows))
    blocks = [
        *_opening(rows, cells, rules),
        *_bars(rows),
        *_worlds(found),
        *_fairness(rows),
        *_better(rows),
    ]
    blocks += [*_diversity(several), *_ablations(changes), *_failures(cells, rules), *_reading()]
    rules.out.mkdir(parents=True, exist_ok=True)
    page, text, plain = (rules.out / f"evidence.{end}" for end in ("html", "md", "json"))
    page.write_text(
        as_html(TITLE, blocks).replace("</style>", f"{WIDE}</style>", 1), encoding="utf-8"
    )
    text.write_text(as_markdown(blocks), encoding="utf-8")
    (rules.out / "figures").mkdir(exist_ok=True)
    for name, svg in pictures_of(blocks).items():
        (rules.out / "figures" / f"{name}.svg").write_text(svg, encoding="utf-8")
    figures = {world: [one._asdict() for one in methods] for world, methods in found.items()}
    everything = {"bars": [one._asdict() for one in bars(rows)], "tables": figures}
    plain.write_text(
        json.dumps(_known(everything), default=float, allow_nan=False), encoding="utf-8"
    )
    short = rules.out / "digest.md"
    short.write_text(
        as_markdown([*_digest(rows, found, cells, rules), *_ablations(changes)]), encoding="utf-8"
    )
    return [page, text, plain, short]


def _digest(
    rows: Sequence[Row], found: dict[str, list[Figures]], cells: Sequence[Cell], rules: Rules
) -> Iterator[Block]:
    """What fits on a page of the documentation."""
    yield from _opening(rows, cells, rules)
    yield from _bars(rows)
    yield Heading(2, "Table by table")
    for world, methods in found.items():
        yield digest(world, methods)
    yield from _better(rows)
    yield from _reading()


def _known(value: Any) -> Any:
    """The same without NaN and infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _known(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_known(one) for one in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _opening(rows: Sequence[Row], cells: Sequence[Cell], rules: Rules) -> Iterator[Block]:
    people = {(row["world"], row["seed"], row["person"]) for row in rows}
    worlds, seeds = names(rows, "world"), names(rows, "seed")
    yield Heading(1, TITLE)
    yield Paragraph(
        f"{len(people):,} people of {len(worlds)} tables ({', '.join(worlds)}), {len(seeds)} splits each, and "
        f"{len(names(rows, 'method'))} methods. Each gets the same model, the same people, the same constraints "
        f"and {rules.limit:g} s of processor time a person; whoever gets no answer is in the denominator. All are "
        "judged by the same code, with which no method searches.",
        "lead",
    )
    yield Bullets(tuple(_circumstances(cells, rules)))


def _circumstances(cells: Sequence[Cell], rules: Rules) -> Iterator[str]:
    yield f"Date: {datetime.now(UTC).date().isoformat()}. Machine: {_machine()}."
    packages = ["numpy", "scipy", "scikit-learn", "pandas", *PACKAGES]
    told = [f"{name} {_version(name)}" for name in packages]
    yield f"Versions: localface {__version__}, Python {platform.python_version()}, {', '.join(told)}."
    yield f"Command: python benchmarks/comparison {' '.join(_shown(sys.argv[1:]))}".strip() + "."
    if cells:
        yield f"Any cell again: {cells[0].command} (with the same --people, --limit and --data)."
    gone = {why for name in METHODS if (why := missing(name)) is not None}
    if gone:
        yield f"Missing here, and therefore not compared: {'; '.join(sorted(gone))}."


def _shown(arguments: Sequence[str]) -> Iterator[str]:
    """The command without the places of this machine."""
    for before, one in zip(["", *arguments], arguments, strict=False):
        yield "FOLDER" if before in ("--data", "--out") else one


def _machine() -> str:
    model = platform.processor() or platform.machine()
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
            model = next(
                line.partition(":")[2].strip() for line in file if line.startswith("model name")
            )
    except (OSError, StopIteration):
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


_MET = {True: "yes", False: "no", None: "-"}


def _bars(rows: Sequence[Row]) -> Iterator[Block]:
    yield Heading(2, "The bars")
    table = tuple((one.wanted, one.measured, _MET[one.met]) for one in bars(rows))
    yield Table(
        "What we hold ourselves to, and what was measured", ("wanted", "measured", "met"), table
    )
    missed = [f"{one.wanted}: {one.where}." for one in bars(rows) if one.met is False and one.where]
    if missed:
        yield Paragraph("Where they are missed:")
        yield Bullets(tuple(missed))


def _worlds(found: dict[str, list[Figures]]) -> Iterator[Block]:
    for world, methods in found.items():
        yield Heading(2, world)
        yield served(world, methods)
        yield taken(world, methods)
        yield proposed(world, methods)
        yield reached(world, methods)
        yield Figure(
            pictures.trade(world, methods),
            "Filled: LocalFACE. Down is over rarer ground, right is further.",
        )
        yield Figure(
            pictures.speed(world, methods),
            "Filled: LocalFACE. Each mark across is ten times the last.",
        )
        yield Figure(
            pictures.retrained(world, methods), "Filled: LocalFACE, at three target scores."
        )


def _fairness(rows: Sequence[Row]) -> Iterator[Block]:
    some = hopeful(rows)
    present = [method for method in COMPARED if method in names(rows, "method")]
    yield Heading(2, "Who is failed")
    yield Paragraph(
        "Sound success by how usual the place is where people start, over all tables, of people who have anyone to "
        "become within their constraints."
    )
    lines_of = {method: deciles(some, method) for method in present}
    yield Figure(pictures.by_decile(lines_of), "Solid: LocalFACE.")
    table = []
    for method, each in lines_of.items():
        one = gap(some, method)
        apart = f"{100 * one.gap.mean:.1f} ({100 * one.gap.low:.1f} to {100 * one.gap.high:.1f})"
        table.append(
            (method, *(percent(line.share) if line.asked else "-" for line in each), apart)
        )
    columns = ("method", *(str(i) for i in range(1, 11)), "median less lowest, points")
    yield Table("Sound success by density decile, 1 the loneliest", columns, tuple(table))
    shares = []
    for world in names(rows, "world"):
        for line in groups(of(rows, world=world), OURS[1]):
            within = f"{percent(line.low)} to {percent(line.high)}"
            shares.append(
                (
                    world,
                    str(line.group),
                    str(line.asked),
                    percent(line.share),
                    within,
                    count(line.cost),
                )
            )
    if shares:
        columns = ("table", "group", "asked", "sound", "interval", "median length")
        yield Table("LocalFACE by group, where a table has one", columns, tuple(shares))


class Wish(NamedTuple):
    """Something to be better in: in words, the column, how it is summed up and shown, and which way is better."""

    words: str
    key: str
    figure: Callable[[Sequence[Row], str], float]
    shown: Callable[[float], str]
    sign: int
    answered: bool = True  # of those whom both answer; else of all whom both were asked about


WISHES = (
    Wish("answers more people", "found", share, percent, 1, answered=False),
    Wish("faster", "seconds", middle, seconds, -1, answered=False),
    Wish("fewer features changed", "l0", middle, count, -1),
    Wish("shorter changes (L2)", "l2", middle, count, -1),
    Wish("over more common ground", "lowest_density", middle, percent, 1),
    Wish("ends deeper among those who have it (yNN)", "ynn", mean, percent, 1),
    Wish("more robust to retraining", "retrained", mean, percent, 1),
)


def _better(rows: Sequence[Row]) -> Iterator[Block]:
    """Where a peer's figure is better than ours on the same people, of peers that answer more than a tenth."""
    table = []
    for world in names(rows, "world"):
        here = of(rows, world=world)
        some = [peer for peer in peers(here) if share(of(here, method=peer), "found") > 0.1]
        for wish in WISHES:
            beside = [(peer, *_both(here, peer, wish)) for peer in some]
            ahead = [one for one in beside if wish.sign * (one[1] - one[2]) > 0.02 * abs(one[2])]
            if ahead:
                peer, theirs, mine = max(ahead, key=lambda one: wish.sign * (one[1] - one[2]))
                sound = percent(share(of(here, method=peer), "sound"))
                table.append(
                    (
                        world,
                        wish.words,
                        f"{peer} ({len(ahead)})",
                        wish.shown(theirs),
                        wish.shown(mine),
                        sound,
                    )
                )
    yield Heading(2, "Where a peer is better")
    columns = (
        "table",
        "in what",
        "who most (peers ahead)",
        "theirs",
        "ours, with actions",
        "their sound success",
    )
    caption = "Figures in which some peer is ahead of LocalFACE with actions by more than 2 %, on the same people"
    yield Table(caption, columns, tuple(table))


def _both(rows: Sequence[Row], peer: str, wish: Wish) -> tuple[float, float]:
    """A peer's figure and ours, on the same people."""
    theirs, mine = of(rows, method=peer), of(rows, method=OURS[0])
    if wish.answered:
        theirs, mine = of(theirs, found=1.0), of(mine, found=1.0)
    theirs, mine = among(theirs, mine), among(mine, theirs)
    return wish.figure(theirs, wish.key), wish.figure(mine, wish.key)


def _ablations(changes: Sequence[Row]) -> Iterator[Block]:
    if not changes:
        return
    yield Heading(2, "What each part is worth")
    for world in names(changes, "world"):
        body = []
        for setting in names(changes, "setting"):
            mine = of(changes, world=world, setting=setting)
            got = of(mine, found=1.0)
            body.append(
                (
                    setting,
                    percent(share(mine, "found")),
                    percent(share(mine, "sound")),
                    count(middle(got, "length")),
                    percent(middle(got, "lowest_density")),
                    percent(middle(got, "mean_density")),
                    percent(mean(mine, "rows_seen")),
                    seconds(middle(mine, "seconds")),
                )
            )
        columns = (
            "setting",
            "found",
            "sound",
            "length",
            "rarest ground",
            "mean ground",
            "rows seen",
            "median s",
        )
        yield Table(f"{world}: one thing changed, path only", columns, tuple(body))


def _diversity(several: Sequence[Row]) -> Iterator[Block]:
    """Who can give several answers that differ."""
    if not several:
        return
    body = []
    for world in names(several, "world"):
        for method in names(several, "method"):
            if mine := of(several, world=world, method=method):
                given, two = (
                    sum(row["given"] for row in mine),
                    sum(row["given"] > 1 for row in mine),
                )
                sound = percent(
                    sum(row["sound"] for row in mine) / given if given else float("nan")
                )
                apart = (count(mean(mine, "apart")), percent(mean(mine, "unlike")))
                body.append(
                    (
                        world,
                        method,
                        str(len(mine)),
                        count(given / len(mine)),
                        str(two),
                        sound,
                        *apart,
                    )
                )
    yield Heading(2, "Several answers to one person")
    columns = (
        "table",
        "method",
        "asked",
        "answers each",
        "people with two or more",
        "sound",
        "apart",
        "unlike",
    )
    yield Table(
        "Three answers wanted: how far apart they end, and how little they change alike",
        columns,
        tuple(body),
    )


def _failures(cells: Sequence[Cell], rules: Rules) -> Iterator[Block]:
    """What went wrong, method by method, in its own words."""
    said: dict[tuple[str, str], int] = {}
    for cell in cells:
        for line in lines(cell.file(rules.out)):
            why = line.get("error") or line.get("crashed") or line.get("missing")
            if why:
                said[cell.method, str(why)[:90]] = said.get((cell.method, str(why)[:90]), 0) + 1
    if said:
        yield Heading(2, "What went wrong")
        body = tuple((method, why, str(count)) for (method, why), count in sorted(said.items()))
        yield Table("Errors and limits by method", ("method", "what", "how often"), body)


SOUND = """sound: found, valid by a fresh call of the model, no constraint broken at any state, every step
traversable by the independent judge (someone who stands on rarer ground than the floor need only go no lower than
they stand until they come above it, where they must end, whatever the method)."""
JUMPS = """A method that only jumps is judged on the jump; 'reached by our path' says how often LocalFACE finds a sound
way to where it jumps."""
FEWER = """'asked' is smaller for slow methods, which are asked about the first people of each split, or of the first
two splits. The bars, and 'Where a peer is better', compare on the people whom the peer was asked about. After the first
three people of a split ran into the limit, the rest are not tried, and count as without an answer."""
HELDOUT = """The rule of sound is LocalFACE's own, with its bandwidth, judged by other code. 'held-out rule' puts the
density of people whom no method was given in its place, without any leave for those who stand on rare ground."""
TIMES = """Seconds are of the processor. Set-up (scoring all rows, a graph, a density) is once a table and not in them.
FACE is asked about everybody in one pass, and its time shared out evenly. 'rows seen' is '-' for methods that are given
all rows and do not count which they look at."""
UNITS = """L1, L2 and distances are in ordinary differences between people; densities and grounds are shares of held-out
people on rarer ground; outliers have a local outlier factor above 1.5; 'people nearby' are within the median distance
to the tenth nearest; 'found again' and 'end moves' are for the first people of each split measured with a little noise,
where any of their numbers can be."""
STRAIGHT = "The straight line takes LocalFACE's own rule for a step; its success is how many need no path at all."
CAUSES = "What correlates with an outcome need not cause it: none of this says that following an answer works."


def _reading() -> Iterator[Block]:
    yield Heading(2, "How to read this")
    yield Bullets((SOUND, HELDOUT, JUMPS, FEWER, TIMES, UNITS, STRAIGHT, CAUSES))
