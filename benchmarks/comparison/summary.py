"""From one row a person to the figures of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from localface.evaluation.metrics import (
    DecileGap,
    Interval,
    by_decile,
    lowest_decile_gap,
    over_seeds,
)
from localface.evaluation.metrics.groups import GroupResult

Row = dict[str, Any]
PLAIN = "localface"  # as it comes
PATH = "localface-path"
LASTING = "localface-lasting-90"
LOWER = ("localface-rarer", "localface-anywhere")  # what settings on lower floors begin with
FLOOR = 0.05  # the share of held-out people on rarer ground from which on ground counts as common
OUTLIER = 1.5  # a local outlier factor from which on an end counts as an outlier


def of(rows: Sequence[Row], **wanted: Any) -> list[Row]:
    """The rows that match."""
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def names(rows: Sequence[Row], key: str) -> list[str]:
    """The different values of a column, in the order they come."""
    return list(dict.fromkeys(row[key] for row in rows))


def ours(method: str) -> bool:
    """Whether a method is LocalFACE, whatever its setting."""
    return method.startswith("localface")


def on_usual_floor(method: str) -> bool:
    """Whether a method is LocalFACE, and keeps to states as common as it does unless told."""
    return ours(method) and not method.startswith(LOWER)


def peers(rows: Sequence[Row]) -> list[str]:
    """The methods that are not LocalFACE."""
    return [method for method in names(rows, "method") if not ours(method)]


def who(row: Row) -> tuple[str, int, int]:
    """The person that a row is about."""
    return row["world"], row["seed"], row["person"]


def among(rows: Sequence[Row], some: Sequence[Row]) -> list[Row]:
    """The rows about the people of some other rows: slow methods are asked about fewer people."""
    people = {who(row) for row in some}
    return [row for row in rows if who(row) in people]


def values(rows: Sequence[Row], key: str) -> np.ndarray[Any, Any]:
    """The numbers of a column, without those that do not apply."""
    found = [row.get(key) for row in rows]
    numbers = np.array([np.nan if one is None else float(one) for one in found])
    return numbers[np.isfinite(numbers)]


def share(rows: Sequence[Row], key: str) -> float:
    """How many of everybody asked."""
    return float(np.mean([bool(row[key]) for row in rows])) if rows else float("nan")


def middle(rows: Sequence[Row], key: str) -> float:
    """The median of those it applies to."""
    numbers = values(rows, key)
    return float(np.median(numbers)) if len(numbers) else float("nan")


def quantile(rows: Sequence[Row], key: str, at: float) -> float:
    """A quantile of those it applies to."""
    numbers = values(rows, key)
    return float(np.quantile(numbers, at)) if len(numbers) else float("nan")


def mean(rows: Sequence[Row], key: str) -> float:
    """The mean of those it applies to."""
    numbers = values(rows, key)
    return float(numbers.mean()) if len(numbers) else float("nan")


def by_seed(rows: Sequence[Row], figure: Callable[[Sequence[Row]], float]) -> Interval:
    """A figure seed by seed, and its interval."""
    each = [figure(of(rows, seed=seed)) for seed in names(rows, "seed")]
    known = [one for one in each if np.isfinite(one)]
    return over_seeds(known) if known else Interval(float("nan"), float("nan"), float("nan"))


class Figures(NamedTuple):
    """One method on one table."""

    method: str
    asked: int
    found: Interval
    sound: Interval
    sound_heldout: float  # by the density of held-out people, of those who start on common ground
    row_like: float  # of answers, whose end boosted trees take for a row as they take most people
    valid: float  # of answers, by a fresh call
    broken: float  # of answers, how many break a constraint at some state
    traversable: float  # of steps, by the independent judge
    changed: float
    effort: float
    cost: float
    sparsity: float
    redundancy: float
    density: float
    likeness: float  # how much the end looks like a row to boosted trees
    knn_distance: float
    outliers: float
    ynn: float
    detour: float
    lowest: float
    average: float
    traversable_heldout: float
    people: float  # other people within eps at the loneliest place of the way
    monotone: float
    retrained: float
    families: float
    calls: float
    records: float
    rows_seen: float  # share of all rows, where a method counts them
    setup: float
    seconds: float
    p95: float
    p99: float


def figures(rows: Sequence[Row], method: str) -> Figures:
    """Sum up one method on one table."""
    mine = of(rows, method=method)
    got = of(mine, found=1.0)
    seen = [row["rows_seen"] / row["rows_of"] for row in got if row.get("rows_of")]
    return Figures(
        method=method,
        asked=len(mine),
        found=by_seed(mine, lambda some: share(some, "found")),
        sound=by_seed(mine, lambda some: share(some, "sound")),
        sound_heldout=_mean([sound_heldout(row) for row in mine if starts_common(row)]),
        row_like=_mean([row["likeness"] >= FLOOR for row in got]),
        broken=_mean([row["violations"] > 0 for row in got]),
        traversable=of_steps(got, "traversable"),
        traversable_heldout=of_steps(got, "traversable_heldout"),
        outliers=_outliers(got),
        rows_seen=float(np.median(seen)) if seen else float("nan"),
        p95=quantile(mine, "seconds", 0.95),
        p99=quantile(mine, "seconds", 0.99),
        **{name: mean(got, key) for name, key in _MEANS.items()},
        **{name: middle(got, key) for name, key in _MEDIANS.items()},
        **{name: middle(mine, name) for name in ("setup", "seconds")},
    )


_MEANS = {
    key: key
    for key in (
        "valid",
        "sparsity",
        "redundancy",
        "ynn",
        "monotone",
        "retrained",
        "families",
    )
}
_MEDIANS = {
    "changed": "l0",
    "effort": "l1",
    "cost": "l2",
    "lowest": "lowest_density",
    "average": "mean_density",
    "people": "fewest_people",
    **{key: key for key in ("density", "likeness", "knn_distance", "detour", "calls", "records")},
}


def of_steps(rows: Sequence[Row], key: str) -> float:
    """A share of the steps of each path as a share of all steps."""
    known = [row for row in rows if np.isfinite(_number(row[key]))]
    walked = sum(row["steps"] for row in known)
    return float(sum(row[key] * row["steps"] for row in known) / walked) if walked else float("nan")


def sound_heldout(row: Row) -> bool:
    """Sound with the density of held-out people in place of the one that LocalFACE searches by."""
    return bool(row["valid"] and not row["violations"] and row["traversable_heldout"] == 1.0)


def starts_common(row: Row) -> bool:
    """Whether a person stands on common ground by the density of held-out people."""
    return bool(row["heldout_start"] >= FLOOR)


def _mean(flags: Sequence[bool]) -> float:
    return float(np.mean(flags)) if flags else float("nan")


def _outliers(got: Sequence[Row]) -> float:
    factors = values(got, "lof")
    return float(np.mean(factors > OUTLIER)) if len(factors) else float("nan")


def tables(rows: Sequence[Row]) -> Iterator[tuple[str, list[Figures]]]:
    """Every table with every method, ours first, then by sound success."""
    for world in names(rows, "world"):
        here = of(rows, world=world)
        found = [figures(here, method) for method in names(here, "method")]
        yield world, sorted(found, key=lambda one: (not ours(one.method), -one.sound.mean))


def deciles(rows: Sequence[Row], method: str) -> list[GroupResult]:
    """Success by how usual the place is where people start, over all tables."""
    mine = of(rows, method=method)
    flags = [bool(row["sound"]) for row in mine]
    return by_decile(flags, costs_of(mine), np.array([row["density_start"] for row in mine]))


def gap(rows: Sequence[Row], method: str, key: str = "sound") -> DecileGap:
    """Success of the lowest density decile beside that of the people around the median."""
    mine = of(rows, method=method)
    return lowest_decile_gap(
        [bool(row[key]) for row in mine], np.array([row["density_start"] for row in mine])
    )


def costs_of(rows: Sequence[Row]) -> np.ndarray[Any, Any]:
    """The length of each change; NaN where there is none."""
    return np.array([_number(row["l2"]) for row in rows])


def hopeful(rows: Sequence[Row]) -> list[Row]:
    """The rows of people who have any target within their constraints, as LocalFACE counts."""
    nobody = {who(row) for row in of(rows, method=PATH) if row["status"] == "NO_TARGET"}
    return [row for row in rows if who(row) not in nobody]


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)
