"""What a search may ask of the people it looks at, and how it is answered.

A stage is a generator: it yields a question and is sent the answer. Whatever
touches people, the model or the density is a question, so that one driver can
batch, meter, budget and cache all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from localface.geometry.segments import Array, Bounds, Mask

Ids = npt.NDArray[np.int64]
NO_ROWS: Ids = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """Who are the ``k`` nearest allowed people, no further than ``radius``? Answered with ``Neighbors``."""

    point: Array
    k: int
    bounds: Bounds
    exclude: Ids
    radius: float = np.inf


@dataclass(frozen=True, slots=True, eq=False)
class Neighbors:
    """Rows near a point, nearest first; ``cut`` says that the row budget withheld some."""

    ids: Ids
    points: Array
    distances: Array
    cut: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ScoreRows:
    """What does the model say of these rows? Answered with an array of scores."""

    ids: Ids


@dataclass(frozen=True, slots=True, eq=False)
class ScorePoints:
    """What does the model say of these states, which need not be rows? An array of scores.

    ``lent`` names revealed rows whose values the states have taken over: they are scored
    with exactly these values.
    """

    points: Array
    lent: Ids


@dataclass(frozen=True, slots=True, eq=False)
class Along:
    """How common is the ground along these segments? Answered with ``Ground``.

    ``rule`` says what is asked for: the "lowest" density on the way, or the "mean".
    With a floor the answer is a verdict, worked out no further than it takes to
    decide; without one the values are worked out in full.
    """

    starts: Array
    ends: Array
    floor: float | None
    rule: str


@dataclass(frozen=True, slots=True, eq=False)
class Hole:
    """A ball in which every place is below the floor: no step that touches it can pass."""

    centre: Array
    radius: float


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """A value per segment (higher is more common), whether it passes the floor, and holes that were found.

    A hole comes with the number of the segment that ran into it.
    """

    values: Array
    passes: Mask
    holes: tuple[tuple[int, Hole], ...] = ()

    def part(self, first: int, last: int) -> Ground:
        """The answer for some of the segments."""
        holes = tuple((at - first, hole) for at, hole in self.holes if first <= at < last)
        return Ground(self.values[first:last], self.passes[first:last], holes)


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """How common is the ground that these revealed rows stand on? An array of log-densities."""

    ids: Ids
    points: Array


@dataclass(frozen=True, slots=True, eq=False)
class Company:
    """How many people are much like this? Answered with a number a state; no row is revealed."""

    points: Array


@dataclass(frozen=True, slots=True, eq=False)
class Census:
    """How many allowed rows reach the target? Answered with ``Counts``; no row is revealed.

    ``why`` asks, where there are none, what each column rules out.
    """

    bounds: Bounds
    why: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Numbers only: rows allowed, targets allowed; where there are none, how many targets each column rules out."""

    allowed: int
    targets: int
    targets_anywhere: int
    excluded_by: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Widening:
    """How many times as far would someone have to be allowed to go, that anyone reaches the target?

    Within the bounds, and counted in ``reaches`` from ``record`` (in the user's units; infinite
    where a feature is free). Answered with a number; no row is revealed.
    """

    bounds: Bounds
    record: Array
    reaches: Array


@dataclass(frozen=True, slots=True, eq=False)
class Borrow:
    """What could someone be, with as much as they may take over from people who reach the target?

    ``like`` turns records into the states that someone at ``point`` may take over from them.
    Answered with a ``Loan`` of at most ``k`` states that have the score.
    """

    point: Array
    like: Callable[[Array], Array]
    k: int
    min_score: float


@dataclass(frozen=True, slots=True, eq=False)
class Loan:
    """States, the nearest first, and their scores; ``cut`` says that the row budget withheld some.

    The rows that they are made of count as seen.
    """

    points: Array
    scores: Array
    cut: bool = False


Question = Nearest | ScoreRows | ScorePoints | Along | Levels | Company | Census | Widening | Borrow
T = TypeVar("T")
Asks = Generator[Question, Any, T]


def nearest(point: Array, k: int, bounds: Bounds, exclude: Ids, radius: float = np.inf) -> Asks[Neighbors]:
    """Ask for the ``k`` nearest allowed rows."""
    answer: Neighbors = yield Nearest(point, k, bounds, exclude, radius)
    return answer


def row_scores(ids: Ids) -> Asks[Array]:
    """Ask for the scores of rows that were revealed."""
    answer: Array = yield ScoreRows(ids)
    return answer


def point_scores(points: Array, lent: Ids = NO_ROWS) -> Asks[Array]:
    """Ask for the scores of states that need not be rows."""
    answer: Array = yield ScorePoints(points, lent)
    return answer


def along(starts: Array, ends: Array, floor: float | None, rule: str) -> Asks[Ground]:
    """Ask how common the ground is along segments."""
    answer: Ground = yield Along(starts, ends, floor, rule)
    return answer


def levels(ids: Ids, points: Array) -> Asks[Array]:
    """Ask how common the ground is that rows stand on."""
    answer: Array = yield Levels(ids, points)
    return answer


def company(points: Array) -> Asks[Ids]:
    """Ask how many people are near states."""
    answer: Ids = yield Company(points)
    return answer


def census(bounds: Bounds, *, why: bool = True) -> Asks[Counts]:
    """Ask how many allowed rows reach the target."""
    answer: Counts = yield Census(bounds, why)
    return answer


def widening(bounds: Bounds, record: Array, reaches: Array) -> Asks[float]:
    """Ask how many times as far someone would have to be allowed to go."""
    answer: float = yield Widening(bounds, record, reaches)
    return answer


def borrow(point: Array, like: Callable[[Array], Array], k: int, min_score: float) -> Asks[Loan]:
    """Ask for states that have a score, made of what others have."""
    answer: Loan = yield Borrow(point, like, k, min_score)
    return answer
