"""The paper's algorithms as printed: two greedy walks, and the graph over what they saw."""

from __future__ import annotations

import numpy as np
import pytest

from localface.search.questions import Nearest, ScorePoints
from localface.search.stages.paper import (
    _alignment_with_goal,
    _half_way_point,
    _shortest_path,
    paper_shortest_path,
    paper_walk_to_goal,
    paper_walk_to_target,
)
from scripted import Script, box, someone

ROWS = [[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [5.0, 0.0]]


def tenth(points):
    return points[:, 0] / 10


def start(script: Script, **options):
    return script.graph(someone([0.0, 0.0], **options))


def test_the_first_walk_goes_to_the_best_score_over_one_plus_distance_and_retires_it():
    script = Script(ROWS, score=tenth)
    graph = start(script)

    end = script.run(paper_walk_to_target(graph, n_neighbors=2, momentum_steps=0))

    assert graph.points[end].tolist() == [5.0, 0.0]
    excluded = [q.exclude.tolist() for q in script.asked if isinstance(q, Nearest)]
    assert excluded[0] == []
    assert excluded[1:] == [excluded[-1][:n] for n in range(1, len(excluded))]


def test_the_first_walk_ends_when_no_row_is_left():
    script = Script(ROWS[:2], score=tenth)

    assert script.run(paper_walk_to_target(start(script), n_neighbors=2, momentum_steps=0)) is None


def test_with_momentum_the_first_walk_leaves_the_rows_but_not_the_bounds():
    script = Script([[4.0, 1.0], [6.0, 1.0], [8.0, 1.0], [9.0, 1.0]], score=tenth)
    graph = start(script, bounds=box(2, upper=9.0), discrete=np.array([False, True]))

    end = script.run(paper_walk_to_target(graph, n_neighbors=2, momentum_steps=2))

    assert graph.ids[end] == -1
    assert graph.scores[end] >= 0.5
    assert graph.points[end][1] == 1.0
    assert script.n_asked(ScorePoints) >= 2


def test_momentum_is_the_mean_step_of_those_before():
    script = Script(ROWS, score=tenth)
    graph = start(script)
    first = graph.add_state(np.array([1.0, 0.0]), 0.1)
    second = graph.add_state(np.array([2.0, 1.0]), 0.2)
    chosen = graph.add_state(np.array([4.0, 1.0]), 0.4)

    ahead = [_half_way_point(graph, [0, first, second], chosen, steps) for steps in (0, 1, 2, 9)]

    wanted = [[3.0, 1.0], [3.5, 1.5], [3.5, 1.25], [3.5, 1.25]]
    assert [one.tolist() for one in ahead] == wanted


def test_the_second_walk_goes_where_alignment_times_mean_density_is_best():
    script = Script([[-0.5, 0.0], *ROWS], score=tenth)
    graph = start(script)
    graph.goal = graph.add_state(np.array([5.0, 0.0]), 0.5)

    walk = script.run(paper_walk_to_goal(graph, n_neighbors=2))

    assert (walk[0], walk[-1]) == (0, graph.goal)
    assert graph.points[walk[1]].tolist() == [1.0, 0.0]


def test_the_second_walk_prefers_a_dense_step_to_one_that_is_a_little_better_aligned():
    script = Script(
        [[1.0, 0.0], [1.0, 0.6]],
        score=tenth,
        log_density=lambda points: np.where((points[:, 1] < 0.1) & (points[:, 0] > 0.2), -3.0, 0.0),
    )
    graph = start(script)
    graph.goal = graph.add_state(np.array([5.0, 0.0]), 0.5)

    walk = script.run(paper_walk_to_goal(graph, n_neighbors=2))

    assert graph.points[walk[1]].tolist() == [1.0, 0.6]


def test_the_second_walk_never_turns_straight_back_however_dense_it_is_there():
    script = Script(
        [[-1.0, 0.0]],
        score=tenth,
        log_density=lambda points: np.where(points[:, 0] < -0.1, 5.0, 0.0),
    )
    graph = start(script)
    graph.goal = graph.add_state(np.array([5.0, 0.0]), 0.5)

    assert script.run(paper_walk_to_goal(graph, n_neighbors=2)) == [0, graph.goal]


def test_the_second_walk_ends_at_the_goal_when_no_row_is_left():
    script = Script(ROWS[:1], score=tenth, log_density=lambda points: -(points[:, 0] ** 2))
    graph = start(script)
    graph.goal = graph.add_state(np.array([-5.0, 0.0]), 0.5)
    script.rows = np.zeros((0, 2))

    assert script.run(paper_walk_to_goal(graph, n_neighbors=2)) == [0, graph.goal]


def test_the_graph_has_the_shortest_traversable_path_over_all_pairs():
    script = Script(
        [[1.0, 1.0], [2.0, 1.0], [3.0, 1.0], [4.0, 0.0]],
        score=tenth,
        log_density=lambda points: np.where(
            np.hypot(points[:, 0] - 2, points[:, 1]) < 0.5, -1, 1.0
        ),
    )
    graph = start(script)
    vertices = [0, *script.run(graph.reveal_rows_around(0, 4))]

    path = script.run(paper_shortest_path(graph, vertices))

    assert path.vertices[0] == 0
    assert path.vertices[-1] == vertices[-1]
    assert graph.points[list(path.vertices)].tolist()[1] == [2.0, 1.0]
    assert path.cost == pytest.approx(sum(graph.edge_length(*edge) for edge in path.edges))


def test_where_no_edge_leads_there_is_no_path():
    script = Script(ROWS, score=tenth, log_density=lambda points: -points[:, 0])
    graph = start(script)
    vertices = [0, *script.run(graph.reveal_rows_around(0, 4))]

    assert script.run(paper_shortest_path(graph, vertices)) is None


def test_by_the_mean_dense_edges_cost_more_as_printed():
    script = Script(ROWS, score=tenth)
    graph = start(script, rule="mean")
    vertices = [0, *script.run(graph.reveal_rows_around(0, 4))]

    path = script.run(paper_shortest_path(graph, vertices))

    assert path.vertices == (0, 4)
    assert path.cost == 5.0


def test_of_equally_short_paths_each_vertex_is_reached_from_the_one_nearest_to_the_start():
    edges = [(0, 7), (0, 3), (7, 5), (3, 5), (0, 5)]

    tied = _shortest_path(edges, [1.0, 1.0, 1.0, 1.0, 9.0], [0, 7, 3, 5])
    nearer = _shortest_path(edges, [0.5, 1.5, 1.5, 0.5, 2.0], [0, 3, 7, 5])

    assert (tied.vertices, tied.cost) == ((0, 7, 5), 2.0)
    assert (nearer.vertices, nearer.cost) == ((0, 5), 2.0)


def test_edges_without_length_are_edges():
    path = _shortest_path([(0, 4), (4, 9), (0, 9)], [0.0, 1.0, 3.0], [0, 4, 9])

    assert (path.vertices, path.cost) == ((0, 4, 9), 1.0)


def test_the_start_alone_is_a_path_without_steps():
    path = _shortest_path([], [], [0])

    assert (path.vertices, path.cost) == ((0,), 0.0)


def test_a_step_is_aligned_by_its_direction_whatever_its_length():
    script = Script(np.zeros((0, 2)))
    graph = script.graph(someone([1.0, 1.0]))
    graph.goal = graph.add_state(np.array([5.0, 1.0]), 1.0)
    ends = [[9.0, 1.0], [1.5, 1.0], [1.0, 4.0], [-2.0, 1.0], [4.0, 4.0], [1.0, 1.0]]
    candidates = [graph.add_state(np.array(end), 0.0) for end in ends]

    found = _alignment_with_goal(graph, 0, candidates)

    assert found == pytest.approx([1.0, 1.0, 0.5, 0.0, (1 + np.sqrt(0.5)) / 2, 0.5])
