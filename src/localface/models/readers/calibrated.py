"""Reads scikit-learn's calibrated classifiers of two classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from localface.models.readers.estimator import EstimatorReader, is_unmodified
from localface.types import Array

ReadEstimator = Callable[[Any, str], EstimatorReader | None]


@dataclass(frozen=True, slots=True, eq=False)
class Sigmoid:
    """A logistic curve from scores to probabilities."""

    slope: float
    offset: float

    def __call__(self, scores: Array) -> Array:
        """Return the probability of each score."""
        from scipy.special import expit

        return np.asarray(expit(-(self.slope * scores + self.offset)))


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """A line through points from scores to probabilities, level beyond its ends."""

    scores: Array
    probabilities: Array

    def __call__(self, scores: Array) -> Array:
        """Return the probability of each score."""
        return np.asarray(np.interp(scores, self.scores, self.probabilities))


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedReader:
    """The mean of classifiers, each with a curve from its scores to probabilities."""

    members: tuple[tuple[EstimatorReader, Sigmoid | Steps], ...]
    exact: bool = False

    @property
    def description(self) -> str:
        """What it is, in words."""
        return f"calibrated {self.members[0][0].description}"

    def __call__(self, numbers: Array) -> Array:
        """Return the probabilities of two classes."""
        total = np.zeros((len(numbers), 2))
        for member, curve in self.members:
            scores = member(numbers)
            second = curve(scores[:, 1] if scores.ndim == 2 else scores)
            total += np.stack([1 - second, second], axis=1)
        return total / len(self.members)


def read_calibrated(model: Any, read: ReadEstimator) -> EstimatorReader | None:
    """Return a reader of a calibrated classifier whose own classifiers can be read, else None."""
    members = []
    for one in getattr(model, "calibrated_classifiers_", ()):
        inner = _thawed(one.estimator)
        # scikit-learn takes the first of these that a classifier has
        method = "decision_function" if hasattr(inner, "decision_function") else "predict_proba"
        estimator = read(inner, method)
        curve = _read_curve(one.calibrators)
        if estimator is None or curve is None:
            return None
        members.append((estimator, curve))
    return CalibratedReader(tuple(members)) if members else None


def _thawed(model: Any) -> Any:
    return model.estimator if is_unmodified(model, "sklearn", "FrozenEstimator") else model


def _read_curve(calibrators: list[Any]) -> Sigmoid | Steps | None:
    if len(calibrators) != 1:
        return None
    curve = calibrators[0]
    if is_unmodified(curve, "sklearn", "_SigmoidCalibration"):
        return Sigmoid(float(curve.a_), float(curve.b_))
    if is_unmodified(curve, "sklearn", "IsotonicRegression"):
        scores = np.asarray(curve.X_thresholds_, dtype=np.float64)
        return Steps(scores, np.asarray(curve.y_thresholds_, dtype=np.float64))
    return None
