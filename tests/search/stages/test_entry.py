"""Entry: how someone below the floor gets above it."""

from __future__ import annotations

import numpy as np
import pytest

from localface.geometry.bounds import Bounds
from localface.geometry.projection import Projection
from localface.search.questions import DensityAlong, Nearest, RowDensities
from localface.search.stages.entry import _are_above_floor, find_entries, rank_entries
from scripted import Script, box, someone

ROWS = [[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0], [0.0, -4.0]]


def from_centre(points):
    """Denser the further from the person."""
    return np.hypot(points[:, 0], points[:, 1]) - 1.5


def entries(script: Script, k: int, **options):
    graph = script.graph(someone([0.0, 0.0], **options))
    return graph, *script.run(find_entries(graph, k))


def test_the_nearest_row_above_the_floor_whose_step_is_as_good_as_can_be_comes_first():
    script = Script(ROWS, log_density=from_centre)

    graph, found, ranked = entries(script, 4)

    assert graph.ids[list(found)].tolist() == [1, 2, 3]
    assert not ranked


def test_looks_twice_as_far_until_there_is_such_a_row():
    script = Script(ROWS, log_density=from_centre)

    graph, found, _ = entries(script, 1)

    assert graph.ids[list(found)].tolist() == [1]
    assert [q.k for q in script.asked if isinstance(q, Nearest)] == [1, 2]


def test_where_no_row_is_left_or_the_budget_is_spent_there_is_none():
    script = Script(ROWS, log_density=lambda points: np.full(len(points), -1.0))
    assert entries(script, 3)[1:] == ((), True)

    script = Script(ROWS, log_density=from_centre, max_rows=1)
    assert entries(script, 3)[1:] == ((), True)


def test_steps_that_are_not_permitted_are_no_entries():
    script = Script(ROWS, log_density=from_centre)

    graph, found, _ = entries(script, 9, max_step=3.5)

    assert graph.ids[list(found)].tolist() == [1, 2]


def test_where_no_step_is_as_good_as_the_start_all_are_ranked():
    script = Script(
        [[1.0, 0.0], [0.0, 2.0]],
        log_density=lambda points: np.where(
            (np.abs(points).sum(axis=1) > 0.1) & (np.abs(points).sum(axis=1) < 0.9),
            -3.0 + points[:, 1],
            np.abs(points).sum(axis=1) - 0.5,
        ),
    )

    graph, found, ranked = entries(script, 2)

    assert ranked
    assert graph.ids[list(found)].tolist() == [1, 0]


@pytest.mark.parametrize(("n_low", "ranked"), [(7, False), (8, True)])
def test_the_nearest_eight_are_tried_before_all_are_ranked(n_low, ranked):
    """The steps to the first rows dip; the one to the last does not."""
    rows = [[1.0 + i / 100, 0.0] for i in range(n_low)] + [[0.0, 2.0]]
    script = Script(
        rows,
        log_density=lambda points: np.where(
            (points[:, 0] > 0.2) & (points[:, 0] < 0.8), -9.0, np.abs(points).sum(axis=1) - 0.5
        ),
    )

    graph, found, were_ranked = entries(script, 9)

    assert graph.points[found[0]].tolist() == [0.0, 2.0]
    assert were_ranked == ranked


def test_steps_are_alike_that_differ_by_less_than_a_thousandth_of_a_nat():
    def log_density(points):
        dips = np.where(points[:, 0] > 0.1, 0.0004, 0.0) + np.where(points[:, 1] > 0.1, 0.0104, 0)
        near = np.hypot(points[:, 0], points[:, 1]) < 0.9
        return np.where(near, -0.5002 - dips, 1.0)

    script = Script([[1.0, 0.0], [0.0, 1.1], [-1.2, 0.0]], log_density=log_density)
    graph = script.graph(someone([0.0, 0.0]))
    around = script.run(graph.reveal_rows_around(0, 3))

    ranked = script.run(rank_entries(graph, tuple(around)))

    assert graph.ids[list(ranked)].tolist() == [0, 2, 1]


