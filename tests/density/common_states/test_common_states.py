"""The whole density: calibrated, strict on composed records, safe on odd tables."""

from __future__ import annotations

import numpy as np
import pytest
from made_tables import (
    composed_records,
    engine_like,
    fit_on,
    log_densities,
    numbers_schema,
    phone_bills,
    phone_schema,
    shares,
)

from judge import Judge
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.density.protocol import FLOOR_TOLERANCE

RECORDS = phone_bills(4000, seed=0)
KNOWN = RECORDS[:2500]
NEW = RECORDS[2500:]
OWNS = [(), ("plan",), ("months", "contract")]
each_own = pytest.mark.parametrize("own", OWNS, ids=["nothing own", "plan", "months, contract"])


@each_own
def test_a_floor_of_five_percent_refuses_five_percent_of_new_people(own):
    refused = np.mean(shares(fit_on(KNOWN, phone_schema(own)), NEW) < 0.05)

    assert 0.03 <= refused <= 0.07


def test_other_floors_are_calibrated_too():
    found = shares(fit_on(KNOWN, phone_schema()), NEW)

    for floor in (0.01, 0.02, 0.1, 0.3):
        error = 4 * np.sqrt(floor * (1 - floor) * (1 / len(NEW) + 1 / len(KNOWN)))
        assert abs(np.mean(found < floor) - floor) <= error + 0.002


def test_few_rows_in_many_columns_are_calibrated_as_well():
    chance = np.random.default_rng(1)
    mixing = np.eye(12) + 0.4 * chance.normal(size=(12, 12))
    records = chance.normal(size=(1800, 12)) @ mixing

    refused = np.mean(shares(fit_on(records[:300], numbers_schema(12)), records[300:]) < 0.05)

    assert 0.02 <= refused <= 0.1


def test_composed_records_are_refused_much_more_often():
    found = shares(fit_on(KNOWN, phone_schema()), composed_records(NEW, seed=1))

    assert np.mean(found >= 0.05) < 0.1


@each_own
def test_values_along_steps_the_scale_and_the_floor_are_those_of_the_judge(own):
    schema = phone_schema(own)
    density = fit_on(KNOWN[:500], schema)
    judge = Judge.of_codes(engine_like(density, schema), KNOWN[:500], 0.05)
    chance = np.random.default_rng(2)
    first, last = chance.integers(0, 500, (2, 25))
    first[:5] = last[:5]

    found = density.lowest_along(density.rows.points[first], density.rows.points[last], None)
    mean = density.mean_along(density.rows.points[first], density.rows.points[last], None)

    assert judge.levels == pytest.approx(density.scale.log_densities, abs=1e-7)
    assert judge.floor == pytest.approx(density.scale.quantile(0.05), abs=1e-7)
    for i, (a, b) in enumerate(zip(first, last, strict=True)):
        lowest = judge.lowest(judge.rows[a], judge.rows[b])
        assert found.log_densities[i] <= lowest + 1e-7
        assert found.log_densities[i] == pytest.approx(lowest, abs=1e-5)
        if a != b:
            assert mean.log_densities[i] == pytest.approx(
                judge.mean(judge.rows[a], judge.rows[b]), abs=1e-4
            )


@each_own
def test_a_verdict_is_what_the_full_value_says(own):
    density = fit_on(KNOWN[:900], phone_schema(own))
    chance = np.random.default_rng(3)
    points = density.rows.points
    starts, ends = points[chance.integers(0, 900, (2, 400))]
    full = density.lowest_along(starts, ends, None).log_densities

    for share in (0.001, 0.05, 0.3):
        floor = density.scale.quantile(share)
        found = density.lowest_along(starts, ends, floor)
        assert (found.passes == (full >= floor - 1e-9)).all()
        assert (found.log_densities[found.passes] >= floor - 1e-9).all()
        assert (found.log_densities[found.passes] <= full[found.passes] + 1e-9).all()
        assert (found.log_densities[~found.passes] < floor).all()


def test_holes_hold_no_state_above_the_floor():
    density = fit_on(KNOWN[:900], phone_schema(("plan",)))
    floor = density.scale.quantile(0.05)
    chance = np.random.default_rng(4)
    starts, ends = density.rows.points[chance.integers(0, 900, (2, 300))]

    found = density.lowest_along(starts, ends, floor)

    assert found.holes
    back = np.linalg.inv(found.holes[0][1].matrix)
    for number, hole in found.holes:
        way = chance.normal(size=(50, len(back)))
        way *= hole.radius * chance.random((50, 1)) / np.linalg.norm(way, axis=1)[:, None]
        inside = (hole.centre + way) @ back
        mean, spread = density.given_own.at(starts[[number]])  # as the person of the step sees it
        joint = density.kde.lowest_along(inside, inside, None).log_densities
        assert ((joint - mean[0, 0]) / spread[0, 0] < floor).all()


