"""Guesses by its name whether a feature is protected: age, sex, race and the like."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

_PROTECTED = frozenset(
    {
        *("sex", "gender", "sexe", "sexo", "genero", "geschlecht"),
        *("race", "raza", "rasse", "ethnicity", "ethnic", "ethnie", "etnia", "caste"),
        *("religion", "konfession", "nationality", "nationalitat", "nationalitaet"),
        *("nationalite", "nacionalidad", "staatsangehorigkeit", "staatsangehoerigkeit"),
        *("citizenship", "immigrant", "foreigner"),
        *("disability", "disabled", "behinderung", "handicape", "discapacidad"),
        *("birth", "birthdate", "birthday", "birthyear", "birthplace", "birthcountry", "dob"),
        *("geburtsdatum", "geburtsjahr", "geburtsort", "geburtsland", "naissance", "nacimiento"),
    }
)
_TOGETHER = (
    frozenset({"native", "country"}),
    frozenset({"native", "language"}),
    frozenset({"mother", "tongue"}),
    frozenset({"sexual", "orientation"}),
    frozenset({"skin", "color"}),
    frozenset({"skin", "colour"}),
    frozenset({"senior", "citizen"}),
    frozenset({"foreign", "worker"}),
)
_SEXES = frozenset({"male", "female"})
_BESIDE_SEXES = frozenset(
    {"is", "sex", "gender", "patient", "person", "customer", "client", "applicant", "flag", "at"}
)
_AGES = frozenset({"age", "ages", "alter", "edad", "idade"})
# Beside these words the others mean something else: the age of a house, a race that is run.
_NOT_AN_AGE = frozenset(
    {
        *("account", "acct", "asset", "bank", "building", "car", "company", "contract", "credit"),
        *("device", "equipment", "file", "firm", "history", "home", "house", "housing", "invoice"),
        *("line", "loan", "machine", "order", "policy", "product", "property", "record", "stone"),
        *(
            "structure",
            "tree",
            "vehicle",
            "website",
            "average",
            "avg",
            "mean",
            "limit",
            "restriction",
        ),
    }
)
_NOT_A_TRAIT = frozenset(
    {
        *("bike", "car", "condition", "control", "distance", "driver", "horse", "lap"),
        *("length", "number", "order", "pace", "position", "rate", "rates", "result", "speed"),
        *("time", "track", "weight", "winner"),
    }
)
KEPT = "looks protected by its name"
GROWN = ", though it grows by itself"
_AMBIGUOUS = frozenset({"race", "birth"})


def is_age_name(name: str) -> bool:
    """Tell whether a name is that of a person's age.

    >>> [is_age_name(name) for name in ("age", "ageAtAdmission", "average", "house_age", "wage")]
    [True, True, False, False, False]
    """
    words = words_of(name)
    return bool(words & _AGES) and not words & _NOT_AN_AGE


def is_protected_name(name: str) -> bool:
    """Tell whether a name is that of something protected.

    >>> [is_protected_name(name) for name in ("PatientSex", "native-country", "dateOfBirth")]
    [True, True, True]
    >>> is_protected_name("male"), is_protected_name("male_staff_share")
    (True, False)
    >>> [is_protected_name(name) for name in ("sextant", "racetrack", "race_time", "birth_weight")]
    [False, False, False, False]
    """
    words = words_of(name)
    found = words & _PROTECTED
    if words & _NOT_A_TRAIT:
        found -= _AMBIGUOUS
    if words & _SEXES and words <= _SEXES | _BESIDE_SEXES:
        return True
    return bool(found) or is_age_name(name) or any(some <= words for some in _TOGETHER)


def guess_protection(guess: Mapping[str, object]) -> dict[str, object]:
    """Guess by its name whether a feature is protected, and whether it grows by itself."""
    name = str(guess["name"])
    if not is_protected_name(name):
        return {}
    grows = is_age_name(name) and guess["kind"] in ("numeric", "integer")
    return {"moves": "grows", "protected": True} if grows else {"protected": True}


def protection_notes(guess: Mapping[str, object]) -> list[str]:
    """Say that a feature is taken for protected, and what to do if it is not."""
    if not guess.get("protected"):
        return []
    grown = GROWN if guess.get("moves") == "grows" else ""
    if_not = "if it may move, drop 'protected' and say how"
    return [f"{guess['name']!r} {KEPT}: it is kept as it is{grown}; {if_not}"]


def words_of(name: str) -> frozenset[str]:
    """The words of a name in snake, kebab or camel case, in small letters without accents."""
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(one for one in plain if not unicodedata.combining(one))
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", plain)
    return frozenset(part.lower() for part in parts)
