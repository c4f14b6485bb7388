"""The nearest states that a person may take over: the same neighbours, compiled or not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from by_numpy import needs_compiled
from localface.geometry.bounds import Bounds
from localface.geometry.compiled.library import load_library
from localface.geometry.compiled.states import StateScan
from localface.geometry.point_set import PointSet
from localface.geometry.projection import Projection
from localface.sources import table_states
from localface.sources.protocol import Nearest
from localface.sources.table_states import TableStates

pytestmark = needs_compiled

Array = np.ndarray


def random_bounds(chance: np.random.Generator, width: int, share: float) -> Bounds:
    limited = chance.random(width) < share
    lower = np.where(
        limited & (chance.random(width) < 0.7), chance.normal(-0.5, 0.5, width), -np.inf
    )
    upper = np.where(limited & (chance.random(width) < 0.7), chance.normal(0.5, 0.5, width), np.inf)
    return Bounds(
        np.minimum(lower, upper),
        np.maximum(lower, upper),
        np.zeros(width, dtype=bool),
        np.zeros(width, dtype=bool),
    )


def random_question(chance: np.random.Generator, rows: Array) -> Nearest:
    width = rows.shape[1]
    bounds = random_bounds(chance, width, 0.5)
    projection = Projection(
        bounds,
        np.clip(rows[chance.integers(len(rows))], bounds.lower, bounds.upper),
        np.sort(chance.integers(0, max(1, width - 1), width)),
        random_bounds(chance, width, 0.15) if chance.random() < 0.5 else None,
        chance.random(width) < 0.3 if chance.random() < 0.5 else np.zeros(0, dtype=bool),
    )
    return Nearest(
        point=(rows[chance.integers(len(rows))] + chance.choice([0.0, 0.1]))
        * (chance.random(width) < chance.choice([0.5, 1.0])),
        k=int(chance.integers(1, 30)),
        bounds=random_bounds(chance, width, 0.2),
        exclude=chance.integers(0, len(rows), int(chance.integers(0, 5))),
        radius=float(chance.choice([np.inf, 2.0])),
        projection=projection,
    )


def rows_of(chance: np.random.Generator, n: int, width: int) -> Array:
    rows = chance.normal(size=(n, width))
    few = chance.random(width) < 0.4  # ties
    rows = np.where(few, np.round(rows), rows)
    rows[:, chance.random(width) < 0.3] *= chance.random((n, 1)) < 0.3  # mostly zero
    return np.unique(rows, axis=0)


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 1500])
@pytest.mark.parametrize("width", [1, 2, 5, 25])
def test_the_nearest_states_are_those_of_numpy(
    n: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = np.random.default_rng([n, width])
    rows = rows_of(chance, n, width)
    questions = [random_question(chance, rows) for _ in range(20)]
    states = TableStates(PointSet(rows))

    found = states.nearest(questions)

    monkeypatch.setattr(table_states, "load_library", lambda: None)
    for one, other in zip(found, states.nearest(questions), strict=True):
        np.testing.assert_array_equal(one.ids, other.ids)
        np.testing.assert_array_equal(one.points, other.points)
        np.testing.assert_array_equal(one.distances, other.distances)
        np.testing.assert_array_equal(one.moved, other.moved)


def test_more_states_than_there_are_rows_take_no_more_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = np.random.default_rng(0)
    rows = rows_of(chance, 300, 5)
    question = replace(random_question(chance, rows), k=10**15)
    states = TableStates(PointSet(rows))

    (found,) = states.nearest([question])

    monkeypatch.setattr(table_states, "load_library", lambda: None)
    (wanted,) = states.nearest([question])
    np.testing.assert_array_equal(found.ids, wanted.ids)
    assert len(found.ids)


@pytest.mark.parametrize("seed", range(10))
def test_distances_are_those_of_the_states_written_down(seed: int) -> None:
    chance = np.random.default_rng(seed)
    rows = rows_of(chance, int(chance.integers(1, 600)), int(chance.integers(1, 9)))
    question = random_question(chance, rows)
    projection = question.projection
    assert projection is not None
    point = question.point * (chance.random(rows.shape[1]) < 0.5)
    no_limits = np.full(rows.shape[1], np.inf)
    states = TableStates(PointSet(rows))
    cuts = states.find_cuts(projection.bounds)

    library = load_library()
    assert library is not None
    scan = StateScan(
        library,
        rows,
        rows.T,
        projection=projection,
        point=point,
        allowed=(-no_limits, no_limits),
        cuts=cuts,
        sparse=states.find_sparse_columns(projection, cuts),
    )
    found = scan.squared_distances()

    wanted = ((projection.states_of(rows) - point) ** 2).sum(axis=1)
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)
