"""Sentences that warn whoever reads an answer: what about it may be mistaken or weak."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from localface.answers.doubt import Doubt
from localface.answers.idle_steps import is_about_idle_steps
from localface.answers.long_plans import is_about_long_plan
from localface.answers.wording import (
    format_count,
    format_more_unusual_than,
    format_percent,
    join_words,
)
from localface.data.absence import is_absent_code
from localface.data.feature import Feature
from localface.data.likely_codes import looks_like_code
from localface.data.row_words import PEOPLE, RowWords
from localface.data.schema import Schema
from localface.data.seen_values import SeenValues, number_as_typed
from localface.search.outcome import MissingActions
from localface.search.questions import OthersHelped
from localface.search.stages.helping import AGAINST_MOST
from localface.types import Array, Ids

FAR_BELOW = 1 / 200
"""A state is far below the floor where less than this share of people have a rarer one."""

FEWEST_COMPARABLE = 50
"""Comparable people without whom an answer rests on too few to go unsaid."""

_FEWEST_TO_TELL = 5  # comparable people below whom others tell what is common
_NAMES_SHOWN = 4  # features named in one sentence
_TOGETHER = "taken together, these values are"
_FIRST_STEP = ", so the first step starts from a very rare state"
_PATH_FOLLOWS = "what follows is a path of"
_MORE_THAN_ASKED = "more than was asked for"
_WHO = {True: "who", False: "that"}
_QUIRK = "this may be a quirk of the model"


def doubts_about_record(
    schema: Schema, record: Array, seen: Sequence[SeenValues]
) -> Iterator[Doubt]:
    """Name the values that nobody in the data has: outside all of them, or in no row.

    >>> import numpy as np
    >>> from localface.data.seen_values import read_seen_values
    >>> schema = Schema([Feature("potassium", unit="mmol/L", resolution=0.1)])
    >>> seen = read_seen_values(schema, np.linspace(2.8, 7.2, 45)[:, None])
    >>> doubt = next(doubts_about_record(schema, np.array([41.0]), seen))
    >>> doubt.sentence
    "potassium 41 mmol/L is higher than anybody's in the data (highest: 7.2): is it 4.1?"
    >>> doubt.suggestion
    4.1
    """
    rows = schema.each_row
    for feature, code, values in zip(schema, record.tolist(), seen, strict=True):
        if is_absent_code(feature, code):
            continue
        if values.holds_nothing:
            named = f"{feature.display_name} of {rows.anybody} in the data"
            rests = f"the answer rests on {rows.many} without it"
            yield Doubt(feature.name, f"there is no {named}: {rests}")
        elif feature.categories is None:
            yield from _doubts_about_number(feature, code, values, rows)
        elif not values.holds_category(code):
            named = f"{feature.display_name} {feature.format(code)!r}"
            differ = f"the answer rests on {rows.many} {_WHO[rows.are_people]} differ in it"
            yield Doubt(feature.name, f"{rows.nobody} in the data has {named}: {differ}")


def cautions_about_own_state(
    share: float, floor: float, *, found: bool, rows: RowWords = PEOPLE
) -> Iterator[str]:
    """Warn where a person's own state is far below the floor.

    ``share`` is the share of people whose state is less common than the person's own.
    """
    if share >= min(floor, FAR_BELOW):
        return
    first_step = _FIRST_STEP if found else ""
    rare = format_more_unusual_than(share, rows)
    yield f"{_TOGETHER} {rare}{first_step}: are they right?"


def is_about_own_state(caution: str) -> bool:
    """Tell whether a caution is the one that a person's values are rare, taken together."""
    return caution.startswith(_TOGETHER)


def cautions_about_company(
    n_comparable: float | None,
    alike_in: Sequence[str],
    rows: RowWords = PEOPLE,
    *,
    lacking: Sequence[str] = (),
) -> Iterator[str]:
    """Warn where an answer rests on few people; None is an unknown number.

    ``alike_in`` names the features in which they are comparable, ``lacking`` those of which they
    have no value either. Where there are hardly any, it is said who tells what is common.

    >>> next(cautions_about_company(12.4, ["age", "sex"], lacking=["savings"]))
    'compared with only about 12 people alike in age and sex who also lack savings'
    >>> next(cautions_about_company(0.2, ["age"], RowWords("cat", "cats")))
    'no cat in the data is alike in age: how common states are is told by cats that differ in this'
    """
    if n_comparable is None or n_comparable >= FEWEST_COMPARABLE:
        return
    n = round(n_comparable)
    told = ""
    if n < _FEWEST_TO_TELL and (alike_in or lacking):
        these = "this" if len(alike_in) + len(lacking) == 1 else "these"
        differ = f"{rows.many} {_WHO[rows.are_people]} differ in {these}"
        told = f": how common states are is told by {differ}"
    if n == 0:
        parts = [f"alike in {_list_some(alike_in)}"] if alike_in else []
        parts += [f"without {_list_some(lacking)}"] if lacking else []
        yield f"{rows.nobody} in the data is {join_words(parts) or 'like this'}{told}"
        return
    clause = comparable_clause(alike_in, lacking, rows, one=n == 1)
    yield f"compared with only about {rows.count(n)}{clause}{told}"


