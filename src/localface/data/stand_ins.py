"""Categories that stand for a missing value: '?', 'nan', 'unknown' and the like."""

from __future__ import annotations

from collections.abc import Sequence

_CERTAIN = frozenset(
    {
        *("?", "??", "", "nan", "<na>", "n/a", "#n/a", "null", "missing", "missing value", "unk"),
        *("unknown", "not known", "not available", "not recorded", "not stated", "not reported"),
        *("unspecified", "not specified", "no data", "unbekannt", "inconnu", "desconocido"),
    }
)
_POSSIBLE = frozenset({"na", "-", "--", "."})  # regions, grades and marks are written so as well


def stand_ins(categories: Sequence[object]) -> list[object]:
    """Return the categories that stand for a missing value, whatever the feature is.

    >>> stand_ins(["cook", "?", "Unknown", "other", "none"])
    ['?', 'Unknown']
    """
    return [one for one in categories if _plain(one) in _CERTAIN]


def possible_stand_ins(categories: Sequence[object]) -> list[object]:
    """Return the categories that may stand for a missing value, or for something else."""
    return [one for one in categories if _plain(one) in _POSSIBLE]


def stand_in_note(name: str, taken: Sequence[object], n_rows: int) -> str:
    """Say that categories are taken for missing values, and what to write if they are none."""
    named = " and ".join(repr(one) for one in taken)
    return (
        f"{name!r} has the {'category' if len(taken) == 1 else 'categories'} {named} "
        f"({_rows(n_rows)}), taken for a missing value: no answer leads into it or out of it; "
        f"if that is wrong, schema.with_({name!r}, codes=None)"
    )


def possible_stand_in_note(name: str, one: object, n_rows: int) -> str:
    """Ask whether a category stands for a missing value."""
    return (
        f"{name!r} has the category {one!r} ({_rows(n_rows)}), which may stand for a missing "
        f"value: if so, schema.with_({name!r}, codes={{{one!r}: 'missing'}})"
    )


def _plain(category: object) -> str:
    return category.strip().lower() if isinstance(category, str) else "a number"


def _rows(n: int) -> str:
    return f"{n:,} row{'s' * (n != 1)}"
