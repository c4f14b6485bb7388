"""Categories that stand for a missing value: nobody is told to move into them or out of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from localface import LocalFACE
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.stand_ins import possible_stand_ins, stand_ins
from localface.errors import ConstraintError

N = 500


def people(missing: object = np.nan) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    job = pd.Series(rng.choice(["clerk", "cook", "nurse"], N)).astype(object)
    job[rng.random(N) < 0.25] = missing
    return pd.DataFrame({"hours": rng.normal(40, 5, N).round(1), "job": job})


TABLES = {
    "dummies with a column for what is missing": pd.get_dummies(people(), dummy_na=True),
    "the same without the first": pd.get_dummies(people(), dummy_na=True, drop_first=True),
    "dummies of a question mark": pd.get_dummies(people("?")),
    "dummies of unknown": pd.get_dummies(people("unknown"), prefix_sep="="),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_a_column_for_what_is_missing_is_a_code_of_its_group(table):
    schema = Schema.infer(table)

    (code,) = schema["job"].codes or ()
    assert code in ("nan", "?", "unknown")
    note = next(one for one in schema.notes if "taken for a missing value" in one)
    assert note.startswith(f"'job' has the category {code!r} (")
    assert "no answer leads into it or out of it" in note
    assert "schema.with_('job', codes=None)" in note


@pytest.mark.parametrize("wanted", ["missing", "not missing"])
@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_no_answer_leads_into_what_is_missing_or_out_of_it(table, wanted):
    gone = table[[one for one in table.columns if one.endswith(("nan", "?", "unknown"))]]
    gone = gone.to_numpy().ravel().astype(bool)
    pull = 3.0 if wanted == "missing" else -3.0
    reached = pull * gone + (table["hours"] - 40) / 5 > 0.5
    model = LogisticRegression(max_iter=500).fit(table, reached)
    explainer = LocalFACE(model, table)
    refused = np.flatnonzero(model.predict_proba(table)[:, 1] < 0.4)
    some = [*refused[gone[refused]][:4], *refused[~gone[refused]][:8]]

    answers = explainer.explain_many(table.iloc[some])

    assert any(one.found for one in answers)
    j = explainer.schema.index("job")
    code = explainer.schema["job"].categories.index(next(iter(explainer.schema["job"].codes)))
    for number, answer in zip(some, answers, strict=True):
        for records in (answer.records, answer.with_actions_as_path().records):
            assert ((records[:, j] == code) == gone[number]).all()
        assert ("job" in answer.missing) == gone[number]


def test_the_rest_of_a_group_is_missing_where_other_groups_have_all_their_columns():
    table = people().assign(flat=np.random.default_rng(1).choice(["own", "let", "kin"], N))

    certain = Schema.infer(pd.get_dummies(table))
    asked = Schema.infer(pd.get_dummies(table, drop_first=True))

    assert certain["job"].codes == {"none of these": "missing"}
    assert any("'flat' has a column for every category" in one for one in certain.notes)
    assert asked["job"].codes is None
    lines = [one for one in asked.notes if "codes={'none of these': 'missing'}" in one]
    assert [one.split()[0] for one in lines] == ["'job'", "'flat'"]


def test_a_wish_for_what_is_missing_is_refused_and_its_column_stays_when_split():
    schema = Schema.infer(pd.get_dummies(people(), dummy_na=True))

    with pytest.raises(ConstraintError, match="only 'missing'' and 'a value' leave no value"):
        schema.box(np.array([40.0, 0.0]), {"job": ["nan"]})
    moves = {one.name: one.moves for one in schema.split("job")}
    assert moves["job_nan"] == "never"
    assert moves["job_cook"] == "freely"


def test_what_may_be_a_value_is_none():
    names = ["other", "none", "no", "not applicable", "0", 0]

    assert stand_ins(names) == []
    assert possible_stand_ins(names) == []
    feature = Feature("pain", kind="binary", categories=(False, True), codes={True: "x"})
    assert Feature.from_dict(feature.to_dict()) == feature
