"""Relax: the path whose lowest density is as high as can be, against brute force."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

from localface.search.questions import DensityAlong, Nearest
from localface.search.stages.relax import _is_out_of_step, densest_path
from scripted import Script, box, someone

ROWS = [[1.0, 1.0], [2.0, 0.0], [3.0, 1.0], [4.0, 0.0]]


def quarter(points):
    return points[:, 0] / 8


def valley(points):
    """Lower the nearer to (2, 0)."""
    return -2.0 + np.hypot(points[:, 0] - 2, points[:, 1])


def densest(script: Script, k=9, goal=None, **options):
    graph = script.graph(someone([0.0, 0.0], **options))
    if goal is not None:
        graph.goal = graph.add_state(np.asarray(goal, dtype=float), 1.0)
    trail, level, is_densest = script.run(densest_path(graph, 0, n_neighbors=k))
    assert is_densest
    return graph, trail, level


def by_brute_force(script: Script, graph, rule="lowest") -> float:
    best = -np.inf
    for n in range(len(graph.points) - 1):
        for middle in permutations(range(1, len(graph.points)), n):
            for end in graph.goals:
                edges = list(pairwise((0, *middle, end)))
                if rule == "mean":
                    edges += [(b, b) for _, b in edges]
                if end not in middle:
                    found = script.run(graph.densities_along(edges, None, rule))
                    best = max(best, float(found.log_densities.min()))
    return best


@pytest.mark.parametrize("rule", ["lowest", "mean"])
def test_the_lowest_density_on_the_path_is_as_high_as_can_be(rule):
    script = Script(ROWS, score=quarter, log_density=valley)

    graph, trail, log_density = densest(script, rule=rule)

    assert graph.is_goal(trail[-1])
    assert log_density == pytest.approx(by_brute_force(script, graph, rule), abs=1e-6)
    assert [2.0, 0.0] not in graph.points[list(trail)].tolist()


@pytest.mark.parametrize("rule", ["lowest", "mean"])
def test_to_a_given_goal_no_path_is_better_than_the_goal_itself(rule):
    script = Script(ROWS, score=quarter, log_density=valley)

    graph, trail, log_density = densest(script, goal=[2.0, 0.5], rule=rule)

    assert trail[-1] == graph.goal
    assert log_density == pytest.approx(-1.5, abs=1e-6)


def test_of_equally_good_paths_the_one_that_ends_nearer_to_the_goal_comes_first():
    script = Script(ROWS, score=quarter)

    graph, trail, log_density = densest(script, goal=[4.0, 0.1])

    assert trail == (0, graph.goal)
    assert log_density == pytest.approx(1.0, abs=1e-6)


def test_looks_further_out_where_the_nearest_rows_span_no_path():
    script = Script([[0.1, 0.0], [0.2, 0.0], [5.0, 0.0]], score=quarter)

    graph, trail, _ = densest(script, k=2)

    assert graph.ids[trail[-1]] == 2
    assert {question.k for question in script.asked if isinstance(question, Nearest)} == {2, 4}


def test_where_no_step_is_permitted_there_is_no_path_at_any_density():
    script = Script(ROWS, score=quarter)

    _, trail, log_density = densest(script, max_step=0.5)

    assert trail == ()
    assert log_density == -np.inf


def test_a_spent_budget_ends_it():
    script = Script(ROWS, score=quarter, max_rows=1)

    graph, trail, _ = densest(script, k=1, max_step=1.5)

    assert trail == ()
    assert graph.cut


def test_nothing_at_all_is_as_low_as_it_gets_and_one_way_columns_are_kept():
    script = Script(
        [[4.0, 0.0]],
        score=quarter,
        log_density=lambda points: np.where(np.abs(points[:, 0] - 2) < 1, -np.inf, 0.0),
    )

    _, trail, log_density = densest(script)
    assert (len(trail), log_density) == (2, -np.inf)

    _, trail, _ = densest(Script([[4.0, 0.0]], score=quarter), bounds=box(2, down=[0]))
    assert trail == ()


def test_where_no_row_further_out_could_be_stepped_to_it_looks_no_further():
    script = Script([[3.0, 0.0], [4.0, 0.0], [5.0, 0.0], [6.0, 0.0], [7.0, 0.0]], score=quarter)

    _, trail, _ = densest(script, k=2, max_step=0.5)

    assert trail == ()
    assert [one.k for one in script.asked if isinstance(one, Nearest)] == [2]


@pytest.mark.parametrize(
    ("rows", "options", "is_out"),
    [
        ([[1.0, 0.0], [6.0, 0.0]], {}, True),  # nobody is within a step of the goal
        ([[3.0, 0.0]], {}, False),
        ([[4.5, 0.0]], {"bounds": box(2, up=[0])}, True),  # there is, and must not step back
        ([[4.5, 0.0], [4.6, 0.0]], {"bounds": box(2, up=[0])}, False),  # there may be others
        ([[4.5, 0.0], [3.6, 0.0]], {"bounds": box(2, up=[0])}, False),
    ],
)
def test_a_goal_is_out_of_step_where_all_who_are_near_it_cannot_step_there(rows, options, is_out):
    script = Script(rows, score=quarter)
    graph = script.graph(someone([0.0, 0.0], max_step=1.0, **options))
    graph.goal = graph.add_state(np.array([4.0, 0.0]), 1.0)

    assert script.run(_is_out_of_step(graph, 0, 2)) == is_out


def test_a_goal_is_not_out_of_step_where_a_spent_budget_hides_who_is_near_it():
    script = Script([[3.0, 0.0]], score=quarter, max_rows=0)
    graph = script.graph(someone([0.0, 0.0], max_step=1.0))
    graph.goal = graph.add_state(np.array([4.0, 0.0]), 1.0)

    assert script.run(_is_out_of_step(graph, 0, 2)) is False


@pytest.mark.parametrize("behind", [[[-2.1, 0.0]], [[1.0, 0.0]], [[1.0, 0.0], [-1.5, 0.0]]])
def test_one_row_or_more_on_a_straight_way_are_left_out(behind):
    """The goal is not among the nearest of the first."""
    rows = [[2.0, 0.0], [4.0, 0.0], *behind]

    graph, trail, _ = densest(Script(rows, score=quarter), k=len(rows) - 1)

    assert graph.points[list(trail)].tolist() == [[0.0, 0.0], [4.0, 0.0]]


def hilly(seed: int):
    """A crowd of rows, and hills that density is high on."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(0, 8, size=(24, 2))
    tops = rng.uniform(0, 8, size=(5, 2))
    heights = rng.uniform(0.5, 2, size=5)

    def log_density(points):
        apart = np.linalg.norm(points[:, None] - tops, axis=2)
        return np.log((heights * np.exp(-(apart**2) / 4)).sum(axis=1))

    return Script(rows, score=quarter, log_density=log_density)


