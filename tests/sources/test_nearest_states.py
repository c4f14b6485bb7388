"""States that a person may take over: those of brute force, whichever source is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localface.geometry.bounds import Bounds
from localface.geometry.point_set import PointSet
from localface.geometry.projection import Projection
from localface.sources.cells import Cells
from localface.sources.nearest_states import different_states
from localface.sources.protocol import Nearest, Neighbors
from localface.sources.table import TableSource
from localface.types import NO_ROWS, Array, Ids

HEIGHT = float(np.sqrt(0.5))  # of a category's column, which float32 cannot hold
Build = Callable[[Array], TableSource | Cells]


def table(points: Array) -> TableSource:
    return TableSource(PointSet(points), points, np.arange(len(points)), n_rows=len(points))


def in_cells(points: Array, *, n_cells: int = 5, n_probe: int | None = None) -> Cells:
    """Cells of which all are scanned, unless told otherwise."""
    return Cells.of(
        points,
        np.arange(len(points)),
        points_of=lambda same: same,
        n_rows=len(points),
        n_cells=n_cells,
        n_probe=n_probe or n_cells,
    )


def limits(lower: Any, upper: Any) -> Bounds:
    one_way = np.zeros(len(lower), dtype=bool)
    return Bounds(np.array(lower, dtype=float), np.array(upper, dtype=float), one_way, one_way)


def own(person: Array, columns: Any, groups: Any = None) -> Projection:
    """A projection under which some columns stay as they are."""
    lower = np.full(len(person), -np.inf)
    upper = np.full(len(person), np.inf)
    lower[columns] = upper[columns] = person[columns]
    group_of = np.arange(len(person)) if groups is None else np.array(groups)
    return Projection(limits(lower, upper), person, group_of)


def brute(rows: Array, asked: Nearest) -> list[tuple[float, int, tuple[float, ...]]]:
    """Every row by itself: distance, smallest id and values of the k nearest states."""
    assert asked.projection is not None
    excluded = set(asked.exclude.tolist())
    first: dict[tuple[float, ...], int] = {}
    states = asked.projection.states_of(rows)
    for i in np.flatnonzero(asked.bounds.contain(states)).tolist():
        if i not in excluded:
            first.setdefault(tuple((states[i] + 0.0).tolist()), i)
    first.pop(tuple((asked.point + 0.0).tolist()), None)
    away = {state: float(np.sqrt(((state - asked.point) ** 2).sum())) for state in first}
    ranked = sorted((away[state], i, state) for state, i in first.items())
    return [one for one in ranked[: asked.k] if one[0] <= asked.radius]


def assert_right(rows: Array, found: Neighbors, asked: Nearest) -> None:
    expected = brute(rows, asked)
    assert found.ids.tolist() == [i for _, i, _ in expected]
    assert found.distances.tolist() == [distance for distance, _, _ in expected]
    assert (found.points + 0.0).tolist() == [list(state) for _, _, state in expected]
    assert found.moved is not None
    assert found.moved.tolist() == (found.points != rows[found.ids]).any(axis=1).tolist()


def assert_same(one: Neighbors, other: Neighbors) -> None:
    np.testing.assert_array_equal(one.ids, other.ids)
    np.testing.assert_array_equal(one.points, other.points)
    np.testing.assert_array_equal(one.distances, other.distances)
    np.testing.assert_array_equal(one.moved, other.moved)


def stored_rows(source: TableSource | Cells) -> Array:
    return source.records(source.list_rows(Bounds.unlimited(source.width)))


VALUES = st.sampled_from([-3.0, -1.0, 0.0, 0.1, 0.2, 0.3, 1.0, 1.0000001, 2.0, 1e4])
GROUPS = [0, 1, 2, 2, 2, 3, 3, 4]  # two numbers, three categories, two linked numbers, a number


@st.composite
def rows_with_categories(draw: Callable[..., Any]) -> Array:
    """Rows of five numbers, two of them linked, with a feature of three categories between."""
    n = draw(st.integers(1, 50))
    few = draw(st.lists(VALUES, min_size=2, max_size=4, unique=True))
    numbers = draw(st.lists(st.lists(st.sampled_from(few), min_size=5, max_size=5), min_size=n))
    codes = draw(st.lists(st.integers(0, 2), min_size=len(numbers), max_size=len(numbers)))
    values = np.array(numbers)
    categories = np.eye(3)[codes] * HEIGHT
    return np.unique(np.column_stack([values[:, :2], categories, values[:, 2:]]), axis=0)


@st.composite
def limits_of_a_number(draw: Callable[..., Any], mine: float) -> tuple[float, float]:
    """Limits of all kinds around a person's own value, which may lie outside."""
    kind = draw(st.sampled_from(["free", "fixed", "up", "down", "within", "elsewhere"]))
    other = sorted([draw(VALUES), draw(VALUES)])
    return {
        "free": (-np.inf, np.inf),
        "fixed": (mine, mine),
        "up": (mine, np.inf),
        "down": (-np.inf, mine),
        "within": (mine - 0.15, mine + 1.0),
        "elsewhere": (other[0], other[1]),
    }[kind]


