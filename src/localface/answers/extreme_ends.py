"""Warns of a plan that ends at a number which hardly anybody has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from localface.data.absence import is_absent_code
from localface.data.feature import Feature
from localface.data.row_words import RowWords
from localface.data.schema import Schema
from localface.data.seen_values import SeenValues
from localface.types import Array


def cautions_about_extreme_ends(
    schema: Schema, before: Array, after: Array, seen: Sequence[SeenValues]
) -> Iterator[str]:
    """Name the numbers that a plan leads to, and that are lower or higher than nearly everybody's.

    However common a combination is, a single value in it may be an extreme one. What was beyond
    nearly everybody's before is not told.

    >>> import numpy as np
    >>> from localface.data.seen_values import read_seen_values
    >>> schema = Schema([Feature("wage", unit="EUR")])
    >>> seen = read_seen_values(schema, np.arange(1000.0, 3000.0, 10)[:, None])
    >>> next(cautions_about_extreme_ends(schema, np.array([2600.0]), np.array([1010.0]), seen))
    'hardly anybody has wage as low as 1010 EUR: 99 of 100 people have 1019.9 EUR or more'
    """
    for feature, own, code, values in zip(
        schema, before.tolist(), after.tolist(), seen, strict=False
    ):
        if feature.categories is not None or values.holds_nothing or own == code:
            continue
        if is_absent_code(feature, own) or is_absent_code(feature, code):
            continue
        low, high = values.ordinary
        if code < low <= own:
            yield _caution(
                feature, code, f"{_amount(feature, low)} or more", "low", schema.each_row
            )
        elif code > high >= own:
            most = f"{_amount(feature, high)} or less"
            yield _caution(feature, code, most, "high", schema.each_row)


def _caution(feature: Feature, code: float, most: str, how: str, rows: RowWords) -> str:
    hardly = f"hardly {rows.anybody} has {feature.display_name} as {how}"
    return f"{hardly} as {_amount(feature, code)}: 99 of 100 {rows.many} have {most}"


def _amount(feature: Feature, code: float) -> str:
    unit = f" {feature.unit}" if feature.unit else ""
    return f"{feature.format(code)}{unit}"
