"""Reads whole models: an estimator and the transformers in front of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from localface.data.table_format import TableFormat
from localface.models.output import ModelOutput
from localface.models.readers.calibrated import read_calibrated
from localface.models.readers.estimator import EstimatorReader, TreeSum, is_unmodified
from localface.models.readers.front import Front, make_front
from localface.models.readers.lightgbm import category_coder_or_none, read_lightgbm
from localface.models.readers.linear import read_linear, read_network
from localface.models.readers.links import margin
from localface.models.readers.sklearn_trees import (
    read_binned_trees,
    read_boosted_trees,
    read_forest,
)
from localface.models.readers.stored_forest import StoredForest
from localface.models.readers.xgboost import read_xgboost
from localface.types import Array, Mask

_SEARCHES = {
    "GridSearchCV",
    "RandomizedSearchCV",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
}
_RECORDS_AT_ONCE = 1 << 14  # read by the model at once
_METHODS = ("predict_proba", "decision_function", "predict")


@dataclass(frozen=True, slots=True, eq=False)
class ModelReader:
    """Called with records, it returns what the model returns for their table.

    Parameters
    ----------
    front : from records to the numbers that the estimator sees
    estimator : from these numbers to what the model returns
    reads_missing : the features that may be missing
    description : what is read, in words
    """

    front: Front
    estimator: EstimatorReader
    reads_missing: Mask
    description: str

    def __call__(self, records: Array) -> Array | None:
        """Return what the model returns; None where it has to be asked itself."""
        if len(records) > _RECORDS_AT_ONCE:
            return self._read_in_parts(records)
        if not np.isfinite(records).all():
            missing = np.isnan(records).any(axis=0)
            if (missing & ~self.reads_missing).any() or np.isinf(records).any():
                return None
        numbers = self.front(records)
        return None if numbers is None else self.estimator(numbers)

    def _read_in_parts(self, records: Array) -> Array | None:
        """Read many records some at a time, while their numbers are next to the processor."""
        found = []
        for first in range(0, len(records), _RECORDS_AT_ONCE):
            part = self(records[first : first + _RECORDS_AT_ONCE])
            if part is None:
                return None
            found.append(part)
        return np.concatenate(found)


def read_model(
    model: Any, output: ModelOutput, table_format: TableFormat, records: Array
) -> ModelReader | None:
    """Return a reader of a fitted model, None where nothing here knows it.

    What it gives is not checked yet (``verify.py``). ``records`` are those of the data.
    """
    method = _method_called(model, output)
    if method is None:
        return None
    transformers, last = _unwrap(model)
    estimator = read_estimator(last, method)
    if estimator is None:
        return None
    missing = np.isnan(records)
    return ModelReader(
        front=make_front(
            transformers,
            table_format,
            usual=np.array(records[missing.sum(axis=1).argmin()], dtype=np.float64),
            has_gaps=np.asarray(missing.any(axis=0)),
        ),
        estimator=estimator,
        reads_missing=np.ones(records.shape[1], dtype=np.bool_),
        description=estimator.description + _front_in_words(transformers),
    )


def read_estimator(model: Any, method: str) -> EstimatorReader | None:
    """Return a reader of one method of an estimator that is given numbers, else None."""
    linear = read_linear(model, method) or read_network(model, method)
    if linear is not None:
        return linear
    if is_unmodified(model, "sklearn", "CalibratedClassifierCV") and method == "predict_proba":
        return read_calibrated(model, read_estimator)
    trees = _read_trees(model)
    if trees is None or method == _method_of_trees(model):
        return trees
    return replace(trees, link=margin) if method == "decision_function" else None


def _read_trees(model: Any) -> TreeSum | None:
    if type(model) is StoredForest:
        return model.forest
    for read in (read_forest, read_boosted_trees, read_binned_trees, read_lightgbm, read_xgboost):
        found = read(model)
        if found is not None:
            return found
    return None


def _method_of_trees(model: Any) -> str:
    """Return the method that a reader of trees stands for."""
    return "predict_proba" if hasattr(model, "classes_") else "predict"


def _method_called(model: Any, output: ModelOutput) -> str | None:
    """Return the name of the model's own method that is called, None where it is no such."""
    for name in _METHODS:
        if output.call == getattr(model, name, None) and name not in vars(model):
            return name
    return None


def _unwrap(model: Any) -> tuple[list[Any], Any]:
    """Take a model apart: the transformers, first to last, and the estimator behind them."""
    if is_unmodified(model, "sklearn", _SEARCHES):
        return _unwrap(model.best_estimator_)
    if is_unmodified(model, "sklearn", "Pipeline"):
        *steps, (_, last) = model.steps
        transformers, estimator = _unwrap(last)
        return [step for _, step in steps] + transformers, estimator
    # histogram gradient boosting and LightGBM code the categories of a table by themselves
    own = getattr(model, "_preprocessor", None) or category_coder_or_none(model)
    return [] if own is None else [own], model


def _front_in_words(transformers: Sequence[Any]) -> str:
    kinds = [type(one).__name__ for one in transformers if one not in (None, "passthrough")]
    words = [re.sub(r"(?<!^)(?=[A-Z])", " ", kind).lower() for kind in kinds]
    each = [f"an {word}" if word[0] in "aeiou" else f"a {word}" for word in dict.fromkeys(words)]
    return " behind " + ", ".join(each) if each else ""
