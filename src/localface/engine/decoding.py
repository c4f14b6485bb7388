"""From points back to records, with known values bit for bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localface.data.box import Box
from localface.data.space import Space
from localface.engine.job import Decode
from localface.geometry.bounds import Bounds
from localface.geometry.compiled.known_values import keep_within_limits, take_over_values
from localface.search.outcome import Outcome
from localface.sources.protocol import Source
from localface.types import Array, Ids

_MANY = 64  # sources beyond which their values are looked up rather than compared one by one


def make_decoder(
    space: Space,
    exact: Sequence[Array],
    within: Box | None = None,
    bounds: Bounds | None = None,
    *,
    points: Array | None = None,
) -> Decode:
    """Turn points into records, taking over known values bit for bit wherever a point has them.

    ``exact`` are the records that are known; ``within`` says whose limits rounding must not
    overstep; ``bounds`` are the same on points, and ``points`` the exact ones, where known.
    """
    n_features = len(space.schema)
    firsts = space.first_columns
    known = np.stack(exact) if len(exact) else np.zeros((0, n_features))
    known_points = space.points(known) if points is None else points
    if within is not None and bounds is None:
        bounds = space.bounds(within)
    edges = None if bounds is None else (bounds.lower[firsts], bounds.upper[firsts])

    def decode(points: Array, donors: Array) -> Array:
        if not len(points):
            return np.zeros((0, n_features))
        if points.shape == known_points.shape and np.array_equal(points, known_points):
            return known
        records = space.records(points)
        if within is not None and edges is not None:
            records = _keep_records_within(within, points, records, edges, firsts)
        sources = np.concatenate([donors, known])
        source_points = np.concatenate([space.points(donors), known_points])
        taken_over = take_over_values(records, points, sources, source_points, firsts)
        if taken_over is not None:
            return taken_over
        if len(sources) > _MANY:
            return _with_values_of_many(records, points, sources, source_points, firsts)
        for record, point in zip(sources, source_points, strict=True):
            same = np.logical_and.reduceat(points == point, firsts, axis=1)
            records = np.where(same, record, records)
        return records

    return decode


def _with_values_of_many(
    records: Array, points: Array, sources: Array, source_points: Array, firsts: Ids
) -> Array:
    """Take over values feature by feature, where there are too many sources for one by one."""
    found = records.copy()
    for feature, columns in enumerate(np.split(np.arange(points.shape[1]), firsts[1:])):
        taken = _last_same(source_points[:, columns], points[:, columns])
        found[:, feature] = np.where(taken >= 0, sources[taken, feature], found[:, feature])
    return found


def _last_same(known: Array, wanted: Array) -> Ids:
    """For each wanted row of values the number of the last known row that is the same; -1: none."""
    number_of = {row.tobytes(): i for i, row in enumerate(np.ascontiguousarray(known + 0.0))}
    rows = np.ascontiguousarray(wanted + 0.0)  # adding zero makes -0.0 and 0.0 the same bytes
    return np.array([number_of.get(row.tobytes(), -1) for row in rows], dtype=np.int64)


def path_records(
    source: Source, outcome: Outcome, decode: Decode
) -> tuple[Array, tuple[int | None, ...]]:
    """Bring a path into the user's units; returns the records, and the row number of each.

    Rows come back exactly as they are in the data.
    """
    is_row = np.array(outcome.ids) >= 0
    ids = np.array(outcome.ids, dtype=np.int64)[is_row]
    rows = source.records(ids)
    records = np.empty((len(is_row), rows.shape[1]))
    records[is_row] = rows
    records[~is_row] = decode(outcome.points[~is_row], _donor_records(source, outcome))
    numbers = iter(source.row_numbers(ids).tolist())
    return records, tuple(next(numbers) if one >= 0 else None for one in outcome.ids)


def action_records(source: Source, outcome: Outcome, decode: Decode) -> Array | None:
    """Bring the states that the actions lead through into the user's units, the person's first."""
    if outcome.actions is None:
        return None
    points = [outcome.points[0], *(move.point for move in outcome.actions.moves)]
    return decode(np.stack(points), _donor_records(source, outcome))


def _donor_records(source: Source, outcome: Outcome) -> Array:
    """The rows that states of an outcome were taken from, so that they decode to the last bit."""
    taken = () if outcome.actions is None else outcome.actions.donors
    rows = [row for row in (*outcome.donors, *taken) if row >= 0]
    return source.records(np.unique(rows).astype(np.int64))


def waiting_record(outcome: Outcome, decode: Decode, own: Array) -> Array | None:
    """Bring the state that waiting alone leads to into the user's units, where there is one."""
    if outcome.waiting is None:
        return None
    return np.asarray(decode(outcome.waiting.point[None, :], own[None, :])[0])


def _keep_records_within(
    box: Box, points: Array, records: Array, edges: tuple[Array, Array], firsts: Ids
) -> Array:
    """Keep records inside a box wherever their points lie on its edge."""
    limits = (*edges, box.lower, box.upper)
    kept = keep_within_limits(records, points, firsts, limits)
    if kept is not None:
        return kept
    low, high = edges
    values = points[:, firsts]
    records = np.where(values == low, np.maximum(records, box.lower), records)
    return np.where(values == high, np.minimum(records, box.upper), records)