def comparable_clause(
    alike_in: Sequence[str], lacking: Sequence[str], rows: RowWords, *, one: bool = False
) -> str:
    """Say what comparable people have in common: values, and what they lack.

    >>> comparable_clause(["age", "sex"], [], PEOPLE)
    ' alike in age and sex'
    """
    alike = f" alike in {_list_some(alike_in)}" if alike_in else ""
    if not lacking:
        return alike
    lack = "lacks" if one else "lack"
    return f"{alike} {_WHO[rows.are_people]} also {lack} {_list_some(lacking)}"


def lacking_in_words(schema: Schema, record: Array) -> list[str]:
    """Name the features that a record has no value of; a code says what it has instead.

    >>> import numpy as np
    >>> schema = Schema([Feature("income"), Feature("late", codes={-9: "never"})])
    >>> lacking_in_words(schema, np.array([np.nan, 3.0]))
    ['income']
    """
    named = []
    for feature, code in zip(schema, record.tolist(), strict=True):
        if is_absent_code(feature, code):
            word = feature.format(code)
            also = "" if word == "missing" else f" ({word})"
            named.append(f"{feature.display_name}{also}")
    return named


def cautions_about_missing(
    schema: Schema, record: Array, options_of: Mapping[str, str]
) -> Iterator[str]:
    """Warn where an option lets a feature change that has no value: it does nothing.

    >>> import numpy as np
    >>> lactate = Feature("lact", label="lactate")
    >>> next(cautions_about_missing(Schema([lactate]), np.array([np.nan]), {"lact": "only"}))
    "lactate is missing and stays so, whatever only= says of it; \
Feature('lact', missing='may be measured') tells what measuring it could show"
    """
    for feature, code in zip(schema, record.tolist(), strict=True):
        if feature.name in options_of and is_absent_code(feature, code):
            yield _caution_about_missing(feature, code, options_of[feature.name])


def caution_without_actions(missing: MissingActions, n_steps: int, *, at_once: bool = True) -> str:
    """Say that a path is all there is; ``at_once`` tells whether a step changes several features.

    >>> caution_without_actions(MissingActions(), 2)
    'no short list of actions was found that keeps to common states: what follows is a path of \
2 steps, in which several features change at once'
    >>> caution_without_actions(MissingActions(most=2), 4, at_once=False)
    'no plan with at most 2 features was found, nor one with more: what follows is a path of \
4 steps'
    """
    path = f"{_PATH_FOLLOWS} {format_count(n_steps, 'step', 'steps')}"
    if at_once:
        path = f"{path}, in which several features change at once"
    if missing.most is None:
        return f"no short list of actions was found that keeps to common states: {path}"
    most = format_count(missing.most, "feature", "features")
    return f"no plan with at most {most} was found, nor one with more: {path}"


def caution_about_more_features(most: int, fewest: int) -> str:
    """Say that a plan changes more features than it was to, since none by fewer was found.

    >>> caution_about_more_features(2, 4)
    'no plan with at most 2 features was found: this one changes 4, more than was asked for \
(max_features=4)'
    """
    few = format_count(most, "feature", "features")
    none = f"no plan with at most {few} was found"
    return f"{none}: this one changes {fewest}, {_MORE_THAN_ASKED} (max_features={fewest})"


def is_about_more_features(caution: str) -> bool:
    """Tell whether a caution says that a plan changes more features than it was to."""
    return _MORE_THAN_ASKED in caution


def is_about_missing_actions(caution: str) -> bool:
    """Tell whether a caution says that a path is all there is, or a plan by more features."""
    return _PATH_FOLLOWS in caution or is_about_more_features(caution)


