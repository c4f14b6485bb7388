"""Dates as days since a first one."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from localface import LocalFACE
from localface.apps.web.views.view import answer_view
from localface.data.feature import Feature
from localface.data.read import read_record, read_records
from localface.data.schema import Schema
from localface.data.table_format import TableFormat
from localface.errors import DataError, SchemaError

SINCE = Feature("opened", kind="integer", since="2020-01-01")


def accounts(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    days = pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    return pd.DataFrame(
        {"opened": pd.Timestamp("2020-01-01") + days, "debt": rng.normal(30, 8, n).round(1)}
    )


def test_a_column_of_dates_is_counted_in_days_and_said_so():
    table = accounts()
    table["seen"] = table["opened"] + pd.Timedelta(hours=7.5)

    schema = Schema.infer(table)

    first = str(table["opened"].min().date())
    assert [(one.kind, one.since) for one in schema] == [
        ("integer", first),
        ("numeric", None),
        ("numeric", first),
    ]
    assert schema.notes[0] == f"'opened' holds dates: they are counted in days since {first}"
    assert "'opened' is a date, which no action changes: it is kept as it is" in schema.notes[1]
    assert [one.moves for one in schema] == ["never", "freely", "never"]
    due = Schema.infer(table.rename(columns={"opened": "next_visit"}))
    assert due["next_visit"].moves == "freely"
    assert Schema.from_toml(schema.to_toml()) == schema


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_table_with_dates_comes_back_as_it_was(library):
    table = accounts()
    table.loc[3, "opened"] = pd.NaT
    table["seen"] = table["opened"] + pd.Timedelta(minutes=77)
    given = {"pandas": table, "polars": pl.from_pandas(table)}.get(library)
    if library == "pyarrow":
        given = pl.from_pandas(table).to_arrow()
    schema = Schema.infer(given)

    records = read_records(given, schema)
    again = TableFormat.of(given, schema).make_table(records)

    assert np.isnan(records[3, 0])
    same = pl.DataFrame(again) if library == "pyarrow" else again
    assert same.equals(pl.DataFrame(given) if library == "pyarrow" else given)


@pytest.mark.parametrize(
    "value",
    [
        "2020-02-01",
        dt.date(2020, 2, 1),
        dt.datetime(2020, 2, 1),
        pd.Timestamp("2020-02-01"),
        np.datetime64("2020-02-01"),
        31,
    ],
)
def test_a_person_may_give_a_date_or_days(value):
    assert read_record({"opened": value}, Schema([SINCE])).tolist() == [31]
    assert SINCE.format(31) == "2020-02-01"


def test_what_is_no_date_is_refused():
    with pytest.raises(DataError, match="a date is wanted"):
        SINCE.code("soon")
    with pytest.raises(SchemaError, match="give a date, as in"):
        Feature("opened", since="soon")
    with pytest.raises(SchemaError, match="dates are numbers"):
        Feature("opened", kind="binary", since="2020-01-01")
    zoned = pd.DataFrame({"x": pd.date_range("2020", periods=60, tz="UTC")})
    with pytest.raises(SchemaError, match="with a time zone"):
        Schema.infer(zoned)


def test_the_model_gets_dates_and_an_answer_shows_them():
    table = accounts()
    seen = []

    def score(rows: pd.DataFrame) -> np.ndarray:
        seen.append(rows["opened"].dtype)
        age = (pd.Timestamp("2022-07-01") - rows["opened"]).dt.days
        return 1 / (1 + np.exp(-(age / 100 - rows["debt"] / 10).to_numpy()))

    explainer = LocalFACE(score, table, schema=Schema.infer(table).with_("opened", moves="freely"))
    person = table[score(table) < 0.4].iloc[[0]]
    bounds = {"opened": ("2020-01-01", "2022-12-31"), "debt": "never"}

    answer = explainer.explain(person, where=bounds).require()

    assert set(seen) == {table["opened"].dtype}
    assert answer.path["opened"].dtype == table["opened"].dtype
    assert f"{answer.end['opened'].iloc[0]:%Y-%m-%d}" in str(answer)
    assert str(person["opened"].dt.date.iloc[0]) in str(answer)


def test_the_page_is_given_dates_which_it_may_send_back():
    table = accounts()
    explainer = LocalFACE(lambda rows: 0.3 + 0 * rows["debt"].to_numpy(), table)
    answer = explainer.explain({"opened": dt.date(2021, 3, 4), "debt": 30.0})

    shown = answer_view(answer)["person"]

    assert shown == {"opened": "2021-03-04", "debt": 30.0}
    assert explainer.explain(shown).records.tolist() == answer.records.tolist()
