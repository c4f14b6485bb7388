"""Writes the report: Markdown with its pictures, and one self-contained page, with the same words and numbers."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

import pictures
from bars import bars
from localface import __version__
from localface.baselines.peers import PACKAGES
from localface.cases.readiness.document import (
    Block,
    Bullets,
    Figure,
    Heading,
    Table,
    Words,
    as_html,
    as_markdown,
    pictures_of,
)
from methods import METHODS, missing
from running import Cell, Rules, lines
from summary import OURS, Figures, Row, deciles, gap, groups, hopeful, mean, middle, names, of, share, tables

TITLE = "Evidence: LocalFACE beside its peers"
COMPARED = ("localface-path", "localface-states-path", "face-knn", "face-kde", "face-eps", "straight-line")


def write_report(rows: Sequence[Row], changes: Sequence[Row], cells: Sequence[Cell], rules: Rules) -> list[Path]:
    """Write evidence.md with figures/, evidence.html, and evidence.json with every figure."""
    found = dict(tables(rows))
    blocks = [*_opening(rows, cells, rules), *_bars(rows), *_worlds(found), *_fairness(rows), *_better(found)]
    blocks += [*_ablations(changes), *_failures(cells, rules), *_reading()]
    rules.out.mkdir(parents=True, exist_ok=True)
    page, text, plain = (rules.out / f"evidence.{end}" for end in ("html", "md", "json"))
    page.write_text(as_html(TITLE, blocks), encoding="utf-8")
    text.write_text(as_markdown(blocks), encoding="utf-8")
    (rules.out / "figures").mkdir(exist_ok=True)
    for name, svg in pictures_of(blocks).items():
        (rules.out / "figures" / f"{name}.svg").write_text(svg, encoding="utf-8")
    figures = {world: [one._asdict() for one in methods] for world, methods in found.items()}
    everything = {"bars": [one._asdict() for one in bars(rows)], "tables": figures}
    plain.write_text(json.dumps(everything, default=float), encoding="utf-8")
    return [page, text, plain]


def _opening(rows: Sequence[Row], cells: Sequence[Cell], rules: Rules) -> Iterator[Block]:
    people = {(row["world"], row["seed"], row["person"]) for row in rows}
    worlds, seeds = names(rows, "world"), names(rows, "seed")
    yield Heading(1, TITLE)
    yield Words(
        f"{len(people):,} people of {len(worlds)} tables ({', '.join(worlds)}), {len(seeds)} splits each, asked of "
        f"{len(names(rows, 'method'))} methods. Everyone gets the same model, the same people, the same constraints "
        f"and {rules.limit:g} s of processor time; whoever gets no answer is in the denominator. All are judged by the "
        "same code, which shares none with any method.",
        "lead",
    )
    yield Bullets(tuple(_circumstances(cells, rules)))


def _circumstances(cells: Sequence[Cell], rules: Rules) -> Iterator[str]:
    yield f"Date: {datetime.now(UTC).date().isoformat()}. Machine: {_machine()}."
    packages = ["numpy", "scipy", "scikit-learn", "pandas", *PACKAGES]
    told = [f"{name} {_version(name)}" for name in packages]
    yield f"Versions: localface {__version__}, Python {platform.python_version()}, {', '.join(told)}."
    yield f"Command: python benchmarks/evidence {' '.join(_shown(sys.argv[1:]))}".strip() + "."
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
            model = next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _bars(rows: Sequence[Row]) -> Iterator[Block]:
    yield Heading(2, "The bars")
    table = tuple((one.wanted, one.measured, "yes" if one.met else "no") for one in bars(rows))
    yield Table("What we hold ourselves to, and what was measured", ("wanted", "measured", "met"), table)
    missed = [f"{one.wanted}: {one.where}." for one in bars(rows) if not one.met and one.where]
    if missed:
        yield Words("Where they are missed:")
        yield Bullets(tuple(missed))


def _worlds(found: dict[str, list[Figures]]) -> Iterator[Block]:
    for world, methods in found.items():
        yield Heading(2, world)
        yield _soundness(world, methods)
        yield _quality(world, methods)
        yield Figure(pictures.trade(world, methods), "Filled: LocalFACE. Down is over rarer ground, right is further.")
        yield Figure(pictures.speed(world, methods), "Filled: LocalFACE. Each mark across is ten times the last.")
        yield Figure(pictures.retrained(world, methods), "Filled: LocalFACE, at three target scores.")


def _soundness(world: str, methods: Sequence[Figures]) -> Table:
    columns = (
        *("method", "asked", "found", "sound", "valid", "breaks a constraint", "traversable steps"),
        *("reached by our path", "median s", "p95 s", "model calls"),
    )
    body = tuple(
        (
            one.method,
            str(one.asked),
            _percent(one.found.mean),
            f"{_percent(one.sound.mean)}{_interval(one.sound.low, one.sound.high)}",
            _percent(one.valid),
            _percent(one.broken),
            _percent(one.traversable),
            _percent(one.reachable),
            _seconds(one.seconds),
            _seconds(one.p95),
            _count(one.calls),
        )
        for one in methods
    )
    return Table(f"{world}: who gets a sound answer (found and sound: of everybody asked)", columns, body)


def _quality(world: str, methods: Sequence[Figures]) -> Table:
    columns = (
        *("method", "features changed", "a step", "length", "redundant", "end's density", "rarest ground"),
        *("outliers", "yNN", "score never falls", "retrained agree", "found again", "end moves"),
    )
    body = tuple(
        (
            one.method,
            _count(one.changed),
            _count(one.sparsity),
            _count(one.cost),
            _percent(one.redundancy),
            _percent(one.density),
            _percent(one.lowest),
            _percent(one.outliers),
            _percent(one.ynn),
            _percent(one.monotone),
            _percent(one.retrained),
            _percent(one.stable),
            _count(one.moved),
        )
        for one in methods
        if np.isfinite(one.cost)
    )
    return Table(f"{world}: what the answers are like", columns, body)


def _fairness(rows: Sequence[Row]) -> Iterator[Block]:
    some = hopeful(rows)
    present = [method for method in COMPARED if method in names(rows, "method")]
    yield Heading(2, "Who is failed")
    yield Words(
        "Sound success by how usual the place is where people start, over all tables, of people who have anyone to "
        "become within their constraints."
    )
    lines_of = {method: deciles(some, method) for method in present}
    yield Figure(pictures.by_decile(lines_of), "Solid: LocalFACE.")
    table = []
    for method, each in lines_of.items():
        one = gap(some, method)
        apart = f"{100 * one.gap.mean:.1f} ({100 * one.gap.low:.1f} to {100 * one.gap.high:.1f})"
        table.append((method, *(_percent(line.share) if line.asked else "-" for line in each), apart))
    columns = ("method", *(str(i) for i in range(1, 11)), "median less lowest, points")
    yield Table("Sound success by density decile, 1 the loneliest", columns, tuple(table))
    shares = []
    for world in names(rows, "world"):
        for line in groups(of(rows, world=world), OURS[1]):
            within = f"{_percent(line.low)} to {_percent(line.high)}"
            shares.append((world, str(line.group), str(line.asked), _percent(line.share), within, _count(line.cost)))
    if shares:
        columns = ("table", "group", "asked", "sound", "interval", "median length")
        yield Table("LocalFACE by group, where a table has one", columns, tuple(shares))


def _better(found: dict[str, list[Figures]]) -> Iterator[Block]:
    """Where a peer's figure is better than ours, of peers that answer somebody."""
    wishes = (("changed", "fewer features changed", -1), ("cost", "shorter changes", -1), ("seconds", "faster", -1))
    more = (("lowest", "over more common ground", 1), ("ynn", "ends deeper among those who have it", 1))
    last = (("retrained", "more robust to retraining", 1), ("found", "answers more people", 1))
    table = []
    for world, methods in found.items():
        ours = next((one for one in methods if one.method == "localface"), None)
        for key, words, sign in (*wishes, *more, *last) if ours is not None else ():
            mine = _figure(ours, key)
            ahead = [one for one in methods if not one.method.startswith("localface") and one.found.mean > 0.1]
            ahead = [one for one in ahead if sign * (_figure(one, key) - mine) > 0.02 * abs(mine)]
            if ahead:
                best = max(ahead, key=lambda one: sign * _figure(one, key))
                sound = _percent(best.sound.mean)
                table.append((world, words, best.method, _count(_figure(best, key)), _count(mine), sound))
    yield Heading(2, "Where a peer is better")
    columns = ("table", "in what", "who, most", "theirs", "ours, with actions", "their sound success")
    yield Table(
        "Any figure in which some peer is ahead of LocalFACE with actions by more than 2 %", columns, tuple(table)
    )


