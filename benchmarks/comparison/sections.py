"""The sections of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pictures
from bar import Bar
from cell_files import Cell, Rules, lines
from figured import count, percent, proposed, reached, seconds, served, taken
from localface.cases.readiness.document import (
    Bullets,
    DocumentBlock,
    Figure,
    Heading,
    Paragraph,
    Table,
)
from summary import (
    PLAIN,
    Figures,
    Row,
    deciles,
    gap,
    hopeful,
    mean,
    middle,
    names,
    of,
    share,
)

COMPARED = (PLAIN, "face-knn", "nearest-unlike", "nice-sparse", "treecf")
_MET = {True: "yes", False: "no", None: "-"}


def bars_section(found: Sequence[Bar]) -> Iterator[DocumentBlock]:
    yield Heading(2, "The bars")
    table = tuple((one.wanted, one.measured, _MET[one.met]) for one in found)
    yield Table(
        "What we hold ourselves to, and what was measured", ("wanted", "measured", "met"), table
    )
    missed = [f"{one.wanted}: {one.where}." for one in found if one.met is False and one.where]
    if missed:
        yield Paragraph("Where they are missed:")
        yield Bullets(tuple(missed))


def tables_section(found: dict[str, list[Figures]]) -> Iterator[DocumentBlock]:
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


def fairness_section(rows: Sequence[Row]) -> Iterator[DocumentBlock]:
    some = hopeful(rows)
    present = [method for method in COMPARED if method in names(rows, "method")]
    yield Heading(2, "Who is failed")
    yield Paragraph(
        "Sound success by how usual the place is where people start, over all tables, of people "
        "who have anyone to become within their constraints."
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


def ablations_section(changes: Sequence[Row]) -> Iterator[DocumentBlock]:
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


def diversity_section(several: Sequence[Row]) -> Iterator[DocumentBlock]:
    """Who can give several answers that differ."""
    if not several:
        return
    body = []
    for world in names(several, "world"):
        for method in names(several, "method"):
            if mine := of(several, world=world, method=method):
                given = sum(row["given"] for row in mine)
                two = sum(row["given"] > 1 for row in mine)
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


def failures_section(cells: Sequence[Cell], rules: Rules) -> Iterator[DocumentBlock]:
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


SOUND = (
    "sound: found, valid by a fresh call of the model, no constraint broken at any state, every "
    "step traversable by the independent judge (someone who stands on rarer ground than the floor "
    "need only go no lower than they stand until they come above it, where they must end, whatever "
    "the method)."
)
FEWER = (
    "Not every method is asked about everybody: the quick ones are asked about all people of all "
    "splits, some about the first quarter of each, others about the first quarter of the first "
    "split. What is compared is compared on the people whom both were asked about. After the first "
    "three people of a split ran into the limit, the rest are not tried, and count as without an "
    "answer."
)
HELDOUT = (
    "The rule of sound is LocalFACE's own (kernels and pairs), judged by other code from the "
    "numbers that were fitted. The density of held-out people is a second opinion: kernels shaped "
    "by the covariance of people whom no method was given, the same floor of 5 %, of people who "
    "start above it. A third are boosted trees that were taught rows against records composed at "
    "random: an end passes if they take it for a row as they take 95 % of held-out people."
)
REFITTED = (
    "Refits are the same kind of model on people drawn anew, from another seed; LocalFACE's own "
    "refits, which lasting= learns from, are drawn in the same manner from another seed. Other "
    "families are boosted, extremely random and shallow trees, a logistic regression, a network "
    "and nearest neighbours, on at most 5,000 rows."
)
TIMES = (
    "Seconds are of the processor. Set-up (scoring all rows, a graph, a density) is once a table "
    "and not in them. FACE is asked about everybody in one pass, and its time shared out evenly. "
    "'rows seen' is '-' for methods that are given all rows and do not count which they look at."
)
UNITS = (
    "Effort is the sum of what changes, in standard deviations (another category counts 1); L2 and "
    "distances are in the same; densities and grounds are shares of held-out people on rarer "
    "ground; outliers have a local outlier factor above 1.5; 'people nearby' are within the "
    "median distance to the tenth nearest."
)
CAUSES = (
    "What correlates with an outcome need not cause it: none of this says that following an answer "
    "works."
)


def reading_section() -> Iterator[DocumentBlock]:
    yield Heading(2, "How to read this")
    yield Bullets((SOUND, HELDOUT, REFITTED, FEWER, TIMES, UNITS, CAUSES))
