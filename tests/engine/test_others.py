"""Others: a fixed sample of rows is given a person's changes, and only counts come back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from localface import LocalFACE, Schema
from localface.engine.answering import QuestionAnswerer
from localface.engine.job import take_points_as_records
from localface.engine.meter import Meter
from localface.engine.others import N_OTHERS
from localface.errors import ModelError
from localface.geometry.point_set import PointSet
from localface.search.questions import HelpOthers, OthersHelped, ScorePoints
from localface.sources.table import TableSource
from localface.types import NO_ROWS
from small_engine import line_density

Array = np.ndarray[Any, Any]
ROWS = np.random.default_rng(0).uniform(-1, 1, (400, 3))


class Score:
    """The product of the first two columns, and the third; notes its calls, fails on some."""

    def __init__(self, fails_above: float = np.inf) -> None:
        self.calls: list[Array] = []
        self.fails_above = fails_above

    def exact_scores(self, records: Array) -> Array:
        self.calls.append(records)
        if (records[:, 2] > self.fails_above).any():
            raise ModelError("the model failed")
        return np.asarray(records[:, 0] * records[:, 1] + records[:, 2])

    def round_scores(self, scores: Array, min_score: float) -> Array:
        return np.round(scores, 6)


def anything(points: Array) -> Array:
    return np.ones(len(points), dtype=bool)


def question(*end: float, keeps: Any = anything) -> HelpOthers:
    own = np.array([0.0, 0.5, 0.0])
    return HelpOthers(own, own + np.array([end]), np.arange(3), np.zeros(3, bool), NO_ROWS, keeps)


def asked(*questions: Any, score: Score | None = None) -> tuple[list[Any], list[Meter]]:
    source = TableSource(PointSet(ROWS), ROWS, np.arange(400), n_rows=400)
    answerer = QuestionAnswerer(source, line_density(), score or Score())
    (answer,) = [one for kinds, one in answerer.answer_kinds if HelpOthers in kinds]
    meters = [Meter(take_points_as_records, 0.5) for _ in questions]
    return list(answer(list(zip(meters, questions, strict=True)))), meters


def only(found: list[Any]) -> OthersHelped:
    ((one,),) = found
    assert isinstance(one, OthersHelped)
    return one


def test_what_helps_everybody_is_told_apart_from_what_helps_about_half() -> None:
    helped = only(asked(question(0.5, 0.0, 0.5))[0])

    assert helped.columns.tolist() == [[True, False, False], [False, False, True]]
    assert 0.3 < helped.shares[0] < 0.7  # by the sign of the second column
    assert helped.shares[1] == 1.0
    assert helped.moved.tolist() == [N_OTHERS, N_OTHERS]
    assert helped.least == helped.shares[0]


def test_one_change_is_the_whole_plan() -> None:
    helped = only(asked(question(0.5, 0.0, 0.0))[0])

    assert helped.shares.tolist() == [helped.whole]


def test_no_row_is_revealed_and_the_model_is_called_once_for_a_round() -> None:
    score = Score()
    states = ScorePoints(np.ones((1, 3)), NO_ROWS)

    _, meters = asked(question(0.5, 0.0, 0.5), states, question(0.5, 0.0, 0.0), score=score)

    assert len(score.calls) == 1
    assert [len(one.own.rows) for one in meters] == [0, 0, 0]
    assert [one.own.rows_scored for one in meters] == [4 * (N_OTHERS + 1), 1, 2 * (N_OTHERS + 1)]


def test_the_answer_is_the_same_alone_and_in_company() -> None:
    alone = only(asked(question(0.5, 0.0, 0.5))[0])
    _, (together,) = asked(question(0.1, 0.2, 0.3), question(0.5, 0.0, 0.5))[0]

    assert together.shares.tolist() == alone.shares.tolist()
    assert together.whole == alone.whole


def test_whoever_would_break_a_relation_is_left_out() -> None:
    helped = only(asked(question(0.5, 0.0, 0.0, keeps=lambda points: points[:, 1] > 0))[0])

    assert helped.whole == 1.0
    assert 20 < helped.whole_moved < N_OTHERS


def test_where_hardly_anybody_is_moved_nothing_can_be_told() -> None:
    few = question(0.5, 0.0, 0.0, keeps=lambda points: points[:, 1] < -0.9)
    helped = only(asked(few)[0])

    assert 0 < helped.whole_moved < 20
    assert helped.least == 1.0


def test_a_change_that_does_not_raise_the_own_score_is_no_quirk_of_the_model() -> None:
    """It is made to keep to common states."""
    assert only(asked(question(-0.5, 0.0, 0.9))[0]).least == 1.0
    assert only(asked(question(0.5, 0.0, 0.9))[0]).least < 1.0


def test_a_model_that_fails_on_others_may_do_for_the_person() -> None:
    states = ScorePoints(np.zeros((1, 3)), NO_ROWS)
    found, _ = asked(question(0.5, 0.0, 0.0), states, score=Score(fails_above=0.9))

    assert found[0][0].least == 1.0
    assert found[0][0].moved.tolist() == [0]
    assert found[1].tolist() == [0.0]


def test_a_model_that_fails_on_the_person_fails() -> None:
    with pytest.raises(ModelError):
        asked(ScorePoints(np.ones((1, 3)), NO_ROWS), score=Score(fails_above=0.9))


def test_a_change_is_made_from_about_the_same_values_and_the_person_makes_it_exactly() -> None:
    score = Score()
    own, end = np.array([0.0, 0.5, 0.0]), np.array([0.8, 0.5, 0.1])

    asked(question(0.8, 0.0, 0.1), score=score)

    (records,) = score.calls
    before, after, without_first, without_third = records.reshape(4, N_OTHERS + 1, 3)
    assert before[0].tolist() == own.tolist()
    assert after[0].tolist() == end.tolist()
    shifts = before[1:, [0, 2]]
    assert np.abs(shifts).max(axis=0) == pytest.approx([0.8, 0.5], abs=0.1)
    assert shifts.min() < 0 < shifts.max()
    assert after[1:, [0, 2]] == pytest.approx(shifts + np.array([0.8, 0.1]))
    assert after[:, 0].max() <= ROWS[:, 0].max()  # nobody goes where nobody is
    assert (without_first == np.column_stack([before[:, 0], after[:, 1:]])).all()
    assert (without_third == np.column_stack([after[:, :2], before[:, 2]])).all()
    assert (before[1:, 1] == after[1:, 1]).all()  # others keep what does not change
    assert len(np.unique(before[1:, 1])) == N_OTHERS


def test_what_is_discrete_is_changed_from_the_very_same_value() -> None:
    score = Score()
    discrete = np.array([True, False, True])
    own, ends = np.array([0.0, 0.5, 0.0]), np.array([[1.0, 0.5, 0.0]])

    asked(HelpOthers(own, ends, np.arange(3), discrete, NO_ROWS, anything), score=score)

    before, after = score.calls[0].reshape(2, N_OTHERS + 1, 3)
    assert (before[:, 0] == 0.0).all()
    assert (after[:, 0] == 1.0).all()


def test_a_notch_at_the_very_values_of_a_change_helps_nobody_who_stands_beside_it() -> None:
    """A tree may have it for everyone: at the very same values it would help everybody."""

    class Notch(Score):
        def exact_scores(self, records: Array) -> Array:
            notch = np.abs(records[:, 0] - 0.5) < 0.01
            return np.asarray(1.0 * notch - 0.1 * records[:, 0])

    assert only(asked(question(0.5, 0.0, 0.0), score=Notch())[0]).least < 0.1


def notched_world(notch: float) -> tuple[LocalFACE, dict[str, float]]:
    """More income helps, but for people of about thirty there is a notch just below theirs."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"income": rng.normal(45, 10, 800), "age": rng.uniform(20, 70, 800)})

    def model(table: pd.DataFrame) -> Array:
        usual = 1 / (1 + np.exp(-(table["income"] - 50) / 5))
        young = (table["age"] - 30).abs() < 4
        return np.asarray(np.where(young & (table["income"] < notch), 0.9, usual))

    schema = Schema.infer(data).with_("age", moves="never")
    return LocalFACE(model, data, schema=schema), {"income": 45.2, "age": 30.0}


def test_a_quirk_of_the_model_is_told_wherever_the_answer_is_shown() -> None:
    explainer, person = notched_world(44.5)
    answer = explainer.explain(person)

    (caution,) = answer.cautions
    assert answer.end["income"] < 44.5
    assert caution.startswith("lowering income would help only ")
    assert caution.endswith(
        " other people whose score the same change moves: this may be a quirk of the model"
    )
    assert caution in str(answer)
    assert caution in answer._repr_html_()
    assert caution in answer.to_json()
    assert explainer.explain_many([person] * 2, progress=False)[1].cautions == answer.cautions


def test_where_it_costs_little_more_a_plan_that_helps_others_is_taken_instead() -> None:
    explainer, person = notched_world(42.0)
    answer = explainer.explain({**person, "income": 45.9})

    assert answer.end["income"] >= 50
    assert answer.cautions == ()
