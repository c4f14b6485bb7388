"""Rows in cells: an exact scan's answers where all cells are scanned, nearly so where few are."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_people import SCHEMA, people

from localface import Feature, Schema
from localface.data.space import Space
from localface.geometry.bounds import Bounds
from localface.geometry.point_set import PointSet
from localface.sources.cell_rows import make_compact
from localface.sources.cells import Cells
from localface.sources.protocol import Nearest, Neighbors
from localface.sources.table import TableSource
from localface.types import NO_ROWS, Array, Ids


def numbers(width: int) -> Schema:
    return Schema([Feature(f"x{j}", scale=1.0) for j in range(width)])


def both(
    records: Array, schema: Schema = SCHEMA, **options: Any
) -> tuple[Cells, TableSource, Space]:
    """The same records in cells and in a table."""
    distinct, rows = np.unique(records, axis=0, return_index=True)
    space = Space.fit(schema, distinct)
    cells = cells_of(records, space, **options)
    return (
        cells,
        TableSource(PointSet(space.points(distinct)), distinct, rows, n_rows=len(records)),
        space,
    )


def cells_of(records: Array, space: Space, **options: Any) -> Cells:
    rows = np.arange(len(records))
    return Cells.of(records, rows, points_of=space.points, n_rows=len(records), **options)


def free(width: int) -> Bounds:
    nowhere = np.zeros(width, dtype=bool)
    return Bounds(np.full(width, -np.inf), np.full(width, np.inf), nowhere, nowhere)


def boxed(space: Space, record: Array, **limits: float) -> Bounds:
    """Hold smokes and ward, let the stay only grow, and keep to limits on the others."""
    schema = space.schema.with_("smokes", moves="never").with_("ward", moves="never")
    for name, within in limits.items():
        schema = schema.with_(name, within=within)
    bounds = space.bounds(schema.box(record, None))
    return bounds.reachable_from(space.points(record[None, :])[0])


def agree(mine: Neighbors, exact: Neighbors, cells: Cells, table: TableSource) -> None:
    """The same distances, and the same rows, but for the last where others are as far."""
    np.testing.assert_array_equal(mine.distances, exact.distances)
    sure = mine.distances < mine.distances.max(initial=0.0)
    own, other = cells.row_numbers(mine.ids), table.row_numbers(exact.ids)
    assert sorted(own[sure]) == sorted(other[sure])
    assert {tuple(record) for record in cells.records(mine.ids[sure])} == {
        tuple(record) for record in table.records(exact.ids[sure])
    }


def questions(space: Space, records: Array, k: int) -> list[Nearest]:
    """Questions of several kinds: free, in boxes wide and narrow."""
    asked = []
    for i, record in enumerate(records):
        limits: dict[str, float] = [{}, {"weight": 6.0}, {"weight": 1.5, "visits": 1}][i % 3]
        bounds = free(space.width) if i % 4 == 0 else boxed(space, record, **limits)
        asked.append(Nearest(space.points(record[None, :])[0], k, bounds, NO_ROWS))
    return asked


@pytest.mark.parametrize("k", [1, 7, 50, 5000])
def test_with_all_cells_probed_the_answer_is_that_of_the_exact_table(k: int) -> None:
    records = people(3000, seed=0)
    cells, table, space = both(records, n_cells=40, n_probe=40)
    asked = questions(space, people(60, seed=1), k)

    answers = cells.nearest(asked)

    assert cells.exact
    assert cells.recall == 1.0
    for mine, exact in zip(answers, table.nearest(asked), strict=True):
        agree(mine, exact, cells, table)


def test_points_of_an_answer_are_those_of_its_records() -> None:
    cells, _, space = both(people(2000, seed=0), n_cells=20)
    for answer in cells.nearest(questions(space, people(10, seed=1), 20)):
        np.testing.assert_array_equal(answer.points, space.points(cells.records(answer.ids)))


def test_few_probes_still_fill_k_from_a_narrow_box() -> None:
    records = people(3000, seed=0)
    cells, table, space = both(records, n_cells=60, n_probe=1)
    asked = questions(space, people(40, seed=2), 30)
    for mine, exact, question in zip(
        cells.nearest(asked), table.nearest(asked), asked, strict=True
    ):
        assert len(mine.ids) == len(exact.ids)
        assert question.bounds.contain(mine.points).all()


def test_no_excluded_row_comes_back_and_the_next_ones_do() -> None:
    records = people(3000, seed=0)
    cells, _, space = both(records, n_cells=40, n_probe=40)
    point = space.points(people(1, seed=3))[0]
    first = cells.nearest([Nearest(point, 200, free(space.width), NO_ROWS)])[0]
    shut: Ids = np.random.default_rng(0).permutation(first.ids[:150])

    again = cells.nearest([Nearest(point, 50, free(space.width), shut)])[0]

    np.testing.assert_array_equal(again.ids, first.ids[150:200])


def test_nobody_is_further_than_the_radius_and_someone_at_the_radius_is_near_enough() -> None:
    records = people(3000, seed=0)
    cells, _, space = both(records, n_cells=40, n_probe=40)
    point = space.points(people(1, seed=3))[0]
    wide = cells.nearest([Nearest(point, 50, free(space.width), NO_ROWS)])[0]
    radius = float(wide.distances[20])

    near = cells.nearest([Nearest(point, 50, free(space.width), NO_ROWS, radius)])[0]

    assert near.distances.max() == radius
    np.testing.assert_array_equal(near.ids, wide.ids[wide.distances <= radius])


def test_an_empty_box_is_answered_with_nobody() -> None:
    cells, _, space = both(people(500, seed=0), n_cells=10)
    bounds = free(space.width)
    bounds.lower[0], bounds.upper[0] = 1e6, 2e6
    answer = cells.nearest([Nearest(np.zeros(space.width), 5, bounds, NO_ROWS)])[0]
    assert len(answer.ids) == len(answer.distances) == 0
    assert answer.points.shape == (0, space.width)
    assert len(cells.list_rows(bounds)) == 0


def test_a_survey_finds_every_allowed_row_and_no_other() -> None:
    records = people(3000, seed=0)
    cells, table, space = both(records, n_cells=40, n_probe=2)
    for question in questions(space, people(12, seed=4), 1):
        mine = cells.records(cells.list_rows(question.bounds))
        exact = table.records(table.list_rows(question.bounds))
        assert sorted(mine.tolist()) == sorted(exact.tolist())


def test_an_answer_does_not_depend_on_what_else_is_asked() -> None:
    cells, _, space = both(people(4000, seed=0), n_cells=50, n_probe=5)
    asked = questions(space, people(90, seed=5), 25)
    for alone, together in zip(
        (cells.nearest([one])[0] for one in asked), cells.nearest(asked), strict=True
    ):
        np.testing.assert_array_equal(alone.ids, together.ids)
        np.testing.assert_array_equal(alone.distances, together.distances)


def test_few_probes_find_nearly_all_in_clustered_rows() -> None:
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 4, (40, 8))
    records = centres[rng.integers(0, 40, 30_000)] + rng.normal(0, 1, (30_000, 8))
    cells, table, space = both(records, numbers(8))
    asked = [Nearest(point, 50, free(8), NO_ROWS) for point in space.points(records[:100] + 0.1)]

    found = [
        np.isin(mine.distances, exact.distances).mean()
        for mine, exact in _pairs(cells, table, asked)
    ]

    assert not cells.exact
    assert cells.n_probe < len(cells._partition) / 2
    assert 0.999 <= cells.recall <= 1.0
    assert np.mean(found) >= 0.99


def _pairs(
    cells: Cells, table: TableSource, asked: list[Nearest]
) -> Iterator[tuple[Neighbors, Neighbors]]:
    return zip(cells.nearest(asked), table.nearest(asked), strict=True)


def test_the_recall_of_too_few_probes_is_told() -> None:
    records = np.random.default_rng(0).normal(0, 1, (5000, 8))
    cells, table, space = both(records, numbers(8), n_cells=70, n_probe=3)
    asked = [Nearest(point, 50, free(8), NO_ROWS) for point in space.points(records[:200])]

    found = [
        np.isin(mine.distances, exact.distances).mean()
        for mine, exact in _pairs(cells, table, asked)
    ]

    assert cells.recall < 0.9
    assert cells.recall == pytest.approx(np.mean(found), abs=0.1)


def test_neither_the_order_of_rows_nor_repeats_change_anything() -> None:
    records = people(5000, seed=0)
    distinct = np.unique(records, axis=0)
    space = Space.fit(SCHEMA, distinct)
    rng = np.random.default_rng(1)
    twice = np.concatenate([distinct, distinct[::3], distinct[:7]])
    one, other = cells_of(distinct, space), cells_of(twice[rng.permutation(len(twice))], space)

    everyone = np.arange(len(distinct))
    asked = questions(space, people(40, seed=6), 20)

    assert (other.n_rows, other.n_distinct, other.n_probe) == (
        len(twice),
        len(distinct),
        one.n_probe,
    )
    np.testing.assert_array_equal(one.records(everyone), other.records(everyone))
    for mine, theirs in zip(one.nearest(asked), other.nearest(asked), strict=True):
        np.testing.assert_array_equal(mine.ids, theirs.ids)
        np.testing.assert_array_equal(mine.distances, theirs.distances)


def test_a_repeated_row_keeps_its_lowest_number() -> None:
    records = people(2000, seed=0)
    cells, _, _ = both(records, n_cells=20)
    ids = np.arange(cells.n_distinct)
    first = {tuple(record): i for i, record in reversed(list(enumerate(records.tolist())))}
    assert cells.row_numbers(ids).tolist() == [
        first[tuple(record)] for record in cells.records(ids).tolist()
    ]


def test_a_value_that_float32_cannot_hold_is_held_exactly() -> None:
    rng = np.random.default_rng(0)
    records = rng.normal(0, 1, (3000, 3))
    records[:, 0] = rng.choice([0.1, np.nextafter(0.1, 1), np.nextafter(0.1, 0), 0.1 + 1e-9], 3000)
    cells, table, space = both(records, numbers(3), n_cells=30, n_probe=30)
    held = records[records[:, 0] == 0.1][0]
    bounds = free(3)
    bounds.lower[0] = bounds.upper[0] = space.points(held[None, :])[0, 0]

    asked = [Nearest(space.points(held[None, :])[0], k, bounds, NO_ROWS) for k in (5, 400, 2999)]

    assert len(set(np.float32(records[:, 0]))) < 4
    for mine, exact in _pairs(cells, table, asked):
        agree(mine, exact, cells, table)
        assert set(cells.records(mine.ids)[:, 0]) == {0.1}
    assert len(cells.list_rows(bounds)) == (np.unique(records, axis=0)[:, 0] == 0.1).sum()


def test_a_row_exactly_on_a_bound_is_inside_and_the_next_float_is_not() -> None:
    records = np.random.default_rng(0).normal(0, 1, (800, 2))
    cells, _, space = both(records, numbers(2), n_cells=15)
    for row in records[:50]:
        edge = float(space.points(row[None, :])[0, 1])
        for bound, wanted in ((edge, True), (np.nextafter(edge, np.inf), False)):
            bounds = free(2)
            bounds.lower[1] = bound
            answer = cells.nearest([Nearest(space.points(row[None, :])[0], 1, bounds, NO_ROWS)])[0]
            assert (answer.distances[0] == 0) == wanted


def test_unit_differences_between_values_of_ten_million_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    records = np.column_stack(
        [rng.integers(0, 2, 2000) * 1e7 + rng.integers(0, 500, 2000), rng.normal(0, 1, 2000)]
    )
    cells, table, space = both(records, numbers(2), n_cells=25, n_probe=25)
    asked = [Nearest(point, 20, free(2), NO_ROWS) for point in space.points(records[:30])]
    for mine, exact in _pairs(cells, table, asked):
        agree(mine, exact, cells, table)


def test_people_far_from_the_middle_lose_no_neighbour_to_rounding() -> None:
    rng = np.random.default_rng(0)
    records = rng.normal(0, 1, (4000, 6))
    records[:1500] += 2e4  # there float32 is off by more than the distances between people
    cells, table, space = both(records, numbers(6), n_cells=60, n_probe=60)
    asked = [Nearest(point, 200, free(6), NO_ROWS) for point in space.points(records[:30])]
    for mine, exact in _pairs(cells, table, asked):
        agree(mine, exact, cells, table)


def test_one_row_far_off_disturbs_nobody() -> None:
    records = np.random.default_rng(0).normal(0, 1, (2000, 4))
    records[7] = 1e8
    cells, table, space = both(records, numbers(4), n_cells=25, n_probe=25)
    asked = [Nearest(point, 20, free(4), NO_ROWS) for point in space.points(records[:20])]
    for mine, exact in _pairs(cells, table, asked):
        agree(mine, exact, cells, table)


@st.composite
def small_tables(draw: Callable[..., Any]) -> tuple[Array, Array, Bounds, int, Ids, float]:
    n, width = draw(st.integers(1, 40)), draw(st.integers(1, 3))
    value = st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, 1e6, 1e6 + 1, -3.0, -3.0000001])
    row = st.lists(value, min_size=width, max_size=width)
    records = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    low, high = np.array(draw(row)), np.array(draw(row))
    unbounded = np.array(draw(st.lists(st.booleans(), min_size=width, max_size=width)))
    nowhere = np.zeros(width, dtype=bool)
    bounds = Bounds(
        np.where(unbounded, -np.inf, np.minimum(low, high)),
        np.where(unbounded, np.inf, np.maximum(low, high)),
        nowhere, nowhere,
    )  # fmt: skip
    shut = np.array(draw(st.lists(st.integers(0, n - 1), max_size=5)), dtype=np.int64)
    radius = draw(st.sampled_from([0.05, 1.0, 1e6, np.inf]))
    return records, np.array(draw(row)), bounds, draw(st.integers(1, n + 3)), shut, radius


@settings(max_examples=300)
@given(small_tables(), st.integers(1, 6))
def test_small_tables_agree_with_brute_force(
    world: tuple[Array, Array, Bounds, int, Ids, float], n_cells: int
) -> None:
    records, point, bounds, k, shut, radius = world
    rows = np.arange(len(records))
    cells = Cells.of(
        records,
        rows,
        points_of=lambda same: same,
        n_rows=len(records),
        n_cells=n_cells,
        n_probe=n_cells,
    )
    stored = cells.records(np.arange(cells.n_distinct))
    shut = np.unique(shut[shut < len(stored)])

    answer = cells.nearest([Nearest(point, k, bounds, shut, radius)])[0]

    away = np.sqrt(((stored - point) ** 2).sum(axis=1))
    allowed = [i for i in range(len(stored)) if i not in shut and bounds.contain(stored[i])]
    wanted = [i for i in sorted(allowed, key=lambda i: (away[i], i))[:k] if away[i] <= radius]
    assert answer.ids.tolist() == wanted
    assert sorted(stored.tolist()) == np.unique(records, axis=0).tolist()


def test_a_copy_of_cells_in_memory_answers_the_same() -> None:
    cells, _, space = both(people(800, seed=0))
    again = pickle.loads(pickle.dumps(cells))
    asked = questions(space, people(5, seed=8), 10)
    for mine, theirs in zip(cells.nearest(asked), again.nearest(asked), strict=True):
        np.testing.assert_array_equal(mine.ids, theirs.ids)


def test_records_in_float32_are_kept_so_and_answer_as_in_float64() -> None:
    compact = np.random.default_rng(5).normal(size=(4000, 3)).astype(np.float32)
    compact[7, 1] = np.nan
    records = compact.astype(np.float64)
    rows = np.arange(len(records))

    def points_of(some: np.ndarray) -> np.ndarray:
        return np.nan_to_num(2.0 * some)

    kept, wide = (
        Cells.of(one, rows, points_of=points_of, n_rows=len(rows), n_cells=40)
        for one in (make_compact(records), records)
    )

    question = Nearest(np.zeros(3), 30, Bounds.unlimited(3), NO_ROWS)
    near, near_wide = (one.nearest([question])[0] for one in (kept, wide))
    assert kept._rows.records.dtype == np.float32
    assert near.ids.tolist() == near_wide.ids.tolist()
    assert near.distances.tolist() == near_wide.distances.tolist()
    assert kept.records(near.ids).dtype == np.float64
    np.testing.assert_array_equal(kept.records(rows), wide.records(rows))


@pytest.mark.parametrize("odd", [0.1, 1e300])
def test_records_that_float32_would_change_stay_as_they_are(odd: float) -> None:
    records = np.ones((100, 2))
    records[50, 1] = odd

    assert make_compact(records) is records


def test_cells_of_which_none_is_to_be_scanned_still_end_a_question() -> None:
    records = people(400, seed=3)
    cells, table, _ = both(records, n_cells=8, n_probe=0)
    point = table.points(np.array([5]))[0]
    question = Nearest(point, 4, Bounds.unlimited(len(point)), NO_ROWS)

    (found,) = cells.nearest([question])

    assert len(found.ids) == 4
