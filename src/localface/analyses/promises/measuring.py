"""Measures where people stand on their plans: scores in one model call, densities in another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from localface.analyses.promises.promise import Promise
from localface.analyses.promises.standing import Standing
from localface.analyses.promises.verdict import Measured
from localface.answers.recourse import Recourse
from localface.density.protocol import FLOOR_TOLERANCE, RESTATED_TOLERANCE
from localface.engine.engine import Engine
from localface.engine.job import SearchJob, take_points_as_records
from localface.engine.targeting import engine_for_person, engine_for_target
from localface.errors import InputError
from localface.geometry.segments import efforts
from localface.search.questions import Questions, ask_density_along, ask_point_scores
from localface.types import Array, Mask

_Asked = tuple[Array, Array, Array]


def engine_for_promise(engine: Engine, promise: Promise, factual: Array) -> Engine:
    """Return the engine that judges a promise: for its target, its score and its floor."""
    recourse = promise.recourse
    at = engine_for_person(engine_for_target(engine, promise.target), factual)
    min_score = None if at.score.output.is_folded else recourse.target.min_score
    at = at.with_thresholds(min_score=min_score, min_density=recourse.min_density)
    if at.answers.target != recourse.target:
        raise InputError(
            f"it is for {recourse.target.sentence}, and the explainer for "
            f"{at.answers.target.sentence}: make an explainer for that target"
        )
    return at


class PromisedGround(NamedTuple):
    """The ground that was promised, in shares: the least common step, and a floor if lowered."""

    lowest: float
    lowered_to: float | None

    @classmethod
    def of(cls, recourse: Recourse) -> PromisedGround:
        """Read it off an answer."""
        steps = recourse.with_actions_as_path().certificates
        return cls(min((one.lowest for one in steps), default=1.0), recourse.relaxed_to)


def measure_standings(
    pairs: Sequence[tuple[Engine, Standing]], grounds: Sequence[PromisedGround]
) -> list[Measured]:
    """Measure every standing by its engine; engines that read a model alike ask it together."""
    found: list[Measured | None] = [None] * len(pairs)
    for numbers in _grouped_by_driver(pairs):
        jobs = [_make_job(*pairs[n]) for n in numbers]
        for position, result, _ in pairs[numbers[0]][0].driver.run(jobs):
            n = numbers[position]
            found[n] = _measured(*pairs[n], result, grounds[n])
    return [one for one in found if one is not None]


def _grouped_by_driver(pairs: Iterable[tuple[Engine, Standing]]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for number, (engine, _) in enumerate(pairs):
        groups.setdefault(id(engine.driver), []).append(number)
    return list(groups.values())


def _make_job(engine: Engine, standing: Standing) -> SearchJob[_Asked]:
    """The questions of one promise; the driver asks those of all promises at once."""
    records = np.stack([standing.current, standing.promised, standing.finish])
    points = engine.space.points(standing.left)
    rule = "mean" if engine.options.edges == "average" else "lowest"
    asks = _ask_scores_and_densities(records, points, rule)
    return SearchJob(asks, take_points_as_records, engine.score.min_score, asker=points[0])


def _ask_scores_and_densities(records: Array, points: Array, rule: str) -> Questions[_Asked]:
    """Ask for scores, and for log-densities at states and on the steps between them."""
    scores = yield from ask_point_scores(records)
    at = yield from ask_density_along(points, points, None, rule)
    if len(points) == 1:
        return scores, at.log_densities, np.zeros(0)
    along = yield from ask_density_along(points[:-1], points[1:], None, rule)
    return scores, at.log_densities, along.log_densities


def _measured(
    engine: Engine, standing: Standing, asked: _Asked, ground: PromisedGround
) -> Measured:
    scores, at, along = asked
    records = np.stack([standing.current, standing.promised, standing.finish])
    shown = engine.score.display_scores(scores.tolist(), records)
    steps = np.diff(engine.space.points(standing.left), axis=0)
    share = engine.answers.scale.share_below
    crossed = along if len(along) else at[-1:]
    return Measured(
        score_now=shown[0],
        score_promised=shown[1],
        score=shown[2],
        reached=_three_verdicts(scores >= engine.score.min_score),
        density=float(share(at[-1])),
        lowest=float(share(crossed.min())),
        on_ground=_is_on_ground(engine, at, along, ground),
        cost=float(sum(efforts(steps, engine.space.groups).tolist())) if len(steps) else 0.0,
    )


def _three_verdicts(reached: Mask) -> tuple[bool, bool, bool]:
    now, promised, finish = reached.tolist()
    return now, promised, finish


def _is_on_ground(engine: Engine, at: Array, along: Array, ground: PromisedGround) -> bool:
    """Tell whether the end and every step keep the floor.

    Somebody below the floor may first come above it, by steps that are no less common than they
    are themselves, or than the least common one that they were promised.
    """
    share = engine.answers.scale.share_below
    above = _keeps_floor(engine, at, ground.lowered_to)
    if not above[-1]:
        return False
    entered = int(np.flatnonzero(above)[0])
    least = min(ground.lowest, float(share(at[0]))) - FLOOR_TOLERANCE
    enters = all(float(share(one)) >= least for one in along[:entered])
    return enters and bool(_keeps_floor(engine, along[entered:], ground.lowered_to).all())


def _keeps_floor(engine: Engine, log_densities: Array, lowered_to: float | None) -> Mask:
    if lowered_to is None:
        return np.asarray(log_densities >= engine.log_floor - RESTATED_TOLERANCE)
    share = engine.answers.scale.share_below
    shares = np.array([float(share(one)) for one in log_densities])
    return np.asarray(shares >= lowered_to - FLOOR_TOLERANCE)
