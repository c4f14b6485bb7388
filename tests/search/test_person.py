"""Who asks: what a change costs them, and what they may do unless told otherwise."""

from __future__ import annotations

import numpy as np

from localface.search.person import Person
from scripted import box, someone, taking_over


def test_without_weights_every_change_costs_the_same():
    person = someone([0.0, 0.0, 0.0])

    assert person.weight_of((0,)) == person.weight_of((1, 2)) == 1.0


def test_several_columns_at_once_cost_as_much_as_the_costliest():
    person = someone(
        [0.0, 0.0, 0.0], group_of=np.array([0, 0, 1]), weights=np.array([1.0, 4.0, 2.0])
    )

    assert person.weight_of((0,)) == 4.0
    assert person.weight_of((1,)) == 2.0
    assert person.weight_of((0, 1)) == 4.0


def test_unless_told_otherwise_states_are_taken_as_they_are():
    person = Person(np.zeros(2), box(2), 0.5, 0.0, np.zeros(2, dtype=bool))
    points = np.array([[0.3, 0.7], [1.0, 2.0]])

    assert (person.snap(points[0]) == points[0]).all()
    assert person.keeps_relations(points).tolist() == [True, True]
    assert person.projection is None
    assert person.rule == "lowest"
    assert np.isinf(person.max_step)


def test_a_projection_that_limits_nothing_leaves_rows_as_they_are():
    free = someone([0.0, 0.0], projection=taking_over(box(2), [0.0, 0.0]))
    limits = box(2, upper=[1.0, np.inf])
    limited = someone([0.0, 0.0], projection=taking_over(limits, [0.0, 0.0]))

    assert someone([0.0, 0.0]).limiting_projection is None
    assert free.limiting_projection is None
    assert limited.limiting_projection is limited.projection


def test_unless_told_otherwise_values_are_as_round_as_they_are():
    person = Person(np.zeros(2), box(2), 0.5, 0.0, np.zeros(2, dtype=bool))

    assert person.round_outwards(0, np.array([0.123])).tolist() == [0.123]
    assert person.fixed is None
