"""A plan that ends at a number which hardly anybody has says so."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localface import Feature, LocalFACE, Schema
from localface.answers.extreme_ends import cautions_about_extreme_ends
from localface.data.row_words import RowWords
from localface.data.seen_values import read_seen_values

SCHEMA = Schema(
    [
        Feature("wage", unit="EUR"),
        Feature("hours", kind="integer"),
        Feature("town", kind="categorical", categories=("a", "b")),
        Feature("debt", missing="keep"),
    ]
)
ROWS = np.column_stack(
    [
        np.arange(1000.0, 3000.0, 10),
        np.repeat(np.arange(20.0, 40.0), 10),
        np.repeat([0.0, 1.0], 100),
        np.full(200, np.nan),
    ]
)
SEEN = read_seen_values(SCHEMA, ROWS)


def told(before: list[float], after: list[float], schema: Schema = SCHEMA) -> list[str]:
    states = (np.array(before), np.array(after))
    return list(cautions_about_extreme_ends(schema, *states, SEEN))


def test_a_number_that_hardly_anybody_has_is_named_at_either_end():
    usual = [2000.0, 30.0, 0.0, np.nan]

    assert told(usual, [1010.0, 30.0, 1.0, np.nan]) == [
        "hardly anybody has wage as low as 1010 EUR: 99 of 100 people have 1019.9 EUR or more"
    ]
    assert told(usual, [2985.0, 41.0, 0.0, np.nan]) == [
        "hardly anybody has wage as high as 2985 EUR: 99 of 100 people have 2970.1 EUR or less",
        "hardly anybody has hours as high as 41: 99 of 100 people have 39 or less",
    ]


def test_what_many_have_or_was_extreme_before_is_not_told():
    assert told([2000.0, 30.0, 0.0, np.nan], [1020.0, 39.0, 1.0, np.nan]) == []
    assert told([1010.0, 41.0, 0.0, np.nan], [1005.0, 42.0, 0.0, np.nan]) == []
    assert told([1010.0, 30.0, 0.0, np.nan], [1010.0, 31.0, 0.0, np.nan]) == []


def test_rows_are_called_what_they_are():
    houses = Schema(list(SCHEMA), each_row=RowWords("house", "houses"))
    (line,) = told([2000.0, 30.0, 0.0, np.nan], [1010.0, 30.0, 0.0, np.nan], houses)

    assert line.startswith("hardly any house has wage as low as")
    assert "99 of 100 houses have" in line


def test_an_answer_whose_plan_goes_that_far_has_the_caution():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {"wage": rng.normal(2000, 300, 600).round(-1), "age": rng.normal(40, 9, 600)}
    )
    low = float(data["wage"].quantile(0.008))
    explainer = LocalFACE(
        lambda people: (people["wage"] <= low).to_numpy().astype(float), data, min_density=0.001
    )

    answer = explainer.explain({"wage": 2000.0, "age": 40.0})

    assert answer.found
    assert any("hardly anybody has wage as low as" in line for line in answer.cautions)
