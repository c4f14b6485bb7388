"""Explore: best first over traversable steps, with an entry step for someone below the floor."""

from __future__ import annotations

import numpy as np
import pytest

from localface.search.plan import WalkOptions
from localface.search.questions import Census, DensityAlong, Nearest, RowDensities, ScorePoints
from localface.search.stages.explore import (
    Exploration,
    Queue,
    _best_first_search,
    _momentum_step,
    _rule_out_ends,
    explore,
)
from scripted import Script, box, someone

STEPS = [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0], [5.0, 0.0]]


def tenth(points):
    return points[:, 0] / 10


def explored(script: Script, *, factual=(0.0, 0.0), goal=None, k=3, walk=None, **options):
    graph = script.graph(someone(factual, **options))
    if goal is not None:
        graph.goal = graph.add_state(np.asarray(goal, dtype=float), 1.0)
    found = script.run(explore(graph, WalkOptions(k, **(walk or {}))))
    return graph, found


def test_walks_over_rows_until_one_reaches_the_target():
    script = Script(STEPS, score=tenth)

    graph, found = explored(script)

    assert graph.ids[list(found.trail)].tolist()[-1] == 4
    assert not found.entry


def test_only_the_step_that_is_next_is_checked():
    script = Script(STEPS, score=tenth)

    _, found = explored(script, k=5)

    assert len(found.trail) == 2
    checks = [q for q in script.asked if isinstance(q, DensityAlong) and q.log_floor is not None]
    assert len(checks) == 1


def test_never_crosses_a_gap_and_backtracks_around_it():
    script = Script(
        [[1.0, 0.0], [1.0, 1.0], [3.0, 1.0], [5.0, 0.0]],
        score=tenth,
        log_density=lambda points: np.where(
            (np.abs(points[:, 0] - 2) < 0.5) & (points[:, 1] < 0.9), -1.0, 1.0
        ),
    )

    graph, found = explored(script, k=4)

    rows = graph.ids[list(found.trail)].tolist()
    assert rows[-1] == 3
    assert 1 in rows


def test_where_one_step_after_the_other_is_refused_many_are_asked_about_at_once():
    around = [[np.cos(i), np.sin(i)] for i in range(60)]
    script = Script(
        [*around, [5.0, 0.0], [-0.5, 0.0]],
        score=tenth,
        log_density=lambda points: np.where((np.abs(np.hypot(*points.T) - 0.75) < 0.1), -1.0, 1.0),
    )

    _, found = explored(script, k=70)

    assert found.trail == ()
    checks = [q for q in script.asked if isinstance(q, DensityAlong) and q.log_floor is not None]
    assert sum(len(q.starts) for q in checks) >= 60
    assert len(checks) < 20


def test_the_steps_ahead_are_left_in_the_queue_in_order():
    script = Script(STEPS, score=tenth)
    graph = script.graph(someone([0.0, 0.0]))
    vertices = script.run(graph.reveal_rows_around(0, 5))
    queue = Queue((0,))
    queue.push_steps(graph, 0, vertices, blend=False)

    ahead = queue.steps_ahead(3)

    assert len(ahead) == 3
    assert [queue.pop_most_promising() for _ in range(3)] == ahead
    assert len(queue.steps_ahead(9)) == 2


def test_where_no_step_leads_on_there_is_no_trail():
    script = Script(
        STEPS,
        score=tenth,
        log_density=lambda points: np.where(np.abs(points[:, 0] - 2.5) < 0.3, -1.0, 1.0),
    )

    _, found = explored(script, k=5)

    assert found == Exploration(())


def test_before_any_row_is_revealed_it_can_be_asked_whether_there_are_targets():
    script = Script(STEPS, score=lambda points: points[:, 0] / 100)

    _, found = explored(script, walk={"patience": 0})

    assert found.trail == ()
    assert [type(question) for question in script.asked] == [Census]


def test_after_some_patience_it_is_asked_whether_there_are_targets():
    script = Script(STEPS, score=lambda points: points[:, 0] / 100)

    _, found = explored(script, walk={"patience": 3})

    assert found.trail == ()
    assert script.n_asked(Census) == 1
    assert script.n_asked(Nearest) == 2


