"""How a model's output is read as one score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from localface.errors import ModelError, did_you_mean, list_names
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
    """

    call: Callable[[Any], Any]
    column: int | None
    kind: str
    sign: int
    label: str

    @property
    def may_be_negative(self) -> bool:
        """Whether scores may be negative."""
        return self.kind != "probability"

    def scores_from_raw(self, raw: Any, n: int) -> Array:
        """Take one score a record out of what the model returned for ``n`` records, checked."""
        try:
            scores = np.asarray(raw, dtype=float)
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"the model returned {type(raw).__name__}, which is no array of numbers"
            ) from error
        if scores.ndim == 2 and self.column is not None and self.column < scores.shape[1]:
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


def read_output(model: Any, *, target: object) -> ModelOutput:
    """Find out how a model gives a score for the target.

    In order: ``predict_proba``, ``decision_function``, ``predict`` (a regressor's value,
    or a classifier's verdict as 0 or 1), a callable.
    """
    classes = getattr(model, "classes_", None)
    if classes is None and hasattr(model, "predict_proba") and hasattr(model, "fit"):
        raise ModelError(f"{type(model).__name__} knows no classes: fit it first, then explain it")
    if classes is not None:
        found = _output_of_classifier(model, target, list(classes))
        if found is not None:
            return found
    if hasattr(model, "predict"):
        return _output_of_value_model(model.predict, target)
    if isinstance(model, signed):
        return _output_of_value_model(model.function, target)
    if callable(model):
        column = target if isinstance(target, int) else None
        return ModelOutput(model, column, "probability", 1, "score")
    raise ModelError(
        f"{type(model).__name__} is no model: it has neither predict_proba, decision_function nor "
        "predict, and cannot be called. Pass a fitted estimator or a function from records to "
        "scores"
    )


def _output_of_classifier(model: Any, target: object, classes: list[Any]) -> ModelOutput | None:
    """Read a classifier by the first of its methods that tells most; None if it has none."""
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
    if str(target) not in _DIRECTIONS:
        raise ModelError(
            f"target {target!r} makes no sense for a model that gives values: say "
            "target='at least' or target='at most', and min_score for how much",
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
