"""Guesses by its name what no action changes though it is not protected: a past, a family, a time.

A rule holds only where every other word of the name is a plain one: a feature that somebody
could change is not to be taken from them because its name shares a word with another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from localface.data.protected_names import words_of

_PLAIN = frozenset(
    {
        *("n", "num", "number", "no", "nr", "count", "cnt", "counts", "total", "of", "in", "at"),
        *("has", "have", "had", "is", "was", "are", "the", "a", "on", "with", "per", "and", "or"),
        *("status", "type", "state", "code", "category", "group", "flag", "size", "members"),
        *("current", "applicant", "person", "patient", "client", "borrower", "name", "home"),
        *("cm", "mm", "m", "meter", "meters", "metres", "inch", "inches", "ft", "feet", "std"),
        *("num", "cat", "bin", "id", "value", "raw", "personal", "own", "self", "body"),
    }
)
_FAMILY = frozenset(
    {
        *("marital", "marriage", "married", "divorced", "widowed", "spouse", "relationship"),
        *("partner", "husband", "wife", "dependents", "dependants", "children", "child", "kids"),
        *("siblings", "pregnant", "pregnancies", "pregnancy", "familienstand", "kinder", "civil"),
    }
)
_COUNTED = frozenset({"n", "num", "number", "count", "cnt", "counts", "total"})
_WITH_FAMILY = frozenset({"status", "size", "members", "type"})
_BODY = frozenset({"height", "bloodtype", "genotype", "handedness"})
_BODY_PAIRS = (
    {"ht", "cm"},
    {"blood", "type"},
    {"blood", "group"},
    {"eye", "color"},
    {"eye", "colour"},
)
_EVENTS = (
    *("delinq", "delq", "dlq", "derog", "bankrupt", "foreclos", "chargeoff", "convict", "arrest"),
    *("lien", "judgment", "judgement", "felon", "misdemean"),
)
_LATE = frozenset({"late", "missed", "pastdue", "overdue", "default", "defaults", "defaulted"})
_REPEATED = frozenset(
    {"times", "time", "number", "num", "n", "count", "cnt", "payments", "ever", "history", "prior"}
    | {"previous", "past", "worst", "file"}
)
_NOW = frozenset({"now", "current", "currently", "amount", "amt", "balance", "today", "next"})
_HISTORIES = frozenset(
    {"credit", "medical", "family", "smoking", "criminal", "payment", "disease", "of", "loan"}
)
_PAST = frozenset({"prior", "priors", "previous", "former", "formerly", "prev"})
_FIRST = frozenset(
    {"first", "oldest", "earliest", "start", "joined", "opened", "opening", "registration"}
    | {
        "signup",
        "diagnosis",
        "admission",
        "surgery",
        "birth",
        "enrolment",
        "enrollment",
        "hire",
        "hired",
    }
)
_LATEST = frozenset({"last", "recent", "latest"})
_LASTING_ILLNESSES = frozenset(
    {"diabetes", "diabetic", "stroke", "copd", "cancer", "asthma", "epilepsy", "hiv", "aids"}
    | {"dementia", "alzheimer", "alzheimers", "parkinson", "parkinsons", "cirrhosis", "chd"}
    | {"cad", "chf", "infarction", "angina"}
)
_BESIDE_ILLNESSES = frozenset(
    {"mellitus", "disease", "chronic", "coronary", "heart", "myocardial", "known", "diagnosed"}
)
_ALREADY_THERE = ("prevalent", "preexisting", "comorbid")
_RUNNING = (
    *(
        {"tenure"},
        {"los"},
        {"length", "stay"},
        {"seniority"},
        {"years", "experience"},
        {"employment", "length"},
    ),
    *({"emp", "length"}, {"years", "employed"}, {"months", "employed"}, {"days", "employed"}),
    *({"account", "age"}, {"account", "length"}, {"months", "on", "book"}, {"customer", "since"}),
    *({"years", "at", "company"}, {"years", "at", "job"}, {"years", "at", "address"}),
    *({"time", "at", "address"}, {"length", "residence"}, {"length", "credit", "history"}),
    *({"credit", "age"}, {"client", "since"}, {"member", "since"}, {"working", "years"}),
)
_CUSTOMER = frozenset({"customer", "client", "member", "subscriber", "subscribed", "enrolled"})
_SO_FAR = frozenset({"lifetime", "cumulative", "cumulated", "accumulated", "alltime"})
_SUMS = frozenset(
    {"charges", "spend", "spent", "spending", "paid", "payments", "purchases", "orders", "visits"}
    | {"transactions", "donations", "donated", "revenue", "sales", "claims", "calls", "sessions"}
    | {"logins", "trips", "rides", "bookings", "clicks", "deposits", "withdrawals", "usage"}
    | {"minutes", "hours", "days", "dose", "doses", "exposure", "fees", "points", "miles", "km"}
    | {"mileage", "amount", "tickets", "returns", "refunds", "rent", "contributions"}
)
_NO_SUMS = frozenset(
    {"gpa", "average", "avg", "mean", "median", "rate", "ratio", "pct", "percent", "percentage"}
    | {"value", "expected", "predicted", "forecast", "risk", "score", "limit", "max", "maximum"}
    | {"per", "last", "recent", "next", "past", "week", "weekly", "month", "monthly", "year"}
    | {"yearly", "annual", "daily", "day", "night", "eve", "evening", "intl", "quarter", "today"}
    | {"rolling", "window", "remaining", "left", "due", "owed", "open", "outstanding"}
)
_YEAR = frozenset({"year", "yr", "jahr"})
_ORIGINS = frozenset(
    {"built", "build", "construction", "constructed", "founded", "foundation", "established"}
    | {"manufacture", "manufactured", "made", "birth", "born", "graduated", "graduation"}
)
_CHOSEN = frozenset({"loan", "emi", "term", "lease", "contract", "deposit", "mortgage", "wanted"})
_OUTCOMES = frozenset(
    {"outcome", "target", "died", "death", "dead", "deceased", "mortality", "survived", "survival"}
    | {"decision", "expire", "expired", "churn", "churned", "attrition", "readmit", "readmitted"}
)
_BESIDE_OUTCOMES = frozenset(
    {"hosp", "hospital", "icu", "stay", "day", "days", "month", "months", "year", "years", "label"}
)
_DISCHARGE = frozenset({"location", "disposition", "destination", "status"})
_DESIGN = frozenset({"split", "fold", "partition", "source", "dbsource", "dataset", "cohort"})
_SURVEY_WEIGHTS = frozenset({"fnlwgt", "finalwgt", "perwt", "hhwt", "pwgtp", "wgtp", "asecwt"})
_SURVEYS = frozenset({"survey", "sample", "sampling"})
_WEIGHTS = frozenset({"weight", "weights", "wgt", "wt"})
_WARDS = frozenset({"careunit", "ward"})
_BESIDE_WARDS = frozenset({"first", "last", "curr", "submit", "discharge", "hospital", "icu"})
_BEFORE = frozenset({"before", "until", "till", "to"})
_LANGUAGE = frozenset({"language", "preferred", "primary", "spoken", "home", "patient", "code"})
_TIMES = frozenset({"hours", "hrs", "days", "weeks", "months", "mths", "years", "yrs"})
_AHEAD = frozenset({"next", "due", "planned", "scheduled", "expiry", "until", "deadline", "end"})
_MIDDLES = frozenset({"avg", "average", "mean", "median", "typical", "usual"})  # may fall as well
_LONG_TIMES = frozenset({"days", "weeks", "months", "mths", "years", "yrs"})
_BESIDE_CUSTOMERS = _CUSTOMER | _LONG_TIMES | _PLAIN | {"as", "been", "since", "for"}
_STATES = frozenset(  # that last for a while, and may end
    {"unemployed", "unemployment", "jobless", "inactive", "homeless", "sick", "vacant", "idle"}
)
_PLACES = frozenset(
    {"region", "county", "province", "district", "city", "town", "municipality", "borough"}
)
_WITHIN_A_TIME = re.compile(
    r"within[\W_]*\d+[\W_]*(h|hours?|d|days?|w|weeks?|m|mths?|months?|y|yrs?|years?)$", re.I
)
_SCHOOLING = frozenset({"education", "educ", "schooling", "edu", "bildung"})
_NUMBERS = ("numeric", "integer")


@dataclass(frozen=True, slots=True)
class OwnGuess:
    """How a feature moves by its name (None: as it did), and the sentence that says why."""

    moves: str | None
    note: str


def guess_own(guess: Mapping[str, object]) -> OwnGuess | None:
    """Guess whether no action changes a feature, or only one way; None where nothing is known."""
    name = str(guess["name"])
    words = words_of(name)
    if not words:
        return None
    number = guess["kind"] in _NUMBERS
    if "since" in guess:
        return None if words & _AHEAD else _kept(name, "is a date, which no action changes")
    for belongs, why in _ALWAYS_KEPT:
        if belongs(words):
            return _kept(name, why)
    if guess["kind"] == "binary" and _WITHIN_A_TIME.search(name):
        return _kept(name, "tells by its name what came about within a time, as outcomes do")
    found = _guess_origin(name, words, number=number) or _guess_time(name, words, number=number)
    if found is not None:
        return found
    if _is_event(words):
        return _kept(name, "looks by its name like something past, which nobody can undo")
    if not number and _is_lasting_illness(words):
        return _kept(name, "looks by its name like an illness that no action takes away")
    if words & _SCHOOLING and words <= _SCHOOLING | _PLAIN | {"years", "level"} and _rises(guess):
        return OwnGuess("up", _with_line(name, "is schooling by its name: it only rises", "freely"))
    return None


def _guess_origin(name: str, words: frozenset[str], *, number: bool) -> OwnGuess | None:
    """A first language and a place are asked about: few people change them for a plan."""
    if "language" in words and words <= _LANGUAGE:
        line = "may be somebody's first language by its name: it is left free"
        return OwnGuess(None, _with_line(name, line, "never", "it is"))
    if not number and words & _PLACES and words <= _PLACES | _PLAIN:
        line = "tells by its name where somebody or something is: it is left free"
        return OwnGuess(None, _with_line(name, line, "never", "no action changes it"))
    return None


def _is_outcome_or_design(words: frozenset[str]) -> bool:
    return _is_outcome(words) or words <= _DESIGN or _is_survey_weight(words)


def _is_outcome(words: frozenset[str]) -> bool:
    if "discharge" in words and words & _DISCHARGE:
        return words <= _DISCHARGE | _PLAIN | {"discharge", "hospital"}
    if "outcome" in words:
        return True
    return bool(words & _OUTCOMES) and words <= _OUTCOMES | _BESIDE_OUTCOMES | _PLAIN


def _is_survey_weight(words: frozenset[str]) -> bool:
    if words & _SURVEY_WEIGHTS:
        return True
    return bool(words & _SURVEYS and words & _WEIGHTS) and words <= _SURVEYS | _WEIGHTS | _PLAIN


def _is_ward(words: frozenset[str]) -> bool:
    if words == {"icu", "type"}:
        return True
    cared = {"care", "unit"} <= words
    if not (cared or words & _WARDS):
        return False
    return words <= _WARDS | _BESIDE_WARDS | _PLAIN | {"care", "unit"}


def _is_family(words: frozenset[str]) -> bool:
    if "relationship" in words and words & _COUNTED:  # with a bank, not with a person
        return False
    if words & {"family", "fam", "household"} and words & _WITH_FAMILY:
        return words <= _PLAIN | {"family", "fam", "household"}
    return bool(words & _FAMILY) and words <= _FAMILY | _PLAIN | {"household", "family"}


def _is_of_the_body(words: frozenset[str]) -> bool:
    if any(pair <= words for pair in _BODY_PAIRS):
        return True
    return bool(words & _BODY) and words <= _BODY | _PLAIN


def _is_year_of_origin(words: frozenset[str]) -> bool:
    if "baujahr" in words or words == {"yearbuilt"}:
        return True
    return bool(words & _YEAR and words & _ORIGINS) and words <= _YEAR | _ORIGINS | _PLAIN


_ALWAYS_KEPT: tuple[tuple[Callable[[frozenset[str]], bool], str], ...] = (
    (
        _is_outcome_or_design,
        "looks by its name like an outcome, or where a record comes from, and not like a trait",
    ),
    (_is_ward, "tells by its name where somebody is cared for"),
    (_is_family, "looks by its name like a circumstance of somebody's life"),
    (_is_year_of_origin, "is by its name the year of something past, which nobody can undo"),
    (_is_of_the_body, "looks by its name like a trait of the body that stays"),
)


def is_running_time(name: str) -> bool:
    """Whether a name tells a time that only goes on, such as a tenure."""
    return _is_running(words_of(name))


def may_add_up_by_name(name: str) -> bool:
    """Whether a name may tell a total of all that was so far, as ``TotalCharges`` may.

    >>> may_add_up_by_name("TotalCharges"), may_add_up_by_name("total_income")
    (True, False)
    """
    words = words_of(name)
    so_far = words & (_SO_FAR | {"total", "cum", "overall"})
    return bool(so_far and words & _SUMS) and not words & _NO_SUMS


def _is_running(words: frozenset[str]) -> bool:
    if words & _CHOSEN or words & _MIDDLES:
        return False
    as_customer = words & _CUSTOMER and words & _LONG_TIMES and words <= _BESIDE_CUSTOMERS
    return bool(as_customer) or any(some <= words for some in _RUNNING)


def _guess_time(name: str, words: frozenset[str], *, number: bool) -> OwnGuess | None:
    """Times that only go on move up; those that an action may set back are asked about."""
    if not number or words & _CHOSEN:
        return None
    if words & _SO_FAR and words & _SUMS and not words & _NO_SUMS:
        line = "tells by its name what has added up so far: it moves up"
        return OwnGuess("up", _with_line(name, line, "freely"))
    if _is_running(words) or (
        "since" in words and (words & _FIRST or _is_event(words, alone=True))
    ):
        line = "tells by its name a time, which only goes on: it moves up"
        return OwnGuess("up", _with_line(name, line, "freely"))
    if "since" in words and words & (_LATEST | _TIMES):
        line = "tells by its name how long something is past: it is left free"
        return OwnGuess(None, _with_line(name, line, "up", "time alone changes it"))
    if words & _LONG_TIMES and words & _STATES and words <= _LONG_TIMES | _STATES | _PLAIN:
        line = "tells by its name how long something has lasted: it is left free"
        return OwnGuess(None, _with_line(name, line, "grows", "time alone changes it"))
    if words & _BEFORE and words & _TIMES:
        line = "tells by its name a time before something: it is left free"
        return OwnGuess(None, _with_line(name, line, "never", "no action changes it"))
    return None


def _is_event(words: frozenset[str], *, alone: bool = False) -> bool:
    """Whether words name what happened: a default, a conviction, a history of something."""
    if words & _NOW and "ever" not in words:
        return False
    if any(word.startswith((*_EVENTS, *_ALREADY_THERE)) for word in words):
        return True
    if "failed" in words:  # exams, inspections, payments: nobody can undo them
        return True
    past_due = {"past", "due"} <= words
    repeated = words & _REPEATED - ({"past"} if past_due else set())
    if (past_due or words & _LATE) and (alone or repeated):
        return "method" not in words
    if "hx" in words or (words & {"history", "hist"} and words & _HISTORIES):
        return True
    if words & _DIAGNOSES and words <= _DIAGNOSES | _PLAIN | {"primary", "secondary", "main"}:
        return True
    if "admission" in words and words & {"type", "location", "source", "reason"}:
        return True
    if words & {"pub", "public"} and words & {"rec", "record", "records"}:
        return True
    return "ever" in words or (bool(words & _PAST) and bool(words & _MEDICAL_OR_LEGAL))


def _is_lasting_illness(words: frozenset[str]) -> bool:
    if not words & _LASTING_ILLNESSES:
        return False
    return words <= _LASTING_ILLNESSES | _BESIDE_ILLNESSES | _PLAIN


_DIAGNOSES = frozenset({"diagnosis", "diagnoses", "icd", "dx"})
_MEDICAL_OR_LEGAL = frozenset(
    {"admission", "admissions", "surgery", "surgeries", "stroke", "mi", "infarction", "cancer"}
    | {"conviction", "convictions", "claims", "accidents", "loans", "count", "hospitalization"}
    | {"hospitalizations", "offences", "offenses", "episodes", "treatment", "treatments"}
)


def _rises(guess: Mapping[str, object]) -> bool:
    return guess["kind"] in (*_NUMBERS, "ordinal")


def _kept(name: str, why: str) -> OwnGuess:
    return OwnGuess("never", _with_line(name, f"{why}: it is kept as it is", "freely"))


def _with_line(name: str, sentence: str, moves: str, case: str = "") -> str:
    case = case or "that is wrong"
    return f"{name!r} {sentence}; if {case}, schema.with_({name!r}, moves={moves!r})"
