"""Finds numbers that stand for no value but for a reason: -9, 999 and the like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from localface.types import Array, Ids

_Number = TypeVar("_Number", bound=np.generic)
_MOST_CODES = 4  # different codes that one column may have
_FEWEST_ROWS = 5  # rows that must have a code
_NEGATIVE = frozenset(-float(digit * (10**n - 1) // 9) for digit in (7, 8, 9) for n in range(1, 6))
_NINES = frozenset(float(10**n - k) for n in range(2, 7) for k in (1, 2, 3, 4))
_EIGHTS = frozenset(float(digit * (10**n - 1) // 9) for digit in (7, 8) for n in range(2, 6))
_HIGH = _NINES | _EIGHTS


@dataclass(frozen=True, slots=True, eq=False)
class FoundCodes:
    """The codes of one column: those ``taken`` for such, and sentences on all that were found."""

    taken: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> dict[float, str]:
        """What each code that was taken is called."""
        return {code: f"code {code:g}" for code in self.taken}

    def without_taken(self, numbers: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
        """Return the numbers that are no codes, stored as they were."""
        return numbers[~np.isin(numbers, self.taken)] if self.taken else numbers


_NONE = FoundCodes()


def find_codes(name: str, numbers: Array, people: Ids | None = None) -> FoundCodes:
    """Find codes among the numbers of a column; ``people`` number the person of each.

    Negative ones made of 7, 8 or 9 (-9, -99, -888), beside numbers from 0 on, are taken for
    codes; -1, and high ones far above all others (999, 96), are only pointed out.
    """
    distinct, counts = np.unique(numbers, return_counts=True)
    outer = _outer(distinct)
    rows = dict(zip(outer, counts[np.searchsorted(distinct, outer)].tolist(), strict=True))
    if people is not None:  # one person's rows are no evidence beside each other's
        pairs = np.unique(np.column_stack([numbers, people]), axis=0)
        rows = {value: int((pairs[:, 0] == value).sum()) for value in outer}
    below = [value for value in outer if value < 0]
    if _are_codes(below, rows, _NEGATIVE) and len(distinct) > len(below) + 1:
        return FoundCodes(tuple(below), (_taken_note(name, below, rows),))
    if len(distinct) > 3 and _are_codes(below, rows, frozenset({-1.0})):
        return FoundCodes((), (_hint(name, below, rows, "the only one below 0"),))
    above = _far_above(distinct, rows)
    return FoundCodes((), (_hint(name, above, rows, "far above all others"),)) if above else _NONE


def is_well_known_code(value: float) -> bool:
    """Tell whether a number is one that tables use as a code: -9, -88, 999 and the like."""
    return value in _NEGATIVE or value in _HIGH


def _outer(distinct: Array) -> list[float]:
    """The values that may be codes by where they are: the first below 0, and the last few.

    One more than may be codes tells that there are too many.
    """
    below = distinct[distinct < 0][: _MOST_CODES + 1]
    return [*below.tolist(), *distinct[distinct >= 0][-_MOST_CODES:].tolist()]


def same_code_note(name: str, value: object) -> str:
    """Say that a column holds a code in every row; nothing where its one value is none."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or float(value) not in _NEGATIVE:  # type: ignore[arg-type]
        return ""
    return (
        f"{name!r} is {value:g} in every row, which looks like a code that stands for no value: it "
        "is kept as it is, tells nothing, and is better left out of the table"
    )


def _are_codes(values: list[float], rows: dict[float, int], known: frozenset[float]) -> bool:
    """Tell whether values look like codes: well-known ones, few, and some of them repeated."""
    if not values or len(values) > _MOST_CODES or not known.issuperset(values):
        return False
    return max(rows[value] for value in values) >= _FEWEST_ROWS


def _far_above(distinct: Array, rows: dict[float, int]) -> list[float]:
    """High values that look like codes, further above all others than those are apart."""
    high = [value for value in distinct.tolist()[-_MOST_CODES:] if value in _HIGH]
    for first in range(len(high)):
        codes = high[first:]
        rest = distinct[distinct < codes[0]]
        together = distinct[distinct >= codes[0]].tolist() == codes
        if not together or len(rest) < 2 or not _are_codes(codes, rows, _HIGH):
            continue
        if codes[0] - rest[-1] > rest[-1] - rest[0]:
            return codes
    return []


def _taken_note(name: str, codes: list[float], rows: dict[float, int]) -> str:
    n = len(codes)
    return (
        f"{name!r} has {_counted(codes, rows)} beside numbers from 0 on: taken for "
        f"{'a code' if n == 1 else 'codes'}, not for {'a number' if n == 1 else 'numbers'}; if "
        f"that is wrong, schema.with_({name!r}, codes=None)"
    )


def _hint(name: str, codes: list[float], rows: dict[float, int], where: str) -> str:
    written = ", ".join(f'{code:g}: "..."' for code in codes)
    what = "they are no numbers but codes" if len(codes) > 1 else "it is no number but a code"
    return (
        f"{name!r} has {_counted(codes, rows)}, {where}: if {what}, "
        f"schema.with_({name!r}, codes={{{written}}})"
    )


def _counted(codes: list[float], rows: dict[float, int]) -> str:
    return ", ".join(f"{code:g} ({rows[code]:,} row{'s' * (rows[code] > 1)})" for code in codes)
