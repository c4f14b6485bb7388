"""How many comparable people an answer rests on: counted again by plain code, kept, printed."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from localface import LocalFACE, Recourse, Schema, Search
from localface.answers.page import page_of
from localface.apps.web.views.view import answer_view
from localface.density.common_states.comparable import effective_number, widened_weights

N = 600


def people(n=N, seed=0):
    chance = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": chance.integers(20, 80, n),
            "sex": chance.choice(["f", "m"], n),
            "blood": chance.choice(["0", "a", "b", "ab"], n, p=[0.5, 0.44, 0.04, 0.02]),
            "weight": chance.normal(70, 9, n).round(4),
        }
    )


TABLE = people()
PERSON = {"age": 50, "sex": "f", "blood": "0", "weight": 60.0}


def rising(frame):
    return frame["weight"].to_numpy() / 140


def explainer(*own, table=TABLE, **options):
    schema = Schema.infer(table)
    for name in ("age", "sex"):  # guessed to be the person's own
        schema = schema.with_(name, moves="freely", protected=False)
    for name in own:
        schema = schema.with_(name, moves="never")
    return LocalFACE(rising, table, schema=schema, search=Search(n_neighbors=15), **options)


def test_an_answer_says_on_how_many_comparable_people_it_rests():
    answer = explainer("age", "sex").explain(PERSON)

    assert answer.found
    assert 100 <= answer.n_comparable <= N
    assert str(answer).count("compared with about") == 1
    assert "people alike in age and sex\n" in str(answer)
    assert "people alike in age and sex<" in answer._repr_html_()
    assert Recourse.from_json(answer.to_json()).n_comparable == answer.n_comparable
    assert answer_view(answer)["n_comparable"] == answer.n_comparable


def test_an_answer_without_a_path_says_so_too():
    answer = explainer("age", "sex").explain(PERSON, where={"weight": "never"})
    assert not answer.found
    assert any("alike in age and sex" in line for line in page_of(answer).closing)


@pytest.mark.parametrize(
    "one", [explainer(), explainer("age", density="isotropic")], ids=["nothing own", "isotropic"]
)
def test_nothing_is_said_where_nothing_is_own_or_the_density_does_not_compare(one):
    answer = one.explain(PERSON)
    assert answer.n_comparable is None
    assert "compared with" not in str(answer)


@pytest.mark.parametrize("own", [(), ("age",), ("age", "sex")], ids=["nothing", "age", "both"])
@pytest.mark.parametrize("value", [7, "here"], ids=["a number", "a word"])
def test_a_column_that_is_the_same_in_every_row_changes_no_figure(own, value):
    plain = explainer(*own).explain(PERSON)
    wider = explainer(*own, "site", table=TABLE.assign(site=value))
    answer = wider.explain({**PERSON, "site": value})

    assert answer.n_comparable == plain.n_comparable
    assert [str(one) for one in answer.actions] == [str(one) for one in plain.actions]


def test_own_categories_alone_are_counted_exactly():
    density = explainer("sex").density
    rows = density.rows.points
    shares = {density.n_comparable(row) for row in rows}
    assert shares == set(TABLE["sex"].value_counts().astype(float))


def test_a_category_that_too_few_share_is_not_asked_for():
    one = explainer("sex", "blood")
    rare = one.explain(PERSON | {"blood": "ab"}).n_comparable
    assert rare == (TABLE["sex"] == "f").sum()
    common = one.explain(PERSON).n_comparable
    assert common == ((TABLE["sex"] == "f") & (TABLE["blood"] == "0")).sum()


@pytest.mark.slow
def test_a_larger_table_is_counted_from_some_of_its_rows():
    table = people(9000)
    one = explainer("sex", table=table)
    counts = table["sex"].value_counts()
    for row in one.density.rows.points[::1500]:
        assert one.density.n_comparable(row) == pytest.approx(counts.mean(), rel=0.1)


def test_a_person_with_several_rows_counts_once():
    table = pd.concat([TABLE.assign(weight=TABLE["weight"] + n) for n in range(3)])
    one = explainer("sex", table=table, groups=list(range(N)) * 3)
    assert one.explain(PERSON).n_comparable == pytest.approx((TABLE["sex"] == "f").sum(), rel=0.02)


def test_weights_widen_until_there_are_enough():
    squares = np.linspace(0, 5, 500) ** 2
    few = effective_number(widened_weights(squares, 20))
    assert 20 <= few <= 40
    assert 100 <= effective_number(widened_weights(squares, 100)) <= 200
    assert effective_number(widened_weights(np.zeros(7), 300)) == 7
    assert effective_number(np.ones(4)) == 4


@pytest.mark.parametrize("n_missing", [300, 20], ids=["said below the plan", "as a caution"])
def test_nobody_is_alike_in_what_they_lack(n_missing):
    table = TABLE.assign(grown=np.where(np.arange(N) < n_missing, np.nan, TABLE["age"] % 9))
    answer = explainer("sex", "grown", table=table).explain(PERSON | {"grown": None})

    assert answer.shared == ("sex",)
    assert "people alike in sex who also lack grown" in str(answer)


def test_only_what_differs_between_people_is_named_as_what_they_are_alike_in():
    numbers = np.random.default_rng(1).permutation(N) + 10_000
    table = TABLE.assign(site=3, patient_id=numbers // 2, respondent=numbers)
    one = explainer("age", "sex", "site", "patient_id", "respondent", table=table)
    answer = one.explain(PERSON | {"site": 3, "patient_id": 5_007, "respondent": 10_007})
    again = Recourse.from_json(answer.to_json())

    assert answer.alike_in == again.alike_in == ("age", "sex")
    assert "people alike in age and sex\n" in str(answer)
    assert str(again) == str(answer)
    (told,) = [one["text"] for one in answer_view(answer)["facts"] if one["term"] == "comparable"]
    assert told.endswith("people alike in age and sex")


def test_an_answer_of_earlier_days_names_all_that_never_changes():
    answer = explainer("age", "sex").explain(PERSON)
    plain = json.loads(answer.to_json())
    del plain["alike_in"]

    assert "people alike in age and sex\n" in str(Recourse.from_json(json.dumps(plain)))
