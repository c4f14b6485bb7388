"""Columns that another one settles: squares, logarithms, other units."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localface.data.schema import Schema

RNG = np.random.default_rng(0)
N = 400
AGE = RNG.integers(18, 90, N)
INCOME = RNG.lognormal(10, 1, N)
WEIGHT = RNG.normal(75, 12, N).round(1)
HEIGHT = RNG.normal(170, 9, N).round()


@pytest.mark.parametrize("name", ["age2", "age_sq", "x"])
def test_the_square_of_age_is_kept_with_it_and_said_to_be_one(name):
    schema = Schema.infer(pd.DataFrame({"age": AGE, name: AGE**2, "k": INCOME}))

    assert [one.moves for one in schema] == ["never", "never", "freely"]
    assert [one.protected for one in schema] == [True, True, False]
    assert sum(note.startswith(f"{name!r} ") for note in schema.notes) == 1
    assert f"{name!r} is 'age' squared in every row" in schema.notes[-1]
    assert "grows by itself" not in " ".join(schema.notes)


def test_a_second_age_is_an_age():
    schema = Schema.infer(pd.DataFrame({"age": AGE, "age2": RNG.permutation(AGE)}))

    assert [one.moves for one in schema] == ["grows", "grows"]


@pytest.mark.parametrize(
    ("values", "how"),
    [
        (np.log(INCOME), "the logarithm of 'income'"),
        (np.log1p(INCOME), "the logarithm of 'income'"),
        (np.sqrt(INCOME), "the square root of 'income'"),
        (INCOME * 1.7, "'income' in another unit"),
        (np.where(np.arange(N) % 3 == 0, np.nan, INCOME), "the same as 'income'"),
    ],
)
def test_a_function_of_what_moves_is_linked_to_it(values, how):
    schema = Schema.infer(pd.DataFrame({"income": INCOME, "other": values}))

    assert [one.moves for one in schema] == ["freely", "freely"]
    (note,) = schema.notes
    assert note.startswith(f"'other' is {how} in every row")
    assert note.endswith("they are linked, and change together or not at all")
    assert schema.links == (("income", "other"),)


def test_what_only_resembles_a_function_is_none():
    noisy = np.log(INCOME) + RNG.normal(0, 1e-3, N)

    assert Schema.infer(pd.DataFrame({"income": INCOME, "other": noisy})).notes == ()


def test_a_body_mass_index_is_linked_to_weight_and_height_stays():
    bmi = (WEIGHT / (HEIGHT / 100) ** 2).round(1)
    table = pd.DataFrame({"weight_kg": WEIGHT, "height_cm": HEIGHT, "bmi": bmi})

    schema = Schema.infer(table)
    without = Schema.infer(table.drop(columns="height_cm"))

    assert [one.moves for one in schema] == ["freely", "never", "freely"]
    assert schema.links == without.links == (("weight_kg", "bmi"),)
    whole = "'bmi' is 'weight_kg' divided by 'height_cm' squared in every row"
    assert f"{whole}: they are linked, and change together or not at all" in schema.notes
    assert "'bmi' is a body mass index by its name" in without.notes[-1]
    assert not any("bmi" in one for one in Schema.infer(table[["bmi"]]).notes)


def test_an_index_that_is_not_that_of_this_weight_is_linked_to_nothing():
    other = (WEIGHT[::-1] / (HEIGHT / 100) ** 2).round(1)
    table = pd.DataFrame({"weight_kg": WEIGHT, "height_cm": HEIGHT, "bmi": other})

    schema = Schema.infer(table)

    assert schema.links == ()


def test_a_weight_at_birth_is_not_the_one_that_an_index_follows_from():
    bmi = (WEIGHT / (HEIGHT / 100) ** 2).round(1)
    table = pd.DataFrame({"birth_weight_kg": WEIGHT, "weight_kg": WEIGHT.round(), "bmi": bmi})

    schema = Schema.infer(table)

    assert schema.links[-1] == ("weight_kg", "bmi")


@pytest.mark.parametrize("first", [np.nan, 0.0])
def test_a_multiple_is_found_though_its_first_rows_tell_nothing(first):
    base = RNG.normal(size=N)
    base[:100] = first

    schema = Schema.infer(pd.DataFrame({"a": base, "b": base * 2.54, "k": INCOME}))

    assert "'b' is 'a' in another unit in every row" in " ".join(schema.notes)