def test_by_the_mean_all_are_ranked_at_once():
    script = Script(ROWS, log_density=from_centre)

    graph, found, ranked = entries(script, 4, rule="mean")

    assert ranked
    assert graph.ids[list(found)].tolist() == [3, 2, 1]
    assert all(q.log_floor is None for q in script.asked if isinstance(q, DensityAlong))


def test_steps_that_are_alike_are_ranked_by_length_then_by_row():
    script = Script([[0.0, 2.0], [1.0, 0.0], [-1.0, 0.0]])
    graph = script.graph(someone([0.0, 0.0]))
    around = script.run(graph.reveal_rows_around(0, 3))

    ranked = script.run(rank_entries(graph, tuple(reversed(around))))

    assert graph.ids[list(ranked)].tolist() == [1, 2, 0]
    assert script.run(rank_entries(graph, ())) == ()


def test_bounds_are_kept():
    script = Script(ROWS, log_density=from_centre)

    graph, found, _ = entries(script, 4, bounds=box(2, lower=-1.0, upper=2.0))

    assert graph.ids[list(found)].tolist() == [1]


def test_states_are_held_against_the_floor_once_however_far_out_one_has_to_look():
    kept = Projection(
        Bounds(np.array([-9.0, -9.0]), np.array([9.0, 0.5]), *np.zeros((2, 2), dtype=bool)),
        np.zeros(2),
        np.arange(2),
    )
    rows = [[0.2 * i, 1.0] for i in range(1, 9)]  # states of nobody: up to 0.5 in the second
    script = Script(rows, log_density=from_centre)

    graph, found, _ = entries(script, 1, projection=kept)

    judged = [one for one in script.asked if isinstance(one, DensityAlong)]
    held = [one for one in judged if one.log_floor == graph.person.log_floor]
    asked = np.concatenate([one.starts for one in held])
    assert graph.points[found[0]].tolist() == [1.6, 0.5]
    assert [q.k for q in script.asked if isinstance(q, Nearest)] == [1, 2, 4, 8]
    assert len(asked) == len(np.unique(asked, axis=0)) == 8


@pytest.mark.parametrize("away", [0.0, 64.0, -64.0])
def test_of_steps_that_are_alike_the_shortest_comes_first_wherever_it_begins(away):
    """By number they come the other way round."""
    script = Script(away + np.array([[3.0, 0.0], [0.0, 2.0], [-1.0, 0.0]]))
    graph = script.graph(someone(np.full(2, away)))
    script.run(graph.reveal_rows_around(0, 3))
    by_number = tuple(graph.ids.tolist().index(row) for row in (0, 1, 2))

    found = script.run(rank_entries(graph, by_number))

    assert found == by_number[::-1]


def test_each_vertex_is_held_against_the_floor_as_a_row_or_as_a_state_and_never_as_both():
    script = Script(ROWS, log_density=from_centre)

    entries(script, 4, bounds=box(2, upper=9.0))

    rows = [one.ids.tolist() for one in script.asked if isinstance(one, RowDensities)]
    still = [
        one
        for one in script.asked
        if isinstance(one, DensityAlong) and (one.starts == one.ends).all()
    ]
    assert rows == [[0, 1, 2, 3]]
    assert all(one.starts.tolist() == [[0.0, 0.0]] for one in still)  # the person alone


@pytest.mark.parametrize(("log_density", "is_above"), [(0.0, True), (-1e-12, False)])
def test_a_row_that_is_below_the_floor_by_the_tolerance_alone_is_above_it(log_density, is_above):
    script = Script([[1.0, 0.0]], log_density=lambda points: np.full(len(points), log_density))
    graph = script.graph(someone([0.0, 0.0], log_floor=1e-9))
    script.run(graph.reveal_rows_around(0, 1))

    assert script.run(_are_above_floor(graph, [1])).tolist() == [is_above]
