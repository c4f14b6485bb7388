"""The k-NN density: the widest distance to the k-th person on a segment."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density import fit
from localface.density.fit import fit_knn
from localface.density.knn import KNN
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


def test_the_mean_along_a_step_is_that_of_the_distances_to_the_kth_other_person():
    rows = _cloud(3)
    knn = fit_knn(PointSet(rows), np.zeros(3, dtype=bool), k=4)
    for start, end in zip(rows[:5], rows[5:10], strict=True):
        others = rows[~((rows == start).all(axis=1) | (rows == end).all(axis=1))]
        places = start + GRID * (end - start)
        radii = np.sort(np.linalg.norm(places[:, None, :] - others, axis=2), axis=1)[:, 3]

        value = knn.mean_along(start[None], end[None], None).log_densities[0]

        assert value == pytest.approx(np.log((radii**-3.0).mean()), abs=0.02)


def test_the_mean_is_that_of_sixty_five_places_on_each_leg_ends_included():
    """A column that changes half way makes two legs of a step."""
    rows = _cloud(3)
    knn = fit_knn(PointSet(rows), np.array([False, False, True]), k=4)
    start, end = np.array([-1.0, 0.5, 0.0]), np.array([1.0, 0.0, 1.0])
    along = np.linspace(0, 1, 65)[:, None]
    middle = (start + end) / 2
    before, after = np.append(middle[:2], 0.0), np.append(middle[:2], 1.0)
    places = np.concatenate([start + along * (before - start), after + along * (end - after)])
    radii = np.sort(np.linalg.norm(places[:, None, :] - rows, axis=2), axis=1)[:, 3]

    found = knn.mean_along(start[None], end[None], None).log_densities

    assert found == pytest.approx(np.log((radii**-3.0).mean()))


@pytest.mark.parametrize("others", [3, 4, 5])
def test_a_density_takes_as_many_others_as_are_looked_for_and_no_more(others):
    """With fewer than four nobody can be the fourth: then there is no density at all."""
    rows = np.arange(others + 1.0)[:, None]
    knn = KNN(PointSet(rows), np.zeros(1, dtype=bool), k=4, row_log_densities=np.zeros(len(rows)))
    start = rows[:1]
    furthest = 4.0 if others >= 4 else np.inf

    lowest = knn.lowest_along(start, start, None).log_densities
    mean = knn.mean_along(start, start, None).log_densities

    assert lowest == pytest.approx([-np.log(furthest)])
    assert mean == pytest.approx([-np.log(furthest)])
    found = knn.lowest_along(start, start, -np.log(4.0))
    assert found.passes.tolist() == [others >= 4]


@pytest.mark.parametrize(("k", "radii"), [(3, [0.5]), (4, [1.5]), (5, [])])
def test_a_hole_is_as_wide_as_the_kth_of_all_rows_is_far_off_if_there_are_as_many(k, radii):
    """A row that lies where it is asked counts for others, if not for itself."""
    rows = np.arange(4.0)[:, None]
    knn = KNN(PointSet(rows), np.zeros(1, dtype=bool), k=k, row_log_densities=np.zeros(4))

    found = knn.lowest_along(rows[:1], rows[:1], -np.log(1.5))

    assert [hole.radius for _, hole in found.holes] == pytest.approx(radii)


def test_a_hole_reaches_to_where_the_kth_person_is_near_enough_again():
    rows = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    knn = fit_knn(PointSet(rows), np.zeros(1, dtype=bool), k=2)

    found = knn.lowest_along(rows[2:3], rows[3:4], -np.log(1.0))

    ((_, hole),) = found.holes
    distances = np.sort(np.abs(rows[:, 0] - hole.centre[0]))
    assert hole.radius == pytest.approx(distances[1] - 1.0)


def test_a_row_that_was_not_ranked_is_worked_out_when_it_is_asked_about(monkeypatch):
    """Of a large table only some rows make the scale."""
    rows = _cloud(2, n=60)
    every = np.arange(60)
    wanted = fit_knn(PointSet(rows), np.zeros(2, dtype=bool), k=4).row_log_densities(every)
    monkeypatch.setattr(fit, "_RANKED_ON", 20)

    few_ranked = fit_knn(PointSet(rows), np.zeros(2, dtype=bool), k=4)

    assert len(few_ranked.scale.log_densities) == 20
    assert few_ranked.row_log_densities(every) == pytest.approx(wanted)


@pytest.mark.parametrize("length", [0.0, 1.0, 40.0])
def test_a_step_keeps_the_floor_where_others_are_just_near_enough_beyond_its_ends(length):
    """Within reach of an end, and of no other place on the step."""
    start, end = np.array([[0.0]]), np.array([[length]])
    between = np.arange(0.5, length, 0.5)
    rows = np.concatenate([[-0.9], between, [length + 0.9]])[:, None]
    knn = KNN(PointSet(rows), np.zeros(1, dtype=bool), k=1, row_log_densities=np.zeros(len(rows)))
    alone = KNN(
        PointSet(rows[[0, -1]]), np.zeros(1, dtype=bool), k=1, row_log_densities=np.zeros(2)
    )

    assert knn.lowest_along(start, end, -np.log(1.0)).passes.all()
    assert alone.lowest_along(start, end, -np.log(1.0)).passes.all() == (length <= 0.2)
    reach = length / 2 + 0.9  # of both, where they are all there are
    assert alone.lowest_along(start, end, -np.log(reach + 0.01)).passes.all()
    assert not alone.lowest_along(start, end, -np.log(reach - 0.01)).passes.any()
