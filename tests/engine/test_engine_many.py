"""Many people are answered at once; errors keep to their person, Ctrl-C keeps what is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from localface import Recourse, Status
from localface.engine.engine import Engine
from localface.engine.many import answer_many, plan_requests, with_progress
from localface.engine.requests import Request
from localface.errors import DataError, InputError, ModelError
from localface.options import AskMany
from localface.search.plan import Plan
from small_engine import rising, small_engine

PEOPLE = pd.DataFrame({"a": [-0.8, -0.5, 1.0], "b": [0.1, 0.205, 0.0]})


def as_they_are(
    engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]
) -> list[Recourse]:
    return [answer for _, answer in asked]


def answered(
    engine: Engine, people: Any = PEOPLE, *, keep_errors: bool = False, **given: Any
) -> Any:
    ask = AskMany(on_error="record" if keep_errors else "raise")
    usual: dict[str, Any] = {"add_reasons": as_they_are, "progress": False}
    return answer_many(
        plan_requests(engine, ask, people), keep_errors=keep_errors, **{**usual, **given}
    )


def failing(frame: Any) -> Any:
    if (np.asarray(frame["b"]) == 0.205).any():  # no row has it
        raise RuntimeError("no such value")
    return rising(frame)


def test_answers_come_in_the_order_of_the_people() -> None:
    answers = answered(small_engine())

    assert [one.status for one in answers] == [Status.FOUND, Status.FOUND, Status.ALREADY_THERE]
    assert [one.records[0].tolist() for one in answers] == PEOPLE.to_numpy().tolist()
    assert answers.numbers == (0, 1, 2)


def test_requests_know_the_number_of_their_person() -> None:
    for on_error in ("raise", "record"):
        planned = plan_requests(small_engine(), AskMany(on_error=on_error), PEOPLE)

        assert [one[1].person for one in planned if not isinstance(one, InputError)] == [0, 1, 2]


def test_the_first_who_cannot_ask_is_refused_by_number() -> None:
    people = [{"a": -0.8, "b": 0.1}, {"a": 1e15, "b": 0.1}]

    with pytest.raises(DataError, match="person 1: ") as refused:
        answered(small_engine(), people)

    assert refused.value.person == 1


def test_errors_are_recorded_by_person_whether_they_cannot_be_read_or_scored() -> None:
    people = [
        {"a": -0.8, "b": 0.1},
        {"a": np.nan, "b": 0.1},
        {"a": 1e15, "b": 0.1},
        {"a": -0.5, "b": 0.205},
    ]

    answers = answered(small_engine(failing), people, keep_errors=True)

    assert answers.numbers == (0,)
    assert {number: type(error) for number, error in answers.errors.items()} == {
        1: DataError,
        2: DataError,
        3: ModelError,
    }
    assert {number: error.person for number, error in answers.errors.items()} == {1: 1, 2: 2, 3: 3}


def test_a_failure_that_is_raised_names_the_person_and_the_stage() -> None:
    with pytest.raises(ModelError, match="no such value") as failed:
        answered(small_engine(failing))

    assert (failed.value.person, failed.value.stage) == (1, "find_recourse")


def test_a_model_that_fails_on_everyone_is_raised() -> None:
    people = [{"a": -0.8, "b": 0.205}, {"a": -0.5, "b": 0.205}]

    with pytest.raises(ModelError):
        answered(small_engine(failing), people, keep_errors=True)


def test_reasons_are_added_to_all_answers_at_once() -> None:
    given = []

    def noting(
        engine: Engine, plan: Plan, asked: Sequence[tuple[Request, Recourse]]
    ) -> list[Recourse]:
        given.extend(request.person for request, _ in asked)
        return [answer for _, answer in asked][::-1]

    answers = answered(small_engine(), add_reasons=noting)

    assert given == [0, 1, 2]
    assert answers[0].status is Status.ALREADY_THERE


def interrupted(*_: Any) -> list[Recourse]:
    raise KeyboardInterrupt


def test_ctrl_c_keeps_what_is_done_but_for_those_whose_reasons_are_missing() -> None:
    engine = small_engine()
    ask = AskMany(where={"a": 0.0001})

    with pytest.warns(UserWarning, match="stopped after 1 of 3 people"):
        stopped = answer_many(
            plan_requests(engine, ask, PEOPLE),
            add_reasons=interrupted,
            progress=False,
            keep_errors=False,
        )

    assert stopped.numbers == (2,)  # there already; the others have nobody to become
    assert stopped.unfinished == 2


def test_a_bar_passes_answers_on_and_counts_those_found() -> None:
    engine = small_engine()
    planned = plan_requests(engine, AskMany(), PEOPLE)
    requests = [one[1] for one in planned if not isinstance(one, InputError)]
    found = list(engine.answer(requests, engine.plan))
    mixed: list[tuple[int, Recourse | InputError]] = [*found, (3, InputError("no"))]

    assert list(with_progress(iter(mixed), 4, progress=True)) == mixed
    assert list(with_progress(iter(mixed), 4, progress=False)) == mixed


def test_ctrl_c_while_reasons_are_looked_for_tells_all_that_they_revealed() -> None:
    engine = small_engine()

    def revealing(_: Engine, __: Plan, asked: Sequence[tuple[Request, Recourse]]) -> list[Recourse]:
        for request, _answer in asked:
            request.account.rows.update(range(50))
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="stopped after 3 of 3 people"):
        stopped = answer_many(
            plan_requests(engine, AskMany(), PEOPLE),
            add_reasons=revealing,
            progress=False,
            keep_errors=False,
        )

    assert all(one.disclosure.rows >= 50 for one in stopped)
