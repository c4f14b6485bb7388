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

from localface.density.protocol import SegmentDensities
from localface.geometry.bounds import Bounds
from localface.sources.protocol import Nearest, Neighbors
from localface.types import NO_ROWS, Array, Ids


@dataclass(frozen=True, slots=True, eq=False)
class ScoreRows:
    """What does the model say of these rows? Answered with an array of scores."""

    ids: Ids


@dataclass(frozen=True, slots=True, eq=False)
class ScorePoints:
    """What does the model say of these states, which need not be rows? An array of scores.

    ``donors`` names revealed rows whose values the states have taken over: they are scored
    with exactly these values.
    """

    points: Array
    donors: Ids


@dataclass(frozen=True, slots=True, eq=False)
class DensityAlong:
    """How common is the ground along these segments? Answered with ``SegmentDensities``.

    ``rule`` says what is asked for: the "lowest" density on the way, or the "mean".
    With a floor the answer is a verdict, worked out no further than it takes to
    decide; without one the values are worked out in full.
    """

    starts: Array
    ends: Array
    log_floor: float | None
    rule: str


@dataclass(frozen=True, slots=True, eq=False)
class RowDensities:
    """How common is the ground that these revealed rows stand on? An array of log-densities."""

    ids: Ids
    points: Array


@dataclass(frozen=True, slots=True, eq=False)
class CountNear:
    """How many people are much like this? Answered with a number a state; no row is revealed."""

    points: Array


@dataclass(frozen=True, slots=True, eq=False)
class Census:
    """How many allowed rows reach the target? Answered with ``TargetCounts``; no row is revealed.

    ``why`` asks, where there are none, what each column rules out.
    """

    bounds: Bounds
    why: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class TargetCounts:
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
class ComposeStates:
    """What could someone be, with as much as they may take over from people who reach the target?

    ``project`` turns records into the states that someone at ``point`` may take over from them.
    Answered with a ``ComposedStates`` of at most ``k`` states that have the score.
    """

    point: Array
    project: Callable[[Array], Array]
    k: int
    min_score: float


@dataclass(frozen=True, slots=True, eq=False)
class ComposedStates:
    """States, the nearest first, and their scores; ``cut`` says that the row budget withheld some.

    The rows that they are made of count as seen.
    """

    points: Array
    scores: Array
    cut: bool = False


Question = (
    Nearest
    | ScoreRows
    | ScorePoints
    | DensityAlong
    | RowDensities
    | CountNear
    | Census
    | Widening
    | ComposeStates
)
T = TypeVar("T")
Asks = Generator[Question, Any, T]


def ask_nearest(
    point: Array, k: int, bounds: Bounds, exclude: Ids, radius: float = np.inf
) -> Asks[Neighbors]:
    """Ask for the ``k`` nearest allowed rows."""
    answer: Neighbors = yield Nearest(point, k, bounds, exclude, radius)
    return answer


def ask_row_scores(ids: Ids) -> Asks[Array]:
    """Ask for the scores of rows that were revealed."""
    answer: Array = yield ScoreRows(ids)
    return answer


def ask_point_scores(points: Array, donors: Ids = NO_ROWS) -> Asks[Array]:
    """Ask for the scores of states that need not be rows."""
    answer: Array = yield ScorePoints(points, donors)
    return answer


def ask_density_along(
    starts: Array, ends: Array, log_floor: float | None, rule: str
) -> Asks[SegmentDensities]:
    """Ask how common the ground is along segments."""
    answer: SegmentDensities = yield DensityAlong(starts, ends, log_floor, rule)
    return answer


def ask_row_densities(ids: Ids, points: Array) -> Asks[Array]:
    """Ask how common the ground is that rows stand on."""
    answer: Array = yield RowDensities(ids, points)
    return answer


def ask_count_near(points: Array) -> Asks[Ids]:
    """Ask how many people are near states."""
    answer: Ids = yield CountNear(points)
    return answer


def ask_census(bounds: Bounds, *, why: bool = True) -> Asks[TargetCounts]:
    """Ask how many allowed rows reach the target."""
    answer: TargetCounts = yield Census(bounds, why)
    return answer


def ask_widening(bounds: Bounds, record: Array, reaches: Array) -> Asks[float]:
    """Ask how many times as far someone would have to be allowed to go."""
    answer: float = yield Widening(bounds, record, reaches)
    return answer


def ask_compose_states(
    point: Array, project: Callable[[Array], Array], k: int, min_score: float
) -> Asks[ComposedStates]:
    """Ask for states that have a score, made of what others have."""
    answer: ComposedStates = yield ComposeStates(point, project, k, min_score)
    return answer
