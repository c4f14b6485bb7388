"""The states between a person and an end: which reach the target, and which steps can be taken."""

from __future__ import annotations

import numpy as np

from localface.search.lattice import Lattice
from localface.search.questions import DensityAlong
from localface.types import NO_ROWS
from scripted import Script, box, replies, someone, verdicts

END = np.array([3.0, 1.0, 2.0])
EACH = [(0,), (1,), (2,)]


def lattice_of(person, *, changes=EACH, log_floor=0.0, end=END, script=None) -> Lattice:
    script = script or Script(np.zeros((0, len(end))))
    lattice = Lattice(script.graph(person), end, changes, log_floor)
    script.run(lattice.ask_scores(NO_ROWS, range(len(changes) + 1)))
    return lattice


def test_a_state_makes_the_changes_of_its_bits():
    lattice = lattice_of(someone([0.0, 0.0, 0.0]), changes=[(0, 2), (1,)])

    assert lattice.states.tolist() == [[0, 0, 0], [3, 0, 2], [0, 1, 0], [3, 1, 2]]
    assert lattice.n_changes.tolist() == [0, 1, 1, 2]


def test_only_the_sizes_that_were_asked_for_are_scored():
    script = Script(np.zeros((0, 3)))
    lattice = Lattice(script.graph(someone([0.0, 0.0, 0.0])), END, EACH, 0.0)

    script.run(lattice.ask_scores(np.array([7]), range(2)))
    script.run(lattice.ask_scores(NO_ROWS, range(4, 9)))

    (asked,) = script.asked
    assert asked.donors.tolist() == [7]
    assert np.isnan(lattice.scores).tolist() == [False] * 3 + [True, False] + [True] * 3


def test_a_state_that_breaks_a_relation_is_not_possible():
    person = someone(
        [0.0, 0.0, 0.0], keeps_relations=lambda points: points[:, 0] <= points[:, 2] + 1
    )

    lattice = lattice_of(person)

    assert not lattice.is_possible(0b001)
    assert lattice.is_possible(0b000)


def test_who_starts_above_the_floor_may_end_anywhere_and_who_does_not_must_end_above_it():
    above = lattice_of(someone([0.0, 0.0, 0.0]))
    assert replies(above.allowed_ends([1, 2]))[1] == [1, 2]

    below = lattice_of(someone([0.0, 0.0, 0.0]), log_floor=-2.0)
    asked, found = replies(below.allowed_ends([1, 2]), verdicts(False, True))
    assert (asked[0].log_floor, found) == (0.0, [2])
    assert replies(below.allowed_ends([2, 1]))[1] == [2]


def test_until_someone_is_above_the_floor_their_own_density_is_the_floor():
    lattice = lattice_of(someone([0.0, 0.0, 0.0]), log_floor=-2.0)

    asked, _ = replies(lattice.can_take_step(0, 1), verdicts(False), verdicts(True))
    assert [question.log_floor for question in asked] == [0.0, -2.0]

    asked, _ = replies(lattice.can_take_step(1, 3), verdicts(True), verdicts(True))
    assert [question.log_floor for question in asked] == [0.0, 0.0]


def test_single_steps_of_someone_below_the_floor_are_asked_about_by_where_they_begin():
    lattice = lattice_of(someone([0.0, 0.0]), changes=[(0,), (1,)], end=np.ones(2), log_floor=-2.0)

    asked, _ = replies(
        lattice.check_single_steps([0, 1, 2, 3]),
        verdicts(False, True, False),  # of 0, 1 and 2, the second is above the floor
        verdicts(True),
        verdicts(True, False, True),
    )

    assert [question.log_floor for question in asked] == [0.0, 0.0, -2.0]
    assert [len(question.starts) for question in asked] == [3, 1, 3]
    steps = [(0, 1), (0, 2), (1, 3), (2, 3)]
    assert [replies(lattice.can_take_step(*one))[1] for one in steps] == [True, False, True, True]


def test_a_step_is_asked_about_once_and_a_one_way_column_needs_no_question():
    lattice = lattice_of(someone([0.0, 0.0, 0.0], bounds=box(3, down=[1])))

    assert replies(lattice.can_take_step(0, 1), verdicts(True))[1] is True
    assert replies(lattice.can_take_step(0, 1))[1] is True
    assert replies(lattice.can_take_step(0, 2))[1] is False


def test_by_the_mean_a_step_must_also_end_above_the_floor():
    lattice = lattice_of(someone([0.0, 0.0, 0.0], rule="mean"))

    asked, found = replies(lattice.can_take_step(0, 1), verdicts(True, False))

    assert (asked[0].starts[1] == asked[0].ends[1]).all()
    assert found is False


def test_after_many_refusals_steps_are_checked_many_at_a_time_as_states_always_are():
    changes = [(j,) for j in range(5)]
    lattice = lattice_of(someone(np.zeros(5)), changes=changes, end=np.ones(5))
    singles = [1 << j for j in range(5)]
    assert replies(lattice.check_steps_ahead(0, singles))[0] == []

    for end in range(1, 13):
        replies(lattice.can_take_step(0, end), verdicts(False))
    asked, _ = replies(lattice.check_steps_ahead(16, [17, 18, 20]), verdicts(True, False, True))
    assert len(asked[0].starts) == 3
    assert replies(lattice.can_take_step(16, 18))[1] is False

    replies(lattice.check_states_are_dense([1, 2, 4]), verdicts(True, False, True))
    assert [lattice.is_possible(state) for state in (1, 2, 4, 8)] == [True, False, True, True]
    assert replies(lattice.check_states_are_dense([1, 2]))[0] == []
    assert replies(lattice.check_steps_ahead(16, [17]))[0] == []


def test_what_a_state_lacks_and_the_least_that_lies_ahead():
    script = Script(np.zeros((0, 3)), score=lambda points: points[:, 0] / 3)
    lattice = lattice_of(someone([0.0, 0.0, 0.0], min_score=1.0), script=script)

    assert [lattice.missing_score(state) for state in (0b000, 0b001, 0b010)] == [1.0, 0.0, 1.0]
    assert lattice.least_missing_scores_ahead(0b011).tolist() == [0.0, 0.0, 0.0]
    assert lattice.least_missing_scores_ahead(0b110).tolist() == [2.0, 1.0, 0.0]


def test_impossible_states_are_never_asked_about():
    person = someone([0.0, 0.0, 0.0], keeps_relations=lambda points: points[:, 0] < 1)
    script = Script(np.zeros((0, 3)))
    lattice = lattice_of(person, script=script)
    script.asked.clear()

    assert script.run(lattice.can_take_step(0, 1)) is False
    assert script.n_asked(DensityAlong) == 0
