"""Enhance: the cheapest path, found by checking only the edges that it might take."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

from localface.density.protocol import Hole, Holes
from localface.search.plan import Price
from localface.search.questions import DensityAlong, RowDensities
from localface.search.stages.enhance import AStar, Effort, enhance
from localface.search.trails import GraphPath
from scripted import Script, box, someone

ROWS = [[1.0, 1.0], [2.0, 0.0], [3.0, 1.0], [4.0, 0.0]]


def quarter(points):
    return points[:, 0] / 8


def wall(points):
    """Below the floor near (2, 0), where a straight path would lead."""
    return np.where(np.hypot(points[:, 0] - 2, points[:, 1]) < 0.6, -1.0, 1.0)


def known(script: Script, vertices=(0, 1, 2, 3, 4), **options):
    """A graph that has seen all rows, and a path through some of them."""
    graph = script.graph(someone([0.0, 0.0], **options))
    script.run(graph.reveal_rows_around(0, len(script.rows)))
    script.asked.clear()
    return graph, graph.path_through(vertices)


def rows_of(graph, path):
    return [graph.points[vertex].tolist() for vertex in path.vertices]


def cheapest(script: Script, graph) -> float:
    """Brute force over all orders of all vertices."""
    best = np.inf
    for n in range(len(graph.points) - 1):
        for middle in permutations(range(1, len(graph.points)), n):
            for end in graph.goals:
                edges = list(pairwise((0, *middle, end)))
                if end not in middle and all(script.run(graph.are_traversable(edges))):
                    best = min(best, sum(graph.edge_length(*edge) for edge in edges))
    return best


def test_goes_straight_where_it_can_and_checks_only_the_edges_on_the_line():
    script = Script(ROWS, score=quarter)
    graph, path = known(script)

    found = script.run(enhance(graph, path, price=Price()))

    assert rows_of(graph, found) == [[0.0, 0.0], [4.0, 0.0]]
    assert found.cost == 4.0
    ends = [q.ends[0].tolist() for q in script.asked if isinstance(q, DensityAlong)]
    assert ends == [[2.0, 0.0], [4.0, 0.0]]


@pytest.mark.parametrize("astar", [True, False])
@pytest.mark.parametrize("hole_radius", [None, 0.3])
def test_goes_around_what_is_below_the_floor_as_brute_force_does(astar, hole_radius):
    script = Script(ROWS, score=quarter, log_density=wall, hole_radius=hole_radius)
    graph, path = known(script, (0, 1, 3, 4))

    found = script.run(enhance(graph, path, price=Price(), astar=astar))

    assert found.cost == pytest.approx(cheapest(script, graph))
    assert [0.0, 0.0] in rows_of(graph, found)
    assert [2.0, 0.0] not in rows_of(graph, found)


@pytest.mark.parametrize("seed", range(8))
def test_wherever_the_origin_is_the_path_is_the_one_of_brute_force(seed):
    """Rows in a corner far from it, the middle of which is below the floor."""
    rng = np.random.default_rng(seed)
    corner = np.array([30.0, -20.0])

    def score(points):
        return (points[:, 0] - 30) / 8

    def log_density(points):
        return wall(points - corner)

    rows = corner + np.concatenate([rng.uniform([0, -1], [4, 1], size=(4, 2)), [[4.0, 0.0]]])
    script = Script(rows, score=score, log_density=log_density)
    graph = script.graph(someone(corner))
    script.run(graph.reveal_rows_around(0, len(rows)))
    around = graph.path_through((0, *range(1, 6), graph.goals[0]))

    found = script.run(enhance(graph, around, price=Price()))

    best = cheapest(script, graph)
    assert found.cost == pytest.approx(min(best, around.cost))
    assert best == np.inf or found.cost < around.cost


def test_holes_rule_out_edges_without_a_question():
    def n_asked(radius):
        script = Script(ROWS, score=quarter, log_density=wall, hole_radius=radius)
        graph, path = known(script, (0, 1, 3, 4))
        script.run(enhance(graph, path, price=Price()))
        return script.n_asked(DensityAlong)

    assert n_asked(0.55) < n_asked(None)


@pytest.mark.parametrize(("discrete", "ruled_out"), [(False, True), (True, False)])
def test_a_hole_rules_out_no_edge_with_a_discrete_change_in_it(discrete, ruled_out):
    script = Script(
        [[4.0, 0.0], [4.0, 1.0]],
        score=quarter,
        log_density=lambda points: np.where(
            np.hypot(points[:, 0] - 2, points[:, 1]) < 0.1, -1, 1.0
        ),
        hole_radius=0.6,
    )
    graph, _ = known(script, (0, 1), discrete=np.array([False, discrete]))
    unknown = GraphPath((0, 1), np.inf)

    found = script.run(enhance(graph, unknown, price=Price()))

    assert (found is unknown) == ruled_out
    assert found.vertices == ((0, 1) if ruled_out else (0, 2))


def test_where_nothing_beats_the_known_path_it_stays():
    script = Script(ROWS, score=quarter, log_density=wall)
    graph, _ = known(script)
    best = GraphPath((0, 4), 0.5)

    assert script.run(enhance(graph, best, price=Price())) is best


def test_edges_that_were_refused_before_are_not_asked_about_again():
    script = Script(ROWS, score=quarter, log_density=wall)
    graph, path = known(script, (0, 1, 3, 4))
    script.run(graph.are_traversable([(0, 4)]))
    script.asked.clear()

    script.run(enhance(graph, path, price=Price()))

    straight = [
        question
        for question in script.asked
        if isinstance(question, DensityAlong) and question.ends[0].tolist() == [4.0, 0.0]
    ]
    assert all(question.starts[0].tolist() != [0.0, 0.0] for question in straight)


def test_density_can_make_a_longer_path_cheaper():
    script = Script(
        ROWS,
        score=quarter,
        log_density=lambda points: np.where(points[:, 1] < 0.3, -4.0, 1.0),
    )
    graph, path = known(script, (0, 1, 3, 4), log_floor=-9.0)
    price = Price(usual_log_density=1.0, exponent=0.5)
    dear = GraphPath(path.vertices, np.inf)

    found = script.run(enhance(graph, dear, price=price))
    short = script.run(enhance(graph, dear, price=Price()))

    assert rows_of(graph, short) == [[0.0, 0.0], [4.0, 0.0]]
    assert len(found.vertices) > 2
    log_means = script.run(graph.log_mean_densities(found.edges))
    lengths = np.array([graph.edge_length(*edge) for edge in found.edges])
    assert found.cost == pytest.approx(price.exact_costs(lengths, np.array(log_means)).sum())


def test_one_way_columns_and_the_longest_step_are_kept():
    script = Script(ROWS, score=quarter)
    graph, path = known(script, max_step=2.5, bounds=box(2, up=[0]))
    effort = Effort()

    found = script.run(enhance(graph, path, price=Price(), effort=effort))

    assert effort.refused == 0, "what is not permitted is never tried"

    assert rows_of(graph, found) == [[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]]


def test_starts_where_the_known_path_starts_and_ends_at_a_given_goal():
    script = Script(ROWS, score=quarter)
    graph, _ = known(script)
    goal = len(graph.points) - 2
    start = 1

    graph.goal = goal
    found = script.run(enhance(graph, GraphPath((start, goal), np.inf), price=Price()))

    assert found.vertices == (start, goal)


def test_by_the_mean_only_the_vertices_with_the_least_detour_are_considered():
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.uniform(0, 4, size=(80, 2)), [[4.0, 0.0]]])
    script = Script(rows, score=lambda points: (points[:, 0] >= 4) * 1.0)
    graph, _ = known(script, (0, 1), rule="mean")

    search = AStar(graph, GraphPath((0, graph.goals[0]), 99.0), Effort())

    assert len(search.vertices) == 48
    assert search.vertices[0] == 0
    assert graph.goals[0] in search.vertices


def test_what_is_further_than_the_known_path_is_long_is_not_considered():
    script = Script([*ROWS, [9.0, 0.0], [0.0, -3.0]], score=quarter)
    graph, path = known(script, (0, 2, 3))

    search = AStar(graph, GraphPath(path.vertices, 4.5), Effort())

    assert 9.0 not in graph.points[search.vertices][:, 0]
    assert -3.0 not in graph.points[search.vertices][:, 1]


def test_an_effort_is_spent_when_nothing_is_left_of_it():
    assert [Effort(left).is_spent for left in (-5, 0, 1, np.inf)] == [True, True, False, False]


def test_when_the_effort_is_spent_the_known_path_stays():
    script = Script(ROWS, score=quarter, log_density=wall, hole_radius=0.55)
    graph, path = known(script, (0, 1, 3, 4))
    dear = GraphPath(path.vertices, 99.0)
    effort = Effort(1)

    assert script.run(enhance(graph, dear, price=Price(), effort=effort)) is dear
    assert effort.is_spent


@pytest.mark.parametrize(("n_holes", "n_closed"), [(1, 1), (3, 1), (3, 2)])
def test_an_effort_is_as_many_numbers_as_are_held_against_holes(n_holes, n_closed):
    script = Script(ROWS, score=quarter)
    graph, path = known(script)
    effort = Effort(1000.0)
    search = AStar(graph, path, effort)
    graph.holes = [Hole(np.array([9.0, 9.0]), 0.5)] * n_holes
    holes = Holes.of(graph.holes)

    search._touch(holes, np.array([0]), np.array([1]), n_tails=n_closed)

    assert 1000.0 - effort.left == n_holes * n_closed * 2 * len(search.vertices)


def maze(seed: int) -> Script:
    """Many rows, a third of them below the floor: most edges are refused."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate([rng.uniform(-1, 9, size=(60, 2)), [[4.5, 0.0]]])
    walls = rng.uniform(-1, 9, size=(6, 2))

    def log_density(points):
        return np.linalg.norm(points[:, None] - walls, axis=2).min(axis=1) - 1.2

    return Script(rows, score=quarter, log_density=log_density)