def cautions_about_quirks(
    schema: Schema, states: tuple[Array, Array], helped: OthersHelped, feature_of: Ids
) -> Iterator[str]:
    """Warn where the changes of a plan go against what helps most others.

    ``states`` are the records before and after; ``feature_of`` maps columns to features.

    >>> import numpy as np
    >>> schema = Schema([Feature("income"), Feature("debt")])
    >>> before_after = (np.array([44_543.0, 900.0]), np.array([34_000.0, 100.0]))
    >>> columns = np.eye(2, dtype=bool)
    >>> helped = OthersHelped(columns, np.array([0.31, 0.97]), np.array([93, 88]), 0.6, 95)
    >>> next(cautions_about_quirks(schema, before_after, helped, np.arange(2)))
    'lowering income would help only 31 % of 93 other people whose score the same change moves: \
this may be a quirk of the model'
    """
    order = np.argsort(helped.shares, kind="stable")
    against = [i for i in order.tolist() if helped.shares[i] < AGAINST_MOST]
    changes = [
        _change_in_words(schema, states, np.unique(feature_of[helped.columns[i]]).tolist())
        for i in against
    ]
    shares = [format_percent(float(helped.shares[i])) for i in against]
    moved = f"other {schema.each_row.many} whose score the same change moves"
    if len(against) == 1:
        of = f"{shares[0]} of {helped.moved[against[0]]} {moved}"
        yield f"{changes[0]} would help only {of}: {_QUIRK}"
    elif against:
        told = [f"{change} ({share})" for change, share in zip(changes, shares, strict=True)]
        yield f"{_list_some(told)} would each help less than half of the {moved}: {_QUIRK}"
    elif helped.whole < AGAINST_MOST:
        share = format_percent(helped.whole)
        of = f"{share} of {helped.whole_moved} {moved}"
        yield f"taken together, the changes would help only {of}: {_QUIRK}"


def keep_without_path(cautions: Iterable[str]) -> Iterator[str]:
    """Those cautions about an answer that hold where its path is taken away.

    >>> two = ["compared with only about 12 people", caution_without_actions(MissingActions(), 2)]
    >>> list(keep_without_path(two))
    ['compared with only about 12 people']
    """
    for line in cautions:
        about_plan = is_about_long_plan(line) or is_about_idle_steps(line) or _QUIRK in line
        if not (about_plan or is_about_missing_actions(line)):
            yield line.replace(_FIRST_STEP, "")


def _change_in_words(schema: Schema, states: tuple[Array, Array], features: Sequence[int]) -> str:
    """Say what a change does: linked features change together."""
    if len(features) > 1:
        names = [schema.features[j].display_name for j in features]
        return f"changing {_list_some(names)} together"
    (j,) = features
    feature = schema.features[j]
    before, after = (float(state[j]) for state in states)
    absent = is_absent_code(feature, before) or is_absent_code(feature, after)
    if feature.discrete or absent:
        ends = f"from {feature.format(before)} to {feature.format(after)}"
        return f"changing {feature.display_name} {ends}"
    return f"{'raising' if after > before else 'lowering'} {feature.display_name}"


def _caution_about_missing(feature: Feature, code: float, option: str) -> str:
    stays = f"{feature.display_name} is {feature.format(code)} and stays so"
    said = f"{stays}, whatever {option}= says of it"
    if feature.missing == "may be measured":
        return said
    line = f"Feature({feature.name!r}, missing='may be measured')"
    return f"{said}; {line} tells what measuring it could show"


def _doubts_about_number(
    feature: Feature, code: float, seen: SeenValues, rows: RowWords
) -> Iterator[Doubt]:
    above = seen.is_above_all(code)
    if not above and not seen.is_below_all(code):
        return
    end = seen.highest if above else seen.lowest
    value = number_as_typed(code)
    edge = feature.format(end)
    if edge == value:
        edge = number_as_typed(end)
    unit = f" {feature.unit}" if feature.unit else ""
    slip = seen.ordinary_shift(feature, code)
    question = "is it right?" if slip is None else f"is it {feature.format(slip)}?"
    if code < 0 and looks_like_code(code, seen):
        question = "is it a code that stands for no value?"
        slip = None
    beyond = f"higher than {rows.anybody}'s in the data (highest: {edge})"
    if not above:
        beyond = f"lower than {rows.anybody}'s in the data (lowest: {edge})"
    sentence = f"{feature.display_name} {value}{unit} is {beyond}: {question}"
    yield Doubt(feature.name, sentence, None if slip is None else feature.value(slip))


def _list_some(names: Sequence[str]) -> str:
    """Join names; those that there is no room for are counted, which one alone would not save."""
    shown = list(names if len(names) == _NAMES_SHOWN + 1 else names[:_NAMES_SHOWN])
    more = len(names) - len(shown)
    if more:
        shown.append(f"{more} more")
    return join_words(shown)
