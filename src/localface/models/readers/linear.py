"""Reads linear models and small neural networks of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from localface.models.readers.estimator import EstimatorReader, is_unmodified
from localface.models.readers.links import (
    logistic,
    margin,
    one_against_rest,
    single_value,
    softmax,
)
from localface.types import Array

_LOGISTIC = {"LogisticRegression", "LogisticRegressionCV"}
_DISCRIMINANT = {"LinearDiscriminantAnalysis"}
_GRADIENT_DESCENT = {"SGDClassifier"}
_MARGINS = {
    "LinearSVC",
    "LogisticRegression",
    "Perceptron",
    "PassiveAggressiveClassifier",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
}
_VALUES = {
    "ARDRegression",
    "BayesianRidge",
    "ElasticNet",
    "ElasticNetCV",
    "HuberRegressor",
    "Lars",
    "LassoCV",
    "Lasso",
    "LassoLars",
    "LinearRegression",
    "LinearSVR",
    "QuantileRegressor",
    "Ridge",
    "RidgeCV",
    "SGDRegressor",
    "TheilSenRegressor",
}
_NETWORKS = {"MLPClassifier", "MLPRegressor"}
_ROWS = 1024  # records under way at once


@dataclass(frozen=True, slots=True, eq=False)
class LinearReader:
    """Weighted sums of the numbers, always added up in the same order."""

    weights: Array
    intercept: Array
    link: Callable[[Array], Array]
    description: str = "linear model"
    exact: bool = False  # products of matrices are added up otherwise in every batch

    def __call__(self, numbers: Array) -> Array:
        """Return what the model returns for a matrix of numbers."""
        raw = np.empty((len(numbers), len(self.weights)))
        for first in range(0, len(numbers), _ROWS):
            block = numbers[first : first + _ROWS]
            for k, weights in enumerate(self.weights):
                products = np.add.accumulate(block * weights, axis=1)
                raw[first : first + _ROWS, k] = products[:, -1] + self.intercept[k]
        return self.link(raw)


@dataclass(frozen=True, slots=True, eq=False)
class NetworkReader:
    """A network of layers, each record on its own."""

    weights: tuple[Array, ...]
    intercepts: tuple[Array, ...]
    activation: str
    link: Callable[[Array], Array]
    description: str = "neural network"
    exact: bool = False

    def __call__(self, numbers: Array) -> Array:
        """Return what the model returns for a matrix of numbers."""
        layer = numbers[:, None, :]  # stacked, so that no record is multiplied with another
        last = len(self.weights) - 1
        for at, (weights, intercept) in enumerate(zip(self.weights, self.intercepts, strict=True)):
            layer = layer @ weights + intercept
            layer = layer if at == last else _activate(layer, self.activation)
        return self.link(layer[:, 0])


def read_linear(model: Any, method: str) -> EstimatorReader | None:
    """Return a reader of one method of a fitted linear model, else None."""
    link = _link_of(model, method)
    weights = getattr(model, "coef_", None)
    if link is None or not isinstance(weights, np.ndarray):
        return None
    weights = np.atleast_2d(weights).astype(np.float64)
    intercept = np.broadcast_to(np.ravel(np.asarray(model.intercept_, float)), len(weights))
    return LinearReader(np.ascontiguousarray(weights), intercept.copy(), link)


def read_network(model: Any, method: str) -> EstimatorReader | None:
    """Return a reader of a fitted multi-layer perceptron, else None."""
    if not is_unmodified(model, "sklearn", _NETWORKS) or not hasattr(model, "coefs_"):
        return None
    links = {"logistic": logistic, "softmax": softmax, "identity": single_value}
    link = links.get(model.out_activation_)
    outputs = model.coefs_[-1].shape[1]
    if link is None or (link is not softmax and outputs != 1):
        return None
    if method != ("predict" if link is single_value else "predict_proba"):
        return None
    return NetworkReader(tuple(model.coefs_), tuple(model.intercepts_), model.activation, link)


def _link_of(model: Any, method: str) -> Callable[[Array], Array] | None:
    if method == "predict":
        return single_value if is_unmodified(model, "sklearn", _VALUES) else None
    if method == "decision_function":
        return margin if is_unmodified(model, "sklearn", _MARGINS) else None
    several = len(getattr(model, "classes_", ())) > 2
    if is_unmodified(model, "sklearn", _LOGISTIC):
        apart = "liblinear" in (model.solver,) or getattr(model, "multi_class", "") == "ovr"
        return softmax if several and not apart else one_against_rest
    if is_unmodified(model, "sklearn", _DISCRIMINANT):
        return softmax if several else logistic
    if is_unmodified(model, "sklearn", _GRADIENT_DESCENT) and model.loss == "log_loss":
        return one_against_rest
    return None


def _activate(layer: Array, name: str) -> Array:
    if name == "relu":
        return np.maximum(layer, 0)
    if name == "tanh":
        return np.tanh(layer)
    if name == "logistic":
        from scipy.special import expit

        return np.asarray(expit(layer))
    return layer
