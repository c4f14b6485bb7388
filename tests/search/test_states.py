"""Paths through states of one person keep every promise: own features stay, the rest is taken over.

Brute force over everyone's projected states says where there is a way, and how long it is.
"""

from __future__ import annotations

import html
import pickle
from functools import cache
from heapq import heappop, heappush
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
"""Nobody shares ``own`` with anybody: every state but the person's own is nobody's."""


@cache
def plane(n: int = 150) -> Array:
    """Two wide clouds with a gap above them, and a column that no two people share."""
    rng = np.random.default_rng(3)
    clouds = np.concatenate([rng.normal([0, 0], 1.0, (n, 2)), rng.normal([4.5, 1], 1.0, (n, 2))])
    return np.column_stack([clouds, rng.normal(size=2 * n)])


def rises(people: Any) -> Array:
    """A score that rises with x and y."""
    x, y, *_ = np.asarray(people, dtype=float).T
    return 1 / (1 + np.exp(-2 * (x + 0.5 * y - 3)))


def pinned(model: Any = rises, **options: Any) -> LocalFACE:
    return make_explainer(model, plane(), **{"schema": PINNED, "n_neighbors": 12, **options})


@cache
def refused(n: int = 150, most: int = 40) -> Array:
    fresh = plane(n) + np.random.default_rng(5).normal(scale=0.15, size=plane(n).shape)
    return fresh[rises(fresh) < 0.5][:most]


@cache
def answers(edges: str = "strict") -> tuple[LocalFACE, Any]:
    explainer = pinned(edges=edges)
    return explainer, explainer.explain_many(refused(), progress=False)


@cache
def found_answers(edges: str = "strict") -> list[Recourse]:
    return [answer for answer in answers(edges)[1] if answer.found]


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
def credited(through: str) -> tuple[LocalFACE, Any]:
    model, table, schema = credit()
    explainer = LocalFACE(
        model,
        table,
        schema=schema,
        min_score=0.6,
        min_density=0.02,
        search=Search(n_neighbors=30, through=through),
    )
    people = table[model.predict_proba(table)[:, 1] < 0.6].head(24)
    return explainer, explainer.explain_many(people, progress=False)


def followed(answer: Recourse) -> Array:
    """The states that the actions lead through."""
    return np.asarray(answer.with_actions_as_path().records)


def fresh_score(answer: Recourse) -> float:
    """The lower score of both ends, that of the path and that of the actions."""
    return float(rises(np.stack([answer.records[-1], followed(answer)[-1]])).min())


def inside(box: Any, record: Array) -> bool:
    return all(box.allows_code(j, float(code)) for j, code in enumerate(record))


def kept(answer: Recourse, schema: Schema, where: Any = None) -> None:
    """Own features stay, ends lie in the box to the last bit, and no step goes a wrong way.

    Who starts inside the box never leaves it.
    """
    box = schema.box(answer.records[0], where)
    own = [j for j, feature in enumerate(schema) if feature.own]
    whole = [j for j, feature in enumerate(schema) if feature.whole or feature.discrete]
    for records in (answer.records, followed(answer)):
        assert inside(box, records[-1]), records[-1]
        if inside(box, records[0]):
            assert all(inside(box, record) for record in records)
        assert (records[:, own] == records[0, own]).all()
        assert not schema.breaks_relation(records).any()
        steps = np.diff(records, axis=0)
        assert (steps[:, box.up] >= 0).all()
        assert (steps[:, box.down] <= 0).all()
        assert (records[:, whole] == np.rint(records[:, whole])).all()


def on_common_ground(answer: Recourse, judge: Judge) -> None:
    """Every step and every action keeps the floor, or the person's own density if lower.

    A path may start from uncommon ground, but not end there. No step is better than it claims.
    """
    grain = 0.01 + 1 / len(judge.levels)
    judge = judge.asked_by(answer)
    for one in (answer, answer.with_actions_as_path()):
        points = judge.points(one.path)
        least = min(judge.floor, judge.lowest(points[0], points[0]))
        for start, end, certificate in zip(points[:-1], points[1:], one.certificates, strict=True):
            lowest = judge.lowest(start, end)
            assert lowest >= least - 1e-5
            assert judge.share(lowest) == pytest.approx(certificate.lowest, abs=grain)
        assert judge.lowest(points[-1], points[-1]) >= judge.floor - 1e-6