@st.composite
def projections(draw: Callable[..., Any], person: Array) -> Projection:
    lower = np.full(8, -np.inf)
    upper = np.full(8, np.inf)
    for column in (0, 1, 5, 6, 7):
        lower[column], upper[column] = draw(limits_of_a_number(float(person[column])))
    allowed = sorted(draw(st.sets(st.integers(0, 2), min_size=1)))
    for code in {0, 1, 2} - set(allowed):
        upper[2 + code] = 0.0
    if len(allowed) == 1:
        lower[2 + allowed[0]] = HEIGHT
    kept = np.clip(person, lower, upper)
    code = int(person[2:5].argmax())
    kept[2:5] = np.eye(3)[code if code in allowed else allowed[0]] * HEIGHT
    return Projection(limits(lower, upper), kept, np.array(GROUPS))


@st.composite
def questions(draw: Callable[..., Any], rows: Array) -> Nearest:
    """A question about rows or about states, in bounds that may be tighter than the limits."""
    person = rows[draw(st.integers(0, len(rows) - 1))]
    place = person.copy()
    place[draw(st.integers(5, 7))] = draw(VALUES)
    projection = draw(st.none() | projections(person))
    bounds = Bounds.unlimited(8)
    if projection is not None:
        bounds = limits(projection.bounds.lower, projection.bounds.upper)
    if draw(st.booleans()):
        column = draw(st.sampled_from([0, 1, 5, 6, 7]))
        bounds.lower[column] = max(bounds.lower[column], place[column])
    return Nearest(
        place,
        draw(st.sampled_from([0, 1, 3, 10, 60])),
        bounds,
        np.unique(np.array(draw(st.lists(st.integers(0, len(rows) - 1), max_size=6)), dtype=int)),
        draw(st.sampled_from([np.inf, 0.5, 1.0, np.sqrt(2), 4.0])),
        projection,
    )


@st.composite
def worlds(draw: Callable[..., Any]) -> tuple[Array, list[Nearest]]:
    rows = draw(rows_with_categories())
    return rows, [draw(questions(rows)) for _ in range(draw(st.integers(1, 5)))]


@pytest.mark.parametrize("build", [table, in_cells])
@settings(max_examples=200, deadline=None)
@given(world=worlds())
def test_states_are_those_of_brute_force_whatever_else_is_asked(
    build: Build, world: tuple[Array, list[Nearest]]
) -> None:
    rows, asked = world
    source = build(rows)
    rows = stored_rows(source)

    together = source.nearest(asked)

    for question, found in zip(asked, together, strict=True):
        assert_same(source.nearest([question])[0], found)
        if question.projection is not None:
            assert_right(rows, found, question)


@pytest.mark.parametrize("build", [table, in_cells])
@settings(max_examples=50, deadline=None)
@given(world=worlds())
def test_a_question_for_rows_is_answered_as_if_nobody_asked_for_states(
    build: Build, world: tuple[Array, list[Nearest]]
) -> None:
    rows, asked = world
    source = build(rows)
    plain = [question for question in asked if question.projection is None]
    mixed = dict(zip(map(id, asked), source.nearest(asked), strict=True))

    for question, found in zip(plain, source._nearest_rows(plain) if plain else [], strict=True):
        assert_same(mixed[id(question)], found)


def cloud(n: int, width: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, width)) @ (np.eye(width) + 0.3 * rng.normal(size=(width, width)))
    points[:, -2:] = np.round(points[:, -2:])
    return np.unique(points, axis=0)


