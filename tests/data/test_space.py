"""Records become points and points records; nothing is scaled anywhere else."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localface.data.feature import Feature
from localface.data.normal_scores import NormalScores
from localface.data.read import read_records
from localface.data.schema import Schema
from localface.data.space import Space
from localface.data.stops import next_multiples, round_outwards
from localface.errors import DataError

SCHEMA = Schema(
    [
        Feature("temp"),
        Feature("age", kind="integer"),
        Feature("on", kind="binary"),
        Feature("ward", kind="categorical", categories=("home", "icu", "step")),
        Feature("grade", kind="ordinal", categories=("low", "mid", "high")),
    ]
)


def people(n: int = 200, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    temp = rng.normal(37, 0.8, n).round(1)
    age = rng.integers(18, 95, n)
    return np.column_stack(
        [temp, age, rng.integers(0, 2, n), rng.integers(0, 3, n), rng.integers(0, 3, n)]
    ).astype(float)


SPACE = Space.fit(SCHEMA, people())


def test_a_point_has_a_column_for_each_number_and_each_category():
    assert SPACE.width == 7
    assert SPACE.feature_of.tolist() == [0, 1, 2, 3, 3, 3, 4]
    assert SPACE.discrete.tolist() == [False, False, True, True, True, True, False]


def test_numbers_enter_by_their_normal_scores():
    records = people()
    knots = NormalScores.fit(records[:, 1])

    points = SPACE.points(records)

    assert points[:, 1] == pytest.approx(np.interp(records[:, 1], knots.values, knots.scores))
    assert points[:, 1].mean() == pytest.approx(0, abs=0.05)
    assert points[:, 1].std() == pytest.approx(1, abs=0.05)


def test_scales_say_what_an_ordinary_difference_is_in_the_users_units():
    low, high = np.quantile(people()[:, 1], [0.25, 0.75])

    assert SPACE.scales[1] == pytest.approx((high - low) / 1.349)


def test_in_the_papers_geometry_numbers_are_centred_on_the_median_and_divided_by_their_scale():
    records = people()
    space = Space.fit(SCHEMA, records, linear=True)

    points = space.points(records)

    middle = np.median(records[:, 1])
    assert points[:, 1] == pytest.approx((records[:, 1] - middle) / space.scales[1])
    assert (space.records(points) == records).all()


def test_steps_of_one_size_count_for_less_where_hardly_anybody_is():
    incomes = np.exp(np.random.default_rng(0).normal(10, 1, (500, 1)))
    space = Space.fit(Schema([Feature("income")]), incomes)

    usual, rich = np.quantile(incomes, [0.5, 0.95])
    places = space.points(np.array([[usual], [usual + 20_000], [rich], [rich + 20_000]]))[:, 0]

    assert places[1] - places[0] > 3 * (places[3] - places[2])


def test_whole_numbers_and_grades_enter_by_their_scores_as_well():
    grades = people()[:, 4]
    knots = NormalScores.fit(grades)

    points = SPACE.points(people())

    assert len(np.unique(points[:, 6])) == 3
    assert points[:, 6] == pytest.approx(np.interp(grades, knots.values, knots.scores))


def test_two_categories_are_one_unit_apart():
    records = np.repeat(people(1), 3, axis=0)
    records[:, 2] = [0, 1, 0]
    records[:, 3] = [0, 0, 2]

    points = SPACE.points(records)

    assert np.linalg.norm(points[0] - points[1]) == pytest.approx(1)
    assert np.linalg.norm(points[0] - points[2]) == pytest.approx(1)


def test_a_scale_that_is_given_is_the_one_used():
    schema = Schema(
        [
            Feature("a", scale=2),
            Feature("b", kind="binary", scale=4),
            Feature("c", kind="categorical", categories=("x", "y"), scale=5),
        ]
    )
    records = np.array([[1.0, 0, 0], [3.0, 1, 1]])

    points = Space.fit(schema, records).points(records)

    assert Space.fit(schema, records).scales.tolist() == [2, 4, 5]
    assert (points[1] - points[0])[:2].tolist() == [1.0, 0.25]
    assert np.linalg.norm((points[1] - points[0])[2:]) == pytest.approx(1 / 5)


def test_where_most_are_alike_the_plain_deviation_is_the_scale():
    records = np.array([[0.0]] * 9 + [[10.0]])

    assert Space.fit(Schema([Feature("x")]), records).scales[0] == pytest.approx(records.std())


def test_a_constant_column_is_refused_with_three_ways_out():
    records = np.full((5, 1), 48.0)

    message = (
        r"'los' has the same value \(48\) in every row.*"
        r"Feature\('los', moves='never'\).*scale=.*drop the column"
    )
    with pytest.raises(DataError, match=message):
        Space.fit(Schema([Feature("los")]), records)
    assert Space.fit(Schema([Feature("los", moves="never")]), records).scales[0] == 1
    assert Space.fit(Schema([Feature("los", scale=3)]), records).scales[0] == 3


def test_rows_come_back_as_they_were():
    records = people()

    assert (SPACE.records(SPACE.points(records)) == records).all()


def test_numbers_of_few_digits_come_back_to_the_last_bit():
    records = np.random.default_rng(1).normal(100, 300, (2000, 1)).round(3)
    space = Space.fit(Schema([Feature("balance")]), records)

    assert space.records(space.points(records)).tobytes() == records.tobytes()


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e3))
def test_any_number_comes_back_to_within_rounding(value, scale):
    space = Space.fit(Schema([Feature("x", scale=scale)]), np.array([[0.1], [37.3], [99.0]]))

    back = space.records(space.points(np.array([[value]])))

    assert back[0, 0] == pytest.approx(value, rel=1e-12, abs=1e-12 * max(scale, 40))


@given(st.integers(0, 2**32), st.integers(1, 8))
def test_a_record_has_the_same_point_alone_and_in_any_batch(seed, n):
    records = people(n, seed)

    together = SPACE.points(records)

    for i in range(n):
        assert SPACE.points(records[i : i + 1])[0].tobytes() == together[i].tobytes()


def odd_columns():
    chance = np.random.default_rng(3)
    outliers = chance.normal(size=300).round(2)
    outliers[:3] = [1e9, -1e6, 12345.67]
    return {
        "skewed": np.exp(chance.normal(0, 3, 300)).round(4),
        "outliers": outliers,
        "heavy tails": chance.standard_cauchy(300).round(3),
        "ties": chance.poisson(0.5, 300) / 10,
        "crowds": np.concatenate([chance.normal(0, 1, 150), chance.normal(60, 1, 150)]).round(1),
        "almost constant": np.append(np.full(299, 4.2), 4.3),
    }


@pytest.mark.parametrize("name", odd_columns())
def test_rows_of_odd_columns_come_back_to_the_last_bit(name):
    records = odd_columns()[name][:, None] + 0.0  # no negative zero
    space = Space.fit(Schema([Feature("x")]), records)

    assert space.records(space.points(records)).tobytes() == records.tobytes()


@pytest.mark.parametrize("name", odd_columns())
@given(share=st.floats(-0.5, 1.5))
def test_values_between_and_beyond_the_rows_come_back_too(name, share):
    column = odd_columns()[name]
    space = Space.fit(Schema([Feature("x")]), column[:, None])
    value = column.min() + share * np.ptp(column)

    back = space.records(space.points(np.array([[value]])))[0, 0]

    assert back == pytest.approx(value, rel=1e-9, abs=1e-9 * np.ptp(column))


@given(st.floats(-1e7, 1e7), st.floats(0, 1e6))
def test_larger_values_have_no_lower_points(value, more):
    space = Space.fit(Schema([Feature("x")]), odd_columns()["outliers"][:, None])

    low, high = space.points(np.array([[value], [value + more]]))[:, 0]

    assert low <= high


@given(st.lists(st.floats(-5, 5), min_size=7, max_size=7))
def test_settling_gives_a_legal_record_and_settles_at_once(numbers):
    point = np.array(numbers)

    settled = SPACE.snap(point)
    record = SPACE.records(settled[None, :])[0]

    assert settled[0] == point[0]
    assert record[1] == round(record[1])
    assert record[2] in (0, 1)
    assert record[3] in (0, 1, 2)
    assert record[4] in (0, 1, 2)
    assert SPACE.snap(settled).tobytes() == settled.tobytes()
    assert SPACE.points(record[None, :])[0] == pytest.approx(settled, abs=1e-9)


def test_settling_takes_the_nearest_whole_number_and_category():
    point, older = SPACE.points(np.array([[37.0, 60, 1, 2, 1], [37.0, 60.4, 1, 2, 1]]))

    moved = point + np.array([0.3, older[1] - point[1], -0.4, 0.3, 0.2, -0.3, 0.4])

    assert SPACE.records(SPACE.snap(moved)[None, :])[0, 1:4].tolist() == [60, 1, 2]


@given(st.integers(0, 2**32), st.booleans())
def test_a_row_is_within_the_bounds_exactly_when_the_box_holds_it(seed, loose):
    rows = people(50, seed)
    where = {"temp": (36.5, 37.7), "age": 20, "ward": ["home", "icu"], "grade": ["mid", "high"]}
    where = where if loose else {"on": "never", "ward": ["icu"], "grade": "up", "temp": "down"}
    box = SCHEMA.box(rows[0], where)

    inside = SPACE.bounds(box).contain(SPACE.points(rows))

    held = [all(box.allows_code(j, code) for j, code in enumerate(row)) for row in rows]
    assert inside.tolist() == held


def test_bounds_carry_one_way_columns_and_pin_categories():
    person = np.array([37.0, 60.0, 0.0, 2.0, 1.0])
    box = SCHEMA.box(
        person, {"age": "up", "on": "up", "grade": "down", "ward": "never", "temp": "never"}
    )

    bounds = SPACE.bounds(box)
    point = SPACE.points(person[None, :])[0]

    assert bounds.up.tolist() == [False, True, True, False, False, False, False]
    assert bounds.down.tolist() == [False] * 6 + [True]
    assert bounds.lower[0] == bounds.upper[0] == point[0]
    assert bounds.upper[3:5].tolist() == [0, 0]
    assert bounds.lower[5] == point[5]
    assert bounds.contain(point[None, :]).all()


def test_what_is_open_stays_open():
    bounds = SPACE.bounds(SCHEMA.box(people(1)[0]))

    assert np.isneginf(bounds.lower).all()
    assert np.isposinf(bounds.upper).all()


def test_bounds_on_numbers_are_at_the_points_of_their_values():
    person = np.array([37.0, 60.0, 0.0, 2.0, 1.0])
    bounds = SPACE.bounds(SCHEMA.box(person, {"temp": (36.2, 38.4), "age": 10}))
    low, high = SPACE.points(np.array([[36.2, 50, 0, 2, 1], [38.4, 70, 0, 2, 1]]))

    assert bounds.lower[:2].tolist() == low[:2].tolist()
    assert bounds.upper[:2].tolist() == high[:2].tolist()


def test_what_is_just_noticeable_is_so_in_the_users_units_wherever_a_person_is():
    schema = Schema([Feature("temp", resolution=0.1), Feature("age", kind="integer")])
    records = people()[:, :2]
    space = Space.fit(schema, records)

    for temp in (36.0, 37.0, 39.5):
        low, high = space.just_noticeable(np.array([temp, 60.0]))
        nearer = space.points(np.array([[temp - 0.09, 60.0], [temp + 0.09, 60.0]]))
        further = space.points(np.array([[temp - 0.11, 60.0], [temp + 0.11, 60.0]]))
        assert low[0] < nearer[0, 0] < nearer[1, 0] < high[0]
        assert further[0, 0] < low[0] < high[0] < further[1, 0]


def test_a_change_by_the_resolution_itself_is_noticed():
    schema = Schema([Feature("temp", resolution=0.1)])
    space = Space.fit(schema, people()[:, :1])

    _, high = space.just_noticeable(np.array([37.0]))

    assert space.points(np.array([[37.1]]))[0, 0] > high[0]


def test_without_a_resolution_and_in_categories_every_change_is_noticed():
    record = people(1)[0]

    low, high = SPACE.just_noticeable(record)

    point = SPACE.points(record[None, :])[0]
    assert low[[0, 2, 3, 4, 5]].tolist() == high[[0, 2, 3, 4, 5]].tolist()
    assert low[[0, 2]].tolist() == point[[0, 2]].tolist()


def test_a_copy_carries_what_was_fitted_and_nothing_that_follows_from_it():
    copy = pickle.loads(pickle.dumps(SPACE))
    knots = sum(len(one.values) for one in SPACE.normal_scores if one is not None)

    assert copy.points(people()).tobytes() == SPACE.points(people()).tobytes()
    assert len(pickle.dumps(SPACE)) < len(pickle.dumps(SCHEMA)) + 16 * knots + 2000


def test_a_curve_goes_straight_in_points_and_through_all_of_them() -> None:
    chance = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "pay": chance.lognormal(10, 1, 300),
            "years": chance.poisson(5, 300),
            "ward": chance.choice(["a", "b", "c"], 300),
        }
    )
    schema = Schema.infer(table)
    space = Space.fit(schema, read_records(table, schema))
    points = space.points(read_records(table[:3], schema))

    curve = space.curve(points, 10)

    assert curve.shape == (21, 3)
    assert curve[[0, 10, 20]] == pytest.approx(space.records(points))
    assert len(np.unique(curve[:, 1] % 1)) > 2 or (curve[:, 1] == curve[0, 1]).all()  # not rounded
    assert set(curve[:5, 2]) == {curve[0, 2]}
    assert set(curve[5:10, 2]) == {curve[10, 2]}
    middle = space.points(curve)[5, 0]
    assert middle == pytest.approx((points[0, 0] + points[1, 0]) / 2)


def test_the_curve_of_a_single_point_is_that_point() -> None:
    schema = Schema([Feature("x")])
    space = Space.fit(schema, np.arange(9.0)[:, None])
    assert space.curve(np.array([[0.5]])) == pytest.approx(space.records(np.array([[0.5]])))
    assert len(space.curve(np.zeros((0, 1)))) == 0


def test_values_that_many_share_are_read_as_those_of_one() -> None:
    rng = np.random.default_rng(0)
    few = np.round(rng.normal(size=(40, 3)), 1) * [1, 10, 0.01]
    table = np.column_stack([few[rng.integers(0, 40, 700)], rng.normal(size=700)])
    schema = Schema([Feature(name) for name in "abcd"])
    space = Space.fit(schema, table)
    points = space.points(table)
    points[::7] += rng.normal(size=(100, points.shape[1]))
    points[3] = -0.0

    together = space.records(points)

    alone = np.concatenate([space.records(point[None, :]) for point in points])
    assert together.tobytes() == alone.tobytes()


def test_whole_numbers_stop_at_multiples_of_their_resolution_and_not_in_between():
    credits = Feature("credits", kind="integer", resolution=5, scale=10)
    space = Space.fit(Schema([credits]), np.arange(0.0, 45.0, 5)[:, None])
    record = np.array([10.0])
    wanted = space.points(np.array([[13.0], [15.0], [21.0], [4.0]]))[:, 0]

    values = space.column_codes(0, round_outwards(space, record, 0, wanted))

    assert values.tolist() == [15.0, 15.0, 25.0, 0.0]


def test_whole_numbers_stop_at_round_ones_where_that_is_hardly_further():
    amount = Feature("amount", kind="integer")
    space = Space.fit(Schema([amount]), np.arange(0.0, 9000.0, 7)[:, None])
    record = np.array([4594.0])
    wanted = space.points(np.array([[3579.0], [4600.0], [6612.0]]))[:, 0]

    values = space.column_codes(0, round_outwards(space, record, 0, wanted))

    assert values.tolist() == [3550.0, 4600.0, 6700.0]


def test_small_whole_numbers_go_on_to_the_next_whole_one():
    count = Feature("count", kind="integer", resolution=1)
    space = Space.fit(Schema([count]), np.arange(0.0, 60.0)[:, None])
    record = np.array([20.0])
    codes = np.array([20.1, 21.0, 22.7, 38.9, 19.5, 2.2])
    wanted = space.points(codes[:, None])[:, 0]  # rounded to whole codes on the way back

    few = space.column_codes(0, round_outwards(space, record, 0, wanted))
    many = [space.column_codes(0, round_outwards(space, record, 0, one[None]))[0] for one in wanted]

    assert few.tolist() == many == np.rint(codes).tolist()


def test_numbers_with_a_resolution_of_one_end_at_whole_ones_too():
    space = Space.fit(Schema([Feature("depth", resolution=1)]), np.linspace(0.0, 60.0, 90)[:, None])
    wanted = space.points(np.array([[21.3], [18.6]]))[:, 0]

    values = round_outwards(space, np.array([20.0]), 0, wanted)

    assert space.column_codes(0, values).tolist() == [22.0, 18.0]


def test_a_large_number_among_small_ones_comes_back_with_the_digits_that_it_has():
    rng = np.random.default_rng(0)
    small = rng.random(4000).round(9)
    column = np.where(rng.random(4000) < 0.8, small, rng.integers(1, 40_000, 4000))
    space = Space.fit(Schema([Feature("ratio")]), column[:, None])
    typed = [3700.0, 4555.0, 12.5, 123456.75, 1e11, 0.1, 0.493059411]

    records = space.records(space.points(np.array(typed)[:, None]))

    assert records[:, 0].tolist() == typed


def test_the_next_multiple_is_the_very_next_one_and_what_has_no_resolution_stays():
    schema = Schema([Feature("power", resolution=0.5), Feature("depth")])
    space = Space.fit(schema, np.linspace(0.0, 90.0, 40)[:, None] * np.ones(2))
    record = np.array([10.0, 10.0])
    wanted = space.points(np.array([[48.6, 48.6], [50.0, 50.0], [3.1, 3.1]]))

    power = next_multiples(space, record, 0, wanted[:, 0])
    depth = next_multiples(space, record, 1, wanted[:, 1])

    assert space.column_codes(0, power).tolist() == [49.0, 50.0, 3.0], "and not the roundest"
    assert depth.tolist() == wanted[:, 1].tolist()
