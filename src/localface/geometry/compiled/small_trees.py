"""Trees of few nodes, which many records go through node by node, all at once; compiled."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from localface.geometry.compiled.library import address, check_memory
from localface.types import Array

MANY = 256  # records from which it pays
_MOST_NODES = 511  # of a tree, as in small_trees.c
_MOST_EDGES = 2**15 - 2  # thresholds of one feature, as ranks in 16 bits tell them apart
_NUMBERS = ("n_trees", "n_outputs", "n_features", "single")
_ARRAYS = ("roots", "edge_firsts", "leading", "nodes", "ranks", "edges", "value")


class _SmallTrees(ctypes.Structure):
    """As in small_trees.c."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in _NUMBERS),
        *((name, ctypes.c_void_p) for name in _ARRAYS),
    )


class SmallTrees:
    """The nodes of trees of few nodes, with the rank of each threshold among those of a feature."""

    def __init__(
        self,
        library: ctypes.CDLL,
        arrays: Mapping[str, npt.NDArray[np.generic]],
        edges: list[Array],
    ) -> None:
        self._library = library
        self._arrays = {
            **{name: arrays[name] for name in ("roots", "nodes", "value")},
            "edge_firsts": np.cumsum([0, *map(len, edges)]).astype(np.int64),
            "edges": np.concatenate([*edges, np.zeros(0)]),
            "leading": _leading_features(arrays, len(edges)),
            "ranks": _ranks_of_nodes(arrays, edges),
        }
        self._struct = _SmallTrees(
            n_trees=len(arrays["roots"]),
            n_outputs=arrays["value"].shape[1],
            n_features=len(edges),
            single=arrays["value"].dtype == np.float32,
            **{name: address(self._arrays[name]) for name in _ARRAYS},
        )
        self._address = ctypes.addressof(self._struct)

    @classmethod
    def or_none(
        cls, library: ctypes.CDLL, arrays: Mapping[str, npt.NDArray[np.generic]]
    ) -> SmallTrees | None:
        """Lay trees out where all of them have few nodes, and go by numbers alone."""
        sizes = np.diff([*arrays["roots"].tolist(), len(arrays["left"])])
        if len(arrays["category_right"]) or sizes.max(initial=0) > _MOST_NODES:
            return None
        inner = arrays["left"] != np.arange(len(arrays["left"]))
        edges = []
        for feature in range(1 + int(arrays["feature"].max(initial=-1))):
            own = inner & (arrays["feature"] == feature)
            edges.append(np.unique(arrays["threshold"][own]).astype(np.float64))
        if max(map(len, edges), default=0) > _MOST_EDGES:
            return None
        return cls(library, arrays, edges)

    def add_up(self, records: Array, total: npt.NDArray[np.floating]) -> None:
        """Add what the trees answer to a total, one tree after another; no value is missing."""
        add = self._library.sum_of_small_trees
        check_memory(
            add(self._address, len(records), records.shape[1], address(records), address(total))
        )


def _leading_features(
    arrays: Mapping[str, npt.NDArray[np.generic]], n_features: int
) -> npt.NDArray[np.int64]:
    """Return the features, those first by which most records part: each level counts half."""
    left, feature = arrays["left"], arrays["feature"]
    weights = np.zeros(n_features)
    nodes = np.asarray(arrays["roots"])
    share = 1.0
    while len(nodes := nodes[left[nodes] != nodes]):
        weights += share * np.bincount(feature[nodes], minlength=n_features)
        nodes = np.concatenate([left[nodes], left[nodes] + 1])
        share /= 2
    return np.argsort(-weights, kind="stable").astype(np.int64)


def _ranks_of_nodes(
    arrays: Mapping[str, npt.NDArray[np.generic]], edges: list[Array]
) -> npt.NDArray[np.int16]:
    """Return how many thresholds of its feature are less than that of each node."""
    ranks = np.zeros(len(arrays["left"]), dtype=np.int16)
    for feature, own in enumerate(edges):
        mine = arrays["feature"] == feature
        ranks[mine] = np.searchsorted(own, arrays["threshold"][mine])
    return ranks
