"""What a call asks is held against the schema before anyone is looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from localface.engine.asking import check_ask
from localface.errors import ConstraintError
from localface.options import Ask
from small_engine import small_engine

PERSON = {"a": -0.8, "b": 0.1}


def test_an_ask_without_wishes_is_the_engines_own() -> None:
    engine = small_engine()

    asked = check_ask(engine, Ask())

    assert asked.engine is engine
    assert (asked.where, asked.weights, asked.relax) == (None, {}, False)
    assert asked.make_request(PERSON).record.tolist() == [-0.8, 0.1]


def test_what_is_asked_goes_into_the_request_and_the_plan() -> None:
    ask = Ask(
        where={"a": 1.0},
        avoid=["b"],
        weights={"a": 2},
        relax=True,
        actions=False,
        max_changes=2,
        min_score=0.7,
        counterfactual={"a": 1.0, "b": 0.1},
    )

    asked = check_ask(small_engine(), ask)
    request = asked.make_request(PERSON)

    assert (asked.plan.actions, asked.plan.max_changes) == (False, 2)
    assert asked.engine.score.min_score == 0.7
    assert request.weights == {"a": 2.0}
    assert request.relax
    assert np.array_equal(request.goal, [1.0, 0.1])
    assert (request.box.lower[1], request.box.upper[1]) == (0.1, 0.1)


@pytest.mark.parametrize(
    ("said", "message", "option"),
    [
        ({"avoid": "b"}, "give a list of features", "avoid"),
        ({"avoid": ["bb"]}, "did you mean 'b'", "avoid"),
        ({"weights": 3}, "give a dict", "weights"),
        ({"weights": {"c": 1.0}}, "which is no feature", "weights"),
        ({"weights": {"a": 0}}, "positive number", "weights"),
    ],
)
def test_what_does_not_fit_the_schema_is_refused(
    said: dict[str, Any], message: str, option: str
) -> None:
    with pytest.raises(ConstraintError, match=message) as refused:
        check_ask(small_engine(), Ask(**said))

    assert refused.value.option == option