def same(one: Recourse, other: Recourse) -> None:
    """Bit for bit the same, the clock apart."""

    def told(answer: Recourse) -> dict[str, Any]:
        pieces = {name: getattr(answer, name) for name in Recourse.__dataclass_fields__}
        seen = pieces.pop("disclosure")
        account = (seen.rows, seen.questions, seen.model_calls, seen.rows_scored)
        return pieces | {"records": answer.records.tobytes(), "account": account}

    assert told(one) == told(other)


# by default


def test_paths_lead_through_states_unless_rows_are_asked_for():
    by_default = LocalFACE(rises, plane(), schema=PINNED, search=Search(n_neighbors=12))
    assert by_default.options.through == "states"
    assert by_default.explain(refused()[0]).found
    rows = pinned(through="rows").explain(refused()[0])
    assert rows.status is Status.NO_TARGET
    assert not rows.composed


def test_a_misspelt_option_is_told_with_the_near_miss():
    with pytest.raises(
        InputError,
        match=r"through='state': one of 'states', 'rows' is wanted \(did you mean 'states'",
    ):
        pinned(through="state")


def test_through_rows_every_vertex_is_somebody_who_shares_what_is_own():
    _, table, schema = credit()
    _, found = credited("rows")
    own = [feature.name for feature in schema if feature.own]
    assert own
    for answer in found:
        if answer.found:
            assert not answer.composed
            assert None not in answer.rows[1:]
            rows = table.iloc[list(answer.rows[1:])]
            assert (rows[own] == answer.path[own].iloc[0]).all(axis=None)
            assert rows.equals(answer.path.iloc[1:].set_axis(rows.index))


def test_on_the_credit_table_more_are_served_by_states_and_nobody_is_lost():
    (_, rows), (_, states) = credited("rows"), credited("states")
    assert sum(states.found) > sum(rows.found)
    for real, asked in zip(rows, states, strict=True):
        assert asked.found or not real.found


def test_where_nothing_is_limited_the_states_of_a_path_are_rows():
    crowd = np.random.default_rng(2).normal(size=(200, 2))
    explainer = make_explainer(lambda p: 1 / (1 + np.exp(-p[:, 0])), crowd, n_neighbors=200)
    walked = [
        answer
        for answer in explainer.explain_many(crowd[:40], progress=False)
        if answer.found and answer.proven_within is not None
    ]
    assert len(walked) >= 5
    for answer in walked:
        assert not answer.composed
        assert (crowd[list(answer.rows[1:])] == answer.records[1:]).all()


def test_a_state_that_is_a_row_is_given_as_that_row():
    own = plane()[:, 2] > 0
    shared = np.column_stack([plane()[:, :2], own])
    schema = Schema([Feature("x", within=3.0), Feature("y"), Feature("own", moves="never")])
    explainer = make_explainer(rises, shared, schema=schema, n_neighbors=100)
    people = np.column_stack([refused()[:15, :2], refused()[:15, 2] > 0])
    vertices = [
        (record, row)
        for answer in explainer.explain_many(people, progress=False)
        if answer.proven_within is not None
        for record, row in zip(answer.records[1:], answer.rows[1:], strict=True)
    ]
    assert {row is None for _, row in vertices} == {True, False}
    for record, row in vertices:
        somebody = np.flatnonzero((shared == record).all(axis=1))
        assert somebody.tolist() == ([] if row is None else [row])


# the promises


@pytest.mark.parametrize("edges", ["strict", "average", "cover"])
def test_an_end_is_valid_by_a_fresh_call_and_in_the_box_to_the_last_bit(edges):
    found = found_answers(edges)
    assert len(found) >= 25
    for answer in found:
        assert answer.composed
        assert set(answer.rows) == {None}
        assert fresh_score(answer) >= 0.5
        assert answer.scores == pytest.approx(rises(answer.records), abs=1e-9)
        kept(answer, PINNED)


