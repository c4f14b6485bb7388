"""What audit and robustness look at is counted where every search is: by the meter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from localface.analyses.audit import audit_proposals
from localface.analyses.end_record import end_record
from localface.analyses.robustness import explain_robustly, measure_robustness, read_models
from localface.engine.asking import check_ask
from localface.engine.engine import Engine
from localface.errors import InputError
from localface.options import Ask
from small_engine import rising, small_engine

PERSON = {"a": -0.8, "b": 0.1}


class Counting:
    """A model that counts the records it is asked about."""

    def __init__(self) -> None:
        self.calls = 0
        self.records = 0

    def __call__(self, frame: Any) -> Any:
        self.calls += 1
        self.records += len(frame)
        return rising(frame)

    def reset(self) -> None:
        self.calls = 0
        self.records = 0


@pytest.fixture
def model() -> Counting:
    return Counting()


@pytest.fixture
def engine(model: Counting) -> Engine:
    return small_engine(model)


def audited(engine: Engine, people: Any, proposals: Any, **said: Any) -> Any:
    return audit_proposals(
        engine,
        (people, proposals),
        where=None,
        form=engine.form,
        plan=engine.plan,
        watch=lambda found, total: found,
        **said,
    )


def test_an_audit_without_a_search_takes_one_model_call_and_sees_no_row(
    engine: Engine, model: Counting
) -> None:
    people = pd.DataFrame([PERSON, PERSON])
    proposals = pd.DataFrame({"a": [-0.7, np.nan], "b": [0.1, np.nan]})  # one that is not valid
    model.reset()

    audit = audited(engine, people, proposals)

    seen = audit.disclosure
    assert (seen.rows, seen.model_calls, seen.rows_scored) == (0, 1, 3)
    assert (model.calls, model.records) == (1, 3)
    assert seen.questions == 3  # scores, densities at the proposals, densities along the steps


def test_an_audit_counts_its_searches_too(engine: Engine, model: Counting) -> None:
    people = pd.DataFrame([PERSON])
    proposals = pd.DataFrame([{"a": 0.6, "b": 0.1}])
    model.reset()

    audit = audited(engine, people, proposals)

    (finding,) = audit
    assert finding.reachable
    assert audit.disclosure.rows == finding.recourse.disclosure.rows > 0
    assert audit.disclosure.rows_scored == model.records
    assert audit.disclosure.model_calls == model.calls


def test_robustness_tells_what_it_took(engine: Engine, model: Counting) -> None:
    asked = check_ask(engine, Ask())
    ((_, answer),) = engine.answer([asked.make_request(PERSON)], asked.plan)
    others = read_models(engine, [rising, rising], target=1, form=engine.form)
    model.reset()

    measured = measure_robustness(engine, answer, models=others, n=50)

    assert (model.calls, model.records) == (1, 51)
    assert measured.disclosure is not None
    assert measured.disclosure.model_calls == 3  # and one by each of the other models
    assert measured.disclosure.rows_scored == 53
    assert measured.disclosure.rows == 0
    assert all(verdict.score == measured.score for verdict in measured.models)


def test_a_robust_answer_accounts_for_all_that_it_took(engine: Engine, model: Counting) -> None:
    asked = check_ask(engine, Ask())
    model.reset()

    answer = explain_robustly(engine, asked.make_request(PERSON), asked.plan, 0.99)

    assert answer.robustness is not None
    assert answer.disclosure.model_calls == model.calls
    assert answer.disclosure.rows_scored == model.records


def test_the_end_of_an_answer_is_where_its_actions_lead(engine: Engine) -> None:
    asked = check_ask(engine, Ask())
    ((_, answer),) = engine.answer([asked.make_request(PERSON)], asked.plan)
    ((_, bare),) = engine.answer(
        [asked.make_request(PERSON)], check_ask(engine, Ask(actions=False)).plan
    )

    assert end_record(answer).tolist() == answer.with_actions_as_path().records[-1].tolist()
    assert end_record(bare).tolist() == bare.records[-1].tolist()


@pytest.mark.parametrize(
    ("given", "said", "why"),
    [
        ({"max_rows": 2, "max_step": 0.3}, {}, "max_rows=2 was spent"),
        ({}, {"max_seconds": 1e-9}, "time was up"),
    ],
    ids=["rows", "time"],
)
def test_what_an_audit_could_not_look_for_to_the_end_is_not_known(
    given: dict[str, Any], said: dict[str, Any], why: str
) -> None:
    engine = small_engine(**given)

    (finding,) = audited(
        engine, pd.DataFrame([PERSON]), pd.DataFrame([{"a": 0.9, "b": -0.9}]), **said
    )

    assert (finding.reachable, finding.verdict) == (None, "not known")
    assert why in finding.between
    assert "reachable   not known: " in str(finding)


def test_an_audit_refuses_a_time_that_is_none(engine: Engine) -> None:
    with pytest.raises(InputError, match="max_seconds=0: a positive number is wanted"):
        audited(engine, pd.DataFrame([PERSON]), pd.DataFrame([PERSON]), max_seconds=0)
