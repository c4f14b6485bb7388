"""Segments judged on common ground in one call, where rows, kernels and pairs are compiled."""

from __future__ import annotations

import numpy as np

from localface.density.kde import KDE
from localface.density.protocol import Hole, SegmentDensities
from localface.geometry.compiled.ground import CompiledGround, Expected
from localface.types import Array, Mask


def judge_on_ground(
    ground: CompiledGround,
    kde: KDE,
    asked: tuple[Array, Array, Array],
    expected: Expected,
    askers: Array | None,
) -> tuple[SegmentDensities, Mask] | None:
    """Compare segments with floors, and tell which are too close to call.

    ``asked`` are starts, ends and floors, ``expected`` what is expected at the starts. None where
    there are both steps and states among them.
    """
    found = ground.judge(*asked, _as_rows(expected), askers)
    if found is None:
        return None
    holes = tuple(
        (i, Hole(found.places[i], radius, kde.matrix))
        for i, radius in enumerate(found.radii.tolist())
        if radius
    )
    return SegmentDensities(found.lowest, found.verdicts > 0, holes), found.verdicts < 0


def measure_on_ground(
    ground: CompiledGround, kde: KDE, asked: tuple[Array, Array, Array | None], expected: Expected
) -> SegmentDensities:
    """Work out the lowest log-density along segments in full; ``asked``: starts, ends, askers."""
    starts, ends, askers = asked
    expected = _as_rows(expected)
    log_sums, along = ground.measure(starts, ends, expected, askers)
    kde.settle_long(starts, ends, log_sums, askers=askers)
    joint = log_sums + kde.log_normaliser
    if expected is not None:
        mean, spread = expected
        joint = (joint - mean[:, 0]) / spread[:, 0]
    return SegmentDensities(np.minimum(joint, along), np.ones(len(joint), dtype=bool))


def _as_rows(expected: Expected) -> Expected:
    """What is expected, laid out row by row."""
    if expected is None:
        return None
    return np.ascontiguousarray(expected[0]), np.ascontiguousarray(expected[1])