@pytest.mark.parametrize("seed", range(12))
def test_where_most_edges_are_refused_the_path_is_still_the_shortest(seed):
    script = maze(seed)
    graph, path = known(script, (0, 61))
    path = GraphPath(path.vertices, 1e6)

    found = script.run(enhance(graph, path, price=Price()))
    asked = len(script.asked)
    assert script.n_asked(RowDensities) <= 1  # all vertices are held against the floor once

    n = len(graph.points)
    pairs = [(a, b) for a in range(n) for b in range(n)]
    fine = np.array(script.run(graph.are_traversable(pairs))).reshape(n, n)
    apart = np.linalg.norm(graph.points[:, None] - graph.points, axis=2)
    costs = np.where(fine, apart, np.inf)
    for middle in range(n):
        costs = np.minimum(costs, costs[:, middle, None] + costs[None, middle, :])
    shortest = min(costs[0, goal] for goal in graph.goals)
    assert found.cost == pytest.approx(min(shortest, 1e6))
    assert asked < 20


def test_vertices_below_the_floor_are_left_out_beside_those_that_are_done_with():
    """Once, and none of them is open any more; what lies above the floor still is."""
    script = Script(ROWS, score=quarter, log_density=wall)
    graph, path = known(script)
    search = AStar(graph, path, Effort())
    search.close_vertex(0)
    low = [i for i, vertex in enumerate(search.vertices) if graph.points[vertex, 0] == 2.0]

    assert script.run(search.leave_out_vertices_below_floor())

    assert np.flatnonzero(search.closed).tolist() == [0, *low]
    assert graph.below_floor == {search.vertices[i] for i in low}
    script.asked.clear()
    assert not script.run(search.leave_out_vertices_below_floor())
    assert script.asked == []


@pytest.mark.parametrize(("ahead", "n_asked"), [(2, 2), (3, 3), (4, 3), (64, 3)])
def test_as_many_edges_are_asked_about_ahead_as_there_are_the_most_promising_first(ahead, n_asked):
    script = Script(ROWS, score=quarter)
    graph, path = known(script)
    search = AStar(graph, path, Effort())
    search.close_vertex(0)
    search._ahead = ahead

    edges = search._edges_ahead((0, 1))

    estimate = search.spent + search.remaining
    by_estimate = sorted(range(2, len(search.vertices)), key=lambda i: estimate[i])
    assert [start for start, _ in edges] == [0] * n_asked
    assert {end for _, end in edges} == set(by_estimate[:n_asked])


def test_where_no_vertex_is_below_the_floor_none_is_left_out():
    script = Script(ROWS, score=quarter)
    graph, path = known(script)
    search = AStar(graph, path, Effort())

    assert not script.run(search.leave_out_vertices_below_floor())

    assert not search.closed.any()
    assert graph.below_floor == set()
