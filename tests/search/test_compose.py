"""Composed ends: they keep every promise that rows do, and come only where no row will do."""

from __future__ import annotations

import pickle
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from judge import Judge
from localface import Feature, LocalFACE, Recourse, Schema, Search, Status
from localface.cases.credit import synthetic
from localface.errors import InputError
from localface.sources.cells import Cells
from same import assert_same
from worlds import make_explainer, mixed

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]

PINNED = Schema([Feature("x", within=3.0), Feature("y"), Feature("own", moves="never")])
"""Nobody shares ``own`` with anybody, so that there is never anyone to become."""


@cache
def plane() -> Array:
    """Two wide clouds with a gap above them, and a column that no two people share."""
    rng = np.random.default_rng(3)
    clouds = np.concatenate(
        [rng.normal([0, 0], 1.0, (150, 2)), rng.normal([4.5, 1], 1.0, (150, 2))]
    )
    return np.column_stack([clouds, rng.normal(size=300)])


def rises(people: Any) -> Array:
    """A score that rises with x and y."""
    x, y, *_ = np.asarray(people, dtype=float).T
    return 1 / (1 + np.exp(-2 * (x + 0.5 * y - 3)))


def pinned(**options: Any) -> LocalFACE:
    return make_explainer(
        rises, plane(), **{"schema": PINNED, "n_neighbors": 12, "ends": "states", **options}
    )


@cache
def refused() -> Array:
    fresh = plane() + np.random.default_rng(5).normal(scale=0.15, size=plane().shape)
    return fresh[rises(fresh) < 0.5][:40]


@cache
def answers(edges: str = "strict") -> tuple[LocalFACE, Any]:
    explainer = pinned(edges=edges)
    return explainer, explainer.explain_many(refused(), progress=False)


@cache
def credit() -> tuple[Any, Any, Schema]:
    made = synthetic(700, seed=1)
    table = made.frame()
    words = ["school", "home", "purpose"]
    coder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    numbers = [name for name in table if name not in words]
    coded = ColumnTransformer([("words", coder, words), ("numbers", "passthrough", numbers)])
    forest = RandomForestClassifier(30, max_depth=6, random_state=0)
    return make_pipeline(coded, forest).fit(table, made.repaid), table, made.schema


@cache
def credited(ends: str) -> tuple[LocalFACE, Any]:
    model, table, schema = credit()
    explainer = LocalFACE(
        model,
        table,
        schema=schema,
        min_score=0.6,
        min_density=0.02,
        search=Search(n_neighbors=30, ends=ends),
    )
    people = table[model.predict_proba(table)[:, 1] < 0.6].head(24)
    return explainer, explainer.explain_many(people, progress=False)


def kept(answer: Recourse, schema: Schema, where: Any = None) -> None:
    """The end, and where the actions lead, lie in the box to the last bit; no one-way step back."""
    box = schema.box(answer.records[0], where)
    followed = answer.with_actions_as_path()
    for record in (answer.records[-1], followed.records[-1]):
        assert all(box.allows_code(j, float(code)) for j, code in enumerate(record)), record
        assert not schema.breaks_relation(record[None, :]).any()
    for records in (answer.records, followed.records):
        steps = np.diff(records, axis=0)
        assert (steps[:, box.up] >= 0).all()
        assert (steps[:, box.down] <= 0).all()
        whole = [j for j, feature in enumerate(schema) if feature.whole or feature.discrete]
        assert (records[:, whole] == np.rint(records[:, whole])).all()


def on_common_ground(answer: Recourse, judge: Judge) -> None:
    """Every step and every action keeps the floor, or the person's own density if lower."""
    for one in (answer, answer.with_actions_as_path()):
        points = judge.points(one.path)
        own = judge.lowest(points[0], points[0])
        for start, end in pairwise(points):
            assert judge.lowest(start, end) >= min(judge.floor, own) - 1e-6
    end = judge.points(answer.path)[-1]
    assert (
        judge.lowest(end, end) >= judge.floor - 1e-6
    )  # a path may start from uncommon ground, but not end there


def same(one: Recourse, other: Recourse) -> None:
    """Bit for bit the same, the clock and the name of the option apart."""

    def told(answer: Recourse) -> dict[str, Any]:
        pieces = {name: getattr(answer, name) for name in Recourse.__dataclass_fields__}
        seen = pieces.pop("disclosure")
        account = (seen.rows, seen.questions, seen.model_calls, seen.rows_scored)
        settings = {key: value for key, value in pieces.pop("settings").items() if key != "ends"}
        return pieces | {
            "records": answer.records.tobytes(),
            "account": account,
            "settings": settings,
        }

    assert told(one) == told(other)


