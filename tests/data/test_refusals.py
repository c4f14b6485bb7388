"""Refusals name their feature, person and option beside the sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from localface.data.feature import Feature
from localface.data.read import read_each_person, read_people, read_record, read_records
from localface.data.schema import Schema
from localface.data.space import Space
from localface.errors import DataError, InputError

SCHEMA = Schema(
    [
        Feature("age", kind="integer"),
        Feature("debt"),
        Feature("ward", kind="categorical", categories=("a", "b", "c")),
        Feature("limit"),
    ],
    relations=[("debt", "<=", "limit")],
)
PERSON = {"age": 40, "debt": 1.5, "ward": "a", "limit": 9.0}
RECORD = read_record(PERSON, SCHEMA)


def table(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({name: [value] * 3 for name, value in PERSON.items()} | columns)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "a missing value": (
        lambda: read_record({**PERSON, "debt": None}, SCHEMA.with_("debt", missing="refuse")),
        "debt",
    ),
    "a lacking feature": (lambda: read_record({"age": 40, "ward": "a"}, SCHEMA), "debt"),
    "text": (lambda: read_record({**PERSON, "debt": "much"}, SCHEMA), "debt"),
    "a fraction": (lambda: read_record({**PERSON, "age": 40.5}, SCHEMA), "age"),
    "an unseen category": (lambda: read_record({**PERSON, "ward": "z"}, SCHEMA), "ward"),
    "a column with gaps": (
        lambda: read_records(table(debt=[1, np.nan, 2]), SCHEMA.with_("debt", missing="refuse")),
        "debt",
    ),
    "an infinite value": (lambda: read_records(table(debt=[1, np.inf, 2]), SCHEMA), "debt"),
    "a column of text": (lambda: read_records(table(debt=["x", "y", "z"]), SCHEMA), "debt"),
    "a lacking column": (lambda: read_records(table().drop(columns="age"), SCHEMA), "age"),
    "a broken relation": (
        lambda: SCHEMA.check_relations(np.array([[40, 9.5, 0, 9.0]]), "this person"),
        "debt",
    ),
    "an unknown feature": (lambda: SCHEMA.index("dept"), "dept"),
    "an unknown constraint": (lambda: SCHEMA.box(RECORD, {"age": {"wthin": 5}}), "age"),
    "an unknown word": (lambda: SCHEMA.box(RECORD, {"age": "nevr"}), "age"),
    "a range the wrong way": (lambda: SCHEMA.box(RECORD, {"debt": (5, 1)}), "debt"),
    "nothing allowed": (
        lambda: SCHEMA.box(RECORD, {"debt": {"within": 1, "bounds": (5, 6)}}),
        "debt",
    ),
    "a bad declaration": (lambda: Feature("age", resolution=-1), "age"),
    "an unknown setting": (lambda: SCHEMA.with_("age", kimd="integer"), "age"),
    "a column without spread": (lambda: Space.fit(SCHEMA, np.tile(RECORD, (3, 1))), "age"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_names_its_feature(case: str) -> None:
    refused, feature = REFUSED[case]

    with pytest.raises(InputError) as caught:
        refused()

    assert caught.value.feature == feature
    assert repr(feature) in str(caught.value)


@pytest.mark.parametrize("people", ["a list", "a table"])
def test_a_refusal_names_its_person(people: str) -> None:
    records = [PERSON, PERSON, {**PERSON, "age": 40.5}]
    given = records if people == "a list" else pd.DataFrame(records)

    with pytest.raises(DataError, match="person 2: 'age'") as caught:
        read_people(given, SCHEMA)

    assert (caught.value.person, caught.value.feature) == (2, "age")


def test_those_who_cannot_be_read_get_an_error_with_their_number() -> None:
    people = [PERSON, {**PERSON, "ward": "z"}, PERSON, {**PERSON, "age": "old"}]

    found = read_each_person(people, SCHEMA)

    errors = {i: one for i, one in enumerate(found) if isinstance(one, DataError)}
    assert {i: error.person for i, error in errors.items()} == {1: 1, 3: 3}
    assert [error.feature for error in errors.values()] == ["ward", "age"]
    assert not any(str(error).startswith("person") for error in errors.values())


def test_a_refused_constraint_names_its_option() -> None:
    with pytest.raises(InputError) as caught:
        SCHEMA.box(RECORD, {"agee": 5})

    assert (caught.value.option, caught.value.feature) == ("where", "agee")