def test_every_step_between_states_passes_a_fine_grid_against_the_full_density():
    explainer, _ = answers()
    judge = Judge.of(explainer, plane(), found_answers()[0])
    assert any(len(answer.certificates) > 1 for answer in found_answers())
    for answer in found_answers():
        on_common_ground(answer, judge)


def test_every_average_step_between_states_has_the_mean_density_it_claims():
    explainer, _ = answers("average")
    found = found_answers("average")
    judge = Judge.of(explainer, plane(), found[0])
    for answer in found:
        for (start, end), certificate in zip(
            pairwise(judge.points(answer.path)), answer.certificates, strict=True
        ):
            assert certificate.entry or judge.mean(start, end) >= judge.floor - 1e-3


def test_mixed_kinds_one_way_features_and_own_ones_keep_every_promise():
    model, table, schema = credit()
    explainer, found = credited("states")
    judge = Judge.of(explainer, table, found[0])
    assert sum(answer.composed for answer in found) >= 12
    for answer in found:
        if answer.found:
            ends = pd.concat([answer.path.tail(1), answer.with_actions_as_path().path.tail(1)])
            assert (model.predict_proba(ends)[:, 1] >= 0.6).all()
            kept(answer, schema)
            on_common_ground(answer, judge)


@pytest.mark.parametrize("how", [{"moves": "grows"}, {"protected": True}])
def test_what_grows_by_itself_or_is_protected_is_own_too(how):
    schema = Schema([Feature("x", within=3.0), Feature("y"), Feature("own", **how)])
    found = pinned(schema=schema).explain_many(refused()[:12], progress=False)
    assert sum(found.found) >= 8
    for answer in found:
        assert not any("own" in names for names in answer.opens)
        if answer.found:
            assert fresh_score(answer) >= 0.5
            kept(answer, schema)


def test_nothing_is_taken_over_from_people_who_are_not_comparable():
    schema = PINNED.with_("own", comparable=0.5)
    explainer = pinned(schema=schema, n_neighbors=300)
    found = [a for a in explainer.explain_many(refused()[:10], progress=False) if a.proven_within]
    assert len(found) >= 3
    for answer in found:
        person = answer.records[0]
        alike = plane()[np.abs(plane()[:, 2] - person[2]) <= 0.5]
        states = projected(alike, person)
        for record in answer.records[1:]:
            assert np.abs(states - record).max(axis=1).min() < 1e-9


def test_no_state_breaks_a_relation():
    # What is someone's own caps x, and others have a higher cap.
    schema = PINNED.relate("x", "<=", "own")
    capped = plane() * [1, 1, 0] + np.column_stack(
        [np.zeros((300, 2)), plane()[:, 0] + np.abs(plane()[:, 2])]
    )
    people = capped[rises(capped) < 0.5][:40]
    bound, free = (
        make_explainer(rises, capped, schema=one, n_neighbors=12, min_density=0.01).explain_many(
            people, progress=False
        )
        for one in (schema, PINNED)
    )
    assert any(schema.breaks_relation(answer.records).any() for answer in free)
    assert sum(answer.composed for answer in bound) >= 3
    for answer in bound:
        assert not schema.breaks_relation(answer.records).any()
        assert not schema.breaks_relation(followed(answer)).any()
        if answer.found:
            assert fresh_score(answer) >= 0.5
            kept(answer, schema)


def test_states_that_break_a_relation_are_nothing_that_anybody_could_take_over():
    schema = PINNED.relate("x", "<=", "own")
    low = np.column_stack([plane()[:, :2], plane()[:, 0] + 0.01])  # all have the x they can have
    person = low[rises(low) < 0.2][0]
    answer = make_explainer(rises, low, schema=schema, n_neighbors=12).explain(person)
    states = projected(low, person)
    states = np.unique(states[~schema.breaks_relation(states)], axis=0)
    assert rises(states).max() < 0.5
    assert answer.status is Status.NO_TARGET
    assert f"of {len(states)} states" in answer.reason
    assert f"{rises(states).max():.2f}" in answer.reason