def highest_level(script: Script, rule: str) -> float:
    """The lowest density on the best path of all, over every edge there is."""
    points = np.concatenate([np.zeros((1, 2)), script.rows])
    graph = script.graph(someone([0.0, 0.0]))
    script.run(graph.reveal_rows_around(0, len(script.rows)))
    n = len(points)
    pairs = [(a, b) for a in range(n) for b in range(n)]
    found = script.run(graph.densities_along(pairs, None, rule)).log_densities.reshape(n, n)
    if rule == "mean":
        found = np.minimum(found, np.diag(found)[None, :])
    np.fill_diagonal(found, np.inf)
    for middle in range(n):
        through = np.minimum(found[:, middle, None], found[None, middle, :])
        found = np.maximum(found, through)
    return float(max(found[0, goal] for goal in graph.goals))


@pytest.mark.parametrize("rule", ["lowest", "mean"])
@pytest.mark.parametrize("seed", range(20))
def test_the_level_is_that_of_the_best_path_over_every_edge(seed, rule):
    script = hilly(seed)
    wanted = highest_level(script, rule)
    script.asked.clear()

    graph, trail, level = densest(script, k=len(script.rows), rule=rule)

    kept = script.run(graph.densities_along(list(pairwise(trail)), None, rule))
    assert level == pytest.approx(wanted, abs=1e-6)
    assert kept.log_densities.min() >= level


def test_only_what_lies_on_good_paths_is_worked_out_in_full():
    script = hilly(2)

    densest(script, k=len(script.rows))

    along = [one for one in script.asked if isinstance(one, DensityAlong)]
    in_full = sum(len(one.starts) for one in along if one.log_floor is None)
    assert in_full < 60  # of 600 edges


def test_when_it_may_look_no_further_the_best_path_so_far_is_the_answer():
    script = hilly(1)
    graph = script.graph(someone([0.0, 0.0]))

    trail, level, is_densest = script.run(densest_path(graph, 0, n_neighbors=6, most=6))
    _, full, _ = script.run(densest_path(graph, 0, n_neighbors=6))

    assert graph.is_goal(trail[-1])
    assert level < full
    assert not is_densest


@pytest.mark.parametrize(("most", "is_found"), [(5, False), (6, True)])
def test_what_was_looked_at_in_vain_counts_where_it_looks_further_out(most, is_found):
    """Two vertices have one row each within reach, then three have two; four rows have a target."""
    script = Script([[1.0, 0.0], [1.1, 0.0], [5.0, 0.0]], score=quarter)
    graph = script.graph(someone([0.0, 0.0]))

    trail, _, is_densest = script.run(densest_path(graph, 0, n_neighbors=1, most=most))

    assert bool(trail) == is_found
    assert is_found or not is_densest


@pytest.mark.parametrize(("most", "is_sure"), [(2, False), (3, False), (4, True)])
def test_that_there_is_no_path_is_sure_where_it_might_have_looked_at_more(most, is_sure):
    script = Script([[1.0, 0.0], [1.1, 0.0]], score=quarter)
    graph = script.graph(someone([0.0, 0.0]))

    found = script.run(densest_path(graph, 0, n_neighbors=5, most=most))

    assert found == ((), -np.inf, is_sure)


def test_a_trail_leads_through_no_more_than_it_must():
    rows = [[x, 0.0] for x in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)]

    graph, trail, _ = densest(Script(rows, score=quarter), k=2)

    assert len(trail) == 2
    assert graph.is_goal(trail[-1])


def test_that_no_path_leads_to_a_goal_is_sure_where_nobody_can_step_there():
    script = Script([[1.0, 0.0], [6.0, 0.0]], score=quarter)
    graph = script.graph(someone([0.0, 0.0], max_step=1.0))
    graph.goal = graph.add_state(np.array([4.0, 0.0]), 1.0)

    found = script.run(densest_path(graph, 0, n_neighbors=2))

    assert (found.trail, found.is_densest) == ((), True)
