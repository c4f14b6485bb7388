"""Everything that is measured of proposals, many at a time, by one judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from localface.data.box import Box
from localface.errors import DataError
from localface.evaluation.metrics.change import l0, l1, l2, put_back
from localface.evaluation.metrics.ends import knn_distance, valid, ynn
from localface.evaluation.metrics.ground import (
    TOLERANCE,
    HeldOut,
    Rule,
    Under,
    along_path,
    people_within,
    weights,
)
from localface.evaluation.metrics.judgement import Judgement
from localface.evaluation.metrics.laws import exist, violations
from localface.evaluation.metrics.measures import Measures
from localface.evaluation.metrics.paths import (
    deepest_fall,
    detour,
    monotone,
    over,
    path_length,
    sparsity,
)
from localface.evaluation.metrics.ways import Ways
from localface.types import Array, Mask

Columns = dict[str, Array]
"""One value of each measure for every path."""


def measured(
    judgement: Judgement,
    states: Array | None,
    box: Box,
    *,
    optimum: float | None = None,
    floor: float | None = None,
) -> Measures:
    """Measure one proposal: its states in the user's units, the person first; None where nothing was found.

    ``optimum`` is the length of the best way on all data; ``floor`` a log-density of the
    person's own, where the rule was relaxed for them.
    """
    return measured_many(judgement, [states], [box], optima=[optimum], floors=[floor])[0]


def measured_many(
    judgement: Judgement,
    proposals: Sequence[Array | None],
    boxes: Sequence[Box],
    *,
    optima: Sequence[float | None] | None = None,
    floors: Sequence[float | None] | None = None,
) -> list[Measures]:
    """Measure many proposals with two model calls in all: one for the states, one for what could be put back.

    A state that is no record at all (not finite) leaves nothing to measure but what it breaks.
    """
    n = len(proposals)
    best = [None] * n if optima is None else list(optima)
    lowest = [None] * n if floors is None else list(floors)
    if not n == len(boxes) == len(best) == len(lowest):
        counts = f"{n} proposals, {len(boxes)} boxes, {len(best)} optima and {len(lowest)} floors"
        raise DataError(
            f"{counts} do not go together: give one of each a person, None where there is none"
        )
    found = [
        _first_look(judgement, states, box) for states, box in zip(proposals, boxes, strict=True)
    ]
    paths = {
        i: states
        for i, states in enumerate(proposals)
        if states is not None and np.isfinite(states).all()
    }
    if paths:
        columns = _columns(
            judgement, list(paths.values()), [best[i] for i in paths], [lowest[i] for i in paths]
        )
        for place, i in enumerate(paths):
            values: dict[str, Any] = {
                name: float(column[place]) for name, column in columns.items()
            }
            found[i] = replace(found[i], **{**values, "valid": values["valid"] == 1.0})
    return found


def _first_look(judgement: Judgement, states: Array | None, box: Box) -> Measures:
    if states is None:
        return Measures(found=False)
    if states.ndim != 2 or not len(states) or states.shape[1] != len(judgement.space.schema):
        wanted = f"(states, {len(judgement.space.schema)})"
        raise DataError(
            f"a proposal of shape {states.shape} is no path: give an array of shape {wanted}"
        )
    return Measures(found=True, violations=violations(states, judgement.space, box))


def _columns(
    judgement: Judgement,
    paths: Sequence[Array],
    optima: Sequence[float | None],
    floors: Sequence[float | None],
) -> Columns:
    ways = Ways.of(judgement.space, paths)
    columns = {**_agreed(judgement, ways), **_changed(judgement, ways), **_ended(judgement, ways)}
    columns |= {**_walked(ways, optima), **_nearby(judgement, ways)}
    if judgement.heldout is not None:
        columns |= _over_heldout(judgement.heldout, ways, judgement.min_density)
    if judgement.rule is not None:
        columns |= _by_the_rule(judgement.rule, ways, floors)
    return columns


def _agreed(judgement: Judgement, ways: Ways) -> Columns:
    """What the model says of the states; what does not exist has no score."""
    scores = np.full(len(ways.records), np.nan)
    real = exist(ways.records, judgement.space.schema).all(axis=1)
    if real.any():
        scores[real] = judgement.score(ways.records[real])
    each = [scores[some] for some in ways.states]
    good = scores[ways.lasts] >= judgement.min_score
    return {
        "score": scores[ways.lasts],
        "valid": good.astype(np.float64),
        "monotone": np.array([float(monotone(some)) for some in each]),
        "deepest_fall": np.array([deepest_fall(some) for some in each]),
        "redundancy": _redundancy(judgement, ways, good),
    }


def _redundancy(judgement: Judgement, ways: Ways, good: Mask) -> Array:
    """The share of changes that could be put back; of ends that are valid."""
    shares, space = np.full(len(good), np.nan), judgement.space
    places = [i for i in np.flatnonzero(good).tolist() if len(put_back(*ways.ends_of(i), space))]
    trials = [put_back(*ways.ends_of(i), space) for i in places]
    if trials:
        still = valid(np.concatenate(trials), judgement.score, min_score=judgement.min_score)
        parts = np.split(still, np.cumsum([len(some) for some in trials])[:-1])
        shares[places] = [part.mean() for part in parts]
    return shares


def _changed(judgement: Judgement, ways: Ways) -> Columns:
    space, starts, ends = judgement.space, ways.records[ways.firsts], ways.records[ways.lasts]
    each = np.array([sparsity(ways.records[some], space) for some in ways.states])
    return {
        "l0": l0(starts, ends, space),
        "l1": l1(starts, ends, space.schema, space.scales),
        "l2": l2(starts, ends, space.schema, space.scales),
        "l1_mad": l1(starts, ends, space.schema, judgement.mad),
        "l1_range": l1(starts, ends, space.schema, judgement.ranges),
        "sparsity": each[:, 0],
        "sparsity_most": each[:, 1],
    }


def _ended(judgement: Judgement, ways: Ways) -> Columns:
    ends = ways.points[ways.lasts]
    return {
        "ynn": ynn(ends, judgement.rows, judgement.reaches, k=judgement.k),
        "knn_distance": knn_distance(ends, judgement.rows, k=judgement.k),
        "lof": judgement.factor(ends),
    }


def _walked(ways: Ways, optima: Sequence[float | None]) -> Columns:
    each = [ways.points[some] for some in ways.states]
    lengths = np.array([path_length(points) for points in each])
    return {
        "steps": (ways.lasts - ways.firsts).astype(np.float64),
        "length": lengths,
        "detour": np.array([detour(points) for points in each]),
        "over_optimum": np.array(
            [over(length, best) for length, best in zip(lengths, optima, strict=True)]
        ),
    }


def _nearby(judgement: Judgement, ways: Ways) -> Columns:
    fewest, mean = people_within(
        *ways.stretches, judgement.space.discrete, judgement.rows, eps=judgement.eps
    )
    lengths = ways.lengths
    return {
        "fewest_people": np.array([fewest[some].min() for some in ways.steps]),
        "mean_people": np.array([mean[some] @ weights(lengths[some]) for some in ways.steps]),
    }


def _over_heldout(heldout: HeldOut, ways: Ways, min_density: float) -> Columns:
    under, lengths = heldout.under(*ways.stretches), ways.lengths
    paths = [
        along_path(Under(under.lowest[some], under.mean[some]), lengths[some])
        for some in ways.steps
    ]
    lowest, mean = np.array(paths).T
    return {
        "density": heldout.share(heldout.logs(ways.points[ways.lasts])),
        "lowest_log": lowest,
        "mean_log": mean,
        "lowest_density": heldout.share(lowest),
        "mean_density": heldout.share(mean),
        "traversable_heldout": _share_of_steps(
            under.lowest >= heldout.floor(min_density) - TOLERANCE, ways
        ),
    }


def _by_the_rule(rule: Rule, ways: Ways, floors: Sequence[float | None]) -> Columns:
    """Strictly, and with a personal floor for whoever stands below it."""
    own = np.array([rule.floor if one is None else one for one in floors], dtype=np.float64)
    floor = np.repeat(own, [some.stop - some.start for some in ways.steps])
    starts, ends = ways.stretches
    lowest, standing = rule.under(starts, ends).lowest, rule.at_start(starts, ends)
    lasts = [some.stop - 1 for some in ways.steps]
    arriving = rule.under(ends[lasts], ends[lasts]).lowest
    personal = np.concatenate(
        [
            _personally(lowest[some], standing[some], float(end), float(wanted))
            for some, end, wanted in zip(ways.steps, arriving, own, strict=True)
        ]
    )
    return {
        "traversable": _share_of_steps(lowest >= floor - TOLERANCE, ways),
        "traversable_personal": _share_of_steps(personal, ways),
    }


def _personally(lowest: Array, standing: Array, arriving: float, floor: float) -> Mask:
    """Which steps of one way hold: no lower than where it starts until it comes above the floor, where it must end."""
    above = np.maximum.accumulate(standing >= floor - TOLERANCE)
    holds = lowest >= np.where(above, floor, min(floor, float(standing[0]))) - TOLERANCE
    holds[-1] &= arriving >= floor - TOLERANCE
    return np.asarray(holds)


def _share_of_steps(passed: Mask, ways: Ways) -> Array:
    shares = np.array([passed[some].mean() for some in ways.steps])
    return np.where(ways.lasts > ways.firsts, shares, np.nan)