def test_someone_outside_their_box_ends_inside_it():
    where = {"y": (-0.5, 1.0)}
    outside = [person for person in refused() if not -0.5 <= person[1] <= 1.0]
    found = [a for a in pinned().explain_many(outside, where=where, progress=False) if a.found]
    assert len(found) >= 5
    for answer in found:
        assert fresh_score(answer) >= 0.5
        kept(answer, PINNED, where)


def test_rounding_oversteps_no_limit():
    schema = Schema(
        [Feature("x", within=1.1), Feature("y", within=0.7), Feature("own", moves="never")]
    )
    engine, rng = pinned(schema=schema, min_density=0.01).engine, np.random.default_rng(0)
    overstepped = 0
    for record in rng.normal(size=(200, 3)):
        box = schema.box(record, None)
        corner = np.array([box.upper[0], box.lower[1], record[2]])[None, :]
        bare, minded = (engine.make_decoder([record], limits) for limits in (None, box))
        point, nobody = engine.space.points(corner), np.zeros((0, 3))
        overstepped += not inside(box, bare(point, nobody)[0])
        assert inside(box, minded(point, nobody)[0])
    assert overstepped  # or this would show nothing


def test_whole_numbers_stop_at_the_last_whole_one_within_reach():
    schema = PINNED.with_("x", kind="integer", within=2.5)
    whole = np.column_stack([np.rint(plane()[:, 0] * 3), plane()[:, 1:]])
    explainer = make_explainer(scores_of_whole, whole, schema=schema, n_neighbors=12)
    people = whole[(scores_of_whole(whole) > 0.1) & (scores_of_whole(whole) < 0.5)][:20]
    found = [a for a in explainer.explain_many(people, progress=False) if a.found]
    assert any(abs(answer.records[-1, 0] - answer.records[0, 0]) == 2 for answer in found)
    for answer in found:
        assert scores_of_whole(followed(answer)[-1:])[0] >= 0.5
        kept(answer, schema)


def scores_of_whole(people: Array) -> Array:
    return rises(people / [3, 1, 1])


def test_a_regressor_that_should_come_down_is_served_too():
    x, y, _ = plane().T
    model = LinearRegression().fit(plane(), 10 - x - 0.5 * y)
    explainer = pinned(model, target="at most", min_score=7.0)
    people = refused()[model.predict(refused()) > 7.0]
    found = [answer for answer in explainer.explain_many(people, progress=False) if answer.found]
    assert len(found) >= 20
    for answer in found:
        assert model.predict(answer.records[-1:])[0] <= 7.0 + 1e-9
        assert model.predict(followed(answer)[-1:])[0] <= 7.0 + 1e-9
        kept(answer, PINNED)


# no more and no less than brute force


def projected(rows: Array, person: Array, within: float = 3.0) -> Array:
    """Everyone's values in what this person may change, their own in the rest."""
    x = np.clip(rows[:, 0], person[0] - within, person[0] + within)
    return np.column_stack([x, rows[:, 1], np.full(len(x), person[2])])


