"""Where a person stands on the way they were promised: what is done, and what is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from localface.analyses.end_record import end_record
from localface.analyses.promises.promise import Promise
from localface.answers.recourse import Recourse
from localface.answers.wording import format_percent, to_one_line
from localface.data.absence import is_absent_code, is_missing_value, same_codes
from localface.data.feature import Feature
from localface.data.read import read_record
from localface.data.schema import Schema
from localface.types import Array

_SAME = 1e-9  # of a value, by which rounding may make it look not reached


@dataclass(frozen=True, slots=True)
class FeatureProgress:
    """How far one feature of a plan has come: from where, to where, where it is now."""

    feature: Feature
    before: float
    promised: float
    now: float

    @property
    def share(self) -> float:
        """The share of the way that is done, from 0 to 1; a category is changed or it is not."""
        if self._is_reached:
            return 1.0
        codes = (self.before, self.promised, self.now)
        if self.feature.discrete or any(is_absent_code(self.feature, code) for code in codes):
            return 0.0
        return float(np.clip((self.now - self.before) / (self.promised - self.before), 0, 1))

    @property
    def is_done(self) -> bool:
        """Whether nothing of it is left; who went further has done it as well."""
        return self.share == 1.0

    @property
    def _is_reached(self) -> bool:
        if same_codes(self.now, self.promised):
            return True
        near = _SAME * max(abs(self.promised), abs(self.before))
        return not self.feature.discrete and abs(self.now - self.promised) <= near

    def __str__(self) -> str:
        texts = [self.feature.format(code) for code in (self.before, self.promised, self.now)]
        name = to_one_line(self.feature.display_name)
        if self.is_done:
            return f"{name} {texts[0]} -> {texts[1]}: done (now {texts[2]})"
        return f"{name} {texts[0]} -> {texts[1]}: {format_percent(self.share)} done, now {texts[2]}"


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """A promise in the codes of a schema, and the states that are left of its plan.

    ``promised`` is the end that was promised, ``current`` where the person is now; ``left`` the
    states from there to where finishing the plan leads, ``current`` first.
    """

    factual: Array
    promised: Array
    current: Array
    left: Array
    progress: tuple[FeatureProgress, ...]

    @property
    def finish(self) -> Array:
        """Where finishing the plan leads."""
        return np.asarray(self.left[-1])


def stand_of(promise: Promise, schema: Schema, news: Mapping[str, Any] | None = None) -> Standing:
    """Say where a person stands, given what is new of their record.

    Values that are missing among the news stay what they were. ``DataError`` says what of the
    promise the schema cannot hold.
    """
    recourse = promise.recourse
    factual = _in_schema(recourse, recourse.records[0], schema)
    promised = _in_schema(recourse, end_record(recourse), schema)
    current = factual if not news else _updated(factual, schema, news)
    progress = tuple(
        FeatureProgress(feature, *map(float, codes))
        for feature, *codes in zip(schema, factual, promised, current, strict=True)
        if not same_codes(codes[0], codes[1])
    )
    open_features = [schema.index(one.feature.name) for one in progress if not one.is_done]
    states = _plan_states(recourse, schema)
    left = _states_left(states, current, open_features, moved=current is not factual)
    return Standing(factual, promised, current, left, progress)


def _plan_states(recourse: Recourse, schema: Schema) -> Array:
    """The states of the plan: those of the actions, or those of the path without any."""
    states = recourse.with_actions_as_path().records
    return np.stack([_in_schema(recourse, state, schema) for state in states])


def _states_left(states: Array, current: Array, features: list[int], *, moved: bool) -> Array:
    """The states from where a person is now, as far as features are not done yet.

    Each step of the plan changes what it changed, where that is not done; the rest stays as the
    person has it now.
    """
    if not moved:
        return states
    left = [current]
    for before, after in pairwise(states):
        following = left[-1].copy()
        for j in features:
            gone_further = (following[j] - after[j]) * np.sign(states[-1, j] - states[0, j]) > 0
            if not same_codes(before[j], after[j]) and not gone_further:
                following[j] = after[j]
        if not same_codes(following, left[-1]).all():
            left.append(following)
    return np.stack(left)


def _in_schema(recourse: Recourse, record: Array, schema: Schema) -> Array:
    """A record of an answer in the codes of a schema, which may know other categories."""
    known = recourse.schema
    if known == schema or _codes_alike(known, schema):
        return np.array(record)
    return read_record(known.values(record), schema, "the promise")


def _codes_alike(one: Schema, other: Schema) -> bool:
    """Tell whether a code means the same in two schemas."""
    return one.names == other.names and all(
        (a.kind, a.categories, a.codes, a.since, a.columns)
        == (b.kind, b.categories, b.codes, b.since, b.columns)
        for a, b in zip(one, other, strict=True)
    )


def _updated(factual: Array, schema: Schema, news: Mapping[str, Any]) -> Array:
    """A record with what is new of it."""
    told = {name: value for name, value in news.items() if not is_missing_value(value)}
    values: dict[str, Any] = dict(schema.values(factual))
    for feature in schema:
        columns = feature.columns or ()
        if feature.name in told:
            values[feature.name] = told[feature.name]
        elif columns and all(name in told for name in columns):
            del values[feature.name]
            values |= {name: told[name] for name in columns}
    return read_record(values, schema, "the person's present record")