# by default


def test_paths_end_at_people_unless_states_are_asked_for():
    by_default = LocalFACE(rises, plane(), schema=PINNED, search=Search(n_neighbors=12))
    answer = by_default.explain(refused()[0])
    assert by_default.options.ends == "people"
    assert answer.status is Status.NO_TARGET
    assert not answer.composed


def test_a_misspelt_end_is_told_with_the_near_miss():
    with pytest.raises(
        InputError,
        match=r"ends='state': one of 'people', 'states' is wanted \(did you mean 'states'",
    ):
        pinned(ends="state")


def test_whoever_finds_people_to_become_gets_the_same_answer_bit_for_bit():
    world = mixed()
    one, other = (
        LocalFACE(
            world.model,
            world.data,
            schema=world.schema,
            min_score=0.6,
            search=Search(n_neighbors=30, ends=ends),
        ).explain_many(world.people.head(16), where=world.where, progress=False)
        for ends in ("people", "states")
    )
    assert sum(one.found) >= 10
    for real, asked in zip(one, other, strict=True):
        if real.found:
            same(real, asked)


def test_on_the_credit_table_more_are_served_and_nobody_otherwise():
    (_, people), (_, states) = credited("people"), credited("states")
    assert sum(states.found) > sum(people.found)
    for real, asked in zip(people, states, strict=True):
        assert asked.found or not real.found
        assert asked.composed == (asked.found and not real.found)
        if real.found:
            same(real, asked)


# the promises


@pytest.mark.parametrize("edges", ["strict", "average", "cover"])
def test_a_composed_end_is_valid_by_a_fresh_call_and_in_the_box_to_the_last_bit(edges):
    _, found = answers(edges)
    assert sum(answer.composed for answer in found) >= 15
    for answer in found:
        if answer.found:
            assert answer.composed
            assert answer.rows[-1] is None
            fresh = rises(np.stack([answer.records[-1], answer.with_actions_as_path().records[-1]]))
            assert (fresh >= 0.5).all()
            assert answer.scores[-1] == pytest.approx(fresh[0], abs=1e-9)
            assert answer.records[-1, 2] == answer.records[0, 2]
            kept(answer, PINNED)


def test_every_step_to_a_composed_end_passes_a_fine_grid_against_the_full_density():
    explainer, found = answers()
    judge = Judge.of(explainer, plane(), found[0])
    for answer in found:
        if answer.found:
            on_common_ground(answer, judge)


def test_mixed_kinds_one_way_features_and_fixed_ones_keep_every_promise():
    model, table, schema = credit()
    explainer, found = credited("states")
    judge = Judge.of(explainer, table, found[0])
    composed = [answer for answer in found if answer.composed]
    assert len(composed) >= 3
    for answer in composed:
        ends = pd.concat([answer.path.tail(1), answer.with_actions_as_path().path.tail(1)])
        assert (model.predict_proba(ends)[:, 1] >= 0.6).all()
        kept(answer, schema)
        on_common_ground(answer, judge)


def test_no_composed_state_breaks_a_relation():
    schema = PINNED.relate(
        "x", "<=", "own"
    )  # what is someone's own caps x, and others have a higher cap
    capped = plane() * [1, 1, 0] + np.column_stack(
        [np.zeros((300, 2)), plane()[:, 0] + np.abs(plane()[:, 2])]
    )
    people = capped[rises(capped) < 0.5][:40]
    asked = {"where": None, "progress": False}
    bound = LocalFACE(
        rises, capped, schema=schema, search=Search(n_neighbors=12, ends="states")
    ).explain_many(people, **asked)
    free = LocalFACE(
        rises, capped, schema=PINNED, search=Search(n_neighbors=12, ends="states")
    ).explain_many(people, **asked)
    assert any(
        schema.breaks_relation(answer.records).any() for answer in free
    )  # or this would show nothing
    assert any(answer.composed for answer in bound)
    for answer in bound:
        assert not schema.breaks_relation(answer.records).any()
        assert not schema.breaks_relation(answer.with_actions_as_path().records).any()


def test_someone_outside_their_box_ends_inside_it():
    explainer, where = pinned(), {"y": (-0.5, 1.0)}
    outside = [person for person in refused() if not -0.5 <= person[1] <= 1.0]
    found = [
        answer
        for answer in explainer.explain_many(outside, where=where, progress=False)
        if answer.found
    ]
    assert len(found) >= 3
    for answer in found:
        kept(answer, PINNED, where)


