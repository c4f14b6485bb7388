"""What the data holds of each feature: extremes, spacing at the ends, and slips of the unit."""

from __future__ import annotations

import numpy as np
import pytest

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.data.seen_values import SeenValues, number_as_typed, read_seen_values

POTASSIUM = Feature("potassium", unit="mmol/L", resolution=0.1)
COUNT = Feature("count", kind="integer")
WARD = Feature("ward", kind="categorical", categories=("east", "west", "north"))


def seen(feature: Feature, codes: object) -> SeenValues:
    column = np.asarray(codes, dtype=float)[:, None]
    return read_seen_values(Schema([feature]), column)[0]


def test_extremes_and_quantiles_are_those_of_the_rows() -> None:
    found = seen(Feature("x"), range(101))

    assert (found.lowest, found.highest, found.ordinary) == (0, 100, (1, 99))
    assert found.codes is None


def test_the_spacing_is_the_widest_gap_at_each_end_not_in_the_middle() -> None:
    middle = [*np.linspace(20, 29, 50), *np.linspace(70, 79, 50)]

    found = seen(Feature("x"), [16, 19, *middle, 83])

    assert (found.low_gap, found.high_gap) == (3, 4)


def test_where_many_share_the_highest_value_the_next_one_gives_the_spacing() -> None:
    assert seen(Feature("x"), [*range(91), *[95] * 20]).high_gap == 5


def test_a_gap_is_never_narrower_than_what_can_be_noticed() -> None:
    assert seen(POTASSIUM, np.linspace(3, 5, 1001)).high_gap == 0.1
    assert seen(COUNT, [4, 4, 4]).high_gap == 1


def test_a_number_is_outside_beyond_one_gap_from_the_extremes() -> None:
    found = seen(COUNT, range(3, 16))

    assert [found.is_above_all(code) for code in (15, 16, 17)] == [False, False, True]
    assert [found.is_below_all(code) for code in (3, 2, 1)] == [False, False, True]


def test_rounding_does_not_put_a_number_outside() -> None:
    assert not seen(POTASSIUM, np.arange(28, 58) / 10).is_above_all(5.7 + 0.1)


@pytest.mark.parametrize(
    ("code", "shifted"),
    [(41.0, 4.1), (410.0, 4.1), (4100.0, 4.1), (0.41, 4.1), (0.0041, 4.1), (41000.0, None)],
)
def test_a_decimal_point_moves_by_one_to_three_places(code: float, shifted: float | None) -> None:
    assert seen(POTASSIUM, np.linspace(3, 6, 301)).ordinary_shift(POTASSIUM, code) == shifted


def test_what_is_ordinary_or_nothing_is_no_slip() -> None:
    wide = seen(Feature("x"), range(1001))

    assert wide.ordinary_shift(Feature("x"), 500.0) is None
    assert seen(POTASSIUM, np.linspace(3, 6, 31)).ordinary_shift(POTASSIUM, 0.0) is None


def test_a_count_stays_whole_when_its_point_moves() -> None:
    found = seen(COUNT, range(18, 90))

    assert found.ordinary_shift(COUNT, 640.0) == 64
    assert found.ordinary_shift(COUNT, 645.0) is None


def test_categories_that_no_row_has_are_known() -> None:
    found = seen(WARD, [0, 2, 2])

    assert [found.holds_category(code) for code in (0, 1, 2)] == [True, False, True]
    assert found.ordinary_shift(WARD, 1.0) is None


def test_further_rows_widen_what_was_seen() -> None:
    number = seen(COUNT, [3, 4, 5]).including([1, 9])
    ward = seen(WARD, [0]).including([2])

    assert (number.lowest, number.highest, number.ordinary) == (1, 9, (3.02, 4.98))
    assert ward.codes == {0, 2}


def test_a_number_is_written_as_somebody_would_have_typed_it() -> None:
    assert number_as_typed(0.1 + 0.2) == "0.3"