class Brute:
    """All steps between all states of one person, judged when a path might take them."""

    def __init__(
        self, judge: Judge, person: Array, states: Array, max_step: float | None = None
    ) -> None:
        self.judge = judge
        self.max_step = max_step or np.inf
        self.points = judge.points(np.vstack([person, states]))
        self.reaches = rises(np.vstack([person, states])) >= 0.5
        self._lowest: dict[tuple[int, int], float] = {}

    def lowest(self, a: int, b: int) -> float:
        key = (min(a, b), max(a, b))
        if key not in self._lowest:
            self._lowest[key] = self.judge.lowest(self.points[a], self.points[b], 401)
        return self._lowest[key]

    def passes(self, a: int, b: int) -> bool:
        """A step is nowhere more common than its ends, which are quickly looked at."""
        floor = self.judge.floor - 1e-7
        ends = min(self.lowest(a, a), self.lowest(b, b))
        return ends >= floor and self.lowest(a, b) >= floor

    def shortest(self, start: int = 0) -> float:
        """The length of the shortest way to a state that reaches the target; infinite without."""
        queue, done = [(0.0, start)], set()
        best = np.full(len(self.points), np.inf)
        while queue:
            length, here = heappop(queue)
            if here in done:
                continue
            if self.reaches[here]:
                return length
            done.add(here)
            far = length + np.linalg.norm(self.points - self.points[here], axis=1)
            near = far - length <= self.max_step
            for there in np.flatnonzero((far < best) & near).tolist():
                if there not in done and self.passes(here, there):
                    best[there] = far[there]
                    heappush(queue, (float(far[there]), there))
        return np.inf

    def can_enter(self) -> bool:
        """Whether one step leads someone below the floor, or stuck, to where a way begins."""
        others = range(1, len(self.points))
        if self.passes(0, 0) and any(self.passes(0, i) for i in others if self.is_near(i)):
            return False
        above = [i for i in others if self.is_near(i) and self.passes(i, i)]
        return any(np.isfinite(self.shortest(i)) for i in above)

    def is_near(self, there: int) -> bool:
        """Whether one step may lead to a state, but for its ground."""
        length = float(np.linalg.norm(self.points[there] - self.points[0]))
        return 0 < length <= self.max_step

    def highest_floor(self) -> float:
        """The highest floor under which there is a way."""
        queue, done = [(-np.inf, 0)], set()
        while queue:
            loss, here = heappop(queue)
            if self.reaches[here]:
                return -loss
            if here not in done:
                done.add(here)
                for there in range(1, len(self.points)):
                    if there not in done:
                        heappush(queue, (max(loss, -self.lowest(here, there)), there))
        return -np.inf


@cache
def small(**options: Any) -> tuple[Judge, Any]:
    """A table of 60 people, all of whom are looked at; no walk is too long."""
    explainer = make_explainer(rises, plane(30), schema=PINNED, n_neighbors=60, **options)
    found = explainer.explain_many(refused(30, most=12), progress=False)
    return Judge.of(explainer, plane(30), found[0]), found


@pytest.mark.parametrize(
    "options",
    [{"slack": 0.0}, {"slack": 0.2, "min_density": 0.3}, {"slack": 0.0, "max_step": 1.0}],
    ids=str,
)
def test_found_exactly_where_brute_force_over_everyones_states_finds_a_way(options):
    judge, found = small(**options)
    served, proven = set(), []
    for answer in found:
        person = answer.records[0]
        brute = Brute(judge, person, projected(plane(30), person), options.get("max_step"))
        best = brute.shortest()
        served.add(answer.found)
        if answer.proven_within is not None:
            proven.append(answer)
            assert answer.proven_within == options["slack"]
            assert best * (1 - 1e-6) <= answer.cost
            assert answer.cost <= (1 + options["slack"]) * best * (1 + 1e-6)
        elif answer.found:  # a few actions, that need not stop at states of anybody, or an entry
            on_common_ground(answer, judge)
        else:
            assert not answer.cut_short
            assert not np.isfinite(best)
            assert not brute.can_enter()
            assert (answer.status is Status.NO_TARGET) == (not brute.reaches.any())
    assert served == {True, False}
    assert len(proven) >= 5
    assert "max_step" not in options or any(len(one.certificates) > 1 for one in proven)


def test_someone_may_start_from_uncommon_ground_but_not_end_there():
    explainer = pinned(min_density=0.3)
    found = [a for a in explainer.explain_many(refused()[:20], progress=False) if a.found]
    judge = Judge.of(explainer, plane(), found[0])
    for answer in found:
        here, *_, end = judge.points(answer.path)
        below = judge.lowest(here, here) < judge.floor
        assert answer.entry == below
        assert [one.entry for one in answer.certificates[1:]] == [False] * (
            len(answer.certificates) - 1
        )
        assert judge.lowest(end, end) >= judge.floor - 1e-6
        on_common_ground(answer, judge)
    assert {answer.entry for answer in found} == {True, False}


def test_where_nothing_helps_the_answer_is_no():
    where = {"x": "never", "y": "never"}
    one, other = (
        pinned(through=through).explain(refused()[0], where=where, relax=True)
        for through in ("rows", "states")
    )
    assert other.status is one.status is Status.NO_TARGET
    assert one.opens == ()
    assert other.opens == (("x", "y"),)  # no single limit: both would have to give way
    kept = "nothing may change: everything is kept as it is"
    assert one.reason == kept
    assert other.reason == f"{kept}; a way opens if x and y may change"


