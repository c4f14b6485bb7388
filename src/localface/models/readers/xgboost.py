"""Reads models of XGBoost by the JSON that they are saved as; all of it is in single precision."""

from __future__ import annotations

import ctypes
import json
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from localface.models.readers.estimator import TreeSum, is_unmodified
from localface.models.readers.links import single_value
from localface.models.readers.trees import NodeTable, join_trees
from localface.types import Array

_MODELS = {"XGBClassifier", "XGBRegressor"}
_LARGEST = np.float32(88.7)  # the library's own guard against a power beyond single precision


def read_xgboost(model: Any) -> TreeSum | None:
    """Return a reader of a fitted XGBoost model of plain trees, else None."""
    if not is_unmodified(model, "xgboost", _MODELS) or not hasattr(model, "_Booster"):
        return None
    if not math.isnan(model.missing):
        return None
    booster = model.get_booster()
    learner = json.loads(bytes(booster.save_raw(raw_format="json")))["learner"]
    boosted = learner["gradient_booster"]
    settings = learner["learner_model_param"]
    links = _LINKS.get(learner["objective"]["name"])
    if boosted.get("name") != "gbtree" or links is None or int(settings["num_target"]) != 1:
        return None
    trees = _trees_used(model, boosted["model"])
    if not trees or any(any(tree["split_type"]) for _, tree in trees):
        return None
    to_margin, link = links
    classes = max(1, int(settings["num_class"]))
    base: Any = np.array(json.loads(settings["base_score"].lower()), dtype=np.float32).ravel()
    return TreeSum(
        parts=tuple(
            join_trees([_nodes_of(tree) for k, tree in trees if k == output])
            for output in range(classes)
        ),
        start=np.broadcast_to(to_margin(base), classes).astype(np.float32),
        link=link,
        description=f"{len(trees):,} boosted trees",
        single=True,
        exact=True,
    )


def _trees_used(model: Any, forest: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """Return the trees up to the best round, where the fit was stopped early, and their outputs."""
    used = len(forest["trees"])
    best = getattr(model, "best_iteration", None) if _was_stopped_early(model) else None
    if best is not None:
        used = forest["iteration_indptr"][best + 1]
    return list(zip(forest["tree_info"], forest["trees"], strict=True))[:used]


def _was_stopped_early(model: Any) -> bool:
    return model.get_booster().attr("best_iteration") is not None


def _nodes_of(tree: dict[str, Any]) -> NodeTable:
    left = np.array(tree["left_children"], dtype=np.int64)
    condition = np.array(tree["split_conditions"], dtype=np.float32)
    # strictly below goes left: at most the single before
    threshold = np.nextafter(condition, np.float32(-np.inf))
    return NodeTable(
        left=left,
        right=np.array(tree["right_children"], dtype=np.int64),
        feature=np.array(tree["split_indices"], dtype=np.int64),
        threshold=threshold.astype(np.float64),
        missing_left=np.array(tree["default_left"]) > 0,
        value=condition[:, None],  # a leaf has its answer there
    )


def _logit(base: Array) -> Array:
    odds = np.float32(1) / base - np.float32(1)
    return -_each("logf", odds)


def _log(base: Array) -> Array:
    return _each("logf", base)


def _same(base: Array) -> Array:
    return base


def two_classes(raw: Array) -> Array:
    """Return the shares of two classes, rounded as the library rounds them."""
    power = _each("expf", np.minimum(-raw[:, 0], _LARGEST))
    second = np.float32(1) / (power + np.float32(1))
    return np.stack([np.float32(1) - second, second], axis=1)


def several_classes(raw: Array) -> Array:
    """Return the shares of classes, rounded as the library rounds them."""
    powers = _each("expf", raw - raw.max(axis=1, keepdims=True))
    total = np.add.accumulate(powers.astype(np.float64), axis=1)[:, -1:]
    return np.asarray(powers / total.astype(np.float32))


def exponential_single(raw: Array) -> Array:
    """Return values of a model of their logarithm."""
    return _each("expf", raw[:, 0])


def _each(name: str, values: Array) -> Array:
    function = _c_function(name)
    found = [function(value) for value in values.ravel().tolist()]
    singles: Any = np.array(found, dtype=np.float32).reshape(values.shape)
    return singles  # type: ignore[no-any-return]


@cache
def _c_function(name: str) -> Callable[[float], float]:
    """Return a function of the C library, which XGBoost calls: NumPy's own rounds otherwise.

    Where there is none by this name, as on Windows, the error leaves the model to be called.
    """
    function = getattr(ctypes.CDLL(None), name)
    function.argtypes = [ctypes.c_float]
    function.restype = ctypes.c_float
    return function  # type: ignore[no-any-return]


_LINKS: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "binary:logistic": (_logit, two_classes),
    "multi:softprob": (_same, several_classes),
    "reg:squarederror": (_same, single_value),
    "reg:absoluteerror": (_same, single_value),
    "reg:pseudohubererror": (_same, single_value),
    "reg:quantileerror": (_same, single_value),
    "reg:gamma": (_log, exponential_single),
    "reg:tweedie": (_log, exponential_single),
    "count:poisson": (_log, exponential_single),
}
