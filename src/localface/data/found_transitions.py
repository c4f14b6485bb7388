"""Finds categories that nobody comes back to: who smokes has not never smoked."""

from __future__ import annotations

from collections.abc import Mapping

from localface.data.protected_names import words_of

_NEVER = frozenset({"never"})
_FORMERLY = frozenset({"former", "formerly", "ex", "past", "previous", "previously", "quit"})


def never_again(guess: Mapping[str, object]) -> dict[str, list[str]]:
    """Return from which categories "never" cannot follow; nothing where it may.

    That some are "former" tells that "never" is about a whole life: somebody who exercises daily
    may well do so never.

    >>> never_again({"kind": "categorical", "categories": ["current", "former", "never"]})
    {'current': ['never'], 'former': ['never']}
    >>> never_again({"kind": "categorical", "categories": ["daily", "never", "weekly"]})
    {}
    """
    categories = guess.get("categories")
    if guess["kind"] != "categorical" or not isinstance(categories, list):
        return {}
    codes = guess.get("codes")
    absent = set(codes) if isinstance(codes, dict) else set()
    texts = [str(one) for one in categories if str(one) not in absent]
    never = [one for one in texts if words_of(one) & _NEVER]
    if not never or not any(words_of(one) & _FORMERLY for one in texts):
        return {}
    return {one: never for one in texts if one not in never}


def never_again_note(name: str, barred: Mapping[str, list[str]]) -> str:
    """Say that nobody comes back to a category."""
    (label, *_) = next(iter(barred.values()))
    return (
        f"{name!r} has {label!r} beside what somebody did formerly: no answer leads back to it; "
        f"if that is wrong, schema.with_({name!r}, never_from=None)"
    )