def test_a_given_goal_is_always_a_candidate():
    script = Script(STEPS, score=tenth)

    graph, found = explored(script, goal=[9.0, 0.0], k=1)

    assert found.trail == (0, graph.goal)


def test_someone_who_is_there_already_takes_no_steps():
    script = Script(STEPS, score=tenth)

    _, found = explored(script, factual=(8.0, 0.0))

    assert found.trail == (0,)
    assert script.n_asked(Nearest) == 0


def rare_start(points):
    return np.where(points[:, 0] < 0.9, -1.0, 1.0)


def test_someone_below_the_floor_enters_by_one_step():
    script = Script(STEPS, score=tenth, log_density=rare_start)

    graph, found = explored(script)

    assert found.entry
    assert found.trail[:2] == (0, found.entries[0])
    assert graph.ids[found.trail[-1]] == 4
    assert len(found.entries) > 2
    ranked = [q for q in script.asked if isinstance(q, DensityAlong) and q.log_floor is None]
    assert [len(q.starts) for q in ranked] == [1]  # its own density: others need no order


def test_where_the_first_entry_leads_nowhere_the_others_are_ranked_and_tried():
    script = Script(
        [[-1.0, 0.0], [1.5, 0.0], [5.0, 0.0]],
        score=tenth,
        log_density=lambda points: np.where(np.abs(points[:, 0]) < 0.9, -1.0, 1.0),
    )

    graph, found = explored(script, k=3)

    assert found.entry
    assert graph.ids[list(found.trail)].tolist() == [-1, 1, 2]
    assert script.n_asked(Census) == 1


def test_the_other_entries_are_ranked_once_however_many_lead_nowhere():
    script = Script(
        [[-1.0, 0.0], [-1.5, 2.0], [-1.2, -2.0], [1.6, 0.0], [5.0, 0.0]],
        score=tenth,
        log_density=lambda points: np.where(np.abs(points[:, 0]) < 0.9, -1.0, 1.0),
    )

    _, found = explored(script, k=5, max_step=2.4)

    assert (found.trail, len(found.entries)) == ((), 3)
    ranked = [q for q in script.asked if isinstance(q, DensityAlong) and q.log_floor is None]
    assert [len(q.starts) for q in ranked if len(q.starts) > 1] == [2]


def test_where_there_are_no_targets_the_other_entries_are_not_tried():
    script = Script(
        [[-1.0, 0.0], [1.5, 0.0]],
        score=tenth,
        log_density=lambda points: np.where(np.abs(points[:, 0]) < 0.9, -1.0, 1.0),
    )

    _, found = explored(script, k=3)

    assert found.trail == ()
    assert len(found.entries) == 2
    assert script.n_asked(Census) == 1


def test_an_entry_that_was_reached_before_is_not_tried_again():
    script = Script(
        [[-1.0, 0.0], [-1.5, 0.0], [5.0, 0.0]],
        score=tenth,
        log_density=lambda points: np.where(
            (np.abs(points[:, 0]) < 0.9) | (np.abs(points[:, 0] - 3) < 1), -1.0, 1.0
        ),
    )

    _, found = explored(script, k=2)

    assert found == Exploration((), entry=True, entries=found.entries)
    assert len(found.entries) == 2
    looked_from = [q.point[0] for q in script.asked if isinstance(q, Nearest)]
    assert looked_from == [0.0, -1.0, -1.5]


def test_someone_above_the_floor_whom_no_step_lets_leave_enters_too():
    script = Script(
        STEPS,
        score=tenth,
        log_density=lambda points: np.where(np.abs(points[:, 0] - 0.5) < 0.3, -1.0, 1.0),
    )

    _, found = explored(script)

    assert found.entry
    assert found.trail


def test_someone_who_can_take_a_single_step_and_no_more_is_given_no_entry():
    script = Script(
        [[1.0, 0.0], [5.0, 0.0]],
        score=tenth,
        log_density=lambda points: np.where(np.abs(points[:, 0] - 3) < 1, -1.0, 1.0),
    )

    _, found = explored(script)

    assert found == Exploration(())


