"""Donors: the nearest who reach the target, and more of them where they are few."""

from __future__ import annotations

import numpy as np

from localface.search.questions import Nearest
from localface.search.stages import donors as stage
from localface.search.stages.donors import find_donors
from scripted import Script, someone


def rows(n: int, *, first_target: int) -> Script:
    """Rows on a line, which reach the target from one of them on."""
    return Script(
        [[float(i), 0.0] for i in range(1, n + 1)],
        score=lambda points: np.where(points[:, 0] >= first_target, 1.0, 0.0),
    )


def found(script: Script, n_neighbors: int = 3, known: int = 3):
    graph = script.graph(someone([0.0, 0.0]))
    script.run(graph.reveal_rows_around(0, known))
    script.asked.clear()
    return graph, script.run(find_donors(graph, n_neighbors))


def test_the_nearest_targets_come_first():
    graph, donors = found(rows(40, first_target=5), known=40)

    assert graph.ids[donors].tolist() == list(range(4, 28))


def test_more_rows_are_revealed_while_donors_are_few():
    script = rows(60, first_target=3)

    graph, donors = found(script)

    asked = [question.k for question in script.asked if isinstance(question, Nearest)]
    assert asked == [6, 12, 24]
    assert len(donors) == 22
    assert graph.ids[donors[0]] == 2


def test_where_enough_are_known_nothing_is_revealed():
    script = rows(60, first_target=3)

    found(script, known=20)

    assert script.n_asked(Nearest) == 0


def test_no_more_are_revealed_than_there_are():
    script = rows(5, first_target=4)

    graph, donors = found(script)

    assert graph.ids[donors].tolist() == [3, 4]
    assert [question.k for question in script.asked if isinstance(question, Nearest)] == [6]


def test_no_more_are_revealed_than_is_worth_it(monkeypatch):
    monkeypatch.setattr(stage, "_MOST_REVEALED", 10)
    script = rows(99, first_target=90)

    assert found(script)[1] == []
    assert [question.k for question in script.asked if isinstance(question, Nearest)] == [6, 12]


def test_the_budget_ends_it():
    script = rows(99, first_target=5)
    script.max_rows = 5

    graph, donors = found(script)

    assert graph.cut
    assert graph.ids[donors].tolist() == [4]


def test_a_given_goal_is_the_only_donor():
    script = rows(20, first_target=2)
    graph = script.graph(someone([0.0, 0.0]))
    script.run(graph.reveal_rows_around(0, 5))
    script.asked.clear()
    graph.goal = graph.add_state(np.array([3.0, 1.0]), 1.0)

    assert script.run(find_donors(graph, 3)) == [graph.goal]
    assert script.asked == []


def test_where_the_budget_is_spent_already_it_looks_around_once():
    script = rows(99, first_target=90)
    graph = script.graph(someone([0.0, 0.0]))
    graph.cut = True

    assert script.run(find_donors(graph, 3)) == []
    assert [question.k for question in script.asked if isinstance(question, Nearest)] == [6]


def test_the_nearest_are_those_around_the_person_wherever_they_stand():
    script = rows(40, first_target=5)
    graph = script.graph(someone([20.2, 0.0]))
    script.run(graph.reveal_rows_around(0, 40))

    donors = script.run(find_donors(graph, 3))

    assert graph.points[donors[:4], 0].tolist() == [20.0, 21.0, 19.0, 22.0]
