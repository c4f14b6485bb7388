"""Numbers that stand for a reason, found in a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localface.data.found_codes import find_codes
from localface.data.schema import Schema

RNG = np.random.default_rng(0)
SCORES = RNG.integers(0, 60, 500).astype(float)


def with_codes(*codes: float, n: int = 12, values: np.ndarray = SCORES) -> np.ndarray:
    return np.concatenate([values, np.repeat(codes, n)])


@pytest.mark.parametrize("codes", [(-9.0,), (-9.0, -8.0, -7.0), (-99.0, -88.0), (-9999.0,)])
def test_negative_codes_beside_counts_are_taken_and_said(codes):
    found = find_codes("score", with_codes(*codes))

    assert set(found.taken) == set(codes)
    assert "12 rows" in found.notes[0]
    assert "schema.with_('score', codes=None)" in found.notes[0]


@pytest.mark.parametrize("codes", [(999.0,), (97.0, 98.0, 99.0), (888.0, 999.0), (-1.0,)])
def test_codes_that_may_be_numbers_are_only_pointed_out(codes):
    found = find_codes("visits", with_codes(*codes, values=SCORES % 14))

    assert found.taken == ()
    assert "schema.with_('visits', codes={" in found.notes[0]


@pytest.mark.parametrize(
    "numbers",
    [
        SCORES,
        RNG.normal(0, 5, 500).round(),  # -9, -8 and -7 among other numbers below 0
        np.arange(100.0),  # 96 to 99 as the last of many
        with_codes(99.0, values=np.arange(50.0, 98.0)),
        with_codes(-9.0, n=2),  # too seldom
        np.repeat([-9.0, 0.0], 50),
        with_codes(-5.0),
        np.zeros(0),
    ],
)
def test_ordinary_numbers_are_no_codes(numbers):
    assert find_codes("x", numbers).notes == ()


def test_codes_are_left_out_of_every_other_guess_and_can_be_undone():
    late = with_codes(-9.0, -8.0, values=np.array([0.0, 1.0, 2.0, 3.0] * 50))
    table = pd.DataFrame({"num_late": late, "k": RNG.normal(4, 1, len(late))})

    schema = Schema.infer(table)

    assert schema["num_late"].codes == {-9: "code -9", -8: "code -8"}
    assert schema["num_late"].bounds == (0, None)
    undone = schema.with_("num_late", codes=None, bounds=None)
    assert undone["num_late"].codes is None
    assert not any(note.startswith("'num_late'") for note in undone.notes)
    assert Schema.from_toml(schema.to_toml()) == schema