def test_what_would_open_a_way_does_not_depend_on_who_else_is_asked_about(monkeypatch):
    monkeypatch.setattr("localface.analyses.whynot.remedies._MOST_SCORED", 700)  # 300 rows, 2 sets
    explainer = pinned(through="states")
    where = {"x": "never", "y": "never"}
    people = refused()[:4]

    together = explainer.explain_many(people, where=where, progress=False)

    alone = [explainer.explain(person, where=where) for person in people]
    assert [one.opens for one in together] == [one.opens for one in alone]
    assert [one.reason for one in together] == [one.reason for one in alone]
    assert any(one.opens for one in alone)


def test_a_floor_is_lowered_as_little_as_brute_force_over_all_states_needs():
    rng = np.random.default_rng(0)
    apart = np.concatenate([rng.normal(0, 0.5, (25, 3)), rng.normal([9, 9, 0], 0.5, (25, 3))])
    schema = Schema([Feature("x", within=9.5), Feature("y"), Feature("own", moves="never")])
    explainer = make_explainer(past_nine, apart, schema=schema, n_neighbors=50)
    people = apart[:1] + 0.01
    assert not any(explainer.explain_many(people, progress=False).found)
    for answer in explainer.explain_many(people, relax=True, progress=False):
        judge = Judge.of(explainer, apart, answer)
        person = answer.records[0]
        brute = Brute(judge, person, projected(apart, person, within=9.5))
        brute.reaches = np.append(False, past_nine(projected(apart, person, within=9.5)) > 0)
        assert answer.found
        assert answer.relaxed_to < answer.min_density
        lowest = min(judge.lowest(a, b) for a, b in pairwise(judge.points(answer.path)))
        assert lowest == pytest.approx(brute.highest_floor(), abs=1e-3)
        assert answer.relaxed_to == pytest.approx(judge.share(lowest), abs=0.03)
        assert past_nine(answer.records[-1:])[0] == 1.0
        kept(answer, schema)


def past_nine(people: Any) -> Array:
    return np.asarray((np.asarray(people)[:, :2].sum(axis=1) > 9).astype(float))


def test_someone_whom_the_walk_leads_nowhere_may_still_take_over_what_others_have():
    crowd = np.random.default_rng(2).normal(size=(400, 2))
    rows, states = (
        LocalFACE(
            lambda p: 1 / (1 + np.exp(-np.asarray(p)[:, 0])),
            crowd,
            search=Search(n_neighbors=1, through=through),
        )
        for through in ("rows", "states")
    )
    people = rows.explain_many(crowd[:60], progress=False)
    lost = np.array([answer.records[0] for answer in people if answer.status is Status.UNREACHABLE])
    found = [answer for answer in states.explain_many(lost, progress=False) if answer.found]
    assert len(found) >= 15
    judge = Judge.of(states, crowd, found[0])
    for answer in found:
        assert (answer.records[-1] == followed(answer)[-1]).all()
        assert answer.records[-1, 0] >= 0
        on_common_ground(answer, judge)


# what is asked for, and how


def test_alone_and_in_a_batch_the_answer_is_the_same():
    explainer, found = answers()
    for person, answer in list(zip(refused(), found, strict=True))[:8]:
        assert_same(explainer.explain(person), answer)
    explainer, found = credited("states")
    for answer in found[:3]:
        assert_same(explainer.explain(answer.path.iloc[0]), answer)


def test_the_rows_that_states_are_made_of_are_counted_and_the_budget_is_kept():
    _, free = answers()
    held_back = 0
    for person, answer in list(zip(refused(), free, strict=True))[:10]:
        assert answer.disclosure.rows >= answer.found
        for most in (1, 3, 20, 1000):
            held = pinned(max_rows=most).explain(person)
            assert held.disclosure.rows <= most
            if held.found:
                assert fresh_score(held) >= 0.5
                kept(held, PINNED)
            elif answer.found:
                held_back += 1
                assert held.status is Status.BUDGET
                assert f"max_rows={most}" in held.reason
            if most == 1000:
                assert held.records.tobytes() == answer.records.tobytes()
    assert held_back


