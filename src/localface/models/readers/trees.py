"""Trees of any library as flat arrays, with the one descent through them.

A record goes left where its value is at most the threshold. What a library does otherwise
(strictly below, a place for what is missing, sets of categories) is settled when its trees
are read, so that one short loop over plain arrays serves all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from localface.geometry.compiled.tree_tables import TreeTables
from localface.geometry.device.device import Device
from localface.types import Array, Mask

if TYPE_CHECKING:
    from localface.geometry.device.cuda_trees import CudaTrees

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.uint8]
Answers = npt.NDArray[np.float64] | npt.NDArray[np.float32]

_PAIRS = 8192  # records times trees under way at once: their arrays stay in the nearest cache
_ROWS = 4096  # records under way at once
_STRIDE = 8  # levels between two looks at who has arrived: a look costs as much as a level
_MANY_RECORDS = 2**14  # records from which it pays to bring trees to a device
_device_of_trees: ContextVar[Device | None] = ContextVar("device_of_trees", default=None)
NUMBERS = -1  # in place of a list of categories, where a node splits numbers


@contextmanager
def trees_on(device: Device | None) -> Iterator[None]:
    """Go through trees on a device for as long as this lasts, where records are many."""
    token = _device_of_trees.set(device)
    try:
        yield
    finally:
        _device_of_trees.reset(token)


@dataclass(frozen=True, eq=False)
class Trees:
    """The nodes of all trees end to end.

    A right child stands next to its left sibling, and a leaf is its own left child with an
    infinite threshold, so that one more step changes nothing for a record that has arrived.

    Parameters
    ----------
    roots : the first node of each tree
    left : the left child of each node
    feature : the column that a node looks at
    threshold : a value of at most this goes left
    missing_right : whether a missing value goes right, 0 or 1
    category_list : the row of ``category_right`` that a node goes by; -1 where it goes by numbers,
        empty where all nodes do
    category_right : whether a category goes right, 0 or 1, one column a category; the last
        column is for what is missing or none of the others
    value : what each node answers, one column an output
    depth : steps from the root of the deepest tree to its furthest leaf
    """

    roots: Index
    left: Index
    feature: Index
    threshold: Array
    missing_right: Flags
    category_list: Index
    category_right: Flags
    value: Answers
    depth: int

    def sum_of_leaves(self, records: Array, start: Array) -> Array:
        """Add up what the trees answer, one after another, beginning with ``start``.

        The order of the sum is fixed, so that a record's answer is the same to the last bit,
        whatever records come with it.
        """
        many = len(records) >= _MANY_RECORDS and _device_of_trees.get() is not None
        if many and self._on_device is not None:
            return np.asarray(self._on_device.sum_of_leaves(records, start))
        if self._compiled is not None:
            return np.asarray(self._compiled.sum_of_leaves(records, start))
        parts = [
            self._sum_of_block(records[first : first + _ROWS], start)
            for first in range(0, max(1, len(records)), _ROWS)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in vars(self).items()
            if name not in ("_compiled", "_on_device")
        }

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code goes through the trees."""
        return self._compiled is not None

    @cached_property
    def _on_device(self) -> CudaTrees | None:
        """The nodes where a device goes through them."""
        device = _device_of_trees.get()
        return None if device is None else device.trees_of(self._arrays)

    @cached_property
    def _compiled(self) -> TreeTables | None:
        """The nodes laid out for compiled code, where there is any."""
        return TreeTables.or_none(self._arrays, self.depth)

    @property
    def _arrays(self) -> dict[str, Any]:
        """All but the depth, by name."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "depth"}

    def _sum_of_block(self, records: Array, start: Array) -> Array:
        total = np.tile(np.asarray(start, dtype=self.value.dtype), (len(records), 1))
        at_once = max(1, _PAIRS // max(1, len(records)))
        missing = bool(np.isnan(records).any())
        for first in range(0, len(self.roots), at_once):
            roots = self.roots[first : first + at_once]
            answers = self.value.take(find_leaves(self, roots, records, missing=missing), axis=0)
            answers[0] += total
            # One after another: NumPy's sum adds in pairs, which changes the last bits.
            total = np.add.accumulate(answers, axis=0)[-1] if len(roots) > 1 else answers[0]
        return total


def find_leaves(trees: Trees, roots: Index, records: Array, *, missing: bool) -> Index:
    """Find the leaf that each record (column) reaches from each root (row)."""
    n, width = records.shape
    values = np.ascontiguousarray(records).ravel()
    start = np.tile(np.arange(n) * width, len(roots))
    node = np.repeat(roots, n)
    reached = node.copy()
    pair = np.arange(len(node))
    by_category = len(trees.category_right) > 0
    while len(pair):
        for _ in range(min(_STRIDE, trees.depth)):
            value = values.take(start + trees.feature.take(node))
            right = value > trees.threshold.take(node)
            if missing:
                right |= np.isnan(value) & trees.missing_right.take(node).view(np.bool_)
            if by_category:
                right = _with_categories(trees, node, value, right)
            node = trees.left.take(node) + right
        reached[pair] = node
        if trees.depth <= _STRIDE:
            break
        under_way = np.flatnonzero(trees.left.take(node) != node)
        node = node.take(under_way)
        start = start.take(under_way)
        pair = pair.take(under_way)
    return reached.reshape(len(roots), n)


def _with_categories(trees: Trees, node: Index, value: Array, right: Mask) -> Mask:
    """Return who goes right, where some nodes go by lists of categories."""
    row = trees.category_list.take(node)
    there = np.flatnonzero(row != NUMBERS)
    if not len(there):
        return right
    width = trees.category_right.shape[1]
    code = value.take(there)
    known = (code >= 0) & (code < width - 1)
    column = np.where(known, code, width - 1).astype(np.int64)
    right[there] = trees.category_right.ravel().take(row.take(there) * width + column)
    return right


@dataclass(frozen=True, slots=True, eq=False)
class NodeTable:
    """The nodes of one tree as its library numbers them; a leaf has -1 for its children.

    ``missing_left`` says where what is missing goes; ``category_right`` has one row for each
    node that goes by a list of categories, and ``category_list`` says which.
    """

    left: Index
    right: Index
    feature: Index
    threshold: Array
    missing_left: Mask
    value: Answers
    category_list: Index | None = None
    category_right: Flags = field(default_factory=lambda: np.zeros((0, 1), dtype=np.uint8))


def join_trees(tables: Sequence[NodeTable]) -> Trees:
    """Put the nodes of trees end to end, siblings side by side."""
    orders = [_order_of_nodes(table) for table in tables]
    sizes = [len(order) for order in orders]
    roots = np.cumsum([0, *sizes[:-1]])
    left = _join(_left_children(*one) for one in zip(tables, orders, roots, strict=True))
    return Trees(
        roots=roots.astype(np.int64),
        left=left,
        feature=_join(
            np.where(table.left < 0, 0, table.feature)[order].astype(np.int64)
            for table, order in zip(tables, orders, strict=True)
        ),
        # no value lies beyond infinity: a leaf keeps its records
        threshold=_join(
            np.where(table.left < 0, np.inf, table.threshold)[order].astype(np.float64)
            for table, order in zip(tables, orders, strict=True)
        ),
        missing_right=_join(
            ((table.left >= 0) & ~table.missing_left)[order].astype(np.uint8)
            for table, order in zip(tables, orders, strict=True)
        ),
        category_list=_category_rows(tables, orders),
        category_right=_stack_lists([table.category_right for table in tables]),
        value=_join(table.value[order] for table, order in zip(tables, orders, strict=True)),
        depth=_depth(roots, left),
    )


def _join(parts: Iterable[Any]) -> Any:
    joined = np.ascontiguousarray(np.concatenate(list(parts)))
    joined.setflags(write=False)
    return joined


def _order_of_nodes(table: NodeTable) -> Index:
    """Return a tree's nodes in our order: the root, then each pair of siblings."""
    inner = table.left >= 0
    siblings = np.stack([table.left[inner], table.right[inner]], axis=1)
    return np.concatenate([[0], siblings.ravel()]).astype(np.int64)


