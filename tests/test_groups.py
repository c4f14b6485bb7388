"""Whose each row is: by labels, by a column, or found by chance and said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from localface import Feature, LocalFACE, Schema, Search
from localface.data.people import number_people, take_groups_column
from localface.errors import DataError, InputError, NearCopiesWarning
from localface.sources.store import write_store

N = 250


def bills(seed=0):
    """Customers with months, price and total."""
    chance = np.random.default_rng(seed)
    months = chance.integers(1, 70, N)
    price = chance.normal(50, 9, N).round(3)
    return pd.DataFrame({"months": months, "price": price, "total": (months * price).round(1)})


ONCE = bills()
REPEATED = pd.concat([ONCE.assign(total=ONCE["total"] + 0.1 * n) for n in range(4)])
NAMES = [f"customer {i}" for i in range(N)] * 4
WITH_COLUMN = REPEATED.assign(customer=NAMES)


def explainer(data, **options):
    def model(frame):
        assert "customer" not in frame.columns
        return frame["price"].to_numpy() / 100

    return LocalFACE(model, data, search=Search(n_neighbors=15), **options)


def test_a_column_that_names_people_is_no_feature_and_never_shown_to_the_model():
    by_column = explainer(WITH_COLUMN, groups="customer")

    assert by_column.schema.names == ("months", "price", "total")
    answer = by_column.explain(WITH_COLUMN.iloc[0], where={"months": "never"})
    assert len(answer.records[0]) == 3


@pytest.mark.parametrize(
    ("data", "groups"),
    [
        (REPEATED, NAMES),
        (REPEATED, np.array(NAMES)),
        (REPEATED, pd.Series(NAMES)),
        (pl.from_pandas(WITH_COLUMN), "customer"),
    ],
    ids=["list", "array", "series", "column of polars"],
)
def test_labels_and_columns_say_the_same(data, groups):
    one = explainer(WITH_COLUMN, groups="customer")
    other = explainer(data, groups=groups)
    assert other.log_floor == pytest.approx(one.log_floor)
    assert other.density.bandwidth == pytest.approx(one.density.bandwidth)


def test_a_schema_that_names_the_column_makes_it_a_feature():
    seen = []

    def model(frame):
        seen.extend(frame.columns)
        return frame["price"].to_numpy() / 100

    data = ONCE.assign(branch=np.arange(N) % 40)
    schema = Schema([Feature("price"), Feature("branch", kind="integer", moves="never")])

    found = LocalFACE(model, data, schema=schema, groups="branch", search=Search(n_neighbors=15))
    found.explain(data.iloc[0])

    assert found.schema.names == ("price", "branch")
    assert "branch" in seen


def test_near_copies_are_said_once_with_what_to_do():
    with pytest.warns(NearCopiesWarning, match=r"with groups= \(one label a row") as caught:
        found = explainer(REPEATED)

    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert found.density.copies.distance > 0


@pytest.mark.parametrize("groups", [NAMES, range(4 * N)], ids=["named", "all different"])
def test_nothing_is_said_of_near_copies_where_the_user_said_whose_rows_they_are(groups):
    assert explainer(REPEATED, groups=groups).density.copies.distance == 0


def test_the_report_on_the_floor_takes_the_people_of_the_explainer():
    known = explainer(WITH_COLUMN, groups="customer")
    assert known.ground_report(progress=False).circumstances.n_people == N
    halves = [name[:-1] for name in NAMES]
    report = known.ground_report(groups=halves, progress=False)
    assert report.circumstances.n_people == len(set(halves))


@pytest.mark.parametrize(
    ("data", "groups", "words"),
    [
        (WITH_COLUMN, "custmer", r"no column 'custmer' for groups= \(did you mean 'customer'\?\)"),
        (ONCE.to_numpy(), "x0", "the columns of an array have no names"),
        (ONCE, ["anna", "ben"], "groups= names 2 people, and the data has 250 rows"),
        (ONCE, 7, "groups= names 7, and the data has 250 rows"),
        (ONCE, ["anna"] * N, "names one person only"),
        (ONCE, [None, *range(1, N)], "names nobody in 1 of 250 rows"),
        (ONCE.assign(who=[np.nan] * 3 + [1.0] * (N - 3)), "who", "names nobody in 3 of 250 rows"),
    ],
)
def test_groups_that_cannot_be_used_are_refused(data, groups, words):
    with pytest.raises(DataError, match=words) as caught:
        explainer(data, groups=groups)
    assert caught.value.option == "groups"


def test_a_store_takes_no_groups(tmp_path):
    schema = Schema.infer(ONCE)
    store = write_store(tmp_path / "store", lambda: [ONCE.to_numpy(dtype=float)], schema)
    with pytest.raises(InputError, match="write the store with one row a person"):
        explainer(store, groups="customer")


def test_a_column_is_asked_for_of_the_data_and_not_of_the_report():
    with pytest.raises(DataError, match="groups= names 'customer'"):
        explainer(WITH_COLUMN, groups="customer").ground_report(groups="customer")


def test_people_are_numbered_by_their_labels():
    assert number_people(["b", "a", "b"], 3).tolist() == [1, 0, 1]
    assert number_people(None, 3) is None


def test_labels_pass_and_columns_are_taken_out():
    labels, others = take_groups_column(WITH_COLUMN, "customer")
    assert list(labels) == NAMES
    assert list(others.columns) == ["months", "price", "total"]
    assert take_groups_column(ONCE, NAMES) == (NAMES, ONCE)
