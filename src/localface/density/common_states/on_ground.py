"""Segments judged on common ground in one call, where rows, kernels and pairs are compiled."""

from __future__ import annotations

import numpy as np

from localface.density.kde import KDE
from localface.density.protocol import Hole, LogFloor, SegmentDensities
from localface.geometry.compiled.ground import CompiledGround, Expected
from localface.types import Array


def lowest_on_ground(
    ground: CompiledGround, kde: KDE, asked: tuple[Array, Array, LogFloor], expected: Expected
) -> SegmentDensities | None:
    """Bound the lowest log-density along segments; see ``CommonStates.lowest_along``.

    ``asked`` are starts, ends and the floor, ``expected`` what is expected at the starts. None
    where the questions have to be asked one after the other: where there are steps and states
    among the segments, or something is too close to call.
    """
    starts, ends, log_floor = asked
    if expected is not None:
        expected = (np.ascontiguousarray(expected[0]), np.ascontiguousarray(expected[1]))
    if log_floor is None:
        return _values_on_ground(ground, kde, (starts, ends), expected)
    floors = np.full(len(starts), log_floor, dtype=np.float64)
    found = ground.judge(starts, ends, floors, expected)
    if found is None or min(found.verdicts.tolist(), default=0) < 0:
        return None
    holes = tuple(
        (i, Hole(found.places[i], radius, kde.matrix))
        for i, radius in enumerate(found.radii.tolist())
        if radius
    )
    return SegmentDensities(found.lowest, found.verdicts.astype(bool), holes)


def _values_on_ground(
    ground: CompiledGround, kde: KDE, segments: tuple[Array, Array], expected: Expected
) -> SegmentDensities:
    """Work out the lowest log-density along segments in full."""
    log_sums, along = ground.measure(*segments, expected)
    kde.settle_long(*segments, log_sums)
    joint = log_sums + kde.log_normaliser
    if expected is not None:
        mean, spread = expected
        joint = (joint - mean[:, 0]) / spread[:, 0]
    return SegmentDensities(np.minimum(joint, along), np.ones(len(joint), dtype=bool))