def test_rounding_oversteps_no_limit():
    schema = Schema(
        [Feature("x", within=1.1), Feature("y", within=0.7), Feature("own", moves="never")]
    )
    explainer = pinned(schema=schema, min_density=0.01)
    engine, rng = explainer.engine, np.random.default_rng(0)
    overstepped = 0
    for record in rng.normal(size=(200, 3)):
        box = schema.box(record, None)
        corner = np.array([box.upper[0], box.lower[1], record[2]])[None, :]
        bare, minded = (engine.make_decoder([record], limits) for limits in (None, box))
        point, nobody = engine.space.points(corner), np.zeros((0, 3))
        overstepped += not all(
            box.allows_code(j, float(v)) for j, v in enumerate(bare(point, nobody)[0])
        )
        assert all(box.allows_code(j, float(v)) for j, v in enumerate(minded(point, nobody)[0]))
    assert overstepped  # or this would show nothing


def test_a_regressor_that_should_come_down_is_served_too():
    x, y, _ = plane().T
    model = LinearRegression().fit(plane(), 10 - x - 0.5 * y)
    explainer = pinned_on(model, target="at most", min_score=7.0)
    people = refused()[model.predict(refused()) > 7.0]
    found = [answer for answer in explainer.explain_many(people, progress=False) if answer.found]
    assert len(found) >= 10
    for answer in found:
        assert answer.composed
        assert model.predict(answer.records[-1:])[0] <= 7.0 + 1e-9
        assert model.predict(answer.with_actions_as_path().records[-1:])[0] <= 7.0 + 1e-9


def pinned_on(model: Any, **options: Any) -> LocalFACE:
    return make_explainer(model, plane(), schema=PINNED, n_neighbors=12, ends="states", **options)


# no more and no less than brute force


def test_someone_may_start_from_uncommon_ground_but_not_end_there():
    explainer = pinned(min_density=0.3)
    found = explainer.explain_many(refused(), progress=False)
    judge = Judge.of(explainer, plane(), found[0])
    for person, answer in zip(refused(), found, strict=True):
        best = by_brute_force(judge, person)
        assert answer.found == (best is not None)
        if answer.found:
            assert answer.entry == (judge.lowest(*judge.points(answer.path)[[0, 0]]) < judge.floor)
            on_common_ground(answer, judge)
    assert any(answer.entry for answer in found)


def by_brute_force(judge: Judge, person: Array) -> Array | None:
    """The nearest state that works, of the 32 nearest projected targets that the model takes."""
    targets = plane()[rises(plane()) >= 0.5]
    x = np.clip(targets[:, 0], person[0] - 3.0, person[0] + 3.0)
    states = np.unique(np.column_stack([x, targets[:, 1], np.full(len(x), person[2])]), axis=0)
    states = states[rises(states) >= 0.5]
    start = judge.points(person[None, :])[0]
    points = judge.points(states)
    apart = np.linalg.norm(points - start, axis=1)
    floor = min(judge.floor, judge.lowest(start, start))
    for i in np.argsort(apart, kind="stable")[:32]:
        end = points[i]
        stands = judge.lowest(end, end) >= judge.floor - 1e-9
        if stands and judge.lowest(start, end) >= floor - 1e-9:
            return np.asarray(states[i])
    return None


def test_found_exactly_where_brute_force_over_everyone_projected_finds_a_state_and_the_same_one():
    explainer, found = answers()
    judge, outcomes = Judge.of(explainer, plane(), found[0]), []
    for person, answer in zip(refused(), found, strict=True):
        best = by_brute_force(judge, person)
        outcomes.append(best is not None)
        assert answer.found == (best is not None)
        if best is not None:
            assert answer.records[-1] == pytest.approx(best, abs=1e-9)
    assert {True, False} == set(outcomes)


def test_where_nothing_can_be_composed_the_answer_is_the_same_no():
    where = {"x": "never", "y": "never"}
    one, other = (
        pinned(ends=ends).explain(refused()[0], where=where) for ends in ("people", "states")
    )
    assert other.status is one.status is Status.NO_TARGET
    assert other.reason == one.reason


def test_who_can_only_be_served_on_lower_ground_gets_the_same_relaxed_answer():
    rng = np.random.default_rng(0)
    apart = np.concatenate([rng.normal(0, 0.5, (25, 3)), rng.normal([9, 9, 0], 0.5, (25, 3))])
    schema = Schema([Feature("x"), Feature("y"), Feature("z", within=0.3)])
    one, other = (
        LocalFACE(past_nine, apart, schema=schema, search=Search(n_neighbors=8, ends=ends)).explain(
            apart[0] + 0.01, relax=True
        )
        for ends in ("people", "states")
    )
    assert one.relaxed_to is not None
    assert other.relaxed_to == one.relaxed_to
    assert other.records.tobytes() == one.records.tobytes()
    assert other.rows == one.rows
    assert other.actions == one.actions
    assert not other.composed


