"""Trees gone through by compiled code: the same bits as by NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from by_numpy import needs_compiled
from localface.geometry.compiled.small_trees import SmallTrees
from localface.models.readers.trees import NodeTable, Trees, join_trees

pytestmark = needs_compiled


def grow_tree(
    chance: np.random.Generator, width: int, outputs: int, *, lists: int, splits: int | None = None
) -> NodeTable:
    """A tree of random shape, some nodes of which go by lists of categories."""
    children: list[tuple[int, int]] = [(-1, -1)]
    for _ in range(int(chance.integers(0, 40)) if splits is None else splits):
        leaf = int(chance.choice([i for i, pair in enumerate(children) if pair[0] < 0]))
        children[leaf] = (len(children), len(children) + 1)
        children += [(-1, -1), (-1, -1)]
    left, right = np.array(children, dtype=np.int64).T
    n = len(left)
    by_list = np.where(
        (left >= 0) & (chance.random(n) < 0.4), chance.integers(0, max(1, lists), n), -1
    )
    return NodeTable(
        left,
        right,
        chance.integers(0, width, n),
        np.round(chance.normal(size=n), 1),
        chance.random(n) < 0.5,
        chance.normal(size=(n, outputs)),
        category_list=by_list if lists else None,
        category_right=(chance.random((lists, 5)) < 0.5).astype(np.uint8),
    )


def by_numpy(trees: Trees) -> Trees:
    """The same trees, with NumPy alone."""
    found = replace(trees)
    vars(found)["_compiled"] = None
    return found


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("lists", [0, 3])
def test_sums_of_leaves_are_numpys_to_the_last_bit(seed: int, gaps: float, lists: int) -> None:
    chance = np.random.default_rng([seed, lists])
    width, outputs = int(chance.integers(1, 6)), int(chance.integers(1, 4))
    tables = [grow_tree(chance, width, outputs, lists=lists) for _ in range(12)]
    trees = join_trees(tables)
    start = chance.normal(size=outputs)
    for n in (0, 1, 7, 8, 9, 300):
        records = np.round(chance.normal(scale=2.0, size=(n, width)), 1)  # some on thresholds
        records[chance.random(records.shape) < gaps] = np.nan
        records[chance.random(records.shape) < 0.05] = np.inf

        assert trees.is_compiled
        np.testing.assert_array_equal(
            trees.sum_of_leaves(records, start), by_numpy(trees).sum_of_leaves(records, start)
        )


def test_single_precision_is_added_up_in_single_precision() -> None:
    chance = np.random.default_rng(0)
    trees = join_trees([grow_tree(chance, 3, 1, lists=0) for _ in range(50)])
    single = replace(trees, value=trees.value.astype(np.float32))
    records = chance.normal(size=(40, 3))

    found = single.sum_of_leaves(records, np.zeros(1))

    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, by_numpy(single).sum_of_leaves(records, np.zeros(1)))


@pytest.mark.parametrize("gaps", [0.0, 0.02])
@pytest.mark.parametrize("lists", [0, 3])
@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_records_that_are_mostly_alike_come_to_the_same_leaves_as_by_numpy(
    outputs: int, lists: int, gaps: float
) -> None:
    chance = np.random.default_rng([outputs, lists])
    width = 12
    tables = [grow_tree(chance, width, outputs, lists=lists, splits=200) for _ in range(10)]
    trees = join_trees(tables)
    start = chance.normal(size=outputs)
    for n in (3, 4, 9, 300):
        records = np.tile(np.round(chance.normal(scale=2.0, size=width), 1), (n, 1))
        others = chance.random(records.shape) < 0.1
        records[others] = np.round(chance.normal(scale=2.0, size=int(others.sum())), 1)
        records[chance.random(records.shape) < gaps] = np.nan

        found = trees.sum_of_leaves(records, start)

        assert trees.depth > 10  # shallow ones are gone down straight away
        np.testing.assert_array_equal(found, by_numpy(trees).sum_of_leaves(records, start))


@pytest.mark.parametrize("lists", [0, 3])
def test_people_in_one_block_come_to_the_same_leaves_as_by_numpy(lists: int) -> None:
    chance = np.random.default_rng(lists)
    trees = join_trees([grow_tree(chance, 8, 2, lists=lists, splits=200) for _ in range(20)])
    people = np.round(chance.normal(scale=2.0, size=(3, 8)), 1)
    people[:, 2] = np.nan  # a column that hardly anybody has
    people[0, 3] = np.nan
    records = people[np.sort(chance.integers(0, 3, 600))]
    others = chance.random(records.shape) < 0.05
    records[others] = np.round(chance.normal(scale=2.0, size=int(others.sum())), 1)
    for n in (5, 64, 129, 600):
        some = records[:n]

        found = trees.sum_of_leaves(some, np.zeros(2))

        np.testing.assert_array_equal(found, by_numpy(trees).sum_of_leaves(some, np.zeros(2)))


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("outputs", [1, 2, 3])
@pytest.mark.parametrize("n", [256, 257, 511, 1300])
def test_many_records_come_to_the_same_leaves_of_small_trees_as_by_numpy(
    n: int, outputs: int, single: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = np.random.default_rng([n, outputs])
    sizes = [0, 1, 2, 60, 255]  # the largest has as many nodes as there may be
    tables = [grow_tree(chance, 6, outputs, lists=0, splits=splits) for splits in sizes]
    trees = join_trees(tables)
    if single:
        trees = replace(trees, value=trees.value.astype(np.float32))
    start = chance.normal(size=outputs)
    used = []
    add_up = SmallTrees.add_up
    monkeypatch.setattr(
        SmallTrees, "add_up", lambda *asked: (used.append(len(asked[1])), add_up(*asked))[1]
    )
    for alike in (0.0, 0.5, 0.95, 1.0):
        records = np.round(chance.normal(scale=2.0, size=(n, 6)), 1)  # some on thresholds
        records = np.where(chance.random(records.shape) < alike, records[0], records)
        records[chance.random(records.shape) < 0.02] = -0.0
        records[chance.random(records.shape) < 0.02] = np.inf

        np.testing.assert_array_equal(
            trees.sum_of_leaves(records, start), by_numpy(trees).sum_of_leaves(records, start)
        )
    assert used == [n] * 4


def test_trees_are_small_only_without_lists_and_with_few_nodes() -> None:
    chance = np.random.default_rng(0)

    def is_small(splits: int, lists: int) -> bool:
        table = grow_tree(chance, 3, 1, lists=lists, splits=splits)
        return join_trees([table])._compiled._small is not None

    assert is_small(255, 0)
    assert not is_small(256, 0)
    assert not is_small(9, 2)


def test_gaps_go_through_small_trees_as_by_numpy() -> None:
    chance = np.random.default_rng(3)
    trees = join_trees([grow_tree(chance, 4, 2, lists=0, splits=30) for _ in range(9)])
    records = np.round(chance.normal(size=(600, 4)), 1)
    records[599, 2] = np.nan

    found = trees.sum_of_leaves(records, np.zeros(2))

    np.testing.assert_array_equal(found, by_numpy(trees).sum_of_leaves(records, np.zeros(2)))
