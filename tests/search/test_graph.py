"""What one search knows: vertices are numbered as they come, and nothing is asked twice."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.protocol import Hole
from localface.search.graph import LocalGraph
from localface.search.questions import (
    Census,
    DensityAlong,
    Nearest,
    RowDensities,
    ScorePoints,
    ScoreRows,
)
from localface.search.trails import GraphPath
from localface.search.vertex_densities import log_densities_at, row_log_densities
from scripted import Script, box, counts, replies, someone, taking_over, values, verdicts

LINE = [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [6.0, 0.0]]


def line(**options) -> tuple[Script, LocalGraph]:
    script = Script(LINE, score=lambda points: points[:, 0] / 10)
    return script, script.graph(someone([0.0, 0.0], **options))


def test_rows_become_vertices_nearest_first_and_their_scores_are_asked_once():
    script, graph = line()

    first = script.run(graph.reveal_rows_around(0, 2))
    again = script.run(graph.reveal_rows_around(0, 3))

    assert (first, again) == ([1, 2], [1, 2, 3])
    assert graph.ids.tolist() == [-1, 0, 1, 2]
    assert graph.scores.tolist() == [0.0, 0.1, 0.2, 0.3]
    assert [q.ids.tolist() for q in script.asked if isinstance(q, ScoreRows)] == [[0, 1], [2]]


def test_rows_that_are_all_known_need_no_scores():
    script, graph = line()
    script.run(graph.reveal_rows_around(0, 2))

    assert script.run(graph.reveal_rows_near(graph.points[1], 1, box(2), radius=0.5)) == [1]
    assert script.n_asked(ScoreRows) == 1


def test_one_way_columns_narrow_what_is_asked_for():
    script, graph = line(bounds=box(2, up=[0]))
    script.run(graph.reveal_rows_around(0, 4))

    script.run(graph.reveal_rows_around(3, 4))

    assert script.asked[-1].bounds.lower[0] == 3.0


def test_what_lies_within_the_last_row_is_known_around_the_first_vertex_that_was_looked_from():
    script, graph = line()
    script.run(graph.reveal_rows_around(0, 2))
    script.run(graph.reveal_rows_around(1, 4))

    assert graph.knows_all_rows_around(0, 1.9)
    assert not graph.knows_all_rows_around(0, 2.0)
    assert not graph.knows_all_rows_around(1, 0.1)


def test_where_fewer_rows_came_than_were_asked_for_all_are_known():
    script, graph = line()
    script.run(graph.reveal_rows_around(0, 9))

    assert graph.knows_all_rows_around(0, 1e9)


def test_a_spent_budget_is_remembered_and_proves_nothing():
    script, graph = line()
    script.max_rows = 1

    assert script.run(graph.reveal_rows_around(0, 3)) == [1]
    assert graph.cut
    assert not graph.knows_all_rows_around(0, 0.5)


def test_of_several_questions_one_that_is_cut_is_enough_to_remember():
    script, graph = line()
    (first,) = script.run(graph.reveal_rows_around(0, 1))
    far = graph.add_state(np.array([6.1, 0.0]), 0.6)
    script.max_rows = 1

    script.run(graph.reveal_rows_around_each([first, far], 1))

    assert graph.cut


def test_an_edge_is_asked_about_once_in_either_direction():
    _, graph = line()
    graph.add_state(np.array([1.0, 0.0]), 0.1)

    asked, first = replies(graph.are_traversable([(0, 1), (1, 0)]), verdicts(True))
    _, again = replies(graph.are_traversable([(1, 0)]))

    assert len(asked[0].starts) == 1
    assert (first, again) == ([True, True], [True])


def test_one_way_columns_and_long_steps_are_refused_without_a_question():
    _, graph = line(bounds=box(2, up=[0]), max_step=2.0)
    graph.add_state(np.array([1.0, 0.0]), 0.1)
    graph.add_state(np.array([5.0, 0.0]), 0.1)

    _, found = replies(graph.are_traversable([(1, 0), (0, 2)]))

    assert found == [False, False]


def test_by_the_mean_an_edge_must_also_begin_and_end_above_the_floor():
    _, graph = line(rule="mean")
    graph.add_state(np.array([1.0, 0.0]), 0.1)

    asked, found = replies(graph.are_traversable([(0, 1)]), verdicts(True, True, False))

    assert asked[0].rule == "mean"
    assert asked[0].starts[:, 0].tolist() == [0.0, 0.0, 1.0]
    assert found == [False]


@pytest.mark.parametrize(("rule", "kept"), [("lowest", 1), ("mean", 0)])
def test_holes_are_kept_where_the_lowest_density_counts(rule, kept):
    _, graph = line(rule=rule)
    hole = Hole(np.zeros(2), 0.1)

    replies(graph.are_traversable([(0, 0)]), verdicts(False, holes=((0, hole),)))

    assert len(graph.holes) == kept


def test_edges_that_were_asked_about_are_told_by_position():
    _, graph = line()
    for x in (1.0, 2.0):
        graph.add_state(np.array([x, 0.0]), 0.1)
    replies(graph.are_traversable([(0, 1), (0, 2), (1, 2)]), verdicts(False, True, False))

    edges, passes = graph.known_edges([2, 1])
    assert (edges.tolist(), passes.tolist()) == ([[1, 0]], [False])
    edges, passes = graph.known_edges([0, 1, 2])
    assert edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert passes.tolist() == [False, True, False]


def test_who_is_around_a_vertex_and_how_common_they_are_is_asked_once():
    script, graph = line()
    first = script.run(graph.reveal_rows_around_each([0, 0], 2))
    script.run(row_log_densities(graph, [1]))
    asked = len(script.asked)

    assert script.run(graph.reveal_rows_around_each([0], 2)) == first[:1]
    around = script.run(graph.reveal_rows_around_each([0, 1], 2))
    densities = script.run(row_log_densities(graph, [2, 1])).tolist()

    assert around[0] == first[0]
    assert densities == script.run(log_densities_at(graph, [2, 1])).tolist()
    each, rows = script.asked[asked:]
    assert [question.point.tolist() for question in each.questions] == [graph.points[1].tolist()]
    assert rows.ids.tolist() == graph.ids[[2]].tolist()


def test_what_a_budget_withheld_is_asked_for_again():
    script, graph = line()
    graph.cut = True
    script.run(graph.reveal_rows_around(0, 2))
    script.run(graph.reveal_rows_around(0, 2))

    assert len([one for one in script.asked if isinstance(one, Nearest)]) == 2


def test_where_no_rule_refuses_an_edge_that_is_told_of_all():
    _, free = line()
    _, short = line(max_step=1.0)
    _, broken = line()
    broken.breaks_relation[0] = True

    assert [graph.permits_all for graph in (free, short, broken)] == [True, False, False]


def test_mean_densities_are_asked_once():
    _, graph = line()
    graph.add_state(np.array([1.0, 0.0]), 0.1)

    asked, first = replies(graph.log_mean_densities([(0, 1), (1, 0)]), values(-2.0))
    _, again = replies(graph.log_mean_densities([(1, 0)]))

    assert (asked[0].log_floor, asked[0].rule) == (None, "mean")
    assert (first, again) == ([-2.0, -2.0], [-2.0])


def test_the_density_of_the_factual_is_asked_once():
    _, graph = line()

    asked, first = replies(graph.factual_log_density(), values(-3.0))
    _, again = replies(graph.factual_log_density())

    assert (asked[0].starts == asked[0].ends).all()
    assert first == again == -3.0


def test_whether_there_are_targets_is_asked_once_and_never_with_a_goal():
    _, graph = line()
    assert replies(graph.has_targets(), counts(0))[1] is False
    assert replies(graph.has_targets())[1] is False

    _, other = line()
    other.goal = other.add_state(np.array([1.0, 0.0]), 0.1)
    assert replies(other.has_targets())[1] is True


def test_without_a_goal_every_vertex_with_the_score_is_one():
    script, graph = line()
    script.run(graph.reveal_rows_around(0, 4))

    assert graph.goals == [4]
    assert [graph.is_goal(vertex) for vertex in range(1, len(graph.points))] == [
        False,
        False,
        False,
        True,
    ]


def test_with_a_goal_nothing_else_is_one_and_nearness_to_it_appeals():
    script, graph = line()
    script.run(graph.reveal_rows_around(0, 4))
    graph.goal = 2

    assert graph.goals == [2]
    assert (graph.is_goal(2), graph.is_goal(4)) == (True, False)
    assert graph.appeal_of([2, 3]).tolist() == [1.0, 0.5]


def test_scores_appeal_as_they_are_and_signed_ones_by_what_they_lack():
    script, graph = line(min_score=1.0)
    script.run(graph.reveal_rows_around(0, 2))
    assert graph.appeal_of([1, 2]).tolist() == [0.1, 0.2]

    _, signed = line(min_score=1.0, signed=True)
    vertices = [signed.add_state(np.zeros(2), score) for score in (1.0, 0.0, -1.0)]
    assert signed.appeal_of(vertices).tolist() == [1.0, 0.5, 0.25]

    _, further_off = line(min_score=2.0, signed=True)
    vertices = [further_off.add_state(np.zeros(2), score) for score in (2.0, 0.0, -2.0)]
    assert further_off.appeal_of(vertices).tolist() == [1.0, 0.5, 0.25]


def test_a_state_is_no_row_and_gives_none():
    script, graph = line()
    script.run(graph.reveal_rows_around(0, 1))
    vertex = script.run(graph.add_state_asking_score(np.array([4.0, 0.0])))

    assert (vertex, graph.ids[vertex], graph.scores[vertex]) == (2, -1, 0.4)
    assert graph.rows_of([vertex]).tolist() == []
    assert graph.rows_of([1, vertex]).tolist() == [0]
    assert script.n_asked(ScorePoints) == 1


def test_a_path_costs_its_length():
    script, graph = line()
    script.run(graph.reveal_rows_around(0, 4))

    path = graph.path_through((0, 2, 4))

    assert path == GraphPath((0, 2, 4), 6.0)
    assert path.edges == [(0, 2), (2, 4)]


def test_under_another_floor_rows_stay_known_and_verdicts_are_asked_again():
    script, graph = line()
    script.run(graph.reveal_rows_around(0, 2))
    script.run(graph.are_traversable([(0, 1)]))
    script.run(graph.factual_log_density())
    script.run(graph.has_targets())
    asked = len(script.asked)

    lower = graph.with_floor(-5.0)
    script.run(lower.factual_log_density())
    script.run(lower.has_targets())
    assert script.run(lower.reveal_rows_around(0, 2)) == [1, 2]
    script.run(lower.are_traversable([(0, 1)]))

    assert [type(q) for q in script.asked[asked:]] == [DensityAlong]
    assert (lower.person.log_floor, graph.person.log_floor) == (-5.0, 0.0)
    assert lower.knows_all_rows_around(0, 1.5)


def test_with_fixed_columns_verdicts_stay_known_and_the_first_graph_is_as_it_was():
    script, graph = line()
    script.run(graph.reveal_rows_around(0, 2))
    script.run(graph.are_traversable([(0, 1)]))
    fixed = np.array([False, True])

    other = graph.with_fixed_columns(fixed)
    other.add_state(np.zeros(2), 0.0)

    assert other.person.fixed is fixed
    assert graph.person.fixed is None
    assert replies(other.are_traversable([(0, 1)]))[1] == [True]
    assert len(graph.points) == 3


def test_without_the_census_no_row_is_counted():
    script, graph = line()
    script.run(graph.reveal_rows_around(0, 2))

    assert script.n_asked(Census) == 0


# states of one person

OWN = box(2, lower=[-np.inf, 0.5], upper=[np.inf, 0.5])  # the second column is one's own


def own_line(**options) -> tuple[Script, LocalGraph]:
    rows = [[1.0, 0.5], [2.0, 0.0], [3.0, 9.0], [3.0, 7.0], [6.0, 0.5]]
    script = Script(rows, score=lambda points: points[:, 0] / 10)
    given = {"bounds": OWN, "projection": taking_over(OWN, [0.0, 0.5])}
    return script, script.graph(someone([0.0, 0.5], **(given | options)))


def test_states_keep_what_is_the_persons_own_and_say_which_row_they_come_from():
    script, graph = own_line()

    found = script.run(graph.reveal_rows_around(0, 3))

    assert graph.points[found].tolist() == [[1.0, 0.5], [2.0, 0.5], [3.0, 0.5]]
    assert graph.ids[found].tolist() == [0, -1, -1]  # the first is the row's own state
    assert graph.donors[found].tolist() == [0, 1, 2]
    assert graph.rows_of([0, *found]).tolist() == [0, 1, 2]


def test_among_rows_and_mixed_states_only_a_mix_that_breaks_a_relation_is_shut():
    script, graph = own_line(keeps_relations=lambda points: points[:, 0] != 2)

    found = script.run(graph.reveal_rows_around(0, 3))

    assert graph.breaks_relation[found].tolist() == [False, True, False]


def test_states_are_scored_as_states_and_rows_as_rows():
    script, graph = own_line()

    script.run(graph.reveal_rows_around(0, 3))

    rows = [question.ids.tolist() for question in script.asked if isinstance(question, ScoreRows)]
    states = [question for question in script.asked if isinstance(question, ScorePoints)]
    assert rows == [[0]]
    assert [question.donors.tolist() for question in states] == [[1, 2]]
    assert states[0].points.tolist() == [[2.0, 0.5], [3.0, 0.5]]
    assert graph.scores.tolist() == [0.0, 0.1, 0.2, 0.3]


def test_the_density_of_rows_is_known_and_that_of_states_is_worked_out():
    script, graph = own_line()
    script.log_density = lambda points: points[:, 0]
    found = script.run(graph.reveal_rows_around(0, 3))
    script.asked.clear()

    values_there = script.run(log_densities_at(graph, [found[2], found[0], found[1]]))

    assert values_there.tolist() == [3.0, 1.0, 2.0]
    assert [type(question) for question in script.asked] == [RowDensities, DensityAlong]
    assert script.asked[0].ids.tolist() == [0]


def test_scores_of_states_are_asked_once_each():
    script, graph = line()
    states = np.array([[2.0, 7.0], [3.0, 7.0], [2.0, 7.0]])

    first = script.run(graph.states.scores_of(states, np.array([0])))
    again = script.run(graph.with_floor(-1.0).states.scores_of(states[::-1], np.array([0])))
    own = script.run(graph.states.scores_of(graph.points[:1], np.array([0])))

    assert (first.tolist(), again.tolist(), own.tolist()) == (
        [0.2, 0.3, 0.2],
        [0.2, 0.3, 0.2],
        [0.0],
    )
    (asked,) = script.asked
    assert {tuple(point) for point in asked.points.tolist()} == {(2.0, 7.0), (3.0, 7.0)}
    assert asked.donors.tolist() == [0]


def test_whether_states_reach_the_target_is_asked_only_where_it_must_be_known():
    script, graph = own_line()

    assert script.run(graph.may_have_targets()) is True
    assert script.n_asked(Census) == 0
    assert script.run(graph.has_targets()) is True
    assert script.asked[-1].projection is graph.person.projection
    assert (graph.counts.allowed, graph.counts.targets) == (4, 1)

    _, rows = line()
    assert replies(rows.may_have_targets(), counts(0))[1] is False


def test_whether_states_keep_a_floor_is_asked_once_for_each_floor():
    _, graph = line()
    here, there = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 0.0]])

    first, kept = replies(graph.states.keep_floor(here, there, -1.0), verdicts(True, False))
    none, again = replies(graph.states.keep_floor(here[::-1], there[::-1], -1.0))
    other, lower = replies(
        graph.states.keep_floor(
            np.vstack([here, here[:1] - 1]), np.vstack([there, there[:1]]), -2.0
        ),
        verdicts(True, True, False),
    )

    assert (first[0].log_floor, none, other[0].log_floor) == (-1.0, [], -2.0)
    assert (kept.tolist(), again.tolist()) == ([True, False], [False, True])
    assert lower.tolist() == [True, True, False]


@pytest.mark.parametrize("max_step", [1.2, np.inf])
@pytest.mark.parametrize("bounds", [box(2), box(2, up=[0]), box(2, down=[1])])
def test_an_edge_is_permitted_by_itself_exactly_when_it_is_among_others(bounds, max_step):
    rng = np.random.default_rng(3)
    script = Script(np.round(rng.uniform(-1, 1, size=(12, 2)), 1))
    graph = script.graph(someone([0.0, 0.0], bounds=bounds, max_step=max_step))
    for point in script.rows:
        graph.add_state(point, 0.1)
    graph.add_state(np.array([-1.2, 0.0]), 0.1)  # just within reach
    graph.breaks_relation[[4, 7]] = True
    edges = [(a, b) for a in range(14) for b in range(14)]

    together = graph.are_permitted([a for a, _ in edges], [b for _, b in edges]).tolist()

    for (a, b), found in zip(edges, together, strict=True):
        step = graph.points[b] - graph.points[a]
        back = (bounds.up & (step < 0)) | (bounds.down & (step > 0))
        wanted = b not in (4, 7) and not back.any() and np.hypot(*step) <= max_step
        assert found == wanted
        assert graph.is_permitted((a, b)) == wanted


def test_whoever_asks_for_targets_also_asks_why_there_are_none():
    script, graph = line()

    script.run(graph.has_targets())

    (census,) = script.asked
    assert census.why
    assert Census(box(2)).why


def test_each_vertex_is_asked_about_as_a_row_or_as_a_state_and_never_as_both():
    """The first row has the number 0."""
    script, graph = line()
    script.run(graph.reveal_rows_around(0, 2))
    state = graph.add_state(np.array([5.0, 0.0]), 0.5, donor=0)
    script.asked.clear()

    script.run(log_densities_at(graph, [state, 1, 2]))

    rows, states = script.asked
    assert isinstance(rows, RowDensities)
    assert rows.ids.tolist() == [0, 1]
    assert states.starts.tolist() == states.ends.tolist() == [[5.0, 0.0]]
