"""Turns a fitted model, a pipeline or a callable into one score: higher is nearer to the target."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from localface.data.schema import Schema
from localface.data.table_format import TableFormat
from localface.errors import ModelError, listed, near_miss
from localface.models.forests import Reader, agrees, reader
from localface.types import Array

_DIGITS = 10  # scores are read to this many digits: below it models differ between batch shapes


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read a model's output: which call, what it means, and which way is up."""

    call: Callable[[Any], Any]
    column: int | None
    kind: str  # "probability", "decision" or "value"
    sign: int
    label: str

    @property
    def signed(self) -> bool:
        """Whether scores may be negative."""
        return self.kind != "probability"


class Scorer:
    """Scores records by the user's own model, checked on every call.

    Scores are rounded to ten digits, never across the threshold: a model on BLAS answers
    the same row a little differently in batches of different shapes, and no answer may
    hang on that.
    """

    def __init__(
        self, reading: Reading, form: TableFormat, *, min_score: float, trees: Reader | None = None
    ) -> None:
        self._reading = reading
        self._form = form
        self._trees = trees
        self.min_score = reading.sign * min_score

    @property
    def reading(self) -> Reading:
        """How the model is read."""
        return self._reading

    def at(self, min_score: float) -> Scorer:
        """The same model held to another threshold."""
        return Scorer(self._reading, self._form, min_score=min_score, trees=self._trees)

    def __call__(self, records: Array) -> Array:
        """Return one score a record, higher is nearer to the target."""
        return self.rounded(self.exact(records), self.min_score)

    def exact(self, records: Array) -> Array:
        """Return one score a record to the last digit, which serves every threshold."""
        try:
            raw = self._raw(records)
        except Exception as error:
            raise ModelError(
                f"the model failed on {len(records)} record(s): {type(error).__name__}: {error}. "
                "It is called with the same kind of table as `data`, with the same columns and dtypes"
            ) from error
        return self._checked(raw, len(records)) * self._reading.sign

    def _raw(self, records: Array) -> Any:
        numbers = None if self._trees is None else self._form.numbers(records)
        if self._trees is None or numbers is None:
            return self._reading.call(self._form.frame(records))
        return self._trees(numbers)

    def shown(self, score: float) -> float:
        """A score as the model gives it."""
        return self._reading.sign * score if self._reading.sign < 0 else score

    def rounded(self, scores: Array, min_score: float) -> Array:
        """Round scores, but never across a threshold."""
        grid = 10.0 ** (math.ceil(math.log10(max(1.0, abs(min_score)))) - _DIGITS)
        rounded = np.round(scores / grid) * grid
        rounded = np.round(rounded, max(0, -int(np.floor(np.log10(grid)))))
        crept = (rounded >= min_score) & (scores < min_score)
        return np.asarray(np.where(crept, scores, rounded))

    def _checked(self, raw: Any, n: int) -> Array:
        try:
            scores = np.asarray(raw, dtype=float)
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"the model returned {type(raw).__name__}, which is no array of numbers"
            ) from error
        if (
            scores.ndim == 2
            and self._reading.column is not None
            and self._reading.column < scores.shape[1]
        ):
            scores = scores[:, self._reading.column]
        elif scores.ndim == 2 and scores.shape[1] == 1:
            scores = scores[:, 0]
        if scores.shape != (n,):
            raise ModelError(
                f"the model returned shape {scores.shape} for {n} record(s); one score a record is wanted, "
                "or one column a class, with target= for the column's number"
            )
        if not np.isfinite(scores).all():
            bad = int((~np.isfinite(scores)).sum())
            raise ModelError(
                f"the model returned NaN or infinity for {bad} of {n} record(s); every score must be finite: "
                "does it meet values that it was not fitted on?"
            )
        if not self._reading.signed and scores.min() < 0:
            raise ModelError(
                f"the model returned a negative score ({scores.min():.4g}); a score must be >= 0. For a model whose "
                "output may be negative, pass an estimator with decision_function or predict, "
                "or wrap the callable: localface.models.scorer.signed(function)"
            )
        return scores


def read_trees(model: Any, reading: Reading, form: TableFormat, sample: Array) -> Reader | None:
    """Find out whether a model's answers can be read off its trees: only where they are the same on a sample."""
    trees, numbers = reader(model), form.numbers(sample)
    if trees is None or numbers is None:
        return None
    try:
        return trees if agrees(trees, numbers, reading.call(form.frame(sample))) else None
    except Exception:  # whatever it is, the model says so itself when it is asked for an answer
        return None


