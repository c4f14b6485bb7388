"""Finds columns that are a function of another one: squares, logarithms, other units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from localface.data.protected_names import words_of
from localface.types import Array, Mask

_FEWEST_ROWS = 30
_MOST_COLUMNS = 60
_SAME = 1e-6  # share of the larger of two numbers by which rounding may part them
_ROUNDED = 0.01  # the same for a body mass index, whose parts are rounded
_FEW_ROWS = 64  # rows that rule out most functions
_MOST_ROWS = 2000  # rows on which a function is tried
_BODY = {"weight": frozenset({"weight", "wt"}), "height": frozenset({"height", "ht"})}
_MULTIPLE = "{!r} in another unit"
_FUNCTIONS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("{!r} squared", np.square),
    ("{!r} cubed", lambda one: one**3),
    ("the square root of {!r}", np.sqrt),
    ("the logarithm of {!r}", np.log),
    ("the logarithm of {!r}", np.log1p),
    ("the logarithm of {!r}", np.log10),
    ("1 divided by {!r}", np.reciprocal),
)


@dataclass(frozen=True, slots=True)
class FoundFunction:
    """One column that another one settles, and in words how."""

    name: str
    of: str
    how: str

    @property
    def note(self) -> str:
        """That both change together or not at all: one without the other nobody could have."""
        return f"{self.name!r} is {self.how}: they are linked, and change together or not at all"

    @property
    def suggestion(self) -> str:
        """What to write so that both change together."""
        return (
            f"{self.name!r} is {self.how}: to change them together, "
            f"schema.link({self.of!r}, {self.name!r})"
        )


def find_functions(numbers: Mapping[str, Array]) -> list[FoundFunction]:
    """Find columns that are a function of one other; NaN is no value. Each is told of once."""
    some = {name: values[:_MOST_ROWS] for name, values in numbers.items() if _varies(values)}
    some = dict(list(some.items())[:_MOST_COLUMNS])
    possible = _possible_pairs(some)
    found: dict[str, FoundFunction] = {}
    for of, name in permutations(some, 2):
        if name in found or of in found or (of, name) not in possible:
            continue
        how = _function_of(some[of], some[name])
        if how:
            found[name] = FoundFunction(name, of, f"{how.format(of)} in every row")
    return [one for one in found.values() if _agree_in_all(numbers, one)]


def find_body_masses(numbers: Mapping[str, Array]) -> Iterator[FoundFunction]:
    """Find body mass indices, which follow from the weight, where the table has both."""
    for name, values in numbers.items():
        if not words_of(name) & {"bmi", "bodymassindex"}:
            continue
        weight, height = (_column_named(part, numbers) for part in ("weight", "height"))
        if weight is None or weight == name:
            continue
        if height is None:
            yield FoundFunction(
                name, weight, f"a body mass index by its name, and {weight!r} a weight"
            )
        elif _is_body_mass(values, numbers[weight], numbers[height]):
            how = f"{weight!r} divided by {height!r} squared in every row"
            yield FoundFunction(name, weight, how)


def _column_named(part: str, numbers: Mapping[str, Array]) -> str | None:
    found = (name for name in numbers if words_of(name) & _BODY[part])
    return next((name for name in found if not words_of(name) & {"birth", "sample"}), None)


def _is_body_mass(values: Array, weight: Array, height: Array) -> bool:
    """Whether values are weight over height squared, in metres or centimetres."""
    for unit in (1.0, 100.0):
        with np.errstate(all="ignore"):
            wanted = weight / (height / unit) ** 2
        both = np.isfinite(wanted) & ~np.isnan(values)
        off = np.abs(values - wanted) > _ROUNDED * np.abs(wanted)
        if both.sum() >= _FEWEST_ROWS and not off[both].any():
            return True
    return False


def _varies(values: Array) -> bool:
    seen = values[~np.isnan(values)][:_MOST_ROWS]
    return len(seen) >= _FEWEST_ROWS and len(np.unique(seen)) > 3


def _possible_pairs(numbers: Mapping[str, Array]) -> set[tuple[str, str]]:
    """Return the pairs whose first rows do not tell already that none is a function of the other.

    All functions of one column are held against all columns at once, on a few rows.
    """
    names = list(numbers)
    some = np.array([values[:_FEW_ROWS] for values in numbers.values()])
    found = set()
    with np.errstate(all="ignore"):
        for of, base in zip(names, some, strict=True):
            wanted = [function(base) for _, function in _FUNCTIONS]
            fits = np.any([~_apart(one, some).any(axis=1) for one in wanted], axis=0)
            fits |= _may_be_multiples(base, some)
            found |= {(of, name) for name, fit in zip(names, fits, strict=True) if fit}
    return found


def _may_be_multiples(base: Array, columns: Array) -> Mask:
    """Tell which columns are a multiple of a base, or have no value to tell the factor by."""
    tells = ~np.isnan(columns) & ~np.isnan(base) & (base != 0)
    first = tells.argmax(axis=1)
    factors = columns[np.arange(len(columns)), first] / base[first]
    multiples = ~_apart(factors[:, None] * base, columns).any(axis=1)
    return np.asarray(multiples | ~tells.any(axis=1))


def _apart(wanted: Array, values: Array) -> Mask:
    """Tell which numbers are further apart than rounding may bring them; none where one is NaN."""
    size = np.maximum(np.abs(wanted), np.abs(values))
    return np.asarray(np.abs(wanted - values) > _SAME * np.maximum(size, 1e-9))


def _function_of(base: Array, values: Array) -> str:
    """Say in words which function of a column another one is; nothing where it is none."""
    with np.errstate(all="ignore"):
        for how, function in _FUNCTIONS:
            if _same(function(base), values):
                return how
        both = ~(np.isnan(base) | np.isnan(values))
        if (base[both] != 0).any() and both.sum() >= _FEWEST_ROWS:
            first = np.flatnonzero(both & (base != 0))[0]
            if _same(base * (values[first] / base[first]), values):
                return _MULTIPLE if values[first] != base[first] else "the same as {!r}"
    return ""


def _same(wanted: Array, values: Array) -> bool:
    """Whether two columns are the same wherever both have values, up to rounding."""
    both = ~(np.isnan(wanted) | np.isnan(values))
    if both.sum() < _FEWEST_ROWS or len(np.unique(values[both])) <= 3:
        return False
    apart = np.abs(wanted - values)[both]
    size = np.maximum(np.abs(wanted), np.abs(values))[both]
    return bool((apart <= _SAME * np.maximum(size, 1e-9)).all())


def _agree_in_all(numbers: Mapping[str, Array], one: FoundFunction) -> bool:
    return bool(_function_of(numbers[one.of], numbers[one.name]))