def test_rows_have_what_their_own_places_have_without_them():
    density = fit_on(KNOWN[:300], phone_schema(("plan",)))
    points = density.rows.points
    along = density.lowest_along(points, points, None).log_densities

    known = density.row_log_densities(np.arange(300))
    density.known_log_densities[::2] = np.nan
    some = density.row_log_densities(np.arange(300))
    density.known_log_densities[:] = np.nan
    none = density.row_log_densities(np.arange(300))

    assert known == pytest.approx(along, abs=1e-9)
    assert some == pytest.approx(along, abs=1e-9)
    assert none == pytest.approx(along, abs=1e-9)


def test_the_same_in_any_batch_and_in_any_order():
    density = fit_on(KNOWN[:600], phone_schema(("months",)))
    chance = np.random.default_rng(5)
    starts, ends = density.rows.points[chance.integers(0, 600, (2, 60))]
    floor = density.scale.quantile(0.05)
    together = density.lowest_along(starts, ends, floor)
    full = density.lowest_along(starts, ends, None).log_densities

    backwards = density.lowest_along(starts[::-1], ends[::-1], floor)

    assert (backwards.passes[::-1] == together.passes).all()
    for i in range(0, 60, 7):
        alone = density.lowest_along(starts[[i]], ends[[i]], floor)
        assert alone.passes[0] == together.passes[i]
        value = density.lowest_along(starts[[i]], ends[[i]], None).log_densities[0]
        assert value == pytest.approx(full[i], abs=1e-9)


def test_a_floor_for_each_step_is_the_same_as_one_by_one():
    density = fit_on(KNOWN[:600], phone_schema())
    starts, ends = density.rows.points[:40], density.rows.points[40:80]
    floors = np.linspace(density.scale.quantile(0.01), density.scale.quantile(0.6), 40)

    together = density.lowest_along(starts, ends, floors)

    for i in range(40):
        alone = density.lowest_along(starts[[i]], ends[[i]], float(floors[i]))
        assert alone.passes[0] == together.passes[i]


@each_own
def test_steps_and_states_in_one_batch_are_judged_as_each_is_alone(own):
    density = fit_on(KNOWN[:600], phone_schema(own))
    starts, ends = density.rows.points[:60], density.rows.points[60:120].copy()
    ends[::3] = starts[::3]
    floors = np.linspace(density.scale.quantile(0.01), density.scale.quantile(0.6), 60)

    together = density.lowest_along(starts, ends, floors)

    holes = dict(together.holes)
    for i in range(60):
        alone = density.lowest_along(starts[[i]], ends[[i]], float(floors[i]))
        assert alone.passes[0] == together.passes[i]
        assert together.log_densities[i] == pytest.approx(alone.log_densities[0], abs=1e-9)
        assert (i in holes) == bool(alone.holes)
        if alone.holes:
            assert holes[i].radius == pytest.approx(alone.holes[0][1].radius)
    assert holes


@each_own
def test_what_is_too_close_to_call_leaves_the_others_as_they_are(own):
    density = fit_on(KNOWN[:600], phone_schema(own))
    starts, ends = density.rows.points[:40], density.rows.points[40:80]
    full = density.lowest_along(starts, ends, None).log_densities
    floors = np.full(40, density.scale.quantile(0.05))
    floors[::4] = full[::4]  # what has exactly its floor is on it

    found = density.lowest_along(starts, ends, floors)

    assert (found.passes == (full >= floors - 1e-9)).all()
    assert all(not found.passes[i] for i, _ in found.holes)


def test_where_a_person_stands_never_fails_against_itself():
    density = fit_on(KNOWN[:600], phone_schema(("plan",)))
    for point in density.space.points(NEW[:50])[:, None]:
        own = density.lowest_along(point, point, None).log_densities[0]
        assert density.lowest_along(point, point, own).passes[0]


def test_what_is_below_the_floor_by_just_the_tolerance_passes():
    density = fit_on(KNOWN[:600], phone_schema(("plan",)))
    points = density.space.points(NEW[:300])
    values = density.lowest_along(points, points, None).log_densities
    by_pairs = [
        density.questions_at(one)[0].log_density > low + 1e-6
        for one, low in zip(points, values, strict=True)
    ]
    floors = values + FLOOR_TOLERANCE
    exactly = np.array(by_pairs) & (floors - FLOOR_TOLERANCE == values)

    assert exactly.sum() > 5
    assert density.lowest_along(points[exactly], points[exactly], floors[exactly]).passes.all()
    above = floors[exactly] + 1e-12
    assert not density.lowest_along(points[exactly], points[exactly], above).passes.any()


