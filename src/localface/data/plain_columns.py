"""Features that have one column: from their codes to the columns of points, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.data.lines import PiecewiseLines
from localface.data.normal_scores import NormalScores
from localface.data.schema import Schema
from localface.data.value_scales import code_limits, digits_per_feature
from localface.geometry.compiled.line_tables import CodeTables
from localface.types import Array, Ids, Mask

_MOST_DIGITS = 12
_TENS = 10.0 ** np.arange(_MOST_DIGITS + 1)


@dataclass(frozen=True, slots=True, eq=False)
class PlainColumns:
    """Numbers and binary features: all that have one column in points.

    ``whole`` are those whose codes are whole, within ``limits``. ``short`` says how many digits
    the codes of the others are worth writing with.
    """

    to_columns: PiecewiseLines
    to_codes: PiecewiseLines
    whole: Mask
    limits: tuple[Array, Array]
    short: tuple[tuple[int, Ids], ...]
    compiled: CodeTables | None

    @classmethod
    def of(
        cls,
        schema: Schema,
        centres: Array,
        scales: Array,
        normal_scores: tuple[NormalScores | None, ...],
    ) -> PlainColumns:
        """Take knots from normal scores; where there are none, divide by the scale."""
        plain = [j for j, feature in enumerate(schema) if feature.kind != "categorical"]
        knots = []
        heights = []
        for j in plain:
            scores = normal_scores[j] if normal_scores else None
            centre = float(centres[j])
            knots.append(
                np.array([centre, centre + scales[j]]) if scores is None else scores.values
            )
            heights.append(np.array([0.0, 1.0]) if scores is None else scores.scores)
        to_columns = PiecewiseLines.through(knots, heights)
        to_codes = PiecewiseLines.through(heights, knots)
        whole = np.array([schema.features[j].kind != "numeric" for j in plain], dtype=bool)
        limits = code_limits(
            [schema.features[j] for j in plain if schema.features[j].kind != "numeric"]
        )
        short = digits_per_feature(schema, centres, scales)
        compiled = _lay_out_codes(to_columns, to_codes, whole, limits, short)
        return cls(to_columns, to_codes, whole, limits, short, compiled)

    def nearest(self, columns: Array) -> Array:
        """Return the nearest codes, numbers with few digits where that is the same point."""
        if self.compiled is not None:
            return self.compiled.nearest_codes(columns)
        codes = self.to_codes(columns)
        rounded = np.rint(codes[:, self.whole]) + 0.0  # no negative zero
        codes[:, self.whole] = np.clip(rounded, *self.limits)
        short = codes.copy()
        for digits, some in self.short:  # 37.3, not 37.300000000000004, where it is the same point
            short[:, some] = np.round(codes[:, some], digits)
        shorter = short.copy()
        for digits, some in self.short:  # 3700, also where most codes are far smaller
            shorter[:, some] = _shorten_large(codes[:, some], short[:, some], digits)
        codes = np.where(self.to_columns(short) == columns, short, codes)
        return np.where(self.to_columns(shorter) == columns, shorter, codes)


def _shorten_large(codes: Array, short: Array, digits: int) -> Array:
    """Leave large codes twelve digits, where ``short`` has more: ``digits`` after the point."""
    before_point = np.searchsorted(_TENS, np.abs(codes), side="right")
    tens = _TENS[np.maximum(_MOST_DIGITS - before_point, 0)]
    large = (before_point <= _MOST_DIGITS) & (tens < 10.0**digits)
    return np.asarray(np.where(large, np.rint(codes * tens) / tens, short))


def _lay_out_codes(
    to_columns: PiecewiseLines,
    to_codes: PiecewiseLines,
    whole: Mask,
    limits: tuple[Array, Array],
    short: tuple[tuple[int, Ids], ...],
) -> CodeTables | None:
    """Lay out what turns columns into codes for compiled code, where there is any."""
    if to_codes.compiled is None or to_columns.compiled is None:
        return None
    lower = np.full(len(whole), -np.inf)
    upper = np.full(len(whole), np.inf)
    lower[whole], upper[whole] = limits
    digits: list[int | None] = [None] * len(whole)
    for number, some in short:
        for j in some.tolist():
            digits[j] = number
    tables = (to_codes.compiled, to_columns.compiled)
    return CodeTables(*tables, whole=whole, limits=(lower, upper), digits=digits)
