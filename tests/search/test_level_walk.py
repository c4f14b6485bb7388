"""What walks at one level find out, and what it says of other levels."""

from __future__ import annotations

import numpy as np
import pytest

from localface.search.level_walk import KnownGround, LevelWalk
from localface.search.questions import DensityAlong
from scripted import Script, someone


def known_ground(log_density: float) -> tuple[Script, KnownGround, int]:
    script = Script(np.zeros((0, 2)), log_density=lambda points: np.full(len(points), log_density))
    graph = script.graph(someone([0.0, 0.0]))
    vertex = graph.add_state(np.array([1.0, 0.0]), 0.2)
    return script, KnownGround(graph), vertex


def test_a_state_that_is_refused_at_one_level_still_has_its_own() -> None:
    script, ground, vertex = known_ground(1.0)

    judged = [script.run(ground.judge_vertices(np.array([vertex]), one)) for one in (1.5, 1.0)]

    assert [one.tolist() for one in judged] == [[False], [True]]


def test_an_edge_that_is_refused_at_one_level_still_has_its_own() -> None:
    script, ground, vertex = known_ground(1.0)

    judged = [script.run(ground.judge_edges([(0, vertex)], one)) for one in (1.5, 1.0)]

    assert judged == [[False], [True]]


def test_what_follows_from_another_level_is_not_asked_again() -> None:
    script, ground, vertex = known_ground(1.0)
    for level in (1.5, 0.5):
        script.run(ground.judge_vertices(np.array([vertex]), level))
        script.run(ground.judge_edges([(0, vertex)], level))
    script.asked.clear()

    for level, has_it in [(2.0, False), (1.1, False), (0.2, True)]:
        assert script.run(ground.judge_vertices(np.array([vertex]), level)).tolist() == [has_it]
        assert script.run(ground.judge_edges([(0, vertex)], level)) == [has_it]

    assert script.n_asked(DensityAlong) == 0


def test_at_the_same_level_nothing_is_asked_twice() -> None:
    script, ground, vertex = known_ground(1.0)

    for level in (0.5, 1.5):
        for _ in range(2):
            script.run(ground.judge_vertices(np.array([vertex]), level))
            script.run(ground.judge_edges([(0, vertex)], level))

    assert script.n_asked(DensityAlong) == 4


def test_a_level_that_is_only_just_refused_says_nothing_of_the_one_below() -> None:
    """By the tolerance a state of 0 has 1e-9, and not the next number."""
    script, ground, vertex = known_ground(0.0)
    some = np.array([vertex])

    for level, has_it in [(np.nextafter(1e-9, 1.0), False), (1e-9, True)]:
        assert script.run(ground.judge_vertices(some, level)).tolist() == [has_it]
        assert script.run(ground.judge_edges([(0, vertex)], level)) == [has_it]


def test_what_a_row_has_is_known_in_full_and_its_vertex_is_never_asked_about() -> None:
    script = Script([[1.0, 0.0]], log_density=lambda points: points[:, 0])
    graph = script.graph(someone([0.0, 0.0]))
    ground = KnownGround(graph)
    script.run(ground.look_around([0], 3))

    judged = [script.run(ground.judge_vertices(np.array([1]), one)) for one in (0.5, 1.0, 1.5)]

    assert [one.tolist() for one in judged] == [[True], [True], [False]]
    assert script.n_asked(DensityAlong) == 0


def test_levels_are_those_strictly_between_two_others() -> None:
    rows = [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0]]
    script = Script(rows, log_density=lambda points: points[:, 0])
    ground = KnownGround(script.graph(someone([0.0, 0.0])))
    script.run(ground.look_around([0], 4))

    assert ground.levels_between(1.0, 4.0).tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("n_neighbors", "max_step", "exhausted"),
    [(5, np.inf, True), (5, 9.0, True), (4, np.inf, False), (4, 4.0, False), (4, 3.9, True)],
)
def test_nothing_lies_further_out_where_fewer_rows_came_than_were_asked_for_or_too_far_off(
    n_neighbors: int, max_step: float, exhausted: bool
) -> None:
    script = Script([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0]])
    ground = KnownGround(script.graph(someone([0.0, 0.0], max_step=max_step)))

    script.run(ground.look_around([0], n_neighbors))

    assert ground.exhausted == exhausted


