"""Measures proposals, many at a time, by one judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from localface.data.box import Box
from localface.errors import DataError
from localface.evaluation.metrics.changes import l0, l1, l2, scaled_differences, single_undos
from localface.evaluation.metrics.endpoints import knn_distance, valid, ynn
from localface.evaluation.metrics.held_out_density import HeldOutDensity
from localface.evaluation.metrics.judge import Judge
from localface.evaluation.metrics.measures import Measures
from localface.evaluation.metrics.paths import (
    deepest_fall,
    detour,
    monotone,
    over_optimum,
    path_length,
    sparsity,
)
from localface.evaluation.metrics.people_nearby import people_within
from localface.evaluation.metrics.stacked_paths import StackedPaths
from localface.evaluation.metrics.step_densities import (
    JUDGE_TOLERANCE,
    StepDensities,
    length_weights,
    path_log_densities,
)
from localface.evaluation.metrics.traversal_rule import TraversalRule
from localface.evaluation.metrics.violations import (
    count_violations,
    existing_values,
    with_existing_categories,
)
from localface.types import Array, Mask

Values = dict[str, Array]
"""By the name of a measure: one value for every path."""


def measure(
    judge: Judge,
    states: Array | None,
    box: Box,
    *,
    optimum: float | None = None,
    log_floor: float | None = None,
) -> Measures:
    """Measure one proposal: its states in the user's units, the person first; None for nothing.

    ``optimum`` is the length of the shortest path over all data; ``log_floor`` a log-density of
    the person's own, where the rule was relaxed for them.
    """
    return measure_many(judge, [states], [box], optima=[optimum], log_floors=[log_floor])[0]


def measure_many(
    judge: Judge,
    proposals: Sequence[Array | None],
    boxes: Sequence[Box],
    *,
    optima: Sequence[float | None] | None = None,
    log_floors: Sequence[float | None] | None = None,
) -> list[Measures]:
    """Measure many proposals with two model calls in all.

    One call is for the states, one for the ends with a change undone. A state that is no
    record at all (not finite) leaves nothing to measure but what it breaks.
    """
    n = len(proposals)
    best = [None] * n if optima is None else list(optima)
    floors = [None] * n if log_floors is None else list(log_floors)
    if not n == len(boxes) == len(best) == len(floors):
        counts = f"{n} proposals, {len(boxes)} boxes, {len(best)} optima and {len(floors)} floors"
        raise DataError(
            f"{counts} do not go together: give one of each a person, None where there is none"
        )
    found = [
        _measure_constraints(judge, states, box)
        for states, box in zip(proposals, boxes, strict=True)
    ]
    paths = {
        i: states
        for i, states in enumerate(proposals)
        if states is not None and np.isfinite(states).all()
    }
    if paths:
        columns = _measure_paths(
            judge, list(paths.values()), [best[i] for i in paths], [floors[i] for i in paths]
        )
        for number, i in enumerate(paths):
            values: dict[str, Any] = {
                name: float(column[number]) for name, column in columns.items()
            }
            found[i] = replace(found[i], **{**values, "valid": values["valid"] == 1.0})
    return found


def _measure_constraints(judge: Judge, states: Array | None, box: Box) -> Measures:
    if states is None:
        return Measures(found=False)
    if states.ndim != 2 or not len(states) or states.shape[1] != len(judge.space.schema):
        wanted = f"(states, {len(judge.space.schema)})"
        raise DataError(
            f"a proposal of shape {states.shape} is no path: give an array of shape {wanted}"
        )
    return Measures(found=True, violations=count_violations(states, judge.space, box))


def _measure_paths(
    judge: Judge,
    states: Sequence[Array],
    optima: Sequence[float | None],
    log_floors: Sequence[float | None],
) -> Values:
    paths = StackedPaths.of(judge.space, states)
    values = {
        **_score_measures(judge, paths),
        **_change_measures(judge, paths),
        **_endpoint_measures(judge, paths),
        **_length_measures(paths, optima),
        **_people_nearby_measures(judge, paths),
    }
    if judge.heldout is not None:
        values |= _heldout_density_measures(judge.heldout, paths, judge.min_density)
    if judge.classifier is not None:
        values["likeness"] = judge.classifier.share(paths.records[paths.lasts])
    if judge.rule is not None:
        values |= _traversal_rule_measures(judge.rule, paths, log_floors)
    return values


def _score_measures(judge: Judge, paths: StackedPaths) -> Values:
    """What the model says of the states; a state that cannot exist has no score."""
    scores = np.full(len(paths.records), np.nan)
    exists = existing_values(paths.records, judge.space.schema).all(axis=1)
    if exists.any():
        scores[exists] = judge.score(paths.records[exists])
    each = [scores[states] for states in paths.state_slices]
    good = scores[paths.lasts] >= judge.min_score
    return {
        "score": scores[paths.lasts],
        "valid": good.astype(np.float64),
        "monotone": np.array([float(monotone(some)) for some in each]),
        "deepest_fall": np.array([deepest_fall(some) for some in each]),
        "redundancy": _redundancies(judge, paths, good),
    }


def _redundancies(judge: Judge, paths: StackedPaths, good: Mask) -> Array:
    """The share of changes that could be undone; of ends that are valid."""
    shares = np.full(len(good), np.nan)
    undone = {
        i: single_undos(*paths.start_and_end_records(i), judge.space)
        for i in np.flatnonzero(good).tolist()
    }
    trials = {i: records for i, records in undone.items() if len(records)}
    if trials:
        every = np.concatenate(list(trials.values()))
        still_valid = valid(every, judge.score, min_score=judge.min_score)
        ends = np.cumsum([len(some) for some in trials.values()])[:-1]
        shares[list(trials)] = [part.mean() for part in np.split(still_valid, ends)]
    return shares


def _change_measures(judge: Judge, paths: StackedPaths) -> Values:
    space = judge.space
    starts = paths.records[paths.firsts]
    ends = paths.records[paths.lasts]
    before = with_existing_categories(starts, space.schema)
    after = with_existing_categories(ends, space.schema)
    each = np.array([sparsity(paths.records[states], space) for states in paths.state_slices])
    return {
        "l0": l0(starts, ends, space),
        "l1": l1(before, after, space),
        "l2": l2(before, after, space),
        "l1_mad": scaled_differences(starts, ends, space.schema, judge.mad).sum(axis=1),
        "l1_range": scaled_differences(starts, ends, space.schema, judge.ranges).sum(axis=1),
        "sparsity": each[:, 0],
        "sparsity_most": each[:, 1],
    }


def _endpoint_measures(judge: Judge, paths: StackedPaths) -> Values:
    ends = paths.points[paths.lasts]
    return {
        "ynn": ynn(ends, judge.rows, judge.reaches_target, k=judge.k),
        "knn_distance": knn_distance(ends, judge.rows, k=judge.k),
        "lof": judge.outlier_factor(ends),
    }


def _length_measures(paths: StackedPaths, optima: Sequence[float | None]) -> Values:
    each = [paths.points[states] for states in paths.state_slices]
    lengths = np.array([path_length(points) for points in each])
    return {
        "steps": (paths.lasts - paths.firsts).astype(np.float64),
        "length": lengths,
        "detour": np.array([detour(points) for points in each]),
        "over_optimum": np.array(
            [over_optimum(length, best) for length, best in zip(lengths, optima, strict=True)]
        ),
    }


def _people_nearby_measures(judge: Judge, paths: StackedPaths) -> Values:
    fewest, mean = people_within(*paths.step_ends, judge.space.discrete, judge.rows, eps=judge.eps)
    lengths = paths.lengths_of_steps
    return {
        "fewest_people": np.array([fewest[steps].min() for steps in paths.step_slices]),
        "mean_people": np.array(
            [mean[steps] @ length_weights(lengths[steps]) for steps in paths.step_slices]
        ),
    }


def _heldout_density_measures(
    heldout: HeldOutDensity, paths: StackedPaths, min_density: float
) -> Values:
    along = heldout.along(*paths.step_ends)
    lengths = paths.lengths_of_steps
    each = [
        path_log_densities(
            StepDensities(along.lowest_logs[steps], along.mean_logs[steps]), lengths[steps]
        )
        for steps in paths.step_slices
    ]
    lowest_logs, mean_logs = np.array(each).T
    passed = along.lowest_logs >= heldout.log_floor(min_density) - JUDGE_TOLERANCE
    return {
        "density": heldout.share(heldout.log_densities(paths.points[paths.lasts])),
        "lowest_log": lowest_logs,
        "mean_log": mean_logs,
        "lowest_density": heldout.share(lowest_logs),
        "mean_density": heldout.share(mean_logs),
        "traversable_heldout": _share_of_steps_passed(passed, paths),
    }


def _traversal_rule_measures(
    rule: TraversalRule, paths: StackedPaths, log_floors: Sequence[float | None]
) -> Values:
    """The share of steps above the floor; and the same with a personal floor.

    Until a path first comes above the floor, the personal floor is where it starts.
    """
    own = np.array([rule.log_floor if one is None else one for one in log_floors], dtype=np.float64)
    n_steps = [steps.stop - steps.start for steps in paths.step_slices]
    floor_of_step = np.repeat(own, n_steps)
    starts, ends = paths.step_ends
    people = paths.points[paths.firsts]
    askers = np.repeat(people, n_steps, axis=0)
    lowest = rule.along(starts, ends, askers=askers).lowest_logs
    at_start = rule.log_densities_at_start(starts, ends, askers=askers)
    lasts = [steps.stop - 1 for steps in paths.step_slices]
    at_end = rule.along(ends[lasts], ends[lasts], askers=askers[lasts]).lowest_logs
    personal = np.concatenate(
        [
            _steps_above_personal_floor(lowest[steps], at_start[steps], float(end), float(floor))
            for steps, end, floor in zip(paths.step_slices, at_end, own, strict=True)
        ]
    )
    return {
        "traversable": _share_of_steps_passed(lowest >= floor_of_step - JUDGE_TOLERANCE, paths),
        "traversable_personal": _share_of_steps_passed(personal, paths),
    }


def _steps_above_personal_floor(
    lowest: Array, at_start: Array, at_end: float, log_floor: float
) -> Mask:
    """Which steps of one path hold.

    A step may be no lower than the start of the path until the path comes above the floor,
    where it must stay and end.
    """
    above = np.maximum.accumulate(at_start >= log_floor - JUDGE_TOLERANCE)
    personal = min(log_floor, float(at_start[0]))
    holds = lowest >= np.where(above, log_floor, personal) - JUDGE_TOLERANCE
    holds[-1] &= at_end >= log_floor - JUDGE_TOLERANCE
    return np.asarray(holds)


def _share_of_steps_passed(passed: Mask, paths: StackedPaths) -> Array:
    shares = np.array([passed[steps].mean() for steps in paths.step_slices])
    return np.where(paths.lasts > paths.firsts, shares, np.nan)