def past_nine(people: Any) -> Array:
    return np.asarray((np.asarray(people)[:, :2].sum(axis=1) > 9).astype(float))


def test_someone_too_far_for_the_search_is_still_somebody():
    rng = np.random.default_rng(2)
    crowd = rng.normal(size=(400, 2))
    one, other = (
        LocalFACE(
            lambda p: 1 / (1 + np.exp(-np.asarray(p)[:, 0])),
            crowd,
            search=Search(n_neighbors=1, ends=ends),
        )
        for ends in ("people", "states")
    )
    people = one.explain_many(crowd[:60], progress=False)
    lost = np.array([answer.records[0] for answer in people if answer.status is Status.UNREACHABLE])
    found = [answer for answer in other.explain_many(lost, progress=False) if answer.found]
    assert len(found) >= 3
    for answer in found:
        assert not answer.composed
        assert (crowd[answer.rows[-1]] == answer.records[-1]).all()


# what is asked for, and how


def test_alone_and_in_a_batch_the_answer_is_the_same():
    explainer, found = answers()
    for person, answer in list(zip(refused(), found, strict=True))[:8]:
        assert_same(explainer.explain(person), answer)
    explainer, found = credited("states")
    for answer in [answer for answer in found if answer.composed][:2]:
        assert_same(explainer.explain(answer.path.iloc[0]), answer)


def test_the_rows_that_states_are_made_of_are_counted_and_the_budget_is_kept():
    _, free = answers()
    for person, answer in list(zip(refused(), free, strict=True))[:10]:
        assert answer.disclosure.rows >= answer.found
        for most in (1, 3, 1000):
            held = pinned(max_rows=most).explain(person)
            assert held.disclosure.rows <= most
            assert held.found <= answer.found
            if answer.found and not held.found:
                assert held.status is Status.BUDGET
                assert f"max_rows={most}" in held.reason
            if most == 1000:
                assert held.records.tobytes() == answer.records.tobytes()


def test_no_composed_step_is_longer_than_a_step_may_be():
    _, free = answers()
    explainer, longest = pinned(max_step=0.8), 0.8
    short = explainer.explain_many(refused(), progress=False)
    assert any(answer.found and answer.cost > longest for answer in free)
    assert any(answer.found for answer in short)
    for answer in short:
        assert all(one.length <= longest for one in answer.certificates)


def test_another_score_or_floor_for_one_call_is_that_of_an_explainer_made_so():
    explainer = pinned()
    for person in refused()[:6]:
        same(explainer.explain(person, min_score=0.7), pinned(min_score=0.7).explain(person))
        same(explainer.explain(person, min_density=0.2), pinned(min_density=0.2).explain(person))


def test_whoever_is_there_already_takes_no_steps():
    there = plane()[rises(plane()) > 0.9][0]
    answer = pinned().explain(there)
    assert answer.status is Status.ALREADY_THERE
    assert not answer.composed
    assert answer.disclosure.rows == 0


def test_what_is_avoided_stays_and_what_is_dear_is_spared():
    explainer, people = pinned(min_density=0.01), refused()[:12]
    left = explainer.explain_many(people, avoid=["y"], progress=False)
    dear = explainer.explain_many(people, weights={"y": 9.0}, progress=False)
    assert 3 <= sum(left.found) < sum(dear.found)
    for without, spared in zip(left, dear, strict=True):
        if without.found:
            assert (without.records[:, 1] == without.records[0, 1]).all()
            assert not any("y" in action.changes for action in spared.actions)
        for answer in (without, spared):
            if answer.found:
                assert rises(answer.with_actions_as_path().records[-1:])[0] >= 0.5
                kept(answer, PINNED)


def test_several_ways_to_composed_ends_change_different_features():
    explainer = pinned(min_density=0.01)
    several = [
        ways for ways in (explainer.alternatives(p, n=3) for p in refused()[:12]) if len(ways) > 1
    ]
    assert several
    for ways in several:
        assert len(set(ways.changed)) == len(ways)
        for way in ways:
            assert rises(way.with_actions_as_path().records[-1:])[0] >= 0.5
            kept(way, PINNED)


def test_what_is_held_keeps_what_is_linked_with_it():
    schema = PINNED.link("x", "y")
    person = refused()[0]
    engine = pinned(schema=schema)._engine
    projection = engine.make_person(person, schema.box(person, None), fixed=["x"]).projection
    states = projection.states_of(engine.space.points(plane()))
    assert (states == engine.space.points(person[None, :])).all()