def test_rows_are_counted_once_however_many_states_they_give(monkeypatch):
    explainer = pinned(n_neighbors=100)
    revealed: set[int] = set()
    nearest = explainer.engine.source.nearest

    def watched(questions: Any) -> Any:
        found = nearest(questions)
        for one in found:
            revealed.update(one.ids.tolist())
        return found

    monkeypatch.setattr(explainer.engine.source, "nearest", watched)
    n_walked = 0
    for person in refused()[:8]:
        revealed.clear()
        answer = explainer.explain(person)
        if answer.proven_within is not None:  # found by the walk alone
            assert answer.disclosure.rows == len(revealed)
            n_walked += 1
    assert n_walked >= 3


def test_no_step_between_states_is_longer_than_a_step_may_be():
    explainer, longest = pinned(max_step=0.8), 0.8
    short = explainer.explain_many(refused(), progress=False)
    assert any(one.length > longest for answer in found_answers() for one in answer.certificates)
    assert any(len(answer.certificates) > 2 for answer in short)
    for answer in short:
        assert all(one.length <= longest for one in answer.certificates)
        if answer.found:
            assert fresh_score(answer) >= 0.5
            kept(answer, PINNED)


def test_another_score_or_floor_for_one_call_is_that_of_an_explainer_made_so():
    explainer = pinned()
    for options in ({"min_score": 0.7}, {"min_density": 0.2}):
        made_so = pinned(**options)
        for person in refused()[:4]:
            same(explainer.explain(person, **options), made_so.explain(person))


def test_whoever_is_there_already_takes_no_steps():
    there = plane()[rises(plane()) > 0.9][0]
    answer = pinned().explain(there)
    assert answer.status is Status.ALREADY_THERE
    assert not answer.composed
    assert answer.disclosure.rows == 0


def test_what_is_avoided_stays_and_what_is_costly_is_spared():
    explainer, people = pinned(min_density=0.01), refused()[:12]
    left = explainer.explain_many(people, avoid=["y"], progress=False)
    costly = explainer.explain_many(people, weights={"y": 9.0}, progress=False)
    assert 3 <= sum(left.found) < sum(costly.found)
    for without, spared in zip(left, costly, strict=True):
        if without.found:
            assert (without.records[:, 1] == without.records[0, 1]).all()
            assert not any("y" in action.changes for action in spared.actions)
        for answer in (without, spared):
            if answer.found:
                assert fresh_score(answer) >= 0.5
                kept(answer, PINNED)


def test_several_ways_change_different_features():
    model, _, schema = credit()
    explainer, found = credited("states")
    some = [answer for answer in found if answer.found][:5]
    several = [explainer.alternatives(answer.path.iloc[0], n=3) for answer in some]
    assert sum(len(ways) > 1 for ways in several) >= 2
    for ways in several:
        assert len(set(ways.changed)) == len(ways)
        for way in ways:
            assert model.predict_proba(way.with_actions_as_path().path)[-1, 1] >= 0.6
            kept(way, schema)


def test_what_is_linked_is_taken_over_together_or_not_at_all():
    schema = PINNED.link("x", "y")
    person = refused()[0]
    engine = pinned(schema=schema).engine
    projection = engine.make_person(person, schema.box(person, None)).projection
    states = engine.space.records(projection.states_of(engine.space.points(plane())))
    cut = np.abs(plane()[:, 0] - person[0]) > 3.0
    assert 0 < cut.sum() < len(cut)
    assert states[cut] == pytest.approx(np.tile(person, (cut.sum(), 1)), abs=1e-9)
    assert states[~cut, :2] == pytest.approx(plane()[~cut, :2], abs=1e-9)


def test_what_is_held_keeps_what_is_linked_with_it():
    schema = PINNED.link("x", "y")
    person = refused()[0]
    engine = pinned(schema=schema).engine
    box = schema.box(person, {"x": "never"})
    projection = engine.make_person(person, box).projection
    states = projection.states_of(engine.space.points(plane()))
    assert (states == engine.space.points(person[None, :])).all()


