"""How a model's output is read as one score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from localface.errors import ModelError, did_you_mean, list_names
from localface.models.readable import no_classes_error, refuse_unreadable
from localface.models.wanted import (
    OTHER,
    OtherThan,
    ScoreRange,
    odds_against,
    read_range,
    refuse_range_of_no_probability,
)
from localface.types import Array

_DIRECTIONS = {"1": 1, "True": 1, "at least": 1, "0": -1, "False": -1, "at most": -1}


@dataclass(frozen=True, slots=True)
class signed:
    """Marks a callable whose scores may be negative, such as a margin or a forecast."""

    function: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """How to read a model's output.

    Parameters
    ----------
    call : what is called with a table
    column : the column of the output to take, where it has one a class
    kind : ``"probability"``, ``"decision"`` or ``"value"``
    sign : 1 if higher is nearer to the target, -1 if lower is
    label : what the score is of, for people to read
    range : the range to reach, where that is the target
    against : the column of the class to leave, where any other will do
    """

    call: Callable[[Any], Any]
    column: int | None
    kind: str
    sign: int
    label: str
    range: ScoreRange | None = None
    against: int | None = None

    @property
    def may_be_negative(self) -> bool:
        """Whether scores may be negative."""
        return self.kind != "probability" or self.sign < 0 or self.is_folded

    @property
    def is_folded(self) -> bool:
        """Whether a range is to be reached, so that a score is not what the model gives."""
        return self.range is not None and self.range.is_closed

    def scores_from_raw(self, raw: Any, n: int) -> Array:
        """Take one score a record out of what the model returned; higher is nearer."""
        values = self.values_from_raw(raw, n)
        if self.is_folded and self.range is not None:
            return self.range.fold(values)
        return values * self.sign

    def values_from_raw(self, raw: Any, n: int) -> Array:
        """Take one value a record out of what the model returned for ``n`` records, checked."""
        try:
            scores = np.asarray(raw, dtype=float)
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"the model returned {type(raw).__name__}, which is no array of numbers"
            ) from error
        if self.against is not None and scores.ndim == 2:
            scores = self._scores_against(scores)
        elif scores.ndim == 2 and self.column is not None and self.column < scores.shape[1]:
            scores = scores[:, self.column]
        elif scores.ndim == 2 and scores.shape[1] == 1:
            scores = scores[:, 0]
        if scores.shape != (n,):
            raise ModelError(
                f"the model returned shape {scores.shape} for {n} record(s); one score a record "
                "is wanted, or one column a class, with target= for the column's number"
            )
        if not np.isfinite(scores).all():
            bad = int((~np.isfinite(scores)).sum())
            raise ModelError(
                f"the model returned NaN or infinity for {bad} of {n} record(s); every score must "
                "be finite: does it meet values that it was not fitted on?"
            )
        if not self.may_be_negative and scores.min() < 0:
            raise ModelError(
                f"the model returned a negative score ({scores.min():.4g}); a score must be >= 0. "
                "For a model whose output may be negative, pass an estimator with "
                "decision_function or predict, or wrap the callable: "
                "localface.models.scorer.signed(function)"
            )
        return scores

    def _scores_against(self, scores: Array) -> Array:
        """Return how far the likeliest other class is ahead of the one to leave."""
        assert self.against is not None
        if self.kind == "probability":
            return odds_against(scores, self.against)
        others = np.delete(scores, self.against, axis=1).max(axis=1)
        return np.asarray(others - scores[:, self.against])


def read_output(model: Any, *, target: object) -> ModelOutput:
    """Find out how a model gives a score for the target.

    In order: ``predict_proba``, ``decision_function``, ``predict`` (a regressor's value,
    or a classifier's verdict as 0 or 1), a callable. ``target`` is a class or its number, a
    direction, a range, ``OtherThan`` a class, or None for what suits the model.
    """
    refuse_unreadable(model)
    wanted = read_range(target)
    if wanted is not None:
        return _output_for_range(model, wanted)
    classes = class_labels(model)
    if classes is None and (isinstance(target, OtherThan) or target == OTHER):
        raise no_classes_error(model)
    if classes is not None:
        found = _output_of_classifier(model, _class_or_default(target, classes), classes)
        if found is not None:
            return found
    if hasattr(model, "predict"):
        return _output_of_value_model(model.predict, target)
    if isinstance(model, signed):
        return _output_of_value_model(model.function, "at least" if target is None else target)
    if callable(model):
        column = 1 if target is None else target
        return ModelOutput(
            model, column if isinstance(column, int) else None, "probability", 1, "score"
        )
    raise ModelError(
        f"{type(model).__name__} is no model: it has neither predict_proba, decision_function nor "
        "predict, and cannot be called. Pass a fitted estimator or a function from records to "
        "scores"
    )


def class_labels(model: Any) -> list[Any] | None:
    """Return the classes that a model knows; None where it has none."""
    classes = getattr(model, "classes_", None)
    return None if classes is None else [_python_value(one) for one in classes]


def _class_or_default(target: object, classes: list[Any]) -> object:
    """Return the class to reach; 1, where nothing was said and it is one of two."""
    if target is not None or (1 in classes and len(classes) <= 2):
        return 1 if target is None else target
    raise ModelError(
        f"which class is to be reached? Say target=, one of {list_names(classes)}, or 'other' for "
        "any but the present one",
        option="target",
    )


def _output_for_range(model: Any, wanted: ScoreRange) -> ModelOutput:
    """Read a model of which a score or a value is to lie in a range."""
    classes = class_labels(model)
    if classes is not None and len(classes) != 2:
        raise ModelError(
            f"a range as target needs one score, and the model has {len(classes)} classes: give a "
            "function that returns the score of the one you mean",
            option="target",
        )
    by_value = hasattr(model, "predict") or isinstance(model, signed)
    base: object = wanted.direction if by_value else None
    output = read_output(model, target=classes[1] if classes is not None else base)
    if classes is not None and output.kind == "probability":
        refuse_range_of_no_probability(wanted)
    sign = -1 if wanted.low is None else 1
    return replace(output, range=wanted, sign=sign)


def _output_of_classifier(model: Any, target: object, classes: list[Any]) -> ModelOutput | None:
    """Read a classifier by the first of its methods that tells most; None if it has none."""
    if isinstance(target, OtherThan):
        return _output_against(model, target.label, classes)
    if hasattr(model, "predict_proba"):
        column = _column_of_target(target, classes)
        label = f"class {_python_value(target)}"
        return ModelOutput(model.predict_proba, column, "probability", 1, label)
    if hasattr(model, "decision_function"):
        return _output_of_decision_function(model, target, classes)
    if hasattr(model, "predict"):
        wanted = classes[_column_of_target(target, classes)]

        def predicts_wanted_class(frame: Any) -> Any:
            return np.asarray(model.predict(frame)) == wanted

        return ModelOutput(predicts_wanted_class, None, "probability", 1, f"class {wanted}")
    return None


def _output_against(model: Any, present: object, classes: list[Any]) -> ModelOutput:
    """Read a classifier by how far it is from the class that a person is in."""
    column = _column_of_target(present, classes)
    label = f"any class but {_python_value(present)}"
    if len(classes) == 2:
        output = _output_of_classifier(model, classes[1 - column], classes)
        assert output is not None
        return replace(output, label=label)
    if hasattr(model, "predict_proba"):
        return ModelOutput(model.predict_proba, None, "probability", 1, label, against=column)
    if hasattr(model, "decision_function"):
        return ModelOutput(model.decision_function, None, "decision", 1, label, against=column)

    def predicts_another_class(frame: Any) -> Any:
        return np.asarray(model.predict(frame)) != classes[column]

    return ModelOutput(predicts_another_class, None, "probability", 1, label)


def _output_of_decision_function(model: Any, target: object, classes: list[Any]) -> ModelOutput:
    column = _column_of_target(target, classes)
    label = f"class {_python_value(target)}"
    if len(classes) > 2:
        return ModelOutput(model.decision_function, column, "decision", 1, label)
    if column == 1:
        return ModelOutput(model.decision_function, None, "decision", 1, label)

    def score_towards_first_class(frame: Any) -> Any:
        return -np.asarray(model.decision_function(frame))

    return ModelOutput(score_towards_first_class, None, "decision", 1, label)


def _output_of_value_model(call: Callable[[Any], Any], target: object) -> ModelOutput:
    if target is None:
        raise ModelError(
            "the model gives values, and nothing says which are wanted: say target='at least' or "
            "target='at most' with min_score for how much, or target=(low, high) for a range",
            option="target",
        )
    if str(target) not in _DIRECTIONS:
        raise ModelError(
            f"target {target!r} makes no sense for a model that gives values: say "
            "target='at least' or target='at most', and min_score for how much, or "
            "target=(low, high)",
            option="target",
        )
    sign = _DIRECTIONS[str(target)]
    return ModelOutput(call, None, "value", sign, "at least" if sign > 0 else "at most")


def _column_of_target(target: object, classes: list[Any]) -> int:
    plain = [_python_value(one) for one in classes]
    if _python_value(target) not in plain:
        raise ModelError(
            f"target {target!r} is not a class of the model{did_you_mean(target, plain)}; "
            f"it knows {list_names(plain)}",
            option="target",
        )
    return plain.index(_python_value(target))


def _python_value(value: Any) -> Any:
    """Return a NumPy scalar as the Python value that it stands for."""
    return value.item() if isinstance(value, np.generic) else value