@pytest.mark.parametrize("n_steps", [1, 2])
def test_with_momentum_the_walk_goes_half_way_and_on_with_its_direction(n_steps):
    script = Script(STEPS, score=tenth)

    graph, found = explored(script, walk={"momentum_steps": n_steps})

    states = [vertex for vertex in found.trail[1:] if graph.ids[vertex] < 0]
    assert states
    assert script.n_asked(ScorePoints) >= len(states)


@pytest.mark.parametrize(
    ("momentum_steps", "row", "end"),
    [
        (1, [5.0, 3.0], [5.5, 3.0]),  # half of the way to the row, and half of the last step
        (2, [5.5, 3.0], [5.5, 2.75]),  # or of the mean of the last two
        (9, [5.5, 3.0], [5.5, 2.75]),  # there were no more
    ],
)
def test_a_blend_is_half_way_to_the_row_and_half_of_the_mean_step_before(momentum_steps, row, end):
    script = Script(np.zeros((0, 2)), score=tenth)
    graph = script.graph(someone([1.0, 1.0]))
    trail = (0, *(graph.add_state(np.array(one), 0.1) for one in ([2.0, 1.0], [4.0, 2.0])))
    chosen = graph.add_state(np.array(row), 0.1)

    step = script.run(_momentum_step(graph, trail, chosen, WalkOptions(3, momentum_steps)))

    assert graph.points[step].tolist() == end
    assert graph.scores[step] == end[0] / 10


def test_a_blend_that_no_record_can_have_gives_way_to_the_row():
    script = Script([[5.0, 0.0]], score=tenth)

    graph, found = explored(
        script, k=1, walk={"momentum_steps": 1}, keeps_relations=lambda points: points[:, 0] > 4
    )

    assert graph.points[found.trail[-1]].tolist() == [5.0, 0.0]


def test_a_blend_stays_inside_the_bounds_and_takes_discrete_values_from_the_row():
    script = Script([[6.0, 1.0]], score=tenth)

    graph, found = explored(
        script,
        k=1,
        walk={"momentum_steps": 1},
        bounds=box(2, lower=[4.0, -1.0], upper=[6.0, 1.0]),
        discrete=np.array([False, True]),
        min_score=0.6,
    )

    blends = graph.points[np.flatnonzero(graph.ids < 0)[1:]]
    assert len(blends)
    assert (blends[:, 0] >= 4.0).all()
    assert (blends[:, 1] == 1.0).all()
    assert graph.is_goal(found.trail[-1])


def test_the_queue_blends_a_row_once_and_keeps_the_step_onto_it():
    script = Script(STEPS, score=tenth)
    graph = script.graph(someone([0.0, 0.0]))
    around = script.run(graph.reveal_rows_around(0, 1))
    queue = Queue((0,))
    queue.push_steps(graph, 0, around, blend=True)

    step = queue.pop_most_promising()
    assert queue.take_blended_step(step)
    again = queue.pop_most_promising()

    assert (again.end, again.blend) == (step.end, False)
    assert not queue.take_blended_step(again)
    assert not queue.take_blended_step(step)
    assert queue.pop_most_promising() is None


@pytest.mark.parametrize("k", [1, 2, 5])
def test_priority_is_score_over_one_plus_distance(k):
    script = Script(STEPS, score=tenth)
    graph = script.graph(someone([0.0, 0.0]))
    around = script.run(graph.reveal_rows_around(0, k))
    queue = Queue((0,))
    queue.push_steps(graph, 0, around, blend=False)

    ends = []
    while (step := queue.pop_most_promising()) is not None:
        ends.append(step.end)
        queue.trails[step.end] = (0, step.end)

    assert ends == sorted(around, key=lambda vertex: -(vertex / 10) / (1 + vertex))


