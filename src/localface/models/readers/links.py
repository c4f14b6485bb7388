"""From the raw scores of a model, one column an output, to what its method returns."""

from __future__ import annotations

import numpy as np

from localface.types import Array


def shares(raw: Array) -> Array:
    """Return the scores as they are, one column a class."""
    return raw


def single_value(raw: Array) -> Array:
    """Return the one score of each record."""
    return raw[:, 0]


def exponential(raw: Array) -> Array:
    """Return values of a model of their logarithm."""
    return np.asarray(np.exp(raw[:, 0]))


def margin(raw: Array) -> Array:
    """Return what ``decision_function`` gives: one number a record where there are two classes."""
    return raw[:, 0] if raw.shape[1] == 1 else raw


def logistic(raw: Array) -> Array:
    """Return the shares of two classes from the log-odds of the second."""
    return _two_classes(_expit(raw[:, 0]))


def second_class(raw: Array) -> Array:
    """Return the share of the second of two classes from its log-odds."""
    return _expit(raw[:, 0])


def half_logistic(raw: Array) -> Array:
    """Return the shares of two classes from half the log-odds of the second."""
    return _two_classes(_expit(2 * raw[:, 0]))


def softmax(raw: Array) -> Array:
    """Return the shares of classes from their logarithms, up to a constant."""
    powers = np.exp(raw - raw.max(axis=1, keepdims=True))
    total = np.add.accumulate(powers, axis=1)[:, -1:]
    return np.asarray(powers / total)


def one_against_rest(raw: Array) -> Array:
    """Return the shares of classes from the log-odds of each against all others."""
    if raw.shape[1] == 1:
        return logistic(raw)
    each = _expit(raw)
    total = np.add.accumulate(each, axis=1)[:, -1:]
    even = np.full_like(each, 1 / each.shape[1])
    return np.asarray(np.divide(each, total, out=even, where=total > 0))


def _two_classes(second: Array) -> Array:
    return np.stack([1 - second, second], axis=1)


def _expit(raw: Array) -> Array:
    from scipy.special import expit

    return np.asarray(expit(raw))
