"""Columns of 0 and 1 that tell one category."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from localface import LocalFACE, Search
from localface.apps.files import choose_columns
from localface.apps.web.views.labels import Labels
from localface.apps.web.views.schema_reply import schema_reply
from localface.data.feature import Feature
from localface.data.read import read_record, read_records
from localface.data.schema import Schema
from localface.data.table_format import TableFormat
from localface.errors import ConstraintError, DataError, SchemaError

JOBS = ("clerk", "cook", "head_cook", "nurse")
JOB = Feature(
    "job", kind="categorical", categories=JOBS, columns=tuple(f"job_{one}" for one in JOBS)
)


def people(n: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "hours": rng.normal(40, 5, n).round(),
            "job": rng.choice(JOBS, n, p=[0.4, 0.3, 0.2, 0.1]),
            "sex": rng.choice(["f", "m"], n),
            "owner": rng.integers(0, 2, n),
        }
    )


def scrambled(table: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame({name: rng.permutation(table[name]) for name in table})


# --- finding them -----------------------------------------------------------------------------
@pytest.mark.parametrize("separator", ["_", "=", "__", "."])
def test_dummies_are_one_feature_named_by_their_prefix(separator):
    table = pd.get_dummies(people(), prefix_sep=separator)

    schema = Schema.infer(table)

    assert schema.names == ("hours", "owner", "job", "sex")
    assert schema["job"].categories == JOBS
    assert schema["job"].columns == tuple(f"job{separator}{one}" for one in JOBS)
    assert schema["sex"].kind == "binary"
    assert schema["sex"].protected
    assert schema.columns == tuple(table.columns)
    assert "exactly one of them is 1 in every row" in " ".join(schema.notes)
    assert "schema.split('job')" in " ".join(schema.notes)


def test_dummies_without_the_first_have_a_category_for_the_rest():
    schema = Schema.infer(pd.get_dummies(people(), drop_first=True))

    assert schema.names == ("hours", "owner", "job", "sex_m")
    assert schema["job"].categories == ("none of these", "cook", "head_cook", "nurse")
    assert "at most one of them is 1" in " ".join(schema.notes)


def test_a_name_of_several_words_is_taken_whole_and_protected_by_it():
    table = people().rename(columns={"job": "native_country"})

    for drop_first in (False, True):
        schema = Schema.infer(pd.get_dummies(table, drop_first=drop_first))

        assert schema["native_country"].protected
        assert schema["native_country"].categories[-3:] == JOBS[-3:]


def test_two_groups_that_share_a_word_stay_apart():
    table = people().rename(columns={"job": "own_job"}).assign(own_flat=people(seed=5)["job"])

    schema = Schema.infer(pd.get_dummies(table, drop_first=True))

    assert {"own_job", "own_flat"} <= set(schema.names)


def test_a_category_that_nobody_has_stays_with_its_group():
    table = people()
    table["job"] = pd.Categorical(table["job"], [*JOBS[:2], "judge", *JOBS[2:], "zoologist"])

    schema = Schema.infer(pd.get_dummies(table))

    assert schema["job"].categories == (*JOBS[:2], "judge", *JOBS[2:], "zoologist")


@pytest.mark.parametrize("drop_first", [False, True])
def test_columns_of_a_group_that_stand_apart_are_linked(drop_first):
    table = pd.get_dummies(people()[["hours", "job", "owner"]], drop_first=drop_first)
    jobs = tuple(one for one in table.columns if one.startswith("job"))
    order = [*jobs[:2], "hours", "owner", *jobs[2:]]

    schema = Schema.infer(table[order])

    assert schema.names == tuple(order)
    assert schema.links == (jobs,)
    assert "are not next to each other" in schema.notes[-1]


def test_a_group_named_as_another_column_has_a_name_of_its_own():
    table = pd.get_dummies(people()[["job"]]).assign(job=people()["owner"])

    assert Schema.infer(table).names == (" / ".join(JOB.columns), "job")


def test_columns_without_a_common_name_are_known_by_the_data_alone():
    rent = np.random.default_rng(0).integers(0, 3, 200)
    table = pd.DataFrame({"owner": rent == 0, "tenant": rent == 1, "guest": rent == 2})

    (feature,) = Schema.infer(table)

    assert feature.name == "owner / tenant / guest"
    assert feature.categories == ("owner", "tenant", "guest")


def test_nothing_is_found_where_every_column_is_shuffled_by_itself():
    for drop_first in (False, True):
        table = scrambled(pd.get_dummies(people(), drop_first=drop_first))

        assert all(one.columns is None for one in Schema.infer(table))


def test_rare_flags_that_never_meet_by_chance_are_no_group():
    flags = np.zeros((400, 2), dtype=int)
    flags[:3, 0] = flags[3:8, 1] = 1
    table = pd.DataFrame(flags, columns=["has_gout", "has_lupus"])

    assert Schema.infer(table).names == ("has_gout", "has_lupus")


def test_few_rows_show_no_group():
    assert Schema.infer(pd.get_dummies(people(8))).names[1:] == tuple(
        pd.get_dummies(people(8)).columns[1:]
    )


# --- declaring them ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "numeric"}, "can have no columns="),
        ({"kind": "categorical", "categories": ("a", "b", "c", "d")}, "4 categories and 2 columns"),
        ({"kind": "binary", "columns": ("x", "x")}, "list of different names"),
        ({"kind": "binary", "columns": "x"}, "list of different names"),
    ],
)
def test_columns_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(SchemaError, match=message):
        Feature("job", **{"columns": ("x", "y"), **settings})


def test_a_column_serves_once():
    with pytest.raises(SchemaError, match="'job_cook' more than once"):
        Schema([JOB, Feature("job_cook")])


def test_the_columns_are_written_to_the_file_and_read_back():
    schema = Schema.infer(pd.get_dummies(people()))

    assert Schema.from_toml(schema.to_toml()) == schema


def test_a_group_is_taken_apart_again():
    schema = Schema.infer(pd.get_dummies(people())).split("job")

    assert schema.names == schema.columns[:2] + JOB.columns + ("sex",)
    assert not any("'job'" in note for note in schema.notes)
    with pytest.raises(SchemaError, match="one column and cannot be split"):
        schema.split("hours")


# --- reading and writing ----------------------------------------------------------------------
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float32])
def test_a_table_comes_back_as_it_was(library, dtype):
    table = pd.get_dummies(people(), dtype=dtype)
    table = library(table) if library is pd.DataFrame else pl.from_pandas(table)
    schema = Schema.infer(table)

    records = read_records(table, schema)
    again = TableFormat.of(table, schema).make_table(records)

    assert records.shape == (400, 4)
    assert again.equals(table)


def test_the_first_of_dropped_dummies_is_all_zero():
    whole = people()
    table = pd.get_dummies(whole, drop_first=True)
    schema = Schema.infer(table)

    codes = read_records(table, schema)[:, schema.index("job")]

    assert (codes == whole["job"].map(JOBS.index)).all()
    assert TableFormat.of(table, schema).make_table(read_records(table, schema)).equals(table)


def test_a_person_may_come_by_columns_or_by_feature():
    schema = Schema([Feature("hours"), JOB])
    columns = {"hours": 40.0, **dict.fromkeys(JOB.columns or (), 0), "job_nurse": 1}

    assert read_record({"hours": 40.0, "job": "nurse"}, schema).tolist() == [40, 3]
    assert read_record(columns, schema).tolist() == [40, 3]
    assert read_record(pd.Series(columns), schema).tolist() == [40, 3]
    assert read_record(np.array(list(columns.values())), schema).tolist() == [40, 3]


@pytest.mark.parametrize(
    ("hot", "message"),
    [
        ({"job_cook": 1, "job_clerk": 1}, "several of them are 1"),
        ({}, "none of them is 1"),
        ({"job_cook": None}, "none of them is 1, or some are missing"),
        ({"job_cook": 0.5}, "give 0 or 1"),
        ({"job_cook": "yes"}, "give 0 or 1"),
    ],
)
def test_a_person_with_a_broken_group_is_refused(hot, message):
    person = {"hours": 40.0, **dict.fromkeys(JOB.columns or (), 0), **hot}

    with pytest.raises(DataError, match=message) as refusal:
        read_record(person, Schema([Feature("hours"), JOB]))
    assert refusal.value.feature == "job"


# --- answers ----------------------------------------------------------------------------------
def explainer_on(table: pd.DataFrame) -> tuple[LocalFACE, LogisticRegression]:
    nurse = table.filter(like="job_nurse").to_numpy().ravel()
    cook = table.filter(like="job_cook").to_numpy().ravel()
    noise = np.random.default_rng(2).normal(0, 1, len(table))
    reached = (table["hours"] - 42) / 3 + 2.5 * nurse + 1.2 * cook + noise > 0
    model = LogisticRegression(max_iter=500).fit(table, reached)
    return LocalFACE(model, table), model


@pytest.mark.parametrize("drop_first", [False, True])
def test_no_answer_breaks_a_group_and_the_category_is_named(drop_first):
    table = pd.get_dummies(people(), drop_first=drop_first).drop(columns="owner")
    explainer, model = explainer_on(table)
    refused = table[model.predict_proba(table)[:, 1] < 0.5].iloc[:25]
    jobs = [one for one in table.columns if one.startswith("job_")]

    answers = [explainer.explain(refused.iloc[[i]]) for i in range(len(refused))]

    moved = [one for one in answers if any("job" in action.changes for action in one.actions)]
    assert moved
    assert all(set(one.changes) <= {"hours", "job"} for a in answers for one in a.actions)
    for answer in answers:
        for states in (answer.path, answer.with_actions_as_path().path):
            assert list(states.columns) == list(table.columns)
            n_hot = states[jobs].sum(axis=1)
            assert (n_hot <= 1).all() if drop_first else (n_hot == 1).all()
    assert "job" in str(moved[0])
    assert "job_" not in str(moved[0])


def test_a_wish_names_the_feature_and_the_end_comes_back_in_columns():
    table = pd.get_dummies(people()).drop(columns="owner")
    explainer, model = explainer_on(table)
    person = table[model.predict_proba(table)[:, 1] < 0.3].iloc[[0]]

    kept = explainer.explain(person, where={"job": "never"})
    with pytest.raises(ConstraintError, match=r"which is no feature \(it tells 'job'\)"):
        explainer.explain(person, where={"job_cook": "never"})
    by_name = explainer.explain({**explainer.schema.values(read_record(person, explainer.schema))})

    assert all("job" not in action.changes for action in kept.actions)
    assert list(kept.end.columns) == list(table.columns)
    assert set(by_name.end) == {"hours", "job", "sex"}
    assert model.predict_proba(kept.end)[0, 1] >= 0.5


def test_the_page_knows_the_feature_and_what_nobody_has_a_value_of():
    table = pd.get_dummies(people()).drop(columns="owner").assign(pain=np.nan)
    table.loc[::9, "hours"] = np.nan
    explainer = LocalFACE(lambda rows: (rows["job_nurse"] > 0) * 1.0, table)

    reply = schema_reply(
        explainer,
        title="",
        people=False,
        outcomes=False,
        plane=False,
        retrained=False,
        promises=False,
        labels=Labels(),
    )

    by_name = {one["name"]: one for one in reply["features"]}
    assert by_name["job"]["categories"] == list(JOBS)
    assert by_name["job"]["middle"] == "clerk"
    assert (by_name["pain"]["middle"], by_name["pain"]["low"]) == (None, None)
    assert 35 < by_name["hours"]["middle"] < 45


def test_a_schema_file_chooses_the_columns_that_tell_its_features():
    table = pd.get_dummies(people())
    schema = Schema.infer(table).link("hours", "owner")

    chosen = choose_columns(table.assign(outcome=1), schema=schema)
    without = choose_columns(table, schema=schema, drop=["owner"])

    assert chosen.dropped == ("outcome",)
    assert chosen.schema == schema
    assert without.schema is not None
    assert without.schema.names == ("hours", "job", "sex")
    assert without.schema.links == ()


# --- as tables come ---------------------------------------------------------------------------
def jobs_alone(**settings: object) -> pd.DataFrame:
    return pd.get_dummies(people()[["hours", "job"]], **settings)


def with_gaps(dtype: object) -> pd.DataFrame:
    table = jobs_alone(dtype=bool).astype(dict.fromkeys(JOB.columns or (), dtype))
    table.loc[::9, list(JOB.columns or ())] = None if dtype is object else np.nan
    return table


AS_THEY_COME = {
    "rows without a value": with_gaps(float),
    "truth values with gaps": with_gaps(object),
    "truth values as objects": jobs_alone().astype(dict.fromkeys(JOB.columns or (), object)),
    "texts": jobs_alone(dtype=int).astype(dict.fromkeys(JOB.columns or (), str)),
}


@pytest.mark.parametrize("table", AS_THEY_COME.values(), ids=list(AS_THEY_COME))
def test_a_group_is_found_however_it_is_stored_and_comes_back_so(table):
    schema = Schema.infer(table)

    records = read_records(table, schema)
    again = TableFormat.of(table, schema).make_table(records)

    assert schema.names == ("hours", "job")
    assert schema["job"].categories == JOBS
    assert (np.isnan(records[:, 1]) == table["job_cook"].isna()).all()
    pd.testing.assert_frame_equal(again, table)


def test_columns_that_lack_values_in_different_rows_are_no_group():
    table = with_gaps(float)
    table.loc[1::9, "job_cook"] = np.nan

    assert "job" not in Schema.infer(table).names


@pytest.mark.parametrize("drop_first", [False, True])
def test_columns_no_two_of_which_stand_side_by_side_are_linked(drop_first):
    table = jobs_alone(drop_first=drop_first, dummy_na=True)
    jobs = [one for one in table.columns if one.startswith("job") and table[one].any()]
    order = [one for job in jobs for one in (job, f"x{job}")]
    rng = np.random.default_rng(3)
    apart = table.assign(**{f"x{job}": rng.normal(size=len(table)) for job in jobs})[order]

    schema = Schema.infer(apart)

    assert schema.links == (tuple(jobs),)
    assert "are not next to each other" in " ".join(schema.notes)


def test_the_column_for_what_is_missing_stays_where_columns_stand_apart():
    table = people()
    table.loc[::5, "job"] = np.nan
    table = pd.get_dummies(table, dummy_na=True)
    order = ["job_nan", "hours", *(one for one in JOB.columns or ()), "owner"]

    schema = Schema.infer(table[order])

    assert schema["job_nan"].moves == "never"
    assert schema["job_cook"].moves == "freely"
    assert "'job_nan' tells that the category of 'job_clerk' is missing" in " ".join(schema.notes)


def test_flags_that_stand_apart_and_meet_are_not_linked():
    rng = np.random.default_rng(0)
    flags = {f"has_{one}": rng.random(400) < 0.3 for one in ("cat", "dog", "car")}
    table = pd.DataFrame({**flags, "k": rng.normal(size=400)})

    assert Schema.infer(table[["has_cat", "k", "has_dog"]].assign(has_car=1)).links == ()


def jobs_explainer():
    rng = np.random.default_rng(0)
    job = rng.integers(0, 3, 400)
    table = pd.DataFrame({"income": rng.normal(30, 6, 400).round(1)})
    for number, name in enumerate(["clerk", "cook", "boss"]):
        table[f"job_{name}"] = (job == number).astype(int)

    def score(rows):
        return 1 / (
            1 + np.exp(-0.2 * (rows["income"].to_numpy() - 33) - rows["job_boss"].to_numpy())
        )

    return LocalFACE(score, table, search=Search(n_neighbors=20))


CLERK = {"income": 30.0, "job_clerk": 1, "job_cook": 0, "job_boss": 0}


def test_a_wish_may_be_given_in_the_columns_of_the_table():
    explainer = jobs_explainer()

    assert explainer.check(CLERK, {"job_boss": 1}).wish == {"job": "boss"}
    whole = {"job_clerk": 0, "job_cook": 0, "job_boss": 1, "income": 31.0}
    assert explainer.check(CLERK, whole).wish == {"income": 31.0, "job": "boss"}
    assert explainer.check(CLERK, {"job_cook": 0, "income": 31.0}).wish == {"income": 31.0}
    for broken in ({"job_clerk": 0}, {"job_boss": 1, "job_cook": 1}, {"job_boss": 0.5}):
        with pytest.raises(DataError, match=r"tells no 'job'.*name the category, as in \{'job'"):
            explainer.check(CLERK, broken)
    with pytest.raises(DataError, match="names 'job' and 'job_boss'"):
        explainer.check(CLERK, {"job": "cook", "job_boss": 1})


@pytest.mark.parametrize("form", ["table", "list", "array"])
def test_a_proposal_that_breaks_a_group_is_a_finding(form):
    proposals = pd.DataFrame(
        [
            {**CLERK, "job_cook": 1},
            {"income": 36.0, "job_clerk": 0, "job_cook": 0, "job_boss": 1},
            {"income": 36.0, "job_clerk": 0.3, "job_cook": 0.0, "job_boss": 0.7},
            {"income": 36.0, "job_clerk": 0, "job_cook": 0, "job_boss": 0},
        ]
    )
    given = {
        "table": proposals,
        "list": proposals.to_dict("records"),
        "array": proposals.to_numpy(),
    }

    audit = jobs_explainer().audit([CLERK] * 4, given[form], progress=False)

    wrong = "no such state"
    assert [one.verdict for one in audit] == [wrong, "reachable", wrong, wrong]
    assert [one.proposed for one in audit] == [True] * 4
    assert audit.summary()["in_box"].n == 1
    assert "job_clerk 1 and job_cook 1 is proposed" in str(audit[0])
    assert "job_clerk 0.3 and job_boss 0.7 is proposed" in audit[2].between
    assert "0 in all 3 columns is proposed" in audit[3].between
    assert "no such state" in repr(audit[3])
