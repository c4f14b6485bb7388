"""The trees of a scikit-learn forest read directly: the same numbers without the overhead.

For one record a forest of a hundred trees spends some 5 ms on checking its input and on
calling its trees one after another; the descent itself takes microseconds. Nothing here
imports scikit-learn: a fitted forest is known by its type and read by its attributes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localface.types import Array

Index = npt.NDArray[np.intp]

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
_FEW = 200  # up to this many records, all trees at once is faster than one tree after another
_STRIDE = 8  # levels between two looks at who has arrived: a look costs as much as a level


@dataclass(frozen=True, slots=True, eq=False)
class ForestReader:
    """The nodes of all trees end to end; called with records, it answers as the model does.

    A right child stands next to its left sibling, and a leaf is its own left child, so
    that one more step changes nothing for a record that has arrived.
    """

    trees: tuple[Any, ...]
    roots: Index
    left: Index
    feature: Index
    threshold: Array
    value: Array
    classifies: bool
    ordered: bool  # whether the model, too, adds up its trees one after another

    def __call__(self, records: Array) -> Array:
        """Return what ``predict_proba`` of a classifier, or ``predict`` of a regressor, gives.

        Records must be complete. Each record's answer is the same, to the last bit, whatever
        records come with it.
        """
        with np.errstate(over="ignore"):
            # scikit-learn's trees see single precision
            singles = np.asarray(records).astype(np.float32, order="C")
        if not np.isfinite(singles).all():
            raise ValueError(
                "the records hold missing or infinite values, or some beyond single precision"
            )
        few = len(singles) <= _FEW
        total = self._sum_over_leaves(singles) if few else self._sum_over_trees(singles)
        mean = total / len(self.trees)
        return mean if self.classifies else mean[:, 0]

    def _sum_over_leaves(self, singles: npt.NDArray[np.float32]) -> Array:
        """Add up the trees' answers, all trees read at once."""
        answers = self.value.take(self._find_leaves(singles), axis=0)
        # One after another, as the model does: NumPy's sum adds in pairs, which changes last bits.
        return np.asarray(np.add.accumulate(answers, axis=1)[:, -1])

    def _sum_over_trees(self, singles: npt.NDArray[np.float32]) -> Array:
        """Add up the trees' answers, one tree after another."""
        total = np.zeros((len(singles), self.value.shape[1]))
        for tree in self.trees:
            total += tree.predict(singles)
        return total

    def _find_leaves(self, singles: npt.NDArray[np.float32]) -> Index:
        """Find the leaf that each record (row) reaches in each tree (column)."""
        n, width = singles.shape
        values = singles.astype(np.float64).ravel()  # thresholds are doubles
        start = np.tile(np.arange(n) * width, len(self.roots))
        node = np.repeat(self.roots, n)
        reached = node.copy()
        pair = np.arange(len(node))
        while len(pair):
            for _ in range(_STRIDE):
                value = values.take(start + self.feature.take(node))
                goes_right = value > self.threshold.take(node)
                node = self.left.take(node) + goes_right
            reached[pair] = node
            under_way = np.flatnonzero(self.left.take(node) != node)
            node = node.take(under_way)
            start = start.take(under_way)
            pair = pair.take(under_way)
        return reached.reshape(len(self.roots), n).T


def read_forest(model: Any) -> ForestReader | None:
    """Return a reader of a fitted scikit-learn forest or tree with one output, else None.

    Subclasses are not read: they may answer in another way than by their trees.
    """
    trees = _trees_of(model)
    if not trees:
        return None
    classifies = type(model).__name__.endswith("Classifier")
    value = np.concatenate([tree.value[_node_order(tree), 0] for tree in trees])
    if classifies and not np.allclose(value.sum(axis=1), 1):
        return None  # counts, not shares: scikit-learn before 1.4
    roots = np.cumsum([0, *(tree.node_count for tree in trees[:-1])])
    parts = zip(
        *(_node_arrays(tree, root) for tree, root in zip(trees, roots, strict=True)), strict=True
    )
    left, feature, threshold = (np.concatenate(part) for part in parts)
    for array in (roots, left, feature, threshold, value):
        array.setflags(write=False)
    ordered = getattr(model, "n_jobs", None) in (None, 1)
    return ForestReader(trees, roots, left, feature, threshold, value, classifies, ordered)


def forest_agrees(forest: ForestReader, records: Array, expected: object) -> bool:
    """Tell whether a reader gives what the model's own call gave for some records.

    Bit for bit, unless the model adds up its trees in several threads: then the order
    is left to chance, and with it the last bits.
    """
    wanted = np.asarray(expected)
    got = forest(records)
    if wanted.shape != got.shape:
        return False
    if forest.ordered:
        return bool(np.array_equal(got, wanted))
    return bool(np.allclose(got, wanted, rtol=1e-12, atol=1e-12))


def _trees_of(model: Any) -> tuple[Any, ...]:
    """Return the trees of a model that answers by its trees alone, else nothing."""
    single = _is_unmodified_sklearn(model, _TREES)
    members: Iterable[Any] = (model,) if single else getattr(model, "estimators_", ())
    if not single and not (
        _is_unmodified_sklearn(model, _FORESTS)
        and all(_is_unmodified_sklearn(member, _TREES) for member in members)
    ):
        return ()
    trees = tuple(getattr(member, "tree_", None) for member in members)
    return trees if all(tree is not None and tree.n_outputs == 1 for tree in trees) else ()


def _is_unmodified_sklearn(model: Any, names: set[str]) -> bool:
    """Tell whether a model is one of scikit-learn's own, with nothing put in its place."""
    replaced = {"predict", "predict_proba"} & set(getattr(model, "__dict__", ()))
    return (
        type(model).__module__.startswith("sklearn.")
        and type(model).__name__ in names
        and not replaced
    )


def _node_order(tree: Any) -> Index:
    """Return a tree's nodes in our order: the root, then each pair of siblings."""
    inner = tree.children_left >= 0
    siblings = np.stack([tree.children_left[inner], tree.children_right[inner]], axis=1)
    return np.concatenate([[0], siblings.ravel()]).astype(np.intp)


def _node_arrays(tree: Any, root: int) -> tuple[Index, Index, Array]:
    """Return left children, features and thresholds in our order, numbered from ``root``."""
    order = _node_order(tree)
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    child = tree.children_left[order]
    leaf = child < 0
    left = np.where(leaf, np.arange(len(order)), position[child])
    # no value lies beyond infinity: a leaf keeps its records
    threshold = np.where(leaf, np.inf, tree.threshold[order])
    return root + left, np.where(leaf, 0, tree.feature[order]), threshold