def test_linked_features_change_in_one_action():
    schema = PINNED.link("x", "y")
    found = [
        answer
        for answer in pinned(schema=schema).explain_many(refused()[:12], progress=False)
        if answer.found
    ]
    assert len(found) >= 5
    for answer in found:
        assert fresh_score(answer) >= 0.5
        assert all({"x", "y"} >= set(action.changes) for action in answer.actions)
        kept(answer, schema)


def test_a_wish_for_robustness_asks_for_states_with_more_of_the_score():
    explainer = pinned(
        schema=PINNED.with_("x", resolution=0.4).with_("y", resolution=0.4), min_density=0.01
    )
    for person in refused()[:6]:
        plain, robust = explainer.explain(person), explainer.explain(person, min_robustness=0.9)
        assert robust.found == plain.found
        if plain.found:
            assert robust.robustness.success >= explainer.robustness(plain).success
            assert fresh_score(robust) >= 0.5
            kept(robust, PINNED)


def test_the_published_algorithms_end_at_rows_whatever_is_asked():
    people = refused()[:10]
    for answer in pinned(strategy="paper").explain_many(people, progress=False):
        assert not answer.found  # nobody shares what is own
        assert not answer.composed
    free = Schema([Feature("x"), Feature("y"), Feature("own")])
    found = pinned(strategy="paper", schema=free).explain_many(people, progress=False)
    assert sum(found.found) >= 3
    for answer in found:
        if answer.found:
            assert not answer.composed
            assert (plane()[list(answer.rows[1:])] == answer.records[1:]).all()


def test_where_no_state_reaches_it_the_best_that_can_be_reached_is_told():
    nobody = [answer for answer in answers()[1] if answer.status is Status.NO_TARGET]
    assert nobody
    for answer in nobody:
        best = rises(projected(plane(), answer.records[0])).max()
        assert best < 0.5
        assert f"the best score is {best:.2f}" in answer.reason
        assert not any("own" in names for names in answer.opens)


@pytest.mark.parametrize("sample", [600, 150])
def test_in_a_large_table_ends_are_valid_and_in_the_box(monkeypatch, sample):
    monkeypatch.setattr("localface.engine.loading.MAX_SCANNED_ROWS", 200)
    monkeypatch.setattr("localface.engine.loading.SAMPLE", sample)
    explainer = pinned()
    assert isinstance(explainer.engine.source, Cells)
    found = [
        answer for answer in explainer.explain_many(refused()[:12], progress=False) if answer.found
    ]
    assert len(found) >= 6
    for answer in found:
        assert answer.composed
        assert fresh_score(answer) >= 0.5
        kept(answer, PINNED)


# the answer


def test_the_answer_says_that_it_leads_through_states_and_does_so_after_a_trip():
    answer = found_answers()[0]
    n = len(answer.certificates)
    steps = f"a path of {n} step{'' if n == 1 else 's'} through states made of real people's values"
    assert steps in str(answer)
    assert steps in html.unescape(answer._repr_html_())
    for again in (Recourse.from_json(answer.to_json()), pickle.loads(pickle.dumps(answer))):
        assert again.composed
        assert str(again) == str(answer)
    bare = pinned().explain(answer.records[0], actions=False)
    assert "it ends at a combination of values that no row has" in str(bare)


def test_a_document_from_before_there_were_states_has_none():
    answer = found_answers()[0]
    old = answer.to_json().replace('"composed": true, ', "").replace(', "composed": true', "")
    assert "composed" not in old
    assert not Recourse.from_json(old).composed


def test_a_given_end_is_nobodys_discovery():
    world = mixed()
    explainer = LocalFACE(
        world.model,
        world.data,
        schema=world.schema,
        min_score=0.6,
        search=Search(n_neighbors=30),
    )
    found = explainer.explain_many(world.people.head(8), where=world.where, progress=False)
    answer = next(one for one in found if one.composed)
    given = explainer.explain(
        answer.path.iloc[0], counterfactual=answer.counterfactual, where=world.where
    )
    assert given.found
    assert not given.composed
    assert "that no row has" not in str(given)


def test_an_answer_through_states_can_be_drawn():
    plots = pytest.importorskip("matplotlib.pyplot")
    assert found_answers()[0].plot() is not None
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