def walked(rows: list[list[float]], level: float = 0.5, most: float = np.inf, **options):
    """Walk from the origin to a score of 0.5, which is a tenth of the first value."""
    script = Script(rows, score=lambda points: points[:, 0] / 10, **options)
    graph = script.graph(someone([0.0, 0.0]))
    walk = LevelWalk(KnownGround(graph), level, {0: 0}, n_neighbors=len(rows))
    trail = script.run(walk.run(most))
    along = [q for q in script.asked if isinstance(q, DensityAlong) and (q.starts != q.ends).any()]
    return graph, trail, along


def test_the_most_promising_edge_comes_first_and_alone() -> None:
    """One of twice the score is not worth going six times as far for."""
    graph, trail, along = walked([[2.0, 0.0], [4.0, 12.0], [6.0, 0.0], [3.0, 4.0]])

    # 0.2 / 3, 0.4 / 13.6, 0.6 / 7, 0.3 / 6
    assert along[0].ends.tolist() == [[6.0, 0.0]]
    assert graph.points[list(trail)].tolist() == [[0.0, 0.0], [6.0, 0.0]]


def test_how_far_an_edge_leads_is_told_from_where_it_begins() -> None:
    """The last row has the highest score and is further off than the first."""
    rows = [[1.0, 0.0], [2.0, 0.0], [2.0, 2.5], [4.0, 1.0]]
    script = Script(rows, score=lambda points: points[:, 0] / 10)
    ground = KnownGround(script.graph(someone([1.5, -3.0])))

    script.run(LevelWalk(ground, 0.5, {0: 0}, n_neighbors=4).run(np.inf))

    along = [q for q in script.asked if isinstance(q, DensityAlong) and (q.starts != q.ends).any()]
    appeal = [x / 10 / (1 + np.hypot(x - 1.5, y + 3.0)) for x, y in rows]
    assert along[0].ends.tolist() == [rows[int(np.argmax(appeal))]]


def test_while_edges_are_refused_twice_as_many_are_asked_about() -> None:
    rows = [[1.0, float(i)] for i in range(12)]

    _, trail, along = walked(
        rows, log_density=lambda points: np.where(np.abs(points[:, 0] - 0.5) < 0.3, -1.0, 1.0)
    )

    assert trail == ()
    assert [len(one.starts) for one in along] == [1, 2, 4, 5]


def test_the_further_it_has_come_the_more_edges_are_asked_about_at_once() -> None:
    rows = [[0.1 * i, 0.0] for i in range(1, 13)]

    _, trail, along = walked(rows)

    assert trail == ()
    # one at a time up to three accepted vertices, two up to seven, three up to eleven
    assert [len(one.starts) for one in along] == [1, 1, 1, 2, 2, 3, 2]


def test_never_more_than_thirty_two_edges_are_asked_about_before_their_turn() -> None:
    rows = [[0.01 * i, 0.1 * (i % 7)] for i in range(1, 260)]

    _, trail, along = walked(rows)

    assert trail == ()
    assert max(len(one.starts) for one in along) == 32


def test_a_walk_gives_up_after_as_many_vertices_as_it_may_look_at() -> None:
    rows = [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]

    assert walked(rows, most=1)[1] is None
    assert walked(rows, most=3)[1] is None
    assert walked(rows, most=4)[1] == ()


def never_half_way(points: np.ndarray) -> np.ndarray:
    return np.where(np.abs(points[:, 0] - 0.5) < 0.3, -1.0, 1.0)


def test_however_many_are_refused_no_more_than_256_are_asked_about_at_once() -> None:
    rows = [[1.0, float(i)] for i in range(600)]

    _, trail, along = walked(rows, log_density=never_half_way)

    assert trail == ()
    assert [len(one.starts) for one in along] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 89]


def test_of_edges_that_are_alike_those_to_what_was_seen_first_come_first() -> None:
    rows = [[1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [1.0, -1.0]]

    graph, _, along = walked(rows, log_density=never_half_way)

    asked = [end for one in along for end in one.ends.tolist()]
    assert asked == graph.points[1:].tolist()
    assert graph.ids[1:].tolist() == [0, 1, 2, 3]


def test_of_known_states_only_those_are_looked_at_to_which_a_step_leads() -> None:
    rows = [[1.0, 0.0], [2.0, 0.0], [9.0, 9.0]]
    script = Script(rows, score=lambda points: points[:, 0] / 100)
    graph = script.graph(someone([0.0, 0.0]))
    graph.add_state(np.array([-7.0, 0.0]), 0.1)

    script.run(LevelWalk(KnownGround(graph), 0.5, {0: 0}, n_neighbors=2).run(np.inf))

    looked_at = [q.starts.tolist() for q in script.asked if isinstance(q, DensityAlong)]
    assert [[-7.0, 0.0]] not in looked_at