def questions_of_people(points: Array, kept: Sequence[int], n: int) -> list[Nearest]:
    """People who keep some columns, may only grow in one, and are asked from where others are."""
    rng = np.random.default_rng(0)
    asked = []
    for i in range(n):
        person = points[rng.integers(len(points))]
        projection = own(person, list(kept))
        projection.bounds.lower[-1] = person[-1]
        point = projection.states_of(points[rng.integers(len(points))][None, :])[0]
        exclude = rng.permutation(len(points))[: len(points) // 3] if i % 3 == 0 else NO_ROWS
        k = int(rng.choice([1, 15, 50, 400]))
        bounds = limits(np.fmax(projection.bounds.lower, -3.0), projection.bounds.upper)
        asked.append(Nearest(point, k, bounds, exclude, projection=projection))
    return asked


@pytest.mark.parametrize("build", [table, in_cells])
@pytest.mark.parametrize("kept", [[], [0, 3], [0, 1, 2, 3, 4, 5]])
def test_in_a_larger_table_states_are_those_of_brute_force(build: Build, kept: list[int]) -> None:
    source = build(cloud(2500, 8, seed=1))
    rows = stored_rows(source)
    asked = questions_of_people(rows, kept, 12)

    for question, found in zip(asked, source.nearest(asked), strict=True):
        assert_right(rows, found, question)


@pytest.mark.parametrize("build", [table, in_cells])
def test_where_rows_are_far_and_their_states_near_nothing_is_lost_to_rounding(build: Build) -> None:
    rows = cloud(400, 5, seed=2) * 1e-7
    rows[:, 0] = np.random.default_rng(0).normal(size=len(rows)) * 1e8
    source = build(np.unique(rows, axis=0))
    rows = stored_rows(source)
    person = rows[7].copy()
    person[0] = 0.0
    projection = own(person, [0])
    asked = Nearest(person, 40, projection.bounds, NO_ROWS, projection=projection)

    assert_right(rows, source.nearest([asked])[0], asked)


@pytest.mark.parametrize("build", [table, in_cells])
def test_a_state_is_left_out_where_all_who_come_to_it_are(build: Build) -> None:
    source = build(np.array([[0.0, 0.0], [1.0, 5.0], [2.0, 5.0], [3.0, 6.0]]))
    rows = stored_rows(source)
    projection = own(np.zeros(2), [0])
    fives = np.flatnonzero(rows[:, 1] == 5.0)

    def states(exclude: Ids) -> Neighbors:
        asked = Nearest(np.zeros(2), 9, projection.bounds, exclude, projection=projection)
        return source.nearest([asked])[0]

    assert states(NO_ROWS).points.tolist() == [[0.0, 5.0], [0.0, 6.0]]
    assert states(NO_ROWS).ids[0] == fives[0]
    assert states(fives[:1]).ids[0] == fives[1]
    assert states(fives).points.tolist() == [[0.0, 6.0]]


@pytest.mark.parametrize("build", [table, in_cells])
def test_a_value_just_beyond_a_limit_that_float32_cannot_tell_keeps_its_group(build: Build) -> None:
    within = [[0.1, 0.5 + i / 2000] for i in range(2000)]
    source = build(np.array([*within, [float(np.nextafter(0.1, 1)), 3.0]]))
    person = np.array([0.05, 0.0])
    projection = Projection(limits([-1, -np.inf], [0.1, np.inf]), person, np.array([0, 0]))
    asked = Nearest(person + 0.01, 1, projection.bounds, NO_ROWS, projection=projection)

    found = source.nearest([asked])[0]

    assert found.points.tolist() == [person.tolist()]
    assert_right(stored_rows(source), found, asked)


@pytest.mark.parametrize("build", [table, in_cells])
def test_people_far_from_the_middle_lose_no_state_to_rounding(build: Build) -> None:
    rows = np.random.default_rng(0).normal(size=(3000, 4)) + 2e4  # float32 is off by 0.001 there
    rows[:, 1:] = 2e4 + 0.01 * (rows[:, 1:] - 2e4)
    source = build(rows)
    rows = stored_rows(source)
    projection = own(rows[0], [0])
    for point in rows[:10]:
        place = projection.states_of(point[None, :])[0]
        asked = Nearest(place, 20, projection.bounds, NO_ROWS, projection=projection)
        assert_right(rows, source.nearest([asked])[0], asked)


def test_few_probes_still_find_k_states_and_most_of_the_nearest() -> None:
    points = cloud(6000, 8, seed=3)
    few = in_cells(points, n_cells=80, n_probe=20)
    every = in_cells(points, n_cells=80, n_probe=80)
    asked = questions_of_people(stored_rows(few), [0, 3], 30)

    shares = []
    for mine, exact in zip(few.nearest(asked), every.nearest(asked), strict=True):
        assert len(mine.ids) == len(exact.ids)
        shares.append(np.isin(mine.distances, exact.distances).mean())

    assert np.mean(shares) > 0.9


def test_states_that_tie_in_both_sums_are_told_apart_by_their_values() -> None:
    states = np.array([[1e17, 1.0], [1e17, 2.0], [1e17, 1.0], [3.0, 0.0], [1e17, 2.0]])
    distances = np.array([4.0, 4.0, 4.0, 1.0, 4.0])

    order = different_states(np.array([9, 8, 7, 6, 5]), states, distances)

    assert order.tolist() == [3, 4, 2]


def test_many_rows_that_tie_in_a_sum_are_told_apart_by_their_values() -> None:
    rows = np.array([[float(i), 1e17, float(i % 7)] for i in range(2000)])
    rows[-1, 1] = 2e17
    person = np.array([0.0, 1e17, 0.5])
    projection = own(person, [0])
    asked = Nearest(person, 9, projection.bounds, NO_ROWS, projection=projection)

    assert_right(rows, table(rows).nearest([asked])[0], asked)


@pytest.mark.parametrize("build", [table, in_cells])
def test_where_no_row_s_group_can_be_taken_over_all_keep_what_the_person_has(build: Build) -> None:
    rows = np.array([[5.0 + i, float(i), float(i % 3)] for i in range(9)])
    person = np.array([0.5, 100.0, 1.0])
    projection = Projection(
        limits([0, -np.inf, -np.inf], [1, 200, np.inf]), person, np.array([0, 0, 1])
    )
    source = build(rows)
    asked = Nearest(person, 5, projection.bounds, NO_ROWS, 1.0, projection)

    found = source.nearest([asked])[0]

    assert_right(stored_rows(source), found, asked)
    assert sorted(found.points[:, 2].tolist()) == [0.0, 2.0]
