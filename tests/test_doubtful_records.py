"""Doubtful records from one end to the other: what is refused, what is answered with a caution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from localface import Feature, LocalFACE, Recourse, Schema, Search, Status
from localface.errors import DataError, InputError

N = 600
RNG = np.random.default_rng(0)
DATA = pd.DataFrame(
    {
        "potassium": RNG.normal(4.2, 0.5, N).clip(2.5, 5.7).round(1),
        "fio2": RNG.uniform(0.21, 1.0, N).round(2),
        "gcs": RNG.integers(3, 16, N),
        "unit": RNG.choice(["medical", "surgical"], N),
    }
)
SCHEMA = Schema(
    [
        Feature("potassium", unit="mmol/L", resolution=0.1),
        Feature("fio2", resolution=0.01, bounds=(0.21, 1.0)),
        Feature("gcs", kind="integer", within=8),
        Feature("unit", kind="categorical", categories=("medical", "surgical", "cardiac")),
    ]
)
WELL = {"potassium": 4.2, "fio2": 0.4, "gcs": 13, "unit": "medical"}
ILL = {**WELL, "gcs": 6}
SLIP = "potassium 41 mmol/L is higher than anybody's in the data (highest: 5.7): is it 4.1?"


def awake(people: pd.DataFrame) -> Any:
    return 1 / (1 + np.exp(9 - people["gcs"].to_numpy(dtype=float)))


EXPLAINER = LocalFACE(awake, DATA, schema=SCHEMA, search=Search(n_neighbors=20, through="rows"))


def test_an_ordinary_person_gets_no_caution() -> None:
    assert EXPLAINER.explain(WELL).cautions == ()
    assert EXPLAINER.explain(ILL).cautions == ()


def test_the_people_of_the_table_hardly_ever_get_one() -> None:
    answers = EXPLAINER.explain_many(DATA[:200], progress=False)

    assert sum(bool(one.cautions) for one in answers) <= 3


def test_an_impossible_record_is_not_simply_there_already() -> None:
    answer = EXPLAINER.explain({**WELL, "potassium": 41.0})

    assert answer.status is Status.ALREADY_THERE
    assert answer.cautions == (SLIP,)
    assert str(answer).startswith(f"caution: {SLIP}\n<Recourse: already there, 1 caution")


def test_an_entry_step_from_far_below_the_floor_is_said() -> None:
    answer = EXPLAINER.explain({**ILL, "potassium": 41.0})

    assert answer.found
    assert answer.cautions[0] == SLIP
    assert "the first step starts from a very rare state" in answer.cautions[1]


def test_a_category_that_no_row_has_is_said() -> None:
    answer = EXPLAINER.explain({**WELL, "unit": "cardiac"})

    assert answer.cautions[0].startswith("nobody in the data has unit 'cardiac'")


def test_a_real_answer_with_cautions_makes_the_round_trip() -> None:
    answer = EXPLAINER.explain({**ILL, "potassium": 41.0})

    assert Recourse.from_json(answer.to_json()).cautions == answer.cautions


@pytest.mark.parametrize("ask", ["explain", "alternatives", "check"])
def test_a_record_outside_the_schemas_bounds_is_refused(ask: str) -> None:
    wish = {"wish": {"gcs": 14}} if ask == "check" else {}

    with pytest.raises(DataError, match=r"'fio2' is 50 \(is it 0.5\?\)") as caught:
        getattr(EXPLAINER, ask)({**WELL, "fio2": 50.0}, **wish)

    assert (caught.value.feature, caught.value.option) == ("fio2", "bounds")


def test_among_many_the_number_of_the_person_is_said_and_the_others_can_go_on() -> None:
    people = [WELL, {**WELL, "fio2": 50.0}]

    with pytest.raises(InputError, match="person 1: 'fio2' is 50") as caught:
        EXPLAINER.explain_many(people, progress=False)
    answers = EXPLAINER.explain_many(people, progress=False, on_error="record")

    assert (caught.value.person, caught.value.option) == (1, "bounds")
    assert answers.numbers == (0,)
    assert set(answers.errors) == {1}


def test_who_starts_outside_the_limits_of_one_call_is_not_refused() -> None:
    answer = EXPLAINER.explain({**ILL, "fio2": 0.8}, where={"fio2": (0.21, 0.7)})

    assert answer.found
    assert answer.cautions == ()
    assert answer.end["fio2"] <= 0.7


def test_alternatives_say_a_caution_once_and_first() -> None:
    ways = EXPLAINER.alternatives({**ILL, "potassium": 41.0}, n=2)

    assert ways.cautions[0] == SLIP
    assert str(ways).startswith(f"caution: {SLIP}\n")
    assert str(ways).count(SLIP) == 1
    assert "caution: potassium" in ways._repr_html_()


def test_a_check_says_what_is_doubtful_about_the_record() -> None:
    found = EXPLAINER.check({**WELL, "potassium": 41.0}, {"gcs": 14})

    assert found.cautions[0] == SLIP
    assert str(found).startswith(f"caution: {SLIP}\n")
    assert "caution: potassium" in found._repr_html_()


def test_the_notebook_and_the_page_get_them_apart_from_other_notices() -> None:
    from localface.apps.web.views.view import answer_view, check_view

    view = answer_view(EXPLAINER.explain({**WELL, "potassium": 41.0}))
    checked = check_view(EXPLAINER.check({**WELL, "potassium": 41.0}, {"gcs": 14}))

    assert view["cautions"] == [SLIP]
    assert not any("potassium" in line for line in view["notices"])
    assert checked["cautions"][0] == SLIP


def test_an_answer_that_rests_on_few_comparable_people_says_so_once() -> None:
    rare = np.arange(N) < 42
    data = DATA.assign(blood=np.where(rare, "ab", "o")).drop(columns="unit")
    schema = Schema.infer(data).with_("blood", moves="never")
    explainer = LocalFACE(awake, data, schema=schema, search=Search(n_neighbors=20))
    person = {"potassium": 4.2, "fio2": 0.4, "gcs": 6}

    few = explainer.explain({**person, "blood": "ab"})
    many = explainer.explain({**person, "blood": "o"})

    assert few.n_comparable is not None
    assert few.cautions[-1] == (
        f"compared with only about {few.n_comparable} people alike in blood"
    )
    assert str(few).count("compared with") == 1
    assert many.cautions == ()
    assert "compared with about" in str(many)


def test_a_doubtful_value_is_named_with_the_one_that_may_be_meant() -> None:
    answer = EXPLAINER.explain({**ILL, "potassium": 41.0, "unit": "cardiac"})

    assert [(one.feature, one.suggestion) for one in answer.doubts] == [
        ("potassium", 4.1),
        ("unit", None),
    ]
    assert tuple(one.sentence for one in answer.doubts) == answer.cautions[:2]


def test_a_value_that_is_refused_carries_the_one_that_may_be_meant() -> None:
    with pytest.raises(DataError) as refused:
        EXPLAINER.explain({**WELL, "fio2": 50})
    assert (refused.value.feature, refused.value.suggestion) == ("fio2", 0.5)

    with pytest.raises(DataError) as refused:
        EXPLAINER.explain_many([WELL, {**WELL, "fio2": 50}], progress=False)
    assert (refused.value.person, refused.value.suggestion) == (1, 0.5)

    with pytest.raises(DataError) as refused:
        EXPLAINER.explain({**WELL, "fio2": 0.0})
    assert refused.value.suggestion is None


def test_a_wish_that_nobody_in_the_data_has_gets_a_caution() -> None:
    lower = EXPLAINER.check({**WELL, "potassium": 41.0}, {"gcs": 10})
    wished = EXPLAINER.check(WELL, {"potassium": 41.0})
    goal = EXPLAINER.explain(ILL, counterfactual={**WELL, "potassium": 0.4})

    assert wished.cautions == (SLIP,)
    assert "potassium 0.4 mmol/L is lower than anybody's" in goal.cautions[0]
    assert lower.cautions[0] == SLIP  # the person's own value is asked about once
    assert len([one for one in lower.cautions if "41" in one]) == 1


def test_somebody_who_is_there_already_is_not_told_how_few_are_comparable() -> None:
    data = DATA.assign(potassium=DATA["potassium"].where(DATA.index >= 20))
    explainer = LocalFACE(awake, data, schema=SCHEMA, search=Search(n_neighbors=20))

    ill = explainer.explain({**ILL, "potassium": None})
    well = explainer.explain({**WELL, "potassium": None})

    assert "compared with only about" in ill.cautions[0]
    assert well.status is Status.ALREADY_THERE
    assert well.cautions == ()


def test_no_plan_leads_to_numbers_beyond_everybodys() -> None:
    rng = np.random.default_rng(5)
    hours = np.clip(rng.gamma(1.2, 8, 1200).round(), 0, 40)
    credits = rng.integers(0, 9, 1200) * 5
    km = np.where(rng.random(1200) < 0.15, np.nan, rng.lognormal(3, 0.7, 1200).round())
    grade = rng.normal(2.5, 0.6, 1200).round(1)
    data = pd.DataFrame({"hours": hours, "credits": credits, "km": km, "grade": grade})

    def stays(people: pd.DataFrame) -> Any:
        odds = 0.06 * people["hours"] - 0.12 * people["credits"] + 0.9 * people["grade"] + 0.3
        return 1 / (1 + np.exp(odds))

    explainer = LocalFACE(stays, data, schema=Schema.infer(data).with_("grade", moves="never"))
    refused = data[stays(data) < 0.5].iloc[:150]

    lowest, highest = data.min().to_numpy(), data.max().to_numpy()
    for answer in explainer.explain_many(refused, progress=False):
        end = answer.end.to_numpy(dtype=float)
        beyond = (end < lowest) | (end > highest)
        assert not beyond.any()