@dataclass(frozen=True, slots=True)
class signed:
    """Marks a callable whose scores may be negative, such as a margin or a forecast."""

    function: Callable[[Any], Any]


def read_model(model: Any, *, target: object) -> Reading:
    """Find out how a model gives a score for the target.

    In order: ``predict_proba``, ``decision_function``, ``predict`` (a regressor's value,
    or a classifier's verdict as 0 or 1), a callable.
    """
    classes = getattr(model, "classes_", None)
    if classes is None and hasattr(model, "predict_proba") and hasattr(model, "fit"):
        raise ModelError(f"{type(model).__name__} knows no classes: fit it first, then explain it")
    if classes is not None and hasattr(model, "predict_proba"):
        column = _place(target, list(classes))
        return Reading(model.predict_proba, column, "probability", 1, f"class {_plain(target)}")
    if classes is not None and hasattr(model, "decision_function"):
        return _margin(model, target, list(classes))
    if classes is not None and hasattr(model, "predict"):
        label = list(classes)[_place(target, list(classes))]
        return Reading(
            lambda frame: np.asarray(model.predict(frame)) == label,
            None,
            "probability",
            1,
            f"class {label}",
        )
    if hasattr(model, "predict"):
        return _value(model.predict, target)
    if isinstance(model, signed):
        return _value(model.function, target)
    if callable(model):
        return Reading(
            model, target if isinstance(target, int) else None, "probability", 1, "score"
        )
    raise ModelError(
        f"{type(model).__name__} is no model: it has neither predict_proba, decision_function nor predict, "
        "and cannot be called. Pass a fitted estimator or a function from records to scores"
    )


def fed(model: Any, form: TableFormat, schema: Schema) -> TableFormat:
    """The kind of table the model wants: the user's own, unless it was fitted on bare arrays."""
    named = getattr(model, "feature_names_in_", None)
    if named is not None:
        _check_names([str(name) for name in named], schema)
        return form.named() if form.kind == "numpy" else form
    width = getattr(model, "n_features_in_", None)
    if width is not None and int(width) != len(schema):
        raise ModelError(
            f"the model was fitted on {width} features and the data has {len(schema)}: {listed(schema.names)}"
        )
    return form.bare() if width is not None and form.kind != "numpy" else form


def _check_names(wanted: list[str], schema: Schema) -> None:
    have = list(schema.names)
    if wanted == have:
        return
    missing = [name for name in wanted if name not in have]
    extra = [name for name in have if name not in wanted]
    if missing:
        raise ModelError(
            f"the model was fitted with {listed(missing)}, which the data lacks{near_miss(missing[0], extra or have)}: "
            f"give the columns it was fitted with, {listed(wanted)}"
        )
    if extra:
        raise ModelError(
            f"the model was not fitted with {listed(extra)}: drop them from the data (is one the outcome?)"
        )
    raise ModelError(
        f"the model was fitted with the columns in another order: {listed(wanted, len(wanted))}. Reorder the data "
        "(and the schema): data[list(model.feature_names_in_)]"
    )


def _margin(model: Any, target: object, classes: list[Any]) -> Reading:
    column = _place(target, classes)
    if len(classes) > 2:
        return Reading(model.decision_function, column, "decision", 1, f"class {_plain(target)}")
    towards = (
        model.decision_function
        if column == 1
        else lambda frame: -np.asarray(model.decision_function(frame))
    )
    return Reading(towards, None, "decision", 1, f"class {_plain(target)}")


def _value(call: Callable[[Any], Any], target: object) -> Reading:
    ways = {"1": 1, "True": 1, "at least": 1, "0": -1, "False": -1, "at most": -1}
    if str(target) not in ways:
        raise ModelError(
            f"target {target!r} makes no sense for a model that gives values: say target='at least' or "
            "target='at most', and min_score for how much"
        )
    sign = ways[str(target)]
    return Reading(call, None, "value", sign, "at least" if sign > 0 else "at most")


def _place(target: object, classes: list[Any]) -> int:
    plain = [_plain(one) for one in classes]
    if _plain(target) not in plain:
        raise ModelError(
            f"target {target!r} is not a class of the model{near_miss(target, plain)}; it knows {listed(plain)}"
        )
    return plain.index(_plain(target))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
