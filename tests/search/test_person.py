"""Who asks: what a change costs them, and what they may do unless told otherwise."""

from __future__ import annotations

import numpy as np

from localface.search.person import Person
from scripted import box, someone


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
