"""Actions: few changes in a proven order, against brute force over all subsets and orders."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from judge import Judge
from localface import Feature, LocalFACE, Schema, Search
from localface.cases.readiness import synthetic
from worlds import WORLDS

pytestmark = pytest.mark.slow

WIDTH = 6


@cache
def crowd(seed: int):
    """A correlated crowd, a bumpy score, and people who lack it."""
    rng = np.random.default_rng(seed)
    mixing = np.eye(WIDTH) + 0.5 * rng.normal(size=(WIDTH, WIDTH))
    data = np.round(rng.normal(size=(160, WIDTH)) @ mixing, 3)
    slopes, bends = rng.normal(size=WIDTH), rng.normal(size=(WIDTH, WIDTH)) / 4

    def model(points):
        points = np.asarray(points, dtype=float)
        raw = points @ slopes + np.einsum("ni,ij,nj->n", points, bends, points) / 4
        return 1 / (1 + np.exp(-raw))

    people = np.round(rng.normal(size=(400, WIDTH)) @ mixing, 3)
    people = people[model(people) < 0.55][:100]
    explainer = LocalFACE(model, data, min_score=0.6, search=Search(n_neighbors=20))
    answers = explainer.explain_many(people, progress=False)
    return model, explainer, answers, Judge.of(explainer, data, answers[0])


def ordered_partitions(members):
    """All ways of making changes in turn, some of them at once."""
    if not members:
        yield ()
        return
    for size in range(1, len(members) + 1):
        for first in combinations(members, size):
            rest = [one for one in members if one not in first]
            for others in ordered_partitions(rest):
                yield (first, *others)


class Brute:
    """All subsets and all orders between a person and an end, judged on a fine grid."""

    def __init__(self, judge, model, start, end, min_score):
        self.judge, self.model, self.start, self.end, self.min_score = (
            judge,
            model,
            start,
            end,
            min_score,
        )
        self.points = judge.points(np.stack([start, end]))
        self.floor = min(judge.floor, judge.lowest(self.points[0], self.points[0]))
        self.changed = [j for j in range(len(start)) if start[j] != end[j]]
        self.known = {}

    def score(self, made):
        return float(
            self.model(
                np.where(np.isin(np.arange(len(self.start)), made), self.end, self.start)[None]
            )[0]
        )

    def passes(self, before, after):
        key = (frozenset(before), frozenset(after))
        if key not in self.known:
            a, b = (
                np.where(np.isin(np.arange(WIDTH), list(m)), self.points[1], self.points[0])
                for m in key
            )
            floor = (
                self.judge.floor if self.common(before) else self.floor
            )  # once on common ground, always
            self.known[key] = self.judge.lowest(a, b, 201) >= floor - 1e-7
        return self.known[key]

    def common(self, made):
        at = np.where(np.isin(np.arange(WIDTH), list(made)), self.points[1], self.points[0])
        return self.judge.lowest(at, at, 1) >= self.judge.floor - 1e-7

    def has_route_by_fewer_than(self, n):
        """Whether fewer features will do, in any order."""
        return any(
            self.score(list(subset)) >= self.min_score
            and any(self.viable(route) for route in ordered_partitions(list(subset)))
            for size in range(1, min(n, len(self.changed) + 1))
            for subset in combinations(self.changed, size)
        )

    def viable(self, route):
        made = []
        for group in route:
            if not self.passes(made, [*made, *group]):
                return False
            made = [*made, *group]
        return self.common(made)

    def rank(self, route):
        made, missing = [], 0.0
        for group in route:
            made = [*made, *group]
            missing += max(0.0, self.min_score - self.score(made))
        return max(map(len, route)), sum(len(g) - 1 for g in route), round(missing, 6)


@pytest.mark.parametrize("seed", range(6))
def test_no_more_features_than_brute_force_needs_in_the_best_order_there_is(seed):
    model, explainer, answers, judge = crowd(seed)
    compared = 0
    for answer in answers:
        if not answer.found:
            continue
        groups = [
            tuple(explainer.schema.index(name) for name in action.changes)
            for action in answer.actions
        ]
        changed = sorted({j for group in groups for j in group})
        by_path = Brute(judge, model, answer.records[0], answer.records[-1], 0.6)
        assert not by_path.has_route_by_fewer_than(len(changed))  # by what its end has alone
        end = answer.with_actions_as_path().records[-1]
        brute = Brute(judge, model, answer.records[0], end, 0.6)
        if len(changed) <= 4:
            routes = [route for route in ordered_partitions(changed) if brute.viable(route)]
            assert brute.rank(groups) == pytest.approx(min(map(brute.rank, routes)))
            compared += 1
    assert compared >= 84  # 500 and more over the six


@pytest.mark.parametrize("seed", range(2))
def test_what_must_come_first_is_what_no_viable_order_has_later(seed):
    model, explainer, answers, judge = crowd(seed)
    must = 0
    for answer in answers:
        groups = [
            tuple(explainer.schema.index(name) for name in action.changes)
            for action in answer.actions
        ]
        if not 2 <= len(groups) <= 4 or any(len(group) > 1 for group in groups):
            continue
        end = answer.with_actions_as_path().records[-1]
        brute = Brute(judge, model, answer.records[0], end, 0.6)
        viable = [r for r in ordered_partitions([g[0] for g in groups]) if brute.viable(r)]
        for place, action in enumerate(answer.actions):
            for earlier in range(place):
                a, b = groups[place][0], groups[earlier][0]
                sooner = any(_at(route, a) < _at(route, b) for route in viable)
                assert (earlier in action.follows) == (not sooner)
                must += not sooner
    assert must > 0


def _at(route, change):
    return next(i for i, group in enumerate(route) if change in group)


def keeps_every_promise(world_model, answer, judge, where_holds):
    """Scores by a fresh call, states and segments on a fine grid, the box, and the order."""
    state = answer.path.iloc[[0]].copy()
    floor = min(judge.floor, judge.lowest(*[judge.points(state)[0]] * 2))
    for action in answer.actions:
        before = judge.points(state)[0]
        for name, value in action.changes.items():
            assert state[name].iloc[0] == action.before[name] != value
            state[name] = pd.Series([value], index=state.index).astype(state[name].dtype)
        lowest = judge.lowest(before, judge.points(state)[0])
        assert action.certificate.entry or lowest >= floor - 1e-6
        assert where_holds(answer.path.iloc[0], state.iloc[0])
        assert world_model.predict_proba(state)[0, 1] == pytest.approx(action.score, abs=1e-9)
    assert world_model.predict_proba(state)[0, 1] >= answer.target.min_score
    assert answer.end.iloc[0].tolist() == state.iloc[0].tolist()


def test_actions_on_mixed_data_keep_every_promise():
    world = WORLDS["mixed"]()
    explainer = LocalFACE(
        world.model, world.data, schema=world.schema, min_score=0.6, search=Search(n_neighbors=30)
    )
    answers = explainer.explain_many(world.people, where=world.where, progress=False)
    judge = Judge.of(explainer, world.data, answers[0])

    def allowed(now, then):
        grown = then["years_employed"] >= now["years_employed"]
        return now["married"] == then["married"] and abs(now["age"] - then["age"]) <= 10 and grown

    for answer in answers:
        if answer.found:
            keeps_every_promise(world.model, answer, judge, allowed)


@cache
def ward_round():
    """A small readiness cohort with its forest, explained."""
    from sklearn.ensemble import RandomForestClassifier

    cohort = synthetic(seed=0, sizes={"mimic": 2500, "gicu": 500})
    data, ready = cohort.frame(), cohort.ready
    model = RandomForestClassifier(60, max_depth=7, max_features=0.5, random_state=0).fit(
        data[:2600], ready[:2600]
    )
    explainer = LocalFACE(model, data[:2600], schema=cohort.schema, min_score=0.75)
    new = data[2600:]
    people = new[model.predict_proba(new)[:, 1] < 0.75].iloc[:60].reset_index(drop=True)
    return cohort, data[:2600], model, explainer, explainer.explain_many(people, progress=False)


def test_actions_on_the_readiness_cohort_are_few_and_keep_every_promise():
    cohort, data, model, explainer, answers = ward_round()
    judge = Judge.of(explainer, data, answers[0])

    def allowed(now, then):
        lows = all(then[low] <= then[high] for low, _, high in cohort.schema.relations)
        return now["sex"] == then["sex"] and abs(now["age"] - then["age"]) <= 25 and lows

    found = [answer for answer in answers if answer.found]
    for answer in found:
        keeps_every_promise(model, answer, judge, allowed)
    counts = [sum(len(action.changes) for action in answer.actions) for answer in found]
    assert np.median(counts) <= 4
    assert np.mean(np.array(counts) <= 8) >= 0.95
    calls = [answer.disclosure.model_calls for answer in found]
    assert np.median(calls) <= 20
    assert max(calls) <= 60


def test_linked_features_change_together():
    cohort, data, model, _, _ = ward_round()
    pair = ("gcs_min", "temp_max")
    explainer = LocalFACE(model, data, schema=cohort.schema.link(*pair), min_score=0.75)
    people = data[model.predict_proba(data)[:, 1] < 0.5].iloc[:40]
    together = 0
    for answer in explainer.explain_many(people, progress=False):
        if not answer.actions:
            continue
        differ = {name for name in pair if answer.path[name].iloc[0] != answer.end[name].iloc[0]}
        for action in answer.actions:
            touched = differ & set(action.changes)
            assert touched in (set(), differ)
            together += len(touched) == 2
    assert together > 0


def test_a_relation_between_features_holds_in_every_state_and_in_the_data():
    data = pd.DataFrame({"low": [1.0, 2.0, 3.0, 4.0], "high": [2.0, 3.0, 4.0, 3.0]})
    schema = Schema([Feature("low"), Feature("high")]).relate("low", "<=", "high")
    with pytest.raises(ValueError, match=r"'low' <= 'high'.*1 row"):
        LocalFACE(
            lambda frame: frame["low"] / 10, data, schema=schema, search=Search(n_neighbors=2)
        )


def test_changes_too_small_to_notice_are_no_changes():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"dose": rng.normal(50, 10, 300).round(1), "noise": rng.normal(0, 1, 300)})
    schema = Schema([Feature("dose", resolution=1.0), Feature("noise", resolution=100.0)])
    explainer = LocalFACE(
        lambda frame: (frame["dose"] / 100).clip(0, 1), data, schema=schema, min_score=0.55
    )
    answer = explainer.explain({"dose": 50.0, "noise": 0.0})
    assert [set(action.changes) for action in answer.actions] == [{"dose"}]
    assert answer.end["noise"] == 0.0


def test_without_actions_the_path_alone():
    world = WORLDS["blobs"]()
    explainer = LocalFACE(world.model, world.data, search=Search(n_neighbors=15))
    answer = explainer.explain(world.people[0], actions=False)
    assert answer.found
    assert answer.actions == ()


def test_more_changes_at_once_when_that_is_allowed():
    _, _, _model, explainer, answers = ward_round()
    several = [answer for answer in answers if len(answer.actions) >= 3]
    assert several
    for answer in several[:5]:
        quick = explainer.explain(answer.path.iloc[0], max_changes=2)
        assert len(quick.actions) <= len(answer.actions)


def test_actions_come_back_from_json_as_they_went():
    _, _, _, _, answers = ward_round()
    answer = next(answer for answer in answers if len(answer.actions) > 1)
    again = type(answer).from_json(answer.to_json())
    assert again.actions == answer.actions
    assert str(again) == str(answer)


def test_no_action_is_longer_than_a_step_may_be():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    model = lambda frame: 1 / (1 + np.exp(-2 * frame["a"] - frame["b"]))  # noqa: E731
    free = LocalFACE(model, data, min_score=0.9).explain({"a": -1.0, "b": 0.0})
    short = LocalFACE(model, data, min_score=0.9, search=Search(max_step=0.4)).explain(
        {"a": -1.0, "b": 0.0}
    )
    assert max(action.certificate.length for action in free.actions) > 0.4
    assert short.found
    assert max(action.certificate.length for action in short.actions) <= 0.4 + 1e-9
    assert model(pd.DataFrame([short.end]))[0] >= 0.9
    assert all(action.certificate.holds for action in short.actions)


def plain_world(n=600):
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=n)
    data = pd.DataFrame(
        {
            "a": hidden + rng.normal(size=n) * 0.5,
            "b": (hidden * 3 + rng.normal(size=n) * 2).round().astype(int),
            "c": rng.normal(size=n),
        }
    )
    return data, lambda frame: 1 / (1 + np.exp(-2 * frame["a"] - 0.3 * frame["b"]))


@pytest.mark.parametrize(
    "where", [{"c": (-1, 1)}, {"c": (None, 0)}, {"a": (0, None), "c": (-0.5, 0.5)}]
)
def test_someone_who_stands_outside_the_box_ends_inside_it(where):
    data, model = plain_world()
    answer = LocalFACE(model, data, min_score=0.6).explain(
        {"a": -1.0, "b": -2, "c": 2.0}, where=where
    )
    assert answer.found
    for name, (low, high) in where.items():
        for end in (answer.end, answer.counterfactual):
            assert (
                (-np.inf if low is None else low) <= end[name] <= (np.inf if high is None else high)
            )


@pytest.mark.parametrize("n", [97, 103, 110, 121, 134, 150])
def test_the_floor_that_is_told_is_the_floor_that_was_asked_for_whatever_the_size_of_the_table(n):
    data, model = plain_world(n)
    answer = LocalFACE(model, data, min_score=0.6, search=Search(n_neighbors=30)).explain(
        {"a": -0.5, "b": -1, "c": 0.0}
    )
    assert {action.certificate.floor for action in answer.actions} == {0.05}
    assert "1 in 20 people's" in str(answer)


def test_whole_numbers_do_not_make_an_action_longer_than_a_step_may_be():
    data, model = plain_world()
    explainer = LocalFACE(model, data, min_score=0.6, search=Search(max_step=0.8))
    one = explainer.engine.space.scales[1]
    for person in data[model(data) < 0.4].iloc[:40].to_dict("records"):
        for action in explainer.explain(person).actions:
            assert action.certificate.length <= max(0.8, 1 / one) + 1e-9


def test_relations_hold_for_a_counterfactual_that_is_brought_along_and_off_the_rows():
    rng = np.random.default_rng(3)
    low = rng.normal(size=400)
    data = pd.DataFrame({"low": low, "high": low + rng.exponential(0.3, 400)})
    schema = Schema([Feature("low"), Feature("high")]).relate("low", "<=", "high")
    model = lambda frame: 1 / (1 + np.exp(-3 * frame["low"]))  # noqa: E731
    explainer = LocalFACE(
        model, data, schema=schema, min_score=0.7, search=Search(momentum_steps=2)
    )
    refused = explainer.explain(
        {"low": -1.0, "high": -0.5}, counterfactual={"low": 1.0, "high": 0.5}
    )
    assert not refused.found
    assert "low <= high" in refused.reason
    for answer in explainer.explain_many(data[model(data) < 0.4].iloc[:30], progress=False):
        assert (answer.path["low"] <= answer.path["high"]).all()
        assert (
            answer.with_actions_as_path().path["low"] <= answer.with_actions_as_path().path["high"]
        ).all()
