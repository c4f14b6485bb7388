"""The k-NN density: the widest distance to the k-th person on a segment."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.fit import fit_knn
from localface.geometry.point_set import PointSet

GRID = np.linspace(0, 1, 4001)[:, None]


def _cloud(width, n=400, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)) @ (np.eye(width) + 0.3 * rng.normal(size=(width, width)))


def test_the_nearest_neighbour_density_finds_the_loneliest_place_on_a_step():
    rows = _cloud(3)
    knn = fit_knn(PointSet(rows), np.zeros(3, dtype=bool), k=4)
    for start, end in zip(rows[:10], rows[10:20], strict=True):
        others = rows[~((rows == start).all(axis=1) | (rows == end).all(axis=1))]
        places = start + GRID * (end - start)
        radii = np.sort(np.linalg.norm(places[:, None, :] - others, axis=2), axis=1)[:, 3]
        value = knn.lowest_along(start[None], end[None], None).log_densities[0]
        assert knn.radius_at(value) == pytest.approx(radii.max(), abs=2e-3)
        for floor in (value - 0.01, value + 0.01):
            assert knn.lowest_along(start[None], end[None], floor).passes[0] == (value >= floor)


def test_what_is_refused_is_told_no_lower_than_it_is():
    rows = _cloud(3)
    knn = fit_knn(PointSet(rows), np.zeros(3, dtype=bool), k=4)
    starts, ends = rows[:20], rows[20:40]
    exact = knn.lowest_along(starts, ends, None).log_densities
    for above in (0.01, 1.0, 30.0):
        found = knn.lowest_along(starts, ends, exact + above)
        assert not found.passes.any()
        assert (found.log_densities >= exact).all()
        assert (found.log_densities < exact + above).all()
