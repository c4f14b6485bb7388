"""A record outside the schema's bounds is refused, with a likely slip."""

from __future__ import annotations

import numpy as np
import pytest

from localface.data.feature import Feature
from localface.data.own_bounds import check_own_bounds
from localface.data.schema import Schema
from localface.data.seen_values import read_seen_values
from localface.errors import DataError

SCHEMA = Schema(
    [
        Feature("potassium", unit="mmol/L", bounds=(1, 15)),
        Feature("fio2", bounds=(0.21, 1.0), resolution=0.01),
        Feature("age", unit="years", kind="integer", bounds=(18, None)),
        Feature("pain", kind="ordinal", categories=("none", "some", "bad"), bounds=(None, "some")),
    ]
)
ORDINARY = [4.2, 0.4, 50, 0]
LOW = np.array([3.0, 0.21, 20, 0])
HIGH = np.array([6.0, 1.0, 80, 2])
ROWS = np.linspace(LOW, HIGH, 201)
ROWS[:, 2:] = np.rint(ROWS[:, 2:])
SEEN = read_seen_values(SCHEMA, ROWS)


def refused(**changes: float) -> DataError:
    record = np.array(
        [changes.get(name, own) for name, own in zip(SCHEMA.names, ORDINARY, strict=True)]
    )
    with pytest.raises(DataError) as caught:
        check_own_bounds(SCHEMA, record, SEEN)
    return caught.value


def test_a_record_on_its_bounds_passes() -> None:
    check_own_bounds(SCHEMA, np.array([15.0, 0.21, 18.0, 1.0]), SEEN)


def test_the_value_the_bounds_and_the_likely_slip_are_named() -> None:
    error = refused(potassium=41)

    assert str(error) == (
        "'potassium' is 41 mmol/L (is it 4.1?), and the schema's bounds are 1 to 15 mmol/L: "
        "correct the value, or widen the bounds of the schema"
    )
    assert (error.feature, error.option) == ("potassium", "bounds")


def test_without_a_slip_none_is_suggested() -> None:
    assert str(refused(age=-3)).startswith(
        "'age' is -3 years, and the schema's bounds are 18 years or more:"
    )


def test_a_category_beyond_the_last_allowed_is_named_by_its_label() -> None:
    assert "'pain' is 'bad', and the schema's bounds are some or less" in str(refused(pain=2))


def test_all_values_outside_are_named_at_once() -> None:
    error = refused(fio2=50, age=-3)

    assert "'fio2' is 50 (is it 0.5?)" in str(error)
    assert "'age' is -3 years" in str(error)
    assert "correct the values" in str(error)
    assert error.feature == "fio2"
