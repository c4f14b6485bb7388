"""A user's own density is checked."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.sampled import SampledDensity, wrap_user_density
from localface.errors import DensityError
from localface.geometry.point_set import PointSet


def _cloud(width, n=400, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)) @ (np.eye(width) + 0.3 * rng.normal(size=(width, width)))


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        (lambda places: -np.ones(len(places)), "negative"),
        (lambda places: np.arange(len(places)) - 0.5, r"negative value \(-0.5\)"),
        (lambda places: np.full(len(places), np.nan), "NaN"),
        (lambda places: np.ones((len(places), 2)), "shape"),
        (lambda places: np.ones(len(places)), "same at every row"),
        (lambda places: 1 / 0, "ZeroDivisionError"),
        (lambda places: places[:, 0] - places[:, 0].min(), "is 0 at 1 of 400 rows"),
    ],
)
def test_a_density_that_lies_is_told_what_it_said(lie, message):
    with pytest.raises(DensityError, match=message):
        SampledDensity(
            wrap_user_density(lie, lambda points: points),
            PointSet(_cloud(2)),
            np.zeros(2, dtype=bool),
        )
