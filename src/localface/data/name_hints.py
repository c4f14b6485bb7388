"""Guesses from a name what a number counts and between what ends it lies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from localface.data.protected_names import words_of
from localface.types import Array

_UNITS = {
    **dict.fromkeys(("years", "yrs", "yr"), "years"),
    **dict.fromkeys(("months", "mths"), "months"),
    **dict.fromkeys(("weeks", "wks"), "weeks"),
    **dict.fromkeys(("days",), "days"),
    **dict.fromkeys(("hours", "hrs"), "hours"),
    **dict.fromkeys(("minutes", "mins"), "minutes"),
    **dict.fromkeys(("kg", "kilograms"), "kg"),
    **dict.fromkeys(("cm", "mm", "km", "ml", "mg"), ""),
    **dict.fromkeys(("mmol",), "mmol/L"),
    **dict.fromkeys(("umol",), "umol/L"),
    **dict.fromkeys(("mmhg",), "mmHg"),
    **dict.fromkeys(("bpm",), "bpm"),
    **dict.fromkeys(("usd", "dollars"), "USD"),
    **dict.fromkeys(("eur", "euros"), "EUR"),
    **dict.fromkeys(("pct", "percent", "percentage"), "%"),
}
_PERCENT = frozenset({"pct", "percent", "percentage"})
_COUNTS = frozenset({"n", "num", "number", "count", "counts", "no"})
_CODES = frozenset(
    {"code", "codes", "zip", "zipcode", "postcode", "plz", "type", "category", "region", "id"}
)
_IDENTIFIERS = frozenset(
    {"id", "ids", "uuid", "guid", "unnamed", "identifier", "mrn", "ssn"}
    | {"wardid", "itemid", "subjectid", "patientid", "personid", "userid", "customerid", "clientid"}
    | {"recordid", "caseid", "orderid", "stayid", "memberid", "accountid", "loanid", "hadmid"}
)
_NUMBERS_OF = frozenset({"nr", "no", "number", "num", "index", "idx"})
_NUMBERED_THINGS = frozenset(
    {"patient", "person", "customer", "client", "case", "record", "row", "account", "subject"}
    | {"member", "study", "order", "participant", "applicant", "sample", "serial", "index"}
)
_WEAK_CODES = frozenset({"type", "category", "region", "id"})  # words that mean little elsewhere
_NUMBERED = re.compile(r"\d{4}")  # texts with such numbers in them are names of things
_CLEARLY = 5  # standard errors by which a valley between two peaks is no chance
_MANY = 50  # different numbers from which a column may be an identifier
_SPARSE = 100  # numbers that each could have been, for each that is there: drawn from a register


@dataclass(frozen=True, slots=True)
class NameHints:
    """Settings guessed from a name and the numbers under it, and sentences that say why."""

    settings: dict[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def hints_from_name(guess: Mapping[str, object], numbers: Array) -> NameHints:
    """Guess the unit and the bounds of a number; ask about codes and identifiers."""
    name = str(guess["name"])
    if guess["kind"] not in ("numeric", "integer") or not len(numbers):
        return NameHints()
    asked = _doubt(name, numbers)
    if asked is not None:
        return asked
    unit = unit_from_name(name)
    settings: dict[str, object] = {} if unit is None else {"unit": unit}
    bounds, why = _bounds(name, numbers, unit)
    if bounds is not None:
        settings["bounds"] = bounds
    said = [f"in {unit} by its name"] if unit is not None else []
    said += [why] if why else []
    return NameHints(settings, (f"{name!r} is taken to be {', and '.join(said)}",) if said else ())


def unit_from_name(name: str) -> str | None:
    """Read the unit off the last word of a name; a percentage also off the first.

    >>> unit_from_name("weight_kg"), unit_from_name("tenure_months"), unit_from_name("hr_min")
    ('kg', 'months', None)
    >>> unit_from_name("PercentPaid"), unit_from_name("asked_in_7days")
    ('%', None)
    """
    words = [word.lower() for word in _ordered_words(name)]
    if name.endswith("%") or (words and words[0] in _PERCENT):
        return "%"
    if len(words) < 2 or words[-1] not in _UNITS or re.search(r"\d[A-Za-z]+$", name):
        return None
    return _UNITS[words[-1]] or words[-1]


def _ordered_words(name: str) -> list[str]:
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)


def _bounds(
    name: str, numbers: Array, unit: str | None
) -> tuple[tuple[float | None, float | None] | None, str]:
    """Bounds that are certain by the domain, and the reason."""
    low = float(numbers.min())
    high = float(numbers.max())
    if low < 0:
        return None, ""
    if unit == "%" and 1 < high <= 100:
        return (0, 100), "between 0 and 100 as a percentage"
    if _is_count_name(name) and bool((numbers == np.rint(numbers)).all()):
        return (0, None), "at least 0 as a count"
    return None, ""


def _is_count_name(name: str) -> bool:
    words = _ordered_words(name)
    return len(words) > 1 and words[0].lower() in _COUNTS


def _doubt(name: str, numbers: Array) -> NameHints | None:
    """Say that a column looks like an identifier, or ask whether its numbers are codes."""
    distinct = np.unique(numbers)
    if len(distinct) < 3 or not (distinct == np.rint(distinct)).all():
        return None
    words = words_of(name)
    unlike = len(distinct) == len(numbers) >= _MANY
    if words & _IDENTIFIERS:
        many = len(distinct) > _MANY or np.ptp(distinct) >= _SPARSE * len(distinct)
        note = identifier_note(name, "by its name") if many else _kept_codes_note(name, distinct)
        return NameHints({"moves": "never"}, (note,))
    if unlike and _counts_rows(numbers):
        return NameHints({"moves": "never"}, (identifier_note(name, "as it numbers the rows"),))
    if unlike and words & _NUMBERS_OF:
        return NameHints({"moves": "never"}, (identifier_note(name, "by its name and values"),))
    if len(distinct) <= _MANY and words & _CODES:
        return NameHints({}, (_codes_note(name, distinct, "by its name"),))
    if _look_like_codes(distinct, len(numbers)):
        return NameHints({}, (_codes_note(name, distinct, "as they are few and scattered"),))
    if not words & _COUNTS and _look_like_grades(distinct, numbers):
        why = "or grades, as they are few and not spread as counts are"
        return NameHints({}, (_codes_note(name, distinct, why),))
    if words & _CODES - _WEAK_CODES:
        return NameHints({}, (_codes_note(name, distinct, "by its name"),))
    return None


def is_identifier_name(name: str) -> bool:
    """Whether a name is that of something that tells whose row it is, and nothing else.

    >>> is_identifier_name("patient_id"), is_identifier_name("idle_hours")
    (True, False)
    """
    words = words_of(name)
    return bool(words & _IDENTIFIERS or (words & _NUMBERS_OF and words & _NUMBERED_THINGS))


def why_identifier(name: str, categories: object) -> str:
    """Say why a column of many different texts is an identifier; nothing where it is none."""
    if not isinstance(categories, list | tuple) or len(categories) <= _MANY:
        return ""
    if words_of(name) & _IDENTIFIERS:
        return "by its name"
    numbered = sum(bool(_NUMBERED.search(str(one))) for one in categories)
    return "by its values" if numbered > 0.9 * len(categories) else ""


def identifier_note(name: str, why: str) -> str:
    """Say that a column looks like an identifier, and what to do about it."""
    return (
        f"{name!r} looks like an identifier {why}: it is kept as it is, and better left out of "
        "the table (if it says whose row it is, give it as groups=)"
    )


def _codes_note(name: str, distinct: Array, why: str) -> str:
    return (
        f"{name!r} holds {len(distinct):,} different whole numbers that may be codes {why}: if "
        f"they have no order, schema.with_({name!r}, kind='categorical', categories=[...])"
    )


def _kept_codes_note(name: str, distinct: Array) -> str:
    return (
        f"{name!r} holds {len(distinct):,} different whole numbers that are codes by its name: it "
        "is kept as it is; if somebody could change it, "
        f"schema.with_({name!r}, kind='categorical', categories=[...], moves='freely')"
    )


def _counts_rows(numbers: Array) -> bool:
    """Whether the numbers are those of the rows: in some order, each one more than another."""
    return bool((np.diff(np.sort(numbers)) == 1).all())


def _look_like_grades(distinct: Array, numbers: Array) -> bool:
    """Whether few whole numbers in a row have several peaks: counts of things have one."""
    if not 3 <= len(distinct) <= 12 or distinct[0] < 0 or len(numbers) < _MANY:
        return False
    if distinct[-1] - distinct[0] >= 2 * len(distinct):
        return False
    rows = np.unique(numbers, return_counts=True)[1].astype(np.float64)
    for i in range(1, len(rows) - 1):
        lower_peak = min(rows[:i].max(), rows[i + 1 :].max())
        if lower_peak - rows[i] > _CLEARLY * np.sqrt(lower_peak + rows[i] + 1):
            return True
    return False


def _look_like_codes(distinct: Array, n_rows: int) -> bool:
    """Whether few whole numbers lie scattered, on no common grid, as codes do and counts do not."""
    if not 3 <= len(distinct) <= 12 or distinct[0] < 1 or n_rows < _MANY:
        return False
    steps = np.diff(distinct).astype(np.int64)
    return bool(np.gcd.reduce(steps) == 1 and distinct[-1] - distinct[0] >= 3 * len(distinct))
