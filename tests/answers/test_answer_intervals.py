"""How sure a counted share is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localface.answers.intervals import wilson_interval


@given(st.integers(1, 10_000), st.data())
def test_the_interval_holds_the_share_and_stays_within_nought_and_one(
    n: int, data: st.DataObject
) -> None:
    share = data.draw(st.integers(0, n)) / n

    low, high = wilson_interval(share, n)

    assert 0 <= low <= share <= high <= 1


def test_nobody_and_everybody_are_ends_of_their_intervals() -> None:
    assert wilson_interval(0.0, 10)[0] == 0.0
    assert wilson_interval(1.0, 10)[1] == 1.0


def test_more_people_make_the_interval_narrower() -> None:
    few = wilson_interval(0.5, 10)
    many = wilson_interval(0.5, 1000)

    assert few == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert few[0] < many[0] < 0.5 < many[1] < few[1]
