"""The owner of the rows may list them; a search may not."""

from __future__ import annotations

import numpy as np
import pytest

from localface.geometry.bounds import Bounds
from localface.geometry.point_set import PointSet
from localface.sources.cells import Cells
from localface.sources.holder import RowHolder, list_all_rows
from localface.sources.protocol import Source
from localface.sources.table import TableSource
from localface.types import Array

POINTS = np.unique(np.random.default_rng(0).integers(0, 9, size=(300, 2)).astype(float), axis=0)


def table(points: Array) -> RowHolder:
    return TableSource(PointSet(points), points, np.arange(len(points)), n_rows=len(points))


def cells(points: Array) -> RowHolder:
    rows = np.arange(len(points))
    return Cells.of(points, rows, points_of=np.asarray, n_rows=len(points), n_cells=7)


def test_a_source_as_a_search_sees_it_offers_no_list() -> None:
    offered = {name for name in vars(Source) if not name.startswith("_")}

    assert offered == {"n_rows", "exact", "recall", "width", "nearest", "records", "row_numbers"}


@pytest.mark.parametrize("holder_of", [table, cells])
def test_an_owner_lists_every_row_once(holder_of) -> None:  # type: ignore[no-untyped-def]
    holder = holder_of(POINTS)

    ids = list_all_rows(holder)

    assert sorted(holder.row_numbers(ids).tolist()) == list(range(len(POINTS)))
    assert (holder.points(ids) == POINTS[holder.row_numbers(ids)]).all()


@pytest.mark.parametrize("holder_of", [table, cells])
def test_an_owner_lists_the_rows_within_bounds(holder_of) -> None:  # type: ignore[no-untyped-def]
    one_way = np.zeros(2, dtype=bool)
    bounds = Bounds(np.array([2.0, -np.inf]), np.array([5.0, 4.0]), one_way, one_way)
    holder = holder_of(POINTS)

    rows = holder.row_numbers(holder.list_rows(bounds))

    assert sorted(rows.tolist()) == np.flatnonzero(bounds.contain(POINTS)).tolist()


@pytest.mark.parametrize("holder_of", [table, cells])
def test_an_owner_knows_the_lowest_and_the_highest_of_each_column(holder_of) -> None:  # type: ignore[no-untyped-def]
    points = POINTS * [1.0, -2.5]

    lowest, highest = holder_of(points).extremes

    assert lowest.tolist() == points.min(axis=0).tolist()
    assert highest.tolist() == points.max(axis=0).tolist()
