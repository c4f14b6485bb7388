"""Values that are missing, and codes that stand for a reason."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from localface.data.absence import absent_codes, absent_values, distinct_records, same_codes
from localface.data.feature import Feature
from localface.data.read import read_record, read_records
from localface.data.schema import Schema
from localface.data.space import Space
from localface.data.table_format import TableFormat, person_format
from localface.data.value_scales import (
    absences_as_plain,
    absences_from_plain,
    absences_in,
    merge_absences,
)
from localface.errors import DataError, SchemaError

NAN = float("nan")
MONTHS = Feature("months", kind="integer", codes={-9: "no record", -8: "not applicable"})
SCHEMA = Schema(
    [
        Feature("income", resolution=0.1),
        MONTHS,
        Feature("job", kind="categorical", categories=("a", "b", "c")),
        Feature("owns", kind="binary"),
    ]
)
RECORDS = np.array(
    [
        [50.0, 3, 0, 1],
        [40.0, -9, 1, 0],
        [NAN, 12, NAN, 1],
        [30.0, -8, 2, NAN],
        [60.0, 40, 0, 0],
        [NAN, -9, 1, NAN],
    ]
)


# a feature


@pytest.mark.parametrize("gone", [None, NAN, np.nan, pd.NA, pd.NaT, np.float32("nan")])
def test_whatever_stands_for_a_missing_value_is_read_as_one(gone: object) -> None:
    assert np.isnan(MONTHS.code(gone))
    assert MONTHS.value(MONTHS.code(gone)) is None
    assert MONTHS.format(MONTHS.code(gone)) == "missing"


def test_a_code_is_read_as_it_is_and_written_as_what_it_stands_for() -> None:
    assert MONTHS.code(-9) == -9
    assert MONTHS.value(-9.0) == -9
    assert MONTHS.format(-9.0) == "no record"
    assert MONTHS.format(9.0) == "9"


def test_missing_values_are_refused_where_that_is_said() -> None:
    with pytest.raises(DataError, match=r"'x' is missing, .*missing='refuse'"):
        Feature("x", missing="refuse").code(None)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"missing": "kep"}, "did you mean 'keep'"),
        ({"codes": "-9"}, "give a dict from code"),
        ({"codes": {"no": "x"}}, "give a dict from code"),
        ({"codes": {-9: 3}}, "give a dict from code"),
        ({"codes": {-9: "x"}, "kind": "binary"}, "categories among 0, 1"),
        ({"codes": {0: "x", 1: "y"}, "kind": "binary"}, "leave out those that are values"),
        ({"codes": {-9: "x"}, "kind": "ordinal", "categories": (1, 2)}, "can have no codes="),
    ],
)
def test_what_cannot_be_declared_is_told(settings: dict[str, object], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Feature("x", **settings)  # type: ignore[arg-type]


def test_codes_without_words_get_some_and_none_are_none() -> None:
    assert Feature("x", codes=[-9]).codes == {-9: "code -9"}  # type: ignore[arg-type]
    assert Feature("x", codes={}).codes is None


def test_a_schema_with_codes_is_the_same_after_a_file_and_can_be_hashed() -> None:
    schema = SCHEMA.with_("income", missing="may be measured")
    assert Schema.from_toml(schema.to_toml()) == schema
    assert Schema.from_dict(schema.to_dict()) == schema
    assert 'codes = { -9 = "no record", -8 = "not applicable" }' in schema.to_toml()
    assert len({schema.features[1], MONTHS}) == 1
    assert "codes -9 no record, -8 not applicable" in repr(schema)


# records


def test_what_is_absent_is_found_in_records_and_in_one() -> None:
    wanted = [[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 0, 1]]
    assert absent_values(SCHEMA, RECORDS).astype(int).tolist() == wanted
    assert absent_values(SCHEMA, RECORDS[3]).astype(int).tolist() == wanted[3]
    assert [str(code) for code in absent_codes(MONTHS, RECORDS[:, 1])] == ["-9.0", "-8.0"]


def test_missing_is_the_same_as_missing_and_as_nothing_else() -> None:
    assert same_codes(RECORDS, RECORDS).all()
    assert same_codes([NAN, 1.0, NAN], [NAN, NAN, 1.0]).tolist() == [True, False, False]


def test_rows_with_the_same_gaps_are_one_row() -> None:
    twice = np.vstack([RECORDS, RECORDS[::-1]])
    distinct, first = distinct_records(twice)
    assert len(distinct) == len(RECORDS)
    assert same_codes(twice[first], distinct).all()


def test_absences_are_merged_and_written_and_read() -> None:
    halves = [absences_in(SCHEMA, part) for part in (RECORDS[:2], RECORDS[2:4])]
    every = merge_absences(*halves)
    assert str(every) == "((nan,), (-9.0, -8.0), (nan,), (nan,))"
    assert str(absences_from_plain(absences_as_plain(every))) == str(every)
    assert absences_in(SCHEMA, RECORDS[:1]) == ()


# points


def test_points_of_records_with_gaps_are_numbers_and_lead_back() -> None:
    space = Space.fit(SCHEMA, RECORDS)
    points = space.points(RECORDS)
    assert np.isfinite(points).all()
    assert same_codes(space.records(points), RECORDS).all()
    assert space.width == 1 + 1 + 1 + 2 + 3 + 1 + 1 + 1


def test_two_who_both_lack_a_value_do_not_differ_in_it() -> None:
    space = Space.fit(SCHEMA, RECORDS)
    one, other = space.points(np.array([[NAN, 3, 0, 1], [NAN, 3, 0, 1]]))
    assert (one == other).all()


def test_having_a_value_or_not_is_one_ordinary_difference_and_more_with_the_value() -> None:
    space = Space.fit(SCHEMA, RECORDS)
    middle = float(space.centres[0])
    has, lacks = space.points(np.array([[middle, 3, 0, 1], [NAN, 3, 0, 1]]))
    assert np.linalg.norm(has - lacks) == pytest.approx(1.0, abs=0.2)
    a, gone = space.points(np.array([[50, 3, 0, 1], [50, 3, NAN, 1]]))
    assert np.linalg.norm(a - gone) == pytest.approx(1.0)


def test_gaps_change_nothing_about_how_values_are_scaled() -> None:
    full = np.random.default_rng(0).normal(50, 10, (300, 1))
    gaps = np.vstack([full, np.full((200, 1), NAN)])
    schema = Schema([Feature("x")])
    whole, partial = Space.fit(schema, full), Space.fit(schema, gaps)
    np.testing.assert_array_equal(whole.points(full)[:, 0], partial.points(full)[:, 0])


def test_columns_that_say_what_is_missing_are_a_persons_own() -> None:
    space = Space.fit(SCHEMA, RECORDS)
    assert space.feature_of[space.own_columns].tolist() == [0, 1, 1, 2, 3]
    assert space.discrete[space.own_columns].all()


def test_who_lacks_what_everybody_has_is_refused() -> None:
    space = Space.fit(SCHEMA, RECORDS[[0, 1, 3, 4]])
    with pytest.raises(DataError, match=r"this person has no value of income \(missing\)"):
        space.absence_columns.refuse_unknown(RECORDS[2], "this person")
    space.absence_columns.refuse_unknown(RECORDS[3], "this person")


# limits


def test_what_is_missing_stays_so_whatever_is_asked_of_it() -> None:
    box = SCHEMA.box(RECORDS[2], {"income": (0, 100), "job": ["a"]})
    assert box.reasons[0] == "income is missing and stays so"
    assert box.allows_code(0, NAN)
    assert not box.allows_code(0, 50.0)
    moved = box.project_records(SCHEMA.features, RECORDS, RECORDS[2])
    assert np.isnan(moved[:, [0, 2]]).all()


def test_what_is_there_stays_there_and_no_code_is_walked_into() -> None:
    box = SCHEMA.box(RECORDS[0])
    assert not box.allows_code(0, NAN)
    assert not box.allows_code(1, -9.0)
    assert box.allows_code(1, 5.0)
    moved = box.project_records(SCHEMA.features, RECORDS, RECORDS[0])
    assert not absent_values(SCHEMA, moved).any()
    assert moved[1].tolist() == [40, 3, 1, 0]


def test_the_limits_of_points_hold_exactly_the_rows_with_the_same_gaps() -> None:
    space = Space.fit(SCHEMA, RECORDS)
    points = space.points(RECORDS)
    gaps = [str(np.where(absent_values(SCHEMA, row), row, 0.0)) for row in RECORDS]
    for i, record in enumerate(RECORDS):
        inside = space.bounds(SCHEMA.box(record)).contain(points)
        assert inside.tolist() == [one == gaps[i] for one in gaps]


def test_an_order_between_two_features_is_kept_where_both_have_a_value() -> None:
    schema = Schema([Feature("low", codes={99: "none"}), Feature("high")])
    schema = schema.relate("low", "<=", "high")
    records = np.array([[1.0, 2.0], [3.0, 2.0], [NAN, 2.0], [3.0, NAN], [99.0, 2.0]])
    assert schema.breaks_relation(records).tolist() == [False, True, False, False, False]


# tables


@pytest.mark.parametrize(
    ("make", "gone"),
    [
        (lambda values: pd.DataFrame({"x": values, "y": [1.0, 2.0, 3.0]}), "nan"),
        (lambda values: pd.DataFrame({"x": pd.array(values, "Int64"), "y": [1, 2, 3]}), "na"),
        (
            lambda values: pd.DataFrame({"x": pd.Series(values, dtype=object), "y": [1, 2, 3]}),
            "none",
        ),
        (lambda values: pl.DataFrame({"x": values, "y": [1, 2, 3]}), "none"),
        (lambda values: pa.table({"x": values, "y": [1, 2, 3]}), "none"),
    ],
    ids=["float", "Int64", "object", "polars", "pyarrow"],
)
def test_what_is_missing_comes_back_in_the_form_it_came(make, gone: str) -> None:
    table = make([1, None, 3])
    schema = Schema([Feature("x", kind="integer"), Feature("y")])
    records = read_records(table, schema)
    form = TableFormat.of(table, schema)
    assert form.columns[0].missing == gone
    back = form.make_table(records)
    assert type(back) is type(table)
    again = read_records(back, schema)
    assert same_codes(records, again).all()
    if isinstance(table, pd.DataFrame):
        pd.testing.assert_frame_equal(back.astype({"y": table.y.dtype}), table)
    elif isinstance(table, pl.DataFrame):
        assert back["x"].equals(table["x"], null_equal=True)


def test_a_model_that_was_fitted_on_none_never_sees_nan() -> None:
    table = pd.DataFrame({"job": pd.Series(["a", None, "b", "c"], dtype=object)})
    schema = Schema([Feature("job", kind="categorical", categories=("a", "b", "c"))])
    back = TableFormat.of(table, schema).make_table(read_records(table, schema))
    assert back["job"].tolist() == ["a", None, "b", "c"]


def test_a_person_gets_back_what_stood_for_missing() -> None:
    form = TableFormat.of(pd.DataFrame({"x": [1.0, NAN], "y": [1.0, 2.0]}), S2)
    for gone in (None, NAN):
        person = {"x": gone, "y": 2.0}
        came = person_format(person, form).make_person(read_record(person, S2))
        assert came["y"] == 2.0
        assert came["x"] is None if gone is None else np.isnan(came["x"])


S2 = Schema([Feature("x"), Feature("y")])
