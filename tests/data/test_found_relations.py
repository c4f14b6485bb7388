"""Relations between columns, found in a table and suggested."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localface.data.schema import Schema


def planted(n: int = 600, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    grade = rng.choice(list("ABCD"), n)
    months = rng.choice([12, 24, 36, 48], n)
    instalment = rng.integers(20, 400, n) / 2
    low = rng.normal(60, 10, n).round()
    own, other = rng.integers(0, 90, n), rng.integers(0, 50, n)
    return pd.DataFrame(
        {
            "grade": grade,
            "rate": pd.Series(grade).map({"A": 2.5, "B": 3.75, "C": 6.0, "D": 9.5}),
            "months": months,
            "instalment": instalment,
            "repaid": months * instalment,
            "hr_min": low,
            "hr_max": low + rng.integers(0, 40, n),
            "own_debt": own,
            "other_debt": other,
            "debt": own + other,
            "noise": rng.normal(0, 1, n),
        }
    )


@pytest.mark.parametrize("seed", range(5))
def test_what_was_planted_is_suggested_and_nothing_else(seed):
    assert sorted(Schema.infer(planted(seed=seed)).notes) == [
        (
            "'debt' is 'own_debt' + 'other_debt' in every row: to keep it so, "
            "schema.relate('debt', \"=\", {'own_debt': 1, 'other_debt': 1})"
        ),
        "'hr_min' never exceeds 'hr_max': to keep it so, schema.relate('hr_min', \"<=\", 'hr_max')",
        (
            "'rate' is the same in all rows with the same 'grade': to change them together, "
            "schema.link('grade', 'rate')"
        ),
        (
            "'repaid' is 'months' times 'instalment' in every row: to keep it so, "
            "schema.link('repaid', 'months', 'instalment')"
        ),
    ]


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_suggested_where_every_column_is_shuffled_by_itself(seed):
    rng = np.random.default_rng(seed)
    table = planted(seed=seed)
    twin = pd.DataFrame({name: rng.permutation(table[name]) for name in table})

    assert Schema.infer(twin).notes == ()


def test_the_lines_that_are_suggested_run():
    schema = Schema.infer(planted())
    lines = [note[note.index("schema.") :] for note in schema.notes]

    for line in lines:
        schema = eval(line, {"schema": schema})  # our own sentence

    assert schema.links == (("repaid", "months", "instalment"), ("grade", "rate"))
    assert schema.relations == (("hr_min", "<=", "hr_max"),)
    assert [rule.text for rule in schema.rules] == ["debt = own_debt + other_debt"]
    assert set(schema.linked) == {*schema.links, ("debt", "own_debt", "other_debt")}


def test_a_total_with_gaps_is_found_all_the_same():
    table = planted()[["months", "instalment", "repaid"]].astype(float)
    table.loc[::7, "repaid"] = np.nan

    assert any("times" in note for note in Schema.infer(table).notes)


def test_a_mean_of_two_is_suggested_and_a_copy_of_both_is_none():
    rng = np.random.default_rng(0)
    grades = pd.DataFrame(rng.integers(2, 13, (200, 2)) / 2, columns=["maths", "english"])
    with_mean = grades.assign(average=grades.mean(axis=1))
    (note,) = (one for one in Schema.infer(with_mean).notes if "mean" in one)

    assert note == (
        "'average' is the mean of 'maths' and 'english' in every row: to keep it so, "
        "schema.relate('average', \"=\", {'maths': 0.5, 'english': 0.5})"
    )
    copies = grades.assign(english=grades["maths"], average=grades["maths"])
    assert not any("mean of" in one for one in Schema.infer(copies).notes)


def test_few_rows_and_columns_that_are_far_apart_anyway_suggest_nothing():
    rng = np.random.default_rng(0)
    apart = pd.DataFrame({"dose_min": rng.normal(0, 1, 90), "dose_max": rng.normal(99, 1, 90)})

    assert Schema.infer(planted(20)).notes == ()
    assert Schema.infer(apart).notes == ()  # any two such rows would be in order
