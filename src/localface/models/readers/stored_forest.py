"""A forest of scikit-learn kept in a small file, and read without scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from localface.errors import ModelError
from localface.models.readers.estimator import TreeSum
from localface.models.readers.links import shares
from localface.models.readers.trees import Trees, join_trees
from localface.types import Array

_SETTINGS = ("n_estimators", "max_features", "max_depth", "random_state", "n_jobs")


@dataclass(frozen=True, eq=False)
class StoredForest:
    """A forest that scores as scikit-learn's does, to the last bit.

    ``forest`` is what reads its trees; ``settings`` are what it was grown with, so that it can be
    fitted again, for which scikit-learn is needed; ``made_with`` is the version that grew it.
    """

    forest: TreeSum
    settings: dict[str, Any]
    made_with: str
    classes_: Array
    n_features_in_: int

    def predict_proba(self, X: Any) -> Array:
        """Return the share of each class, one row a record."""
        return self.forest(np.asarray(X, dtype=np.float64))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return what it was grown with."""
        return dict(self.settings)

    def fit(self, X: Any, y: Any) -> Any:
        """Grow another forest in the same way, by scikit-learn."""
        return self.__sklearn_clone__().fit(X, y)

    def __sklearn_clone__(self) -> Any:
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(**self.settings)


def write_forest(model: Any, path: str | Path) -> None:
    """Write the trees of a fitted ``RandomForestClassifier`` of scikit-learn into a file.

    Of each leaf the people of each class are kept, not their shares: these are whole numbers.
    """
    import sklearn

    from localface.models.readers.sklearn_trees import node_table_of, read_forest

    if type(model).__name__ != "RandomForestClassifier" or read_forest(model) is None:
        raise ModelError(f"{type(model).__name__} is no forest of scikit-learn that can be kept")
    trees = join_trees(
        [node_table_of(one.tree_, _people_by_class(one.tree_)) for one in model.estimators_]
    )
    thresholds, ranks = np.unique(trees.threshold, return_inverse=True)
    settings = model.get_params()
    np.savez_compressed(
        path,
        roots=_as_small_numbers(trees.roots, np.int32),
        children=_as_small_numbers(trees.left - np.arange(len(trees.left)), np.int16),
        feature=_as_small_numbers(trees.feature, np.int16),
        thresholds=thresholds,
        ranks=_as_small_numbers(ranks, np.uint16),
        missing_right=trees.missing_right,
        people=_as_small_numbers(trees.value, np.uint16),
        depth=trees.depth,
        n_features=model.n_features_in_,
        classes=model.classes_,
        settings=[repr(settings[name]) for name in _SETTINGS],
        made_with=sklearn.__version__,
    )


def read_stored_forest(path: str | Path) -> StoredForest:
    """Read a forest that ``write_forest`` has written."""
    from ast import literal_eval

    with np.load(path, allow_pickle=False) as stored:
        kept = {name: stored[name] for name in stored.files}
    trees = _trees_from(kept)
    settings = {
        name: literal_eval(str(words))
        for name, words in zip(_SETTINGS, kept["settings"], strict=True)
    }
    return StoredForest(
        forest=TreeSum(
            parts=(trees,),
            start=np.zeros(trees.value.shape[1]),
            link=shares,
            description=f"forest of {len(trees.roots):,} trees",
            divisor=len(trees.roots),
            single=True,
            exact=True,
        ),
        settings=settings,
        made_with=str(kept["made_with"]),
        classes_=kept["classes"],
        n_features_in_=int(kept["n_features"]),
    )


def _trees_from(kept: dict[str, Any]) -> Trees:
    left = kept["children"].astype(np.int64) + np.arange(len(kept["children"]))
    people = kept["people"].astype(np.float64)
    total = people.sum(axis=1, keepdims=True)
    arrays = {
        "roots": kept["roots"].astype(np.int64),
        "left": left,
        "feature": kept["feature"].astype(np.int64),
        "threshold": kept["thresholds"][kept["ranks"]],
        "missing_right": kept["missing_right"],
        "category_list": np.zeros(0, dtype=np.int64),
        "category_right": np.zeros((0, 1), dtype=np.uint8),
        "value": np.divide(people, total, out=np.zeros_like(people), where=total > 0),
    }
    for array in arrays.values():
        array.setflags(write=False)
    return Trees(**arrays, depth=int(kept["depth"]))


def _people_by_class(tree: Any) -> Array:
    """How many people of each class are in each leaf of a tree; 0 in all other nodes."""
    people = np.rint(tree.value[:, 0] * tree.weighted_n_node_samples[:, None])
    return np.asarray(np.where(tree.children_left[:, None] < 0, people, 0.0))


def _as_small_numbers(values: Any, dtype: Any) -> Any:
    """Whole numbers in fewer bytes, where all of them fit."""
    smaller = values.astype(dtype)
    if not np.array_equal(smaller, values):
        raise ModelError("the forest is too large to be kept in so small a file")
    return smaller