def test_the_rarest_pair_is_named_and_pairs_of_own_features_are_not():
    odd = np.array([[1.0, 2.0, 70.0, 5000.0, 0.0, 1.0]])
    plain = fit_on(KNOWN, phone_schema())
    own = fit_on(KNOWN, phone_schema(("months", "total")))

    _, rarest, _ = plain.questions_at(plain.space.points(odd)[0])
    _, among_others, _ = own.questions_at(own.space.points(odd)[0])
    named = rarest.pair
    without = among_others.pair

    assert (named.first, named.second, named.count) == (0, 3, 0)
    assert (without.first, without.second) != (0, 3)


@each_own
def test_a_state_is_as_common_as_the_lowest_answer_to_the_three_questions(own):
    density = fit_on(KNOWN[:600], phone_schema(own))
    points = density.space.points(NEW[:60])

    every = [density.questions_at(point) for point in points]

    lowest = [min(one.log_density for one in questions) for questions in every]
    assert lowest == pytest.approx(density.lowest_along(points, points, None).log_densities)
    decided = {min(one, key=lambda question: question.log_density).name for one in every}
    assert decided == {"joint density", "rarest pair", "weighted pairs"}


def test_the_same_records_give_the_same_densities():
    first = log_densities(fit_on(KNOWN[:500], phone_schema(("plan",))), NEW)
    again = log_densities(fit_on(KNOWN[:500], phone_schema(("plan",))), NEW)

    assert first.tobytes() == again.tobytes()


def odd_tables():
    chance = np.random.default_rng(0)
    numbers = chance.normal(size=(60, 3))
    outliers = numbers.copy()
    outliers[0] = [1e12, -1e12, 1e9]
    almost = np.column_stack([numbers[:, 0], np.where(np.arange(60) == 3, 1.0, 0.0)])
    flags = [Feature("a", kind="binary"), Feature("b", kind="binary")]
    three = [Feature(name, kind="categorical", categories=("x", "y", "z")) for name in "abc"]
    return {
        "an almost constant column": (almost, numbers_schema(2)),
        "two rows": (numbers[:2], numbers_schema(3)),
        "three rows": (numbers[:3], numbers_schema(3)),
        "one column": (numbers[:, :1], numbers_schema(1)),
        "huge outliers": (outliers, numbers_schema(3)),
        "categories only": (chance.integers(0, 3, (80, 3)).astype(float), Schema(three)),
        "two flags": (chance.integers(0, 2, (80, 2)).astype(float), Schema(flags)),
        "one flag": (np.array([[0.0], [1.0]]), Schema(flags[:1])),
        "more columns than rows": (chance.normal(size=(10, 25)), numbers_schema(25)),
        "two values": (chance.integers(0, 2, (60, 4)).astype(float), numbers_schema(4)),
    }


@pytest.mark.parametrize("own", [False, True], ids=["nothing own", "own"])
@pytest.mark.parametrize("name", odd_tables())
def test_odd_tables_give_densities(name, own):
    records, schema = odd_tables()[name]
    schema = schema.with_(schema.names[0], moves="never") if own else schema
    density = fit_on(records, schema)
    points = density.rows.points
    numeric = ~density.space.discrete
    far = np.where(numeric, points[:1] + 1e3, points[:1])

    assert np.isfinite(density.scale.log_densities).all()
    assert np.isfinite(density.row_log_densities(np.arange(2))).all()
    for starts, ends in [(points[:1], points[1:2]), (far, points[:1]), (far, far)]:
        values = density.lowest_along(starts, ends, None).log_densities
        means = density.mean_along(starts, ends, None).log_densities
        assert not np.isnan(values).any()
        assert not np.isnan(means).any()
    for question in density.questions_at(far[0]):
        assert not np.isnan(question.log_density)


def beside_a_slip(scale):
    """A table in which one value of a thousand slipped by nine digits, and the table without."""
    chance = np.random.default_rng(6)
    records = chance.normal(size=(1000, 4)) @ (np.eye(4) + 0.4 * chance.normal(size=(4, 4)))
    slipped = records.copy()
    slipped[17, 2] = 3e8
    own = Feature("own", moves="never")
    schema = Schema([own, Feature("a"), Feature("b", scale=scale), Feature("c")])
    return fit_on(slipped, schema), fit_on(np.delete(records, 17, axis=0), schema), records


@pytest.mark.parametrize("scale", [None, 1.0], ids=["by rank", "by a scale"])
def test_one_slip_leaves_everybody_else_as_common_as_they_are(scale):
    with_slip, without, records = beside_a_slip(scale)

    others = np.delete(records, 17, axis=0)

    assert with_slip.bandwidth == pytest.approx(without.bandwidth, rel=0.25)
    changed = np.abs(shares(with_slip, others) - shares(without, others))
    assert np.mean(changed) < 0.05
    assert np.mean(changed < 0.15) > 0.95
    refused = np.mean(shares(with_slip, composed_records(others, seed=0)) < 0.05)
    assert refused == pytest.approx(
        np.mean(shares(without, composed_records(others, seed=0)) < 0.05), abs=0.03
    )