def test_of_equal_scores_the_nearest_comes_first():
    script = Script(STEPS, score=lambda points: np.full(len(points), 0.2))
    graph = script.graph(someone([2.2, 0.0]))
    around = script.run(graph.reveal_rows_around(0, 5))
    queue = Queue((0,))
    queue.push_steps(graph, 0, around, blend=False)

    first = queue.pop_most_promising()

    assert graph.points[first.end].tolist() == [2.0, 0.0]


def test_of_vertices_that_are_new_those_below_the_floor_are_ruled_out():
    script = Script(STEPS, log_density=lambda points: np.where(points[:, 0] > 3.5, -1.0, 1.0))
    graph = script.graph(someone((0.0, 0.0)))
    script.run(graph.reveal_rows_around(0, 5))

    following = script.run(_rule_out_ends(graph, 3))

    assert following == len(graph.points)
    assert {float(graph.points[one, 0]) for one in graph.below_floor} == {4.0, 5.0}
    assert script.run(_rule_out_ends(graph, following)) == following


def test_a_walk_asks_whether_there_is_a_target_after_eight_states_unless_told_otherwise():
    rows = [[0.2 * i, 0.0] for i in range(1, 24)]

    for walk, n_states in ({}, 8), ({"patience": 3}, 3):
        script = Script(rows, score=lambda points: points[:, 0] / 100)
        _, found = explored(script, k=4, walk=walk)
        kinds = [type(one) for one in script.asked]
        looked_around = kinds[: kinds.index(Census)].count(Nearest)
        assert looked_around == n_states - 1  # the last is where it asks
        assert found.trail == ()


def test_where_one_step_after_the_other_is_refused_more_and_more_are_asked_about_at_once():
    """Half way to everybody there is a gap: eight are asked about alone, then ever more."""
    rows = [[2.0 + i / 1000, 0.0] for i in range(200)]
    script = Script(
        rows,
        score=lambda points: points[:, 0] / 10,
        log_density=lambda points: np.where(np.abs(points[:, 0] - 1) < 0.3, -1.0, 1.0),
    )
    graph = script.graph(someone([0.0, 0.0]))

    found = script.run(explore(graph, WalkOptions(200)))

    along = [one for one in script.asked if isinstance(one, DensityAlong)]
    steps = [len(one.starts) for one in along if (one.starts != one.ends).any()]
    assert found.trail == ()
    assert steps[:8] == [1] * 8
    assert steps[8:12] == [2, 8, 33, 33]  # the next, and up to thirty-two that come after it


@pytest.mark.parametrize(
    ("most", "is_found", "gave_up"), [(1, False, True), (2, False, True), (3, True, False)]
)
def test_what_an_entry_led_to_in_vain_counts_before_the_next_is_tried(most, is_found, gave_up):
    """Two rows beside each other are nearer; the target is beside two others further off."""
    rows = np.array([[2.0, 0.0], [2.5, 0.0], [0.0, 4.0], [0.0, 5.0]])

    def near_rows(points):
        apart = np.linalg.norm(points[:, None] - rows, axis=2).min(axis=1)
        return np.where(apart < 0.6, 1.0, -1.0)

    script = Script(rows, score=lambda points: points[:, 1] / 10, log_density=near_rows)

    graph, found = explored(script, k=4, walk={"most": most})

    assert found.entry
    assert bool(found.trail) == is_found
    assert found.gave_up == gave_up
    if is_found:
        assert graph.ids[list(found.trail)].tolist() == [-1, 2, 3]


@pytest.mark.parametrize(("n_refused", "n_looks"), [(7, 0), (8, 1), (9, 1)])
def test_every_eight_steps_that_are_refused_all_ends_are_held_against_the_floor(n_refused, n_looks):
    script = Script(
        [[2.0 + i / 1000, 0.0] for i in range(n_refused)],
        score=tenth,
        log_density=lambda points: np.where(np.abs(points[:, 0] - 1) < 0.3, -1.0, 1.0),
    )
    graph = script.graph(someone([0.0, 0.0]))
    queue = Queue((0,))

    script.run(_best_first_search(graph, queue, WalkOptions(n_refused)))

    assert script.n_asked(RowDensities) == n_looks
