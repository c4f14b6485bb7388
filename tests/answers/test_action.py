"""One thing that a person is to do."""

from __future__ import annotations

import pickle

import pytest
from handmade import STRICT

from localface.answers.action import Action


def test_an_action_on_several_features_is_one_that_works_together() -> None:
    one = Action({"a": 1}, {"a": 0}, 0.5, 0.1, STRICT)
    two = Action({"a": 1, "b": 2}, {"a": 0, "b": 1}, 0.5, 0.1, STRICT)

    assert not one.together
    assert two.together


def test_the_effort_of_an_action_is_told_or_as_far_as_its_step_is_long() -> None:
    told = Action({"a": 1, "b": 2}, {"a": 0, "b": 1}, 0.5, 0.1, STRICT, effort=3.0)
    untold = Action({"a": 1}, {"a": 0}, 0.5, 0.1, STRICT)

    assert told.effort == 3.0
    assert untold.effort == STRICT.length


def test_an_action_cannot_be_changed_and_survives_pickling() -> None:
    one = Action({"a": 1}, {"a": 0}, 0.5, 0.1, STRICT, follows=(0,))

    with pytest.raises(TypeError):
        one.changes["a"] = 2  # type: ignore[index]
    assert pickle.loads(pickle.dumps(one)) == one
