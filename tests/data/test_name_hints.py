"""What names tell of numbers: units, bounds, identifiers, codes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localface.data.name_hints import unit_from_name
from localface.data.schema import Schema

N = 200
RNG = np.random.default_rng(0)


def notes_on(name: str, values: object) -> tuple[str, ...]:
    return Schema.infer(pd.DataFrame({name: values})).notes


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("tenure_years", "years"),
        ("weightKg", "kg"),
        ("glucose_mmol", "mmol/L"),
        ("util_pct", "%"),
        ("PercentPaid", "%"),
        ("height_cm", "cm"),
        ("hr_min", None),
        ("days", None),
        ("Inqexcl7days", None),
        ("daysman", None),
    ],
)
def test_units_are_read_off_names(name, unit):
    assert unit_from_name(name) == unit


def test_bounds_are_guessed_where_they_are_certain_and_said():
    table = pd.DataFrame(
        {
            "util_pct": RNG.integers(0, 101, N).astype(float),
            "growth_pct": RNG.integers(-20, 150, N).astype(float),
            "n_visits": RNG.integers(0, 30, N),
            "n_score": RNG.normal(0, 1, N),
        }
    )

    schema = Schema.infer(table)

    assert [one.bounds for one in schema] == [(0, 100), None, (0, None), None]
    assert schema.notes == (
        "'util_pct' is taken to be in % by its name, and between 0 and 100 as a percentage",
        "'growth_pct' is taken to be in % by its name",
        "'n_visits' is taken to be at least 0 as a count",
    )


def test_an_identifier_is_kept_and_said_and_a_number_is_none():
    table = pd.DataFrame(
        {
            "patient_id": RNG.permutation(N) + 1000,
            "row": np.arange(N),
            "income": RNG.permutation(N) * 10 + 7,
        }
    )

    schema = Schema.infer(table)

    assert [one.moves for one in schema] == ["never", "never", "freely"]
    assert "identifier by its name" in schema.notes[0]
    assert "as it numbers the rows" in schema.notes[1]
    assert len(schema.notes) == 2


def test_numbers_that_all_differ_are_identifiers_where_they_leave_no_gap_or_are_called_numbers():
    table = pd.DataFrame(
        {
            "ticket": RNG.permutation(N) + 3_100_000,
            "matric_no": RNG.permutation(5 * N)[:N] + 9_000,
            "balance": RNG.permutation(5 * N)[:N] + 9_000,
        }
    )

    schema = Schema.infer(table)

    assert [one.moves for one in schema] == ["never", "never", "freely"]
    assert "as it numbers the rows" in schema.notes[0]
    assert "looks like an identifier by its name and values" in schema.notes[1]


def test_few_numbers_of_a_register_are_no_amounts():
    table = pd.DataFrame(
        {
            "hadm_id": RNG.choice(RNG.integers(100_000, 200_000, 40), N),
            "first_wardid": RNG.choice([7, 12, 14, 23, 33, 57], N),
            "region_id": RNG.integers(1, 6, N),
        }
    )

    schema = Schema.infer(table)

    assert [one.moves for one in schema] == ["never"] * 3
    assert "'hadm_id' looks like an identifier by its name" in schema.notes[0]
    for name, note in zip(("first_wardid", "region_id"), schema.notes[1:], strict=True):
        assert f"schema.with_({name!r}, kind='categorical'" in note
        assert "moves='freely'" in note


def test_texts_that_name_a_thing_are_identifiers_and_many_categories_are_not():
    stays = [f"{20_000 + i}_{i % 2}" for i in range(60)]
    table = pd.DataFrame(
        {"stay": RNG.choice(stays, N), "city": RNG.choice([f"city {i}" for i in range(60)], N)}
    )

    schema = Schema.infer(table)

    assert [one.moves for one in schema] == ["never", "freely"]
    assert "'stay' looks like an identifier by its values" in schema.notes[0]
    assert [note[:6] for note in schema.notes] == ["'stay'", "'city'"]
    assert "left free" in schema.notes[1]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("zip", RNG.integers(10000, 99999, N)),
        ("region", RNG.integers(1, 6, N)),
        ("purpose", RNG.choice([3, 17, 20, 41], N)),
    ],
)
def test_whole_numbers_that_may_be_codes_are_asked_about(name, values):
    (note,) = notes_on(name, values)

    assert "may be codes" in note
    assert f"schema.with_({name!r}, kind='categorical'" in note


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("floor", RNG.integers(1, 17, N)),
        ("limit", RNG.choice([1000, 2000, 5000, 10000], N)),
        ("rooms", RNG.choice([0, 1, 2, 3, 9], N)),
        ("visits", RNG.poisson(2, 5 * N)),
        ("period", RNG.choice([12, 24, 36, 48, 60], N)),
    ],
)
def test_counts_and_amounts_are_not_asked_about(name, values):
    assert notes_on(name, values) == ()


def test_grades_that_are_not_spread_as_counts_are_asked_about():
    grades = RNG.choice([2, 3, 4, 5, 6, 7, 8], 8 * N, p=[0.05, 0.1, 0.05, 0.1, 0.3, 0.1, 0.3])

    (note,) = notes_on("worst_grade", grades)

    assert "may be codes or grades" in note
    assert notes_on("num_grades", grades) == ("'num_grades' is taken to be at least 0 as a count",)