def _left_children(table: NodeTable, order: Index, root: int) -> Index:
    position = np.zeros(len(table.left), dtype=np.int64)
    position[order] = np.arange(len(order))
    child = table.left[order]
    return np.asarray(root + np.where(child < 0, np.arange(len(order)), position[child]))


def _depth(roots: Index, left: Index) -> int:
    """Count the steps from the roots to the furthest leaf."""
    depth = 0
    nodes = roots[left[roots] != roots]
    while len(nodes):
        depth += 1
        children = np.concatenate([left[nodes], left[nodes] + 1])
        nodes = children[left[children] != children]
    return depth


def _category_rows(tables: Sequence[NodeTable], orders: Sequence[Index]) -> Index:
    """Number the lists of categories through all trees; nothing where there are none."""
    counts = [len(table.category_right) for table in tables]
    if not any(counts):
        return np.zeros(0, dtype=np.int64)
    rows = []
    for table, order, first in zip(tables, orders, np.cumsum([0, *counts[:-1]]), strict=True):
        own = (
            np.full(len(order), NUMBERS)
            if table.category_list is None
            else table.category_list[order]
        )
        rows.append(np.where(own == NUMBERS, NUMBERS, first + own).astype(np.int64))
    return np.concatenate(rows)


def _stack_lists(lists: list[Flags]) -> Flags:
    """Stack lists of different widths: what stands last in each stays last."""
    width = max(one.shape[1] for one in lists)
    padded = [
        np.concatenate([one[:, :-1], np.repeat(one[:, -1:], width - one.shape[1] + 1, axis=1)], 1)
        for one in lists
    ]
    stacked = np.ascontiguousarray(np.concatenate(padded), dtype=np.uint8)
    stacked.setflags(write=False)
    return stacked
