"""Reads scikit-learn's trees, forests and boosted trees, known by type and read by attribute."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from localface.models.readers.estimator import TreeSum, is_unmodified
from localface.models.readers.links import (
    exponential,
    half_logistic,
    logistic,
    shares,
    single_value,
    softmax,
)
from localface.models.readers.trees import NUMBERS, NodeTable, join_trees
from localface.types import Array, Mask

_FORESTS = {
    "RandomForestClassifier",
    "ExtraTreesClassifier",
    "RandomForestRegressor",
    "ExtraTreesRegressor",
}
_TREES = {
    "DecisionTreeClassifier",
    "ExtraTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeRegressor",
}
_BOOSTED = {"GradientBoostingClassifier", "GradientBoostingRegressor"}
_BINNED = {"HistGradientBoostingClassifier", "HistGradientBoostingRegressor"}
_CONSTANT = {"DummyClassifier", "DummyRegressor"}
_LINK_OF_LOSS: dict[str, Callable[[Array], Array]] = {
    "HalfBinomialLoss": logistic,
    "HalfMultinomialLoss": softmax,
    "ExponentialLoss": half_logistic,
}
_LINK_OF_VALUE: dict[str, Callable[[Array], Array]] = {
    "IdentityLink": single_value,
    "LogLink": exponential,
}


def read_forest(model: Any) -> TreeSum | None:
    """Return a reader of a fitted forest or tree with one output, else None."""
    single = is_unmodified(model, "sklearn", _TREES)
    if not single and not is_unmodified(model, "sklearn", _FORESTS):
        return None
    members = [model] if single else list(getattr(model, "estimators_", ()))
    trees = _trees_of(members)
    if not trees:
        return None
    classifies = type(model).__name__.endswith("Classifier")
    value = np.concatenate([tree.value[:, 0] for tree in trees])
    if classifies and not np.allclose(value.sum(axis=1), 1):
        return None  # counts, not shares: scikit-learn before 1.4
    return TreeSum(
        parts=(join_trees([node_table_of(tree, tree.value[:, 0]) for tree in trees]),),
        start=np.zeros(value.shape[1]),
        link=shares if classifies else single_value,
        description="one tree" if single else f"forest of {len(trees):,} trees",
        divisor=len(trees),
        single=True,
        # in several threads the order of the sum is left to chance, and with it the last bits
        exact=getattr(model, "n_jobs", None) in (None, 1),
        own_trees=tuple(trees),
    )


def read_boosted_trees(model: Any) -> TreeSum | None:
    """Return a reader of fitted gradient boosting that begins with a constant, else None."""
    if not is_unmodified(model, "sklearn", _BOOSTED):
        return None
    members = np.asarray(getattr(model, "estimators_", ()))
    begins = getattr(model, "init_", None)
    constant = isinstance(begins, str) or is_unmodified(begins, "sklearn", _CONSTANT)
    if members.ndim != 2 or not constant or not _trees_of(members.ravel()):
        return None
    rate = model.learning_rate
    parts = [
        join_trees([node_table_of(tree, rate * tree.value[:, 0]) for tree in _trees_of(column)])
        for column in members.T
    ]
    link: Callable[[Array], Array] = single_value
    if type(model).__name__.endswith("Classifier"):
        link = _LINK_OF_LOSS.get(type(model._loss).__name__, shares)
    return TreeSum(
        parts=tuple(parts),
        start=model._raw_predict_init(np.zeros((1, model.n_features_in_)))[0],
        link=link,
        description=f"{members.size:,} boosted trees",
        single=True,
    )


def read_binned_trees(model: Any) -> TreeSum | None:
    """Return a reader of fitted histogram gradient boosting, else None."""
    if not is_unmodified(model, "sklearn", _BINNED):
        return None
    rounds = getattr(model, "_predictors", None)
    if not rounds:
        return None
    known = _known_categories(model)
    columns = [[one[k] for one in rounds] for k in range(len(rounds[0]))]
    if type(model).__name__.endswith("Classifier"):
        link = _LINK_OF_LOSS.get(type(model._loss).__name__)
    else:
        link = _LINK_OF_VALUE.get(type(model._loss.link).__name__)
    if link is None:
        return None
    return TreeSum(
        parts=tuple(join_trees([_binned_nodes(one, known) for one in each]) for each in columns),
        start=np.ravel(model._baseline_prediction),
        link=link,
        description=f"{len(rounds) * len(columns):,} boosted trees",
    )


def _trees_of(members: Iterable[Any]) -> list[Any]:
    """Return the trees of scikit-learn's own estimators with one output; nothing if any is not."""
    found = []
    for member in members:
        tree = getattr(member, "tree_", None)
        if tree is None or tree.n_outputs != 1 or not is_unmodified(member, "sklearn", _TREES):
            return []
        found.append(tree)
    return found


def node_table_of(tree: Any, value: Array) -> NodeTable:
    """Return the nodes of one of scikit-learn's trees, with what each of them answers."""
    # before scikit-learn 1.3 no tree took what is missing
    missing_left = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))
    return NodeTable(
        left=tree.children_left.astype(np.int64),
        right=tree.children_right.astype(np.int64),
        feature=tree.feature.astype(np.int64),
        threshold=tree.threshold,
        missing_left=np.asarray(missing_left) > 0,
        value=value,
    )


def _binned_nodes(predictor: Any, known: dict[int, Mask]) -> NodeTable:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"] > 0
    by_category = ~leaf & (nodes["is_categorical"] > 0)
    missing_left = nodes["missing_go_to_left"] > 0
    lists = np.full(len(nodes), NUMBERS, dtype=np.int64)
    lists[by_category] = np.arange(by_category.sum())
    rows = [np.zeros((0, 257), dtype=np.uint8)]
    for node in np.flatnonzero(by_category):
        goes_left = _bits(predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]])
        unknown = ~known[int(nodes["feature_idx"][node])] & ~goes_left
        right = np.append(np.where(unknown, ~missing_left[node], ~goes_left), ~missing_left[node])
        rows.append(right.astype(np.uint8)[None, :])
    return NodeTable(
        left=np.where(leaf, -1, nodes["left"].astype(np.int64)),
        right=np.where(leaf, -1, nodes["right"].astype(np.int64)),
        feature=nodes["feature_idx"].astype(np.int64),
        threshold=nodes["num_threshold"],
        missing_left=missing_left,
        value=nodes["value"][:, None],
        category_list=lists,
        category_right=np.concatenate(rows),
    )


def _known_categories(model: Any) -> dict[int, Mask]:
    """Return which categories each feature had when the model was fitted, by column."""
    bitsets, row_of = model._bin_mapper.make_known_categories_bitsets()
    categorical = np.flatnonzero(np.asarray(model._bin_mapper.is_categorical_))
    return {int(column): _bits(bitsets[row_of[column]]) for column in categorical}


def _bits(words: Any) -> Mask:
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little") > 0
