"""The engine: from requests in the user's units to answers in the user's units."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from localface import Feature, Recourse, Schema, Status
from localface.answers.waiting import Waiting
from localface.engine.engine import Engine
from localface.engine.fitting import fit_engine
from localface.engine.job import SearchJob
from localface.engine.requests import Request
from localface.errors import DataError, InputError, ModelError
from localface.search.outcome import Outcome
from localface.search.questions import Questions
from small_engine import options, rising, small_engine, table

REFUSED = np.array([-0.8, 0.1])


def request(engine: Engine, record: Any = REFUSED, **given: Any) -> Request:
    return engine.make_request(np.asarray(record, dtype=float), engine.form, None, **given)


def only(found: Any) -> Any:
    ((_, answer),) = found
    return answer


def test_an_answer_begins_with_the_person_and_ends_at_the_target() -> None:
    engine = small_engine()

    answer = only(engine.answer([request(engine)], engine.plan))

    assert answer.found
    assert answer.records[0].tolist() == REFUSED.tolist()
    assert answer.rows[0] is None
    assert table().iloc[answer.rows[-1]].tolist() == answer.records[-1].tolist()
    assert answer.scores[-1] >= 0.5


def test_requests_come_back_by_number() -> None:
    engine = small_engine()
    requests = [request(engine), request(engine, [1.0, 0.0])]

    answers = dict(engine.answer(requests, engine.plan))

    assert answers[0].status is Status.FOUND
    assert answers[1].status is Status.ALREADY_THERE


def test_what_finishes_answers_is_called_with_each() -> None:
    engine = replace(small_engine(), finish=lambda answer: replace(answer, reason="finished"))

    assert only(engine.answer([request(engine)], engine.plan)).reason == "finished"


def test_a_search_may_be_wrapped_to_see_its_questions() -> None:
    engine = small_engine()
    kinds = []

    def watched(job: SearchJob[Outcome]) -> Questions[Outcome]:
        question = next(job.asks)
        while True:
            kinds.append(type(question).__name__)
            try:
                question = job.asks.send((yield question))
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]

    plain = only(engine.answer([request(engine)], engine.plan))
    answer = only(engine.answer([request(engine)], engine.plan, wrap=watched))

    assert np.array_equal(answer.records, plain.records)
    assert len(kinds) == answer.disclosure.questions
    assert kinds[0] == "ScorePoints"


def failing(frame: Any) -> Any:
    if (np.asarray(frame["b"]) == 77.0).any():
        raise RuntimeError("no such value")
    return rising(frame)


def test_one_that_cannot_be_answered_gets_the_error_and_the_others_their_answers() -> None:
    engine = small_engine(failing)
    requests = [request(engine), request(engine, [-0.8, 77.0], person=1)]

    found = dict(engine.answer_or_error(requests, engine.plan))

    assert isinstance(found[0], Recourse)
    error = found[1]
    assert isinstance(error, ModelError)
    assert (error.person, error.stage) == (1, "find_recourse")
    with pytest.raises(ModelError):
        list(engine.answer(requests, engine.plan))


def test_another_score_or_floor_shares_what_was_fitted() -> None:
    engine = small_engine()

    other = engine.with_thresholds(min_score=0.7, min_density=0.2)

    assert engine.with_thresholds() is engine
    assert engine.with_thresholds(min_score=0.5) is engine
    assert other.driver is engine.driver
    assert (other.score.min_score, other.answers.target.min_score) == (0.7, 0.7)
    assert other.log_floor > engine.log_floor
    answers = dict(
        engine.answer_together([(one, request(one), one.plan) for one in (engine, other)])
    )
    assert isinstance(answers[0], Recourse)
    assert isinstance(answers[1], Recourse)
    assert answers[0].target.min_score == 0.5
    assert answers[1].target.min_score == 0.7


def test_with_momentum_another_floor_changes_how_far_off_the_rows_a_walk_may_lead() -> None:
    engine = small_engine(momentum_steps=2)

    other = engine.with_thresholds(min_density=0.3)

    assert other.plan.walk_options.momentum_radius < engine.plan.walk_options.momentum_radius


def test_under_the_cover_rule_another_floor_is_another_radius() -> None:
    chosen = small_engine(edges="cover")
    given = small_engine(edges="cover", radius=0.4)

    assert chosen.with_thresholds(min_density=0.3).answers.radius != chosen.answers.radius
    assert given.log_floor == pytest.approx(-2 * np.log(0.4))
    assert given.with_thresholds(min_density=0.3).log_floor == given.log_floor


def test_a_person_who_breaks_a_declared_relation_or_is_far_off_is_refused() -> None:
    schema = Schema([Feature("a"), Feature("b")], relations=[("a", "<=", "b")])
    data = pd.DataFrame({"a": [0.0, 1.0, 2.0, 1.5], "b": [1.0, 2.0, 3.0, 2.5]})
    engine = fit_engine(rising, data, schema=schema, target=1, options=options(n_neighbors=2))

    with pytest.raises(DataError, match="'a' <= 'b'"):
        engine.make_request(np.array([2.0, 1.0]), engine.form)
    with pytest.raises(InputError):
        engine.make_request(np.array([1e15, 1e16]), engine.form)
    person = engine.make_person(np.array([0.0, 1.0]), schema.box(np.array([0.0, 1.0]), None))
    states = engine.space.points(np.array([[0.0, 1.0], [2.0, 1.0]]))
    assert person.keeps_relations(states).tolist() == [True, False]


def test_someone_without_relations_may_be_in_any_state() -> None:
    engine = small_engine()
    person = engine.make_person(REFUSED, engine.schema.box(REFUSED, None))

    assert person.keeps_relations(np.zeros((3, 2))).all()
    assert person.weights is None
    assert person.fixed is None
    assert person.rule == "lowest"


def test_weights_and_fixed_features_become_columns() -> None:
    engine = small_engine(edges="average", max_step=1.5)
    box = engine.schema.box(REFUSED, None)

    person = engine.make_person(REFUSED, box, weights={"b": 3.0}, fixed=["a"])

    assert person.weights is not None
    assert person.fixed is not None
    assert person.weights.tolist() == [1.0, 3.0]
    assert person.fixed.tolist() == [True, False]
    assert (person.rule, person.max_step) == ("mean", 1.5)


def test_what_never_moves_stays_when_states_are_taken_over_from_others() -> None:
    engine = small_engine()
    box = engine.schema.box(REFUSED, {"a": "never"})
    other = np.array([[1.5, -0.7]])

    person = engine.make_person(REFUSED, box)

    assert person.projection is not None
    states = person.projection.states_of(engine.space.points(other))
    assert np.allclose(engine.space.records(states), [[REFUSED[0], -0.7]])


def test_a_goal_is_searched_for_as_a_point() -> None:
    engine = small_engine()
    goal = table().to_numpy()[table()["a"].argmax()]
    asked = request(engine, goal=goal)

    answer = only(engine.answer([asked], engine.plan))

    assert engine.goal_point(request(engine)) is None
    assert np.array_equal(engine.goal_point(asked), engine.space.points(goal[None, :])[0])
    assert answer.status in (Status.FOUND, Status.UNREACHABLE)
    if answer.found:
        assert answer.records[-1].tolist() == goal.tolist()


def test_paths_lead_through_states_of_the_person_unless_rows_are_asked_for() -> None:
    states = small_engine()
    rows = small_engine(through="rows")
    box = states.schema.box(REFUSED, None)

    assert states.make_person(REFUSED, box).projection is not None
    assert rows.make_person(REFUSED, box).projection is None
    answer = only(rows.answer([request(rows)], rows.plan))
    assert answer.found
    assert all(row is not None for row in answer.rows[1:])


@pytest.mark.parametrize("through", ["states", "rows"])
def test_limits_are_kept_to_the_last_bit(through: str) -> None:
    engine = small_engine(through=through)
    limits = {"a": (None, 0.73), "b": (-0.31, 0.5)}
    asked = engine.make_request(REFUSED, engine.form, limits)

    answer = only(engine.answer([asked], engine.plan))

    assert answer.found
    states = np.concatenate([answer.records[1:], answer.with_actions_as_path().records[1:]])
    assert (states[:, 0] <= 0.73).all()
    assert (states[:, 1] >= -0.31).all()
    assert (states[:, 1] <= 0.5).all()


def test_rows_that_differ_by_more_than_is_comparable_are_no_examples() -> None:
    schema = Schema([Feature("a"), Feature("b", moves="never", comparable=0.5)])
    engine = fit_engine(rising, table(), schema=schema, target=1, options=options())
    record = np.array([-0.8, 0.1])

    projection = engine.make_person(record, schema.box(record)).projection

    assert projection is not None
    others = np.array([[1.0, 0.1], [1.0, 0.6], [1.0, 0.7], [-0.8, -0.5]])
    assert projection.admits(engine.space.points(others)).tolist() == [True, True, False, False]


def test_without_a_word_on_who_is_comparable_every_row_is_an_example() -> None:
    schema = Schema([Feature("a"), Feature("b", moves="never")])
    engine = fit_engine(rising, table(), schema=schema, target=1, options=options())
    record = np.array([-0.8, 0.1])

    projection = engine.make_person(record, schema.box(record)).projection

    assert projection is not None
    assert projection.admits(engine.space.points(np.array([[1.0, 9.0]]))).all()


def engine_with_growth(**settings: Any) -> Engine:
    a = Feature("a", unit="h", resolution=0.1, moves="grows", **settings)
    given = options(through="rows")
    return fit_engine(rising, table(), schema=Schema([a, Feature("b")]), target=1, options=given)


def test_without_recourse_it_is_said_that_waiting_alone_would_do() -> None:
    engine = engine_with_growth()

    answer = only(engine.answer([request(engine)], engine.plan))

    assert not answer.found
    assert answer.waiting.feature == "a"
    assert answer.waiting.value > 0
    assert answer.waiting.score >= 0.5
    value, score = answer.waiting.value, answer.waiting.score
    told = f"with time alone the score comes to {score:.2f}, at a {value:g} h: "
    assert f"; {told}" in answer.reason
    assert answer.reason.endswith("this is how the model behaves, and no advice to wait")
    assert Recourse.from_json(answer.to_json()).waiting == answer.waiting


def test_what_grows_is_never_an_action_and_waiting_is_told_beside_the_answer() -> None:
    either = lambda frame: np.maximum(rising(frame), rising({"a": frame["b"]}))  # noqa: E731
    schema = Schema([Feature("a", kind="integer", moves="grows"), Feature("b", resolution=0.1)])
    data = table().round({"a": 0})
    engine = fit_engine(either, data, schema=schema, target=1, options=options(through="rows"))

    answer = only(engine.answer([request(engine, [-1.0, -0.5])], engine.plan))

    assert answer.found
    assert (answer.records[:, 0] == -1).all()
    assert all("a" not in action.changes for action in answer.actions)
    assert answer.waiting == Waiting("a", 0, 0.5)
    said = str(answer).splitlines()[-1].strip()
    assert said.startswith("with time alone the score comes to 0.50, at a 0: ")


def test_waiting_longer_than_it_may_grow_is_not_offered() -> None:
    engine = engine_with_growth(within=0.5)

    answer = only(engine.answer([request(engine)], engine.plan))

    assert answer.waiting is None
    assert "waiting" not in answer.reason
