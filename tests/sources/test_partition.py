"""Cells depend on what rows hold, never on their order."""

from __future__ import annotations

import numpy as np
from mixed_people import people

from localface.sources.partition import nearest_centroids, row_hashes, smallest_hashes, stored_order


def test_rows_that_share_a_hash_are_still_told_apart() -> None:
    records = people(600, seed=0)
    order = stored_order(
        np.zeros(600, dtype=np.int64), np.zeros(600, dtype=np.uint64), records, np.arange(600)
    )
    assert sorted(records[order].tolist()) == np.unique(records, axis=0).tolist()
    assert order.tolist() == [
        int(np.flatnonzero((records == records[i]).all(axis=1))[0]) for i in order
    ]


def test_the_cell_of_a_row_does_not_depend_on_the_rows_around_it() -> None:
    rng = np.random.default_rng(0)
    grid = rng.integers(-3, 4, (5000, 4)).astype(
        np.float64
    )  # many rows halfway between two centroids
    centroids = rng.integers(-3, 4, (300, 4)).astype(np.float32)
    together = nearest_centroids(grid, centroids)
    alone = np.concatenate(
        [nearest_centroids(grid[i : i + 1], centroids) for i in range(0, 5000, 7)]
    )
    away = ((grid[:, None, :] - centroids[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(together[::7], alone)
    np.testing.assert_array_equal(together, away.argmin(axis=1))


def test_a_sample_is_chosen_by_what_rows_hold() -> None:
    records = people(4000, seed=0)
    shuffled = np.concatenate([records, records])[np.random.default_rng(0).permutation(8000)]
    for size in (50, 1500, 9999):
        chosen, again = (
            rows[smallest_hashes(row_hashes(rows), size)] for rows in (records, shuffled)
        )
        np.testing.assert_array_equal(chosen, again)
        assert (
            len(np.unique(chosen, axis=0))
            == len(chosen)
            == min(size, len(np.unique(records, axis=0)))
        )


def test_minus_zero_is_zero() -> None:
    assert row_hashes(np.array([[0.0, 1.0]])) == row_hashes(np.array([[-0.0, 1.0]]))