def _figure(one: Figures, key: str) -> float:
    value = getattr(one, key)
    return float(value.mean if key == "found" else value)


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
                    _percent(share(mine, "found")),
                    _percent(share(mine, "sound")),
                    _count(middle(got, "length")),
                    _percent(middle(got, "lowest_density")),
                    _percent(middle(got, "mean_density")),
                    _percent(mean(mine, "rows_seen")),
                    _seconds(middle(mine, "seconds")),
                )
            )
        columns = ("setting", "found", "sound", "length", "rarest ground", "mean ground", "rows seen", "median s")
        yield Table(f"{world}: one thing changed, path only", columns, tuple(body))


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
traversable by the independent judge (for someone who stands on rarer ground than the floor, the first step may be
over ground as rare as theirs, whatever the method)."""
JUMPS = """A method that only jumps is judged on the jump; 'reached by our path' says how often LocalFACE finds a sound
way to where it jumps."""
UNITS = """Lengths are in ordinary differences between people; densities are shares of held-out people on rarer
ground; 'found again' and 'end moves' are for the same person measured with a little noise."""
STRAIGHT = "The straight line takes LocalFACE's own rule for a step; its success is how many need no path at all."
CAUSES = "What correlates with an outcome need not cause it: none of this says that following an answer works."


def _reading() -> Iterator[Block]:
    yield Heading(2, "How to read this")
    yield Bullets((SOUND, JUMPS, UNITS, STRAIGHT, CAUSES))


def _percent(value: float) -> str:
    return "-" if not np.isfinite(value) else f"{100 * value:.0f} %" if value in (0, 1) else f"{100 * value:.1f} %"


def _interval(low: float, high: float) -> str:
    return "" if not np.isfinite(low) else f" ({100 * max(low, 0):.0f} to {100 * min(high, 1):.0f})"


def _seconds(value: float) -> str:
    return "-" if not np.isfinite(value) else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def _count(value: float) -> str:
    return "-" if not np.isfinite(value) else f"{value:.3g}"
