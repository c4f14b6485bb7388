"""Follows each number of a table through scikit-learn's transformers to the estimator.

A number's path is a list of operations, those that the transformers themselves do and in
their order, so that the bits are theirs. What comes from a category needs no path: it is
looked up (``front.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from localface.models.readers.estimator import is_unmodified
from localface.models.readers.lightgbm import CategoryCoder
from localface.types import Array


class CannotRead(Exception):
    """A part of a model that is not known well enough to be read."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operation on a number, with the numbers that it takes."""

    operation: Callable[..., Array]
    arguments: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """How a number of a record reaches the estimator; ``feature`` is its place in the record."""

    feature: int
    steps: tuple[Step, ...] = ()

    def then(self, operation: Callable[..., Array], *arguments: float) -> Path:
        """Return the path with one more operation."""
        step = Step(operation, tuple(float(one) for one in arguments))
        return Path(self.feature, (*self.steps, step))


Paths = list[Path | None]
"""One path a column; None where the column is looked up by a category."""


def impute(values: Array, fill: Array) -> Array:
    """Put a number in place of what is missing."""
    return np.where(np.isnan(values), fill, values)


def is_missing(values: Array) -> Array:
    """Return 1 where a value is missing, else 0."""
    return np.isnan(values).astype(np.float64)


def paths_through(transformer: Any, paths: Paths) -> Paths:
    """Return the paths that come out of a fitted transformer; CannotRead where it is unknown."""
    if transformer is None or transformer == "passthrough":
        return paths
    if transformer == "drop":
        return []
    if isinstance(transformer, CategoryCoder):
        return paths
    for names, follow in _KNOWN:
        if is_unmodified(transformer, "sklearn", names):
            return follow(transformer, paths)
    raise CannotRead(type(transformer).__name__)


def _through_pipeline(pipeline: Any, paths: Paths) -> Paths:
    for _, step in pipeline.steps:
        paths = paths_through(step, paths)
    return paths


def _through_union(union: Any, paths: Paths) -> Paths:
    if union.transformer_weights is not None:
        raise CannotRead("weights of a union")
    each = (paths_through(one, paths) for _, one in union.transformer_list)
    return [path for part in each for path in part]


def _through_columns(columns: Any, paths: Paths) -> Paths:
    if columns.transformer_weights is not None:
        raise CannotRead("weights of a column transformer")
    found: Paths = []
    for name, transformer, _ in columns.transformers_:
        chosen = [paths[j] for j in columns._transformer_to_input_indices[name]]
        if chosen:
            found += paths_through(transformer, chosen)
    return found


def _through_function(transformer: Any, paths: Paths) -> Paths:
    function = transformer.func
    checks_only = isinstance(function, partial) and function.func.__module__ == (
        "sklearn.utils.validation"
    )
    if function is None or checks_only:
        return paths
    plain = isinstance(function, np.ufunc) and function.nin == 1 and function.nout == 1
    if not plain or transformer.kw_args:
        raise CannotRead("a function")
    return [None if path is None else path.then(function) for path in paths]


def _through_standard_scaler(scaler: Any, paths: Paths) -> Paths:
    mean = scaler.mean_ if scaler.with_mean else None
    scale = scaler.scale_ if scaler.with_std else None
    return _scaled(paths, mean, scale)


def _through_robust_scaler(scaler: Any, paths: Paths) -> Paths:
    center = scaler.center_ if scaler.with_centering else None
    scale = scaler.scale_ if scaler.with_scaling else None
    return _scaled(paths, center, scale)


def _through_absolute_scaler(scaler: Any, paths: Paths) -> Paths:
    if getattr(scaler, "clip", False):
        raise CannotRead("a scaler that clips")
    return _scaled(paths, None, scaler.scale_)


def _scaled(paths: Paths, center: Array | None, scale: Array | None) -> Paths:
    if center is not None:
        paths = _each(np.subtract, paths, center)
    return paths if scale is None else _each(np.divide, paths, scale)


def _through_range_scaler(scaler: Any, paths: Paths) -> Paths:
    paths = _each(np.multiply, paths, scaler.scale_)
    paths = _each(np.add, paths, scaler.min_)
    if scaler.clip:
        low, high = scaler.feature_range
        paths = [None if path is None else path.then(np.clip, low, high) for path in paths]
    return paths


def _through_imputer(imputer: Any, paths: Paths) -> Paths:
    """Fill in what is missing; columns that were empty in the fit are left out."""
    found: Paths = []
    for path, fill in zip(paths, imputer.statistics_, strict=True):
        if _is_nan(fill) and not imputer.keep_empty_features:
            continue
        found.append(None if path is None else path.then(impute, fill))
    numbers = any(path is not None for path in paths)
    if numbers and not _is_nan(imputer.missing_values):
        raise CannotRead("an imputer of other values than those that are missing")
    if imputer.add_indicator:
        marked = [paths[j] for j in imputer.indicator_.features_]
        found += [None if path is None else path.then(is_missing) for path in marked]
    return found


def _through_selection(selector: Any, paths: Paths) -> Paths:
    return [paths[j] for j in selector.get_support(indices=True)]


def _through_encoder(encoder: Any, paths: Paths) -> Paths:
    """Encode categories: whatever comes out is looked up."""
    if any(path is not None for path in paths):
        raise CannotRead("an encoder of numbers")
    counts = getattr(encoder, "_n_features_outs", None)
    return [None] * (len(paths) if counts is None else int(np.sum(counts)))


def _each(operation: Callable[..., Array], paths: Paths, arguments: Array) -> Paths:
    pairs = zip(paths, arguments, strict=True)
    return [None if path is None else path.then(operation, own) for path, own in pairs]


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and bool(np.isnan(value))


_KNOWN: Sequence[tuple[set[str], Callable[[Any, Paths], Paths]]] = (
    ({"Pipeline"}, _through_pipeline),
    ({"FeatureUnion"}, _through_union),
    ({"ColumnTransformer"}, _through_columns),
    ({"FunctionTransformer"}, _through_function),
    ({"StandardScaler"}, _through_standard_scaler),
    ({"RobustScaler"}, _through_robust_scaler),
    ({"MaxAbsScaler"}, _through_absolute_scaler),
    ({"MinMaxScaler"}, _through_range_scaler),
    ({"SimpleImputer"}, _through_imputer),
    (
        {"VarianceThreshold", "SelectKBest", "SelectPercentile", "SelectFromModel", "RFE", "RFECV"},
        _through_selection,
    ),
    ({"OneHotEncoder", "OrdinalEncoder", "TargetEncoder"}, _through_encoder),
)
