"""Reads models of LightGBM by the text that they are saved as."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from localface.models.readers.estimator import TreeSum, is_unmodified
from localface.models.readers.links import (
    exponential,
    logistic,
    second_class,
    single_value,
    softmax,
)
from localface.models.readers.trees import NUMBERS, NodeTable, join_trees
from localface.types import Array, Mask

_MODELS = {"LGBMClassifier", "LGBMRegressor", "Booster"}
_BY_CATEGORY = 1
_DEFAULT_LEFT = 2
_MISSING_KIND = 12  # two bits: 0 for none, 4 for zero, 8 for NaN
_ZERO, _NAN = 4, 8
_LINKS: dict[str, Callable[[Array], Array]] = {
    "binary sigmoid:1": logistic,
    "multiclass": softmax,
    "regression": single_value,
    "regression_l1": single_value,
    "huber": single_value,
    "fair": single_value,
    "quantile": single_value,
    "mape": single_value,
    "poisson": exponential,
    "gamma": exponential,
    "tweedie": exponential,
}


def read_lightgbm(model: Any) -> TreeSum | None:
    """Return a reader of a fitted LightGBM model, else None."""
    if not is_unmodified(model, "lightgbm", _MODELS):
        return None
    booster = model if type(model).__name__ == "Booster" else model._Booster
    if booster is None:
        return None
    head, *texts = booster.model_to_string().split("\nTree=")
    settings = _fields(head)
    link = _link_of(settings)
    trees = [_fields(text) for text in texts]
    if link is None or not trees or not all(map(_is_plain, trees)):
        return None
    if link is logistic and booster is model:
        link = second_class
    classes = int(settings["num_tree_per_iteration"])
    tables = [_nodes_of(tree) for tree in trees]
    return TreeSum(
        parts=tuple(join_trees(tables[k::classes]) for k in range(classes)),
        start=np.zeros(classes),
        link=link,
        description=f"{len(trees):,} boosted trees",
    )


class CategoryCoder:
    """Numbers the categories of a pandas table as LightGBM does before it looks at them."""

    def __init__(self, categories: list[list[Any]]) -> None:
        self._categories = categories

    def transform(self, table: Any) -> Array:
        """Return the table's columns as numbers; a category that is unknown is missing."""
        known = iter(self._categories)
        columns = []
        for name in table.columns:
            column = table[name]
            if str(column.dtype) == "category":
                codes = column.cat.set_categories(next(known)).cat.codes.to_numpy()
                columns.append(np.where(codes < 0, np.nan, codes.astype(np.float64)))
            else:
                columns.append(column.to_numpy(dtype=np.float64))
        return np.stack(columns, axis=1)


def category_coder_or_none(model: Any) -> CategoryCoder | None:
    """Return what numbers categories for a LightGBM model that was fitted on some, else None."""
    if not is_unmodified(model, "lightgbm", _MODELS):
        return None
    booster = model if type(model).__name__ == "Booster" else model._Booster
    categories = getattr(booster, "pandas_categorical", None)
    return CategoryCoder(categories) if categories else None


def _fields(text: str) -> dict[str, str]:
    """Return the settings of a part of the text; a tree ends at its first empty line."""
    lines = text.split("\n\n")[0] if text[:1].isdigit() else text
    pairs = (line.partition("=") for line in lines.split("\n"))
    return {name: value for name, _, value in pairs} | {
        "average_output": str("average_output" in lines)
    }


def _link_of(settings: dict[str, str]) -> Callable[[Array], Array] | None:
    objective = settings.get("objective", "")
    plain = settings["average_output"] == "False" and "sqrt" not in objective
    kind = objective if objective.startswith("binary") else objective.partition(" ")[0]
    return _LINKS.get(kind) if plain else None


def _is_plain(tree: dict[str, str]) -> bool:
    """Tell whether a tree answers by a constant a leaf, and zero is a number like any other."""
    kinds = _integers(tree, "decision_type") & _MISSING_KIND
    return tree.get("is_linear", "0") == "0" and not (kinds == _ZERO).any()


def _nodes_of(tree: dict[str, str]) -> NodeTable:
    """Return inner nodes first, leaves after them."""
    leaf_value = _numbers(tree, "leaf_value")
    kind = _integers(tree, "decision_type")
    threshold = _numbers(tree, "threshold")
    by_category = (kind & _BY_CATEGORY) > 0
    default_left = (kind & _DEFAULT_LEFT) > 0
    # where no value was missing, what is missing counts as zero
    missing_left = np.where((kind & _MISSING_KIND) == _NAN, default_left, threshold >= 0)
    leaves = len(leaf_value)
    none = np.full(leaves, -1, dtype=np.int64)
    lists = np.where(by_category, np.cumsum(by_category) - 1, NUMBERS)
    return NodeTable(
        left=np.append(_children(tree, "left_child", leaves), none),
        right=np.append(_children(tree, "right_child", leaves), none),
        feature=np.append(_integers(tree, "split_feature"), none),
        threshold=np.append(threshold, np.zeros(leaves)),
        missing_left=np.append(missing_left, np.zeros(leaves, dtype=bool)),
        value=np.append(np.zeros(len(kind)), leaf_value)[:, None],
        category_list=np.append(lists, np.full(leaves, NUMBERS)),
        category_right=_category_lists(tree, threshold, by_category),
    )


def _category_lists(tree: dict[str, str], threshold: Array, by_category: Mask) -> Any:
    """Return which categories go right; what is missing or unknown does."""
    if not by_category.any():
        return np.zeros((0, 1), dtype=np.uint8)
    words = _integers(tree, "cat_threshold").astype(np.uint32)
    bounds = _integers(tree, "cat_boundaries")
    width = 32 * int(np.diff(bounds).max()) + 1
    right = np.ones((int(by_category.sum()), width), dtype=np.uint8)
    for row, place in enumerate(threshold[by_category].astype(np.int64)):
        own = words[bounds[place] : bounds[place + 1]]
        bits = np.unpackbits(own.view(np.uint8), bitorder="little")
        right[row, : len(bits)] = 1 - bits
    return right


def _children(tree: dict[str, str], side: str, leaves: int) -> Any:
    """Number children; the library writes leaf 0 as -1, leaf 1 as -2 and so on."""
    child = _integers(tree, side)
    return np.where(child < 0, len(child) - 1 - child, child)


def _numbers(tree: dict[str, str], name: str) -> Array:
    return np.array(tree.get(name, "").split(), dtype=np.float64)


def _integers(tree: dict[str, str], name: str) -> Any:
    return np.array(tree.get(name, "").split(), dtype=np.int64)