def test_a_wish_for_robustness_asks_for_states_with_more_of_the_score():
    explainer = pinned(
        schema=PINNED.with_("x", resolution=0.4).with_("y", resolution=0.4), min_density=0.01
    )
    for person in refused()[:6]:
        plain, robust = explainer.explain(person), explainer.explain(person, min_robustness=0.9)
        assert robust.found == plain.found
        if plain.found:
            assert robust.composed
            assert robust.robustness >= explainer.robustness(plain).success
            assert rises(robust.with_actions_as_path().records[-1:])[0] >= 0.5
            kept(robust, PINNED)


def test_the_published_algorithms_end_at_people_whatever_is_asked():
    for person in refused()[:3]:
        answer = pinned(strategy="paper").explain(person)
        assert not answer.found
        assert not answer.composed


def test_where_nobody_can_be_become_what_opens_a_way_is_still_told():
    nobody = next(answer for answer in answers()[1] if answer.status is Status.NO_TARGET)
    assert nobody.opens
    assert all("own" in names for names in nobody.opens)


@pytest.mark.parametrize("sample", [600, 150])
def test_in_a_large_table_composed_ends_are_valid_and_in_the_box(monkeypatch, sample):
    monkeypatch.setattr("localface.engine.loading.MAX_SCANNED_ROWS", 200)
    monkeypatch.setattr("localface.engine.loading.SAMPLE", sample)
    explainer = pinned()
    assert isinstance(explainer.engine.source, Cells)
    found = [
        answer for answer in explainer.explain_many(refused()[:12], progress=False) if answer.found
    ]
    assert len(found) >= 3
    for answer in found:
        assert answer.composed
        assert rises(answer.records[-1:])[0] >= 0.5
        kept(answer, PINNED)


# the answer


def test_the_answer_says_that_its_end_is_nobody_and_does_so_after_a_trip():
    answer = next(answer for answer in answers()[1] if answer.found)
    assert "a path of 1 step to a state that is nobody's" in str(answer)
    assert "nobody&#x27;s" in answer._repr_html_()
    for again in (Recourse.from_json(answer.to_json()), pickle.loads(pickle.dumps(answer))):
        assert again.composed
        assert str(again) == str(answer)
    bare = pinned().explain(answer.records[0], actions=False)
    assert "it ends at a state that is nobody's" in str(bare)


def test_a_document_from_before_there_were_composed_ends_has_none():
    answer = next(answer for answer in answers()[1] if answer.found)
    old = answer.to_json().replace('"composed": true, ', "").replace(', "composed": true', "")
    assert "composed" not in old
    assert not Recourse.from_json(old).composed


def test_neither_a_given_end_nor_followed_actions_are_called_composed():
    world = mixed()
    explainer = LocalFACE(
        world.model,
        world.data,
        schema=world.schema,
        min_score=0.6,
        search=Search(n_neighbors=30, ends="states"),
    )
    answer = next(
        one
        for one in explainer.explain_many(world.people.head(8), where=world.where, progress=False)
        if one.found
    )
    assert not answer.composed
    assert "nobody's" not in str(answer.with_actions_as_path())
    given = explainer.explain(answer.path.iloc[0], counterfactual=answer.counterfactual)
    assert given.found
    assert not given.composed
    assert "nobody's" not in str(given)


def test_a_composed_answer_can_be_drawn():
    plots = pytest.importorskip("matplotlib.pyplot")
    answer = next(answer for answer in answers()[1] if answer.found)
    assert answer.plot() is not None
    plots.close("all")


# the credit table


def test_the_credit_table_is_the_same_for_the_same_seed_and_another_for_another():
    one, again, other = synthetic(200, seed=4), synthetic(200, seed=4), synthetic(200, seed=5)
    pd.testing.assert_frame_equal(one.frame(), again.frame())
    assert (one.repaid == again.repaid).all()
    assert not one.frame().equals(other.frame())


@pytest.mark.parametrize("seed", [0, 1])
def test_the_credit_schema_fits_the_table(seed):
    made = synthetic(1500, seed=seed)
    table = made.frame()
    assert list(table) == list(made.schema.names)
    for feature in made.schema:
        values = table[feature.name]
        if feature.categories is not None:
            assert set(values) <= set(feature.categories)
            assert len(set(values)) == len(feature.categories)
        elif feature.whole:
            assert (values == values.round()).all()
        if feature.bounds is not None:
            low, high = feature.bounds
            assert values.between(low, high).all()
    assert set(made.repaid) == {0, 1}
    assert 0.2 < made.repaid.mean() < 0.9
