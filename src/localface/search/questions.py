"""The questions that a search may ask, each with the type of its answer.

A stage is a generator: it yields a question and is sent the answer. Whatever touches the rows,
the model or the density is a question, so that one driver can batch, meter and cache it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from localface.density.protocol import LogFloor, SegmentDensities
from localface.geometry.bounds import Bounds
from localface.geometry.projection import Projection
from localface.sources.protocol import Nearest, Neighbors
from localface.types import NO_ROWS, Array, Ids, Mask

_FIRST_COMPOSED = 256  # composed states that the model is asked about for one person, at first
_MAX_COMPOSED = 1024  # and at most


@dataclass(frozen=True, slots=True, eq=False)
class NearestToEach:
    """Which rows are nearest, to each of several points? Answered with a list of ``Neighbors``."""

    questions: tuple[Nearest, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreRows:
    """What are the scores of these rows? Answered with an array."""

    ids: Ids


@dataclass(frozen=True, slots=True, eq=False)
class ScorePoints:
    """What are the scores of these states, which need not be rows? Answered with an array.

    ``donors`` names revealed rows whose values the states have taken over: they are scored
    with exactly these values.
    """

    points: Array
    donors: Ids


@dataclass(frozen=True, slots=True, eq=False)
class DensityAlong:
    """What is the log-density along these segments? Answered with ``SegmentDensities``.

    ``rule`` says what is asked for: the "lowest" density on the segment, or the "mean".
    With a floor, or one for each, the answer is a verdict, worked out no further than it takes
    to decide; without one in full. ``askers``: whom each is about, if not the searcher.
    """

    starts: Array
    ends: Array
    log_floor: LogFloor
    rule: str
    askers: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RowDensities:
    """What is the density at these revealed rows? Answered with an array of log-densities."""

    ids: Ids
    points: Array


@dataclass(frozen=True, slots=True, eq=False)
class Census:
    """How many allowed rows reach the target? Answered with ``TargetCounts``; no row is revealed.

    ``why`` asks, where there are none, what each column rules out. With a ``projection`` the
    states are counted that a person may take over from rows, those apart that break relations;
    ``point`` is where the person is, if they want to know how the best of them differs from it;
    ``which`` asks for the states themselves, where they differ in one value only.
    """

    bounds: Bounds
    why: bool = True
    projection: Projection | None = None
    keeps_relations: Callable[[Array], Mask] | None = None
    point: Array | None = None
    which: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class BestState:
    """The score of the best state that there is, and in which columns it is another: no value."""

    score: float
    changes: Mask


@dataclass(frozen=True, slots=True, eq=False)
class TargetCounts:
    """How many rows are allowed, and how many of them reach the target.

    Where none does, ``excluded_by`` says how many targets each column rules out. ``of_states`` says
    that states were counted; ``best`` is then the one with the highest score, if there is any,
    and ``states`` are all of them and which reach the target, where that was asked.
    """

    allowed: int
    targets: int
    targets_anywhere: int
    excluded_by: npt.NDArray[np.int64]
    of_states: bool = False
    best: BestState | None = None
    states: tuple[Array, Mask] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Widening:
    """By which factor must ``distance_limits`` grow for any allowed row to reach the target?

    Reaches are counted from ``record`` (in the user's units; infinite where a feature is
    free). Answered with a number; no row is revealed.
    """

    bounds: Bounds
    record: Array
    distance_limits: Array


@dataclass(frozen=True, slots=True, eq=False)
class ComposeStates:
    """Which states can be made of what rows that reach the target have?

    ``projection`` says what someone at ``point`` may take over from them (None: everything).
    Answered with a ``ComposedStates`` of at most ``k`` states that have the score, of those from
    the ``first`` nearest up to the ``last``.
    """

    point: Array
    projection: Projection | None
    k: int
    min_score: float
    first: int = 0
    last: int = _FIRST_COMPOSED


@dataclass(frozen=True, slots=True, eq=False)
class ComposedStates:
    """States, the nearest first, and their scores; ``cut`` says that the row budget withheld some.

    ``ids`` are the rows that they are taken from, which count as seen. ``ended`` says that there
    are no more states than were looked at.
    """

    points: Array
    scores: Array
    ids: Ids
    cut: bool = False
    ended: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class HelpOthers:
    """Do the changes to these ends help others as well? Answered with an ``OthersHelped`` for each.

    Others make the change from about what the person at ``point`` has of the columns that an end
    changes, of ``discrete`` ones from the same; columns of one group are one change. ``donors`` as
    for ``ScorePoints``. No row is revealed.
    """

    point: Array
    ends: Array
    group_of: Ids
    discrete: Mask
    donors: Ids
    keeps_relations: Callable[[Array], Mask]


@dataclass(frozen=True, slots=True, eq=False)
class OthersHelped:
    """Of others who make the same changes, the share for whom the score rises.

    Who it does not move is not counted. ``shares`` and ``moved`` are those of each change, where
    the rest is done; ``columns`` tells which it changes; ``whole`` and ``whole_moved`` are those of
    all changes together. Where hardly anybody is moved nothing can be told: the share is 1.
    """

    columns: Mask  # a line for each change
    shares: Array
    moved: npt.NDArray[np.int64]
    whole: float
    whole_moved: int

    @property
    def least(self) -> float:
        """The least of all shares."""
        return float(min(self.whole, self.shares.min(initial=1.0)))


Question = (
    Nearest
    | NearestToEach
    | ScoreRows
    | ScorePoints
    | DensityAlong
    | RowDensities
    | Census
    | Widening
    | ComposeStates
    | HelpOthers
)
_T = TypeVar("_T")
Questions = Generator[Question, Any, _T]
"""A generator that asks questions, is sent the answers, and returns a value in the end."""


class OutOfTime(Exception):
    """Raised in a search, once, when its time is up: it closes with the best that it has.

    Its first question is always answered.
    """


def ask_nearest_rows(
    point: Array,
    k: int,
    bounds: Bounds,
    exclude: Ids,
    *,
    radius: float = np.inf,
    projection: Projection | None = None,
) -> Questions[Neighbors]:
    """Ask for the ``k`` nearest allowed rows, or states that a person may take over from rows."""
    answer: Neighbors = yield Nearest(point, k, bounds, exclude, radius, projection)
    return answer


def ask_nearest_to_each(questions: tuple[Nearest, ...]) -> Questions[list[Neighbors]]:
    """Ask for the rows nearest to each of several points."""
    answer: list[Neighbors] = yield NearestToEach(questions)
    return answer


def ask_row_scores(ids: Ids) -> Questions[Array]:
    """Ask for the scores of rows that were revealed."""
    answer: Array = yield ScoreRows(ids)
    return answer


def ask_point_scores(points: Array, donors: Ids = NO_ROWS) -> Questions[Array]:
    """Ask for the scores of states that need not be rows."""
    answer: Array = yield ScorePoints(points, donors)
    return answer


def ask_scores_of_states(rows: Ids, points: Array, moved: Mask) -> Questions[Array]:
    """Ask for the scores of states: those that are their row's own are known as the row's."""
    scores = np.empty(len(rows))
    if not moved.all():
        scores[~moved] = yield from ask_row_scores(rows[~moved])
    if moved.any():
        scores[moved] = yield from ask_point_scores(points[moved], rows[moved])
    return scores


def ask_density_along(
    starts: Array, ends: Array, log_floor: LogFloor, rule: str, *, askers: Array | None = None
) -> Questions[SegmentDensities]:
    """Ask for the log-density along segments."""
    answer: SegmentDensities = yield DensityAlong(starts, ends, log_floor, rule, askers)
    return answer


def ask_state_densities(points: Array, rule: str, enough: float = np.inf) -> Questions[Array]:
    """Ask for the log-density at points; infinite where it is ``enough``, which costs less."""
    values = np.full(len(points), np.inf)
    low = np.arange(len(points))
    if np.isfinite(enough):
        judged = yield from ask_density_along(points, points, enough, rule)
        low = np.flatnonzero(~judged.passes)
    if len(low):
        found = yield from ask_density_along(points[low], points[low], None, rule)
        values[low] = found.log_densities
    return values


def ask_row_densities(ids: Ids, points: Array) -> Questions[Array]:
    """Ask for the log-density at rows that were revealed."""
    answer: Array = yield RowDensities(ids, points)
    return answer


def ask_target_counts(
    bounds: Bounds,
    *,
    why: bool = True,
    projection: Projection | None = None,
    keeps_relations: Callable[[Array], Mask] | None = None,
    point: Array | None = None,
    which: bool = False,
) -> Questions[TargetCounts]:
    """Ask how many allowed rows reach the target, or states that a person may take over."""
    answer: TargetCounts = yield Census(bounds, why, projection, keeps_relations, point, which)
    return answer


def ask_widening_factor(bounds: Bounds, record: Array, distance_limits: Array) -> Questions[float]:
    """Ask by which factor reaches must grow for any row to reach the target."""
    answer: float = yield Widening(bounds, record, distance_limits)
    return answer


def ask_whether_others_are_helped(
    point: Array,
    ends: Array,
    columns: tuple[Ids, Mask],
    donors: Ids,
    keeps_relations: Callable[[Array], Mask],
) -> Questions[list[OthersHelped]]:
    """Ask whether the changes from a point to each of some ends help others as well.

    ``columns`` are the group of each, and whether it is discrete.
    """
    answer: list[OthersHelped] = yield HelpOthers(point, ends, *columns, donors, keeps_relations)
    return answer


def ask_composed_states(
    point: Array, projection: Projection | None, k: int, min_score: float
) -> Questions[ComposedStates]:
    """Ask for states that reach a score, made of what rows have.

    Mostly some of the nearest do; the model is asked about more only where too few of them do.
    """
    near: ComposedStates = yield ComposeStates(point, projection, k, min_score)
    missing = k - len(near.ids)
    if not missing or near.ended or near.cut:
        return near
    beyond = ComposeStates(point, projection, missing, min_score, _FIRST_COMPOSED, _MAX_COMPOSED)
    far: ComposedStates = yield beyond
    return ComposedStates(
        np.concatenate([near.points, far.points]),
        np.concatenate([near.scores, far.scores]),
        np.concatenate([near.ids, far.ids]),
        far.cut,
        far.ended,
    )
