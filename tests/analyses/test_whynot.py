"""Why not: what a check says of a wish, held against brute force over all rows."""

from __future__ import annotations

import copy
import pickle
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import LogisticRegression

from judge import Judge
from judged_steps import lowest_to_each
from localface import Feature, LocalFACE, Recourse, Schema, Search, Status
from localface.analyses.whynot import Check
from localface.errors import DataError
from worlds import World, make_explainer, mixed_table

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]
CLOSE = 5e-3  # log-densities nearer to the floor than this are not for a grid to decide


# worlds small enough for brute force; everyone is everyone's neighbour, so that "no" is a proof


@cache
def plane(name: str) -> World:
    if name == "moons":
        data, labels = make_moons(n_samples=110, noise=0.15, random_state=0)
        fresh, _ = make_moons(n_samples=40, noise=0.2, random_state=1)
    else:
        centres = np.array([[0.0, 0.0], [2.2, 0.4], [6.0, 3.0]])
        data, labels = make_blobs(n_samples=110, centers=centres, cluster_std=0.8, random_state=0)
        fresh, _ = make_blobs(n_samples=40, centers=centres, cluster_std=0.9, random_state=1)
        labels = labels > 0
    model = LogisticRegression().fit(data, labels)
    columns = ["east", "north"]
    return World(
        name,
        pd.DataFrame(data, columns=columns),
        _named(model),
        pd.DataFrame(fresh, columns=columns),
    )


def _named(model: Any) -> Any:
    return lambda frame: model.predict_proba(frame.to_numpy())[:, 1]


@cache
def credit() -> World:
    data = mixed_table(130, 0)[["income", "years_employed", "home", "married", "debt"]]
    people = mixed_table(60, 1)[list(data)]
    schema = Schema.infer(data).with_("years_employed", moves="up").with_("married", moves="freely")
    return World("credit", data, _worth, people, schema)


def _worth(frame: pd.DataFrame) -> Array:
    owed = frame["debt"].to_numpy(float) / frame["income"].to_numpy(float)
    return 1 / (1 + np.exp(4 * owed - 0.1 * frame["years_employed"].to_numpy(float) - 0.5))


@cache
def explainer(name: str, **options: Any) -> LocalFACE:
    world = credit() if name == "credit" else plane(name)
    settings = {"n_neighbors": len(world.data), "min_density": 0.1, **options}
    return make_explainer(world.model, world.data, schema=world.schema, **settings)


class Brute:
    """Every step between all rows, by plain NumPy on a grid, and the widest ways through them."""

    def __init__(self, judge: Judge, data: pd.DataFrame, samples: int = 61) -> None:
        self.judge, self.samples = judge, samples
        points = judge.points(data)
        self.rows, first = np.unique(points, axis=0, return_index=True)
        self.frame = data.iloc[first].reset_index(drop=True)
        self.steps = self._steps_both_ways()
        self.stands = self.steps.diagonal()

    def _steps_both_ways(self) -> Array:
        """Between any two rows; where nothing is own, a step is as common there and back."""
        steps = np.empty((len(self.rows), len(self.rows)))
        for i, row in enumerate(self.rows):
            steps[i, i:] = steps[i:, i] = self.lowest(row, self.rows[i:])
        return steps

    def lowest(self, start: Array, ends: Array) -> Array:
        """The lowest log-density on a grid along steps, without the kernels of their ends."""
        return lowest_to_each(self.judge, start, ends, self.samples)

    def widest(self, start: Array, goal: Array, open_: Array, onwards: Array) -> tuple[float, bool]:
        """The best lowest density of any way to the goal, and whether it takes an entry step first.

        ``open_`` tells which rows are allowed, ``onwards[i, j]`` whether one may go from i to j;
        the person and the goal are the last two of them.
        """
        n = len(self.rows)
        steps = np.full((n + 2, n + 2), -np.inf)
        steps[:n, :n] = self.steps
        steps[n, :n] = self.lowest(start, self.rows)
        steps[n, n + 1] = self.lowest(start, goal[None, :])[0]
        steps[:n, n + 1] = self.lowest(goal, self.rows)
        steps[~onwards] = -np.inf
        steps[:n][~open_] = -np.inf
        steps[:, :n][:, ~open_] = -np.inf
        best = _maximin(steps)[:, n + 1]
        floor = self.judge.floor
        if self.lowest(start, start[None, :])[0] >= floor and steps[n].max() >= floor:
            return float(best[n]), False
        doors = np.flatnonzero(open_ & (self.stands >= floor) & onwards[n, :n])
        through = best[doors]
        if len(doors) and through.max() >= floor:
            return float(through.max()), True
        first = doors[steps[n, doors].argmax()] if len(doors) else n
        return float(best[first]), bool(len(doors))


def _maximin(steps: Array) -> Array:
    """Floyd and Warshall on the lowest density instead of the length."""
    best = steps.copy()
    for middle in range(len(best)):
        best = np.maximum(best, np.minimum(best[:, [middle]], best[[middle], :]))
    return best


def share(judge: Judge, level: float) -> float:
    return float(np.interp(level, judge.levels, np.linspace(0, 1, len(judge.levels))))


def level_at(judge: Judge, point: Array) -> float:
    return judge.lowest(point, point)


@cache
def brute(name: str) -> Brute:
    world = credit() if name == "credit" else plane(name)
    any_check = explainer(name).check(world.people.iloc[0], world.people.iloc[1])
    return Brute(Judge.of(explainer(name), world.data, any_check), world.data)  # type: ignore[arg-type]


def wishes(name: str, n: int) -> list[tuple[pd.Series, dict[str, Any], dict[str, Any]]]:
    """People, wishes (common, rare, beyond the data), and constraints that some of them break."""
    rng = np.random.default_rng(5)
    world = credit() if name == "credit" else plane(name)
    found = []
    for i in range(n):
        person = world.people.iloc[i % len(world.people)]
        if name == "credit":
            model = world.data.iloc[int(rng.integers(len(world.data)))]
            some = rng.choice(list(world.data), size=int(rng.integers(1, 6)), replace=False)
            wish = {str(key): model[key] for key in some}
            where: dict[str, Any] = [{}, {"married": "never"}, {"debt": 3000.0}][i % 3]
        else:
            low, high = world.data.min(), world.data.max()
            state = low + (high - low) * rng.uniform(-0.05, 1.05, 2)
            wish = {"east": float(state.iloc[0]), "north": float(state.iloc[1])}
            where = [{}, {}, {"east": 2.0}, {"north": "up"}][i % 4]
        found.append((person, wish, where))
    return found


def inside(
    person: pd.Series, states: pd.DataFrame, where: dict[str, Any], *, up: tuple[str, ...]
) -> Array:
    """Which states keep the constraints, worked out again in the user's units."""
    fine = np.ones(len(states), dtype=bool)
    for name, rule in where.items():
        if rule == "never":
            fine &= (states[name] == person[name]).to_numpy()
        elif rule != "up":
            low, high = person[name] - rule, person[name] + rule
            fine &= ((states[name] >= low) & (states[name] <= high)).to_numpy()
    for name in up:
        fine &= (states[name] >= person[name]).to_numpy()
    return fine


def onwards(columns: pd.DataFrame, up: tuple[str, ...]) -> Array:
    fine = np.ones((len(columns), len(columns)), dtype=bool)
    for name in up:
        values = columns[name].to_numpy()
        fine &= values[None, :] >= values[:, None]
    return fine


@pytest.mark.parametrize("name", ["moons", "blobs", "credit"])
def test_of_many_steps_at_once_brute_force_says_what_the_judge_says_of_each(name: str) -> None:
    known, judge = brute(name), brute(name).judge
    people = judge.points((credit() if name == "credit" else plane(name)).people)
    ends = np.concatenate([known.rows[::9], people[:4]])
    for start in (known.rows[9], known.rows[-1], people[0]):
        there = [judge.lowest(start, end, known.samples) for end in ends]
        back = [judge.lowest(end, start, known.samples) for end in ends]
        assert known.lowest(start, ends) == pytest.approx(np.array(there), abs=1e-9)
        assert there == pytest.approx(back, abs=CLOSE / 2)  # of two dips, either looked at closer


@pytest.mark.parametrize(("name", "n"), [("moons", 36), ("blobs", 36), ("credit", 30)])
def test_every_verdict_agrees_with_brute_force_over_all_rows(name: str, n: int) -> None:
    known, judge = brute(name), brute(name).judge
    world = credit() if name == "credit" else plane(name)
    seen = []
    for person, wish, where in wishes(name, n):
        check = explainer(name).check(person, wish, where=where)
        up = tuple(key for key, rule in where.items() if rule == "up")
        up += ("years_employed",) if name == "credit" else ()
        two = pd.DataFrame([person, pd.Series({**person, **wish})]).astype(world.data.dtypes)
        start, goal = judge.points(two)
        fresh = world.model(two)
        # the score
        assert check.scores == pytest.approx(fresh.tolist(), abs=1e-9)
        assert check.valid == (fresh[1] >= 0.5) == ("score" not in check.refused_by)
        # the box
        allowed = bool(inside(person, two, where, up=up)[1])
        assert check.allowed == allowed == ("box" not in check.refused_by)
        # the ground at the wish, and under the straight step
        level = level_at(judge, goal)
        below, above = (share(judge, level + tie) for tie in (-2e-6, 2e-6))  # many are alike
        assert below - 1e-6 <= check.density <= above + 1e-6
        if abs(level - judge.floor) > CLOSE:
            assert check.on_ground == (level > judge.floor) == ("floor" not in check.refused_by)
        lowest = judge.lowest(start, goal)
        below, above = (share(judge, lowest + tie) for tie in (-1e-6, 1e-6))  # many are alike
        assert below - 0.01 <= check.step.lowest <= above + 0.01
        if allowed and abs(lowest - judge.floor) > CLOSE:
            assert check.direct == (lowest > judge.floor)
        # the way, and the floor that would open it
        if not allowed:
            assert not check.reachable
            assert check.recourse is None
            continue
        every = pd.concat([known.frame, two], ignore_index=True)
        rows_in = inside(person, known.frame, where, up=up)
        widest, entry = known.widest(start, goal, rows_in, onwards(every, up))
        if abs(widest - judge.floor) < CLOSE:
            continue
        seen.append(check.reachable)
        assert check.reachable == (widest > judge.floor)
        assert ("way" in check.refused_by) == (check.on_ground and not check.reachable)
        if check.reachable and check.wish:
            assert check.recourse is not None
            assert check.recourse.entry == entry
            assert judge.points(check.recourse.path)[-1] == pytest.approx(goal)
        if not check.reachable:
            assert check.relaxation is not None
            assert check.relaxation.min_density is not None
            assert check.relaxation.min_density == pytest.approx(share(judge, widest), abs=0.01)
    assert len(seen) > n / 3
    assert len(set(seen)) == 2


def test_a_way_that_was_found_holds_whatever_the_number_of_neighbours() -> None:
    near, every = explainer("blobs", n_neighbors=12), explainer("blobs")
    pairs = [
        (near.check(*one[:2]).reachable, every.check(*one[:2]).reachable)
        for one in wishes("blobs", 30)
    ]
    assert all(wide for close, wide in pairs if close)
    assert np.mean([close == wide for close, wide in pairs]) > 0.9


def test_lowering_the_floor_as_told_opens_the_way_and_no_less_does() -> None:
    tried = 0
    for person, wish, _ in wishes("moons", 40):
        told = explainer("moons", n_neighbors=40).check(person, wish).relaxation
        if told is None or not told.min_density or told.min_density < 0.01:
            continue
        tried += 1
        lower, higher = told.min_density - 1e-3, min(told.min_density + 5e-3, 0.1)
        assert explainer("moons", n_neighbors=40, min_density=lower).check(person, wish).reachable
        assert (
            not explainer("moons", n_neighbors=40, min_density=higher).check(person, wish).reachable
        )
    assert tried >= 3


# what a wish is


CROWD = pd.DataFrame(np.random.default_rng(3).normal(size=(250, 2)), columns=["east", "north"])
EASTWARD = LogisticRegression().fit(CROWD, CROWD["east"] > 0.5)
WESTERNER = {"east": -0.8, "north": 0.1}


@cache
def crowd(**options: Any) -> LocalFACE:
    return make_explainer(EASTWARD, CROWD, **{"n_neighbors": 30, "target": True, **options})


def test_a_wish_may_be_partial_or_whole() -> None:
    some = crowd().check(WESTERNER, {"east": 1.0})
    assert some.state == {"east": 1.0, "north": 0.1}
    assert some.wish == {"east": 1.0}
    for whole in (
        np.array([1.0, 0.1]),
        pd.DataFrame({"east": [1.0], "north": [0.1]}),
        pd.Series({"east": 1.0}),
    ):
        assert repr(crowd().check(WESTERNER, whole)) == repr(some)
    assert "debt" not in str(some)
    assert "no rule is broken" in repr(some)


def test_a_wish_that_cannot_be_read_is_refused_with_the_near_miss() -> None:
    with pytest.raises(
        DataError, match=r"the wish names 'eest', which is no feature \(did you mean 'east'"
    ):
        crowd().check(WESTERNER, {"eest": 1.0})
    with pytest.raises(DataError, match="the wish is empty"):
        crowd().check(WESTERNER, {})
    with pytest.raises(DataError, match="the wish has no value of east"):
        crowd().check(WESTERNER, {"east": float("nan")})


def test_staying_as_one_is_needs_no_way_and_sees_nobody() -> None:
    stay = crowd().check(WESTERNER, WESTERNER, where={"east": (0, 1)})
    assert stay.reachable
    assert stay.direct
    assert stay.recourse is None
    assert stay.wish == {}
    assert stay.refused_by == ("score",)
    assert stay.disclosure.rows == 0


def test_the_actions_make_every_change_that_was_wished_for_whatever_the_score() -> None:
    wish = {"east": -0.5, "north": 0.9}
    check = crowd().check(WESTERNER, wish)
    assert check.refused_by == ("score",)
    assert check.reachable
    assert check.recourse is not None
    assert check.recourse.end == wish
    assert check.recourse.counterfactual == wish
    assert "does not reach the target" in check.recourse.reason
    assert check.relaxation is not None
    assert 0.95 * check.score <= check.relaxation.min_score <= check.score


def test_someone_who_already_has_the_outcome_may_still_wish() -> None:
    check = crowd().check({"east": 1.2, "north": 0.0}, {"north": 0.6})
    assert check.valid
    assert check.reachable
    assert check.refused_by == ()


# the evidence


def test_a_broken_constraint_is_told_in_its_words_and_by_how_much() -> None:
    check = crowd().check(
        WESTERNER, {"east": 1.0, "north": 0.4}, where={"east": 0.5, "north": "never"}
    )
    assert check.refused_by == ("box",)
    assert not check.reachable
    assert not check.direct
    assert check.reasons == (
        "'east within 0.5 of -0.8' is overstepped by 1.3: 1 is wished for",
        "'north never moves' rules out 0.4",
    )
    assert check.relaxation is not None
    assert check.relaxation.enough
    assert (
        check.relaxation.sentence == "it opens if east may be 1 (1.3 further) and north may be 0.4"
    )
    wider = {"east": 1.8, "north": (0.1, 0.4)}
    assert crowd().check(WESTERNER, {"east": 1.0, "north": 0.4}, where=wider).reachable


def test_categories_and_places_in_an_order_are_told_as_such() -> None:
    data = mixed_table(300, 2)[["income", "debt", "home", "school"]]
    made = LocalFACE(lambda frame: np.full(len(frame), 0.3), data, search=Search(n_neighbors=40))
    person = {"income": 25_000.0, "debt": 5_000.0, "home": "rent", "school": "basic"}
    check = made.check(
        person, {"home": "own", "school": "high"}, where={"home": ["rent", "family"], "school": 0}
    )
    assert check.reasons[:2] == (
        "'home among 'family', 'rent'' rules out own",
        "'school within 0 of basic' rules out high",
    )
    assert [one.by for one in check.broken] == [None, 2.0]


def test_a_broken_relation_is_a_refusal_of_its_own() -> None:
    rng = np.random.default_rng(0)
    low = rng.normal(60, 8, 300).round()
    data = pd.DataFrame({"hr_min": low, "hr_max": low + rng.gamma(4, 5, 300).round()})
    schema = Schema([Feature("hr_min", unit="bpm"), Feature("hr_max", unit="bpm")]).relate(
        "hr_min", "<=", "hr_max"
    )
    made = LocalFACE(
        lambda frame: np.full(len(frame), 0.9), data, schema=schema, search=Search(n_neighbors=30)
    )
    check = made.check({"hr_min": 60.0, "hr_max": 75.0}, {"hr_min": 78.0})
    assert "relation" in check.refused_by
    assert "box" not in check.refused_by
    assert not check.allowed
    assert (
        check.reasons[0]
        == "'hr_min <= hr_max' is overstepped by 3 bpm: hr_min 78 bpm is wished for"
    )
    assert check.relaxation is not None
    assert "hr_min may exceed hr_max by 3 bpm" in check.relaxation.sentence


def test_a_gap_is_shown_where_it_is() -> None:
    data, which = make_blobs(
        n_samples=70, centers=np.array([[0.0, 0.0], [6.0, 0.0]]), cluster_std=0.8, random_state=0
    )
    apart = LocalFACE(LogisticRegression().fit(data, which), data, search=Search(n_neighbors=15))
    check = apart.check(data[which == 0][3], np.array([6.0, 0.0]))
    assert check.refused_by == ("way",)
    assert check.on_ground
    assert check.valid
    assert not check.direct
    assert check.place is not None
    assert 2 < float(check.place["x0"]) < 4
    assert "most of all at x0" in check.reasons[0]
    assert check.relaxation is not None
    assert check.relaxation.min_density is not None
    assert check.relaxation.min_density < 0.05


def test_steps_that_are_too_short_are_named_as_what_is_in_the_way() -> None:
    check = crowd(max_step=0.02).check(WESTERNER, {"east": 1.0})
    assert check.refused_by == ("way",)
    assert check.step.holds
    assert not check.direct
    assert "max_step allows 0.02" in check.reasons[0]
    assert check.relaxation is not None
    assert not check.relaxation.enough
    assert "no floor, however low, opens it" in check.relaxation.sentence


def test_a_spent_budget_is_no_proof_and_says_so() -> None:
    data, which = make_blobs(
        n_samples=200, centers=np.array([[0.0, 0.0], [9.0, 0.0]]), random_state=0
    )
    apart = LocalFACE(
        LogisticRegression().fit(data, which), data, max_rows=20, search=Search(n_neighbors=15)
    )
    check = apart.check(np.array([0.0, 0.0]), np.array([9.0, 0.0]))
    assert "max_rows=20 was spent" in check.reasons[-1]
    assert check.disclosure.rows <= 20
    assert check.relaxation is not None
    assert "not known" in check.relaxation.sentence


@pytest.mark.parametrize("edges", ["average", "cover"])
def test_the_other_rules_are_checked_and_told_too(edges: str) -> None:
    near = crowd(edges=edges).check(WESTERNER, {"east": 1.0})
    far = crowd(edges=edges).check(WESTERNER, {"east": 9.0})
    assert near.refused_by == ()
    assert near.direct
    assert near.step.rule == edges
    assert "floor" in far.refused_by
    assert not far.reachable
    assert ("fewer than 3 people" in far.reasons[0]) == (edges == "cover")


def test_a_check_is_frozen_and_can_be_copied_printed_and_shown() -> None:
    check = crowd().check(WESTERNER, {"east": 9.0}, where={"east": 2})
    assert isinstance(check, Check)
    assert check.refused_by == ("box", "floor")
    with pytest.raises(AttributeError):
        check.reasons = ()  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        check.records[0, 0] = 1.0
    assert str(copy.deepcopy(check)) == str(pickle.loads(pickle.dumps(check))) == str(check)
    assert repr(check).count("\n") == 0
    assert repr(check) in str(check).splitlines()
    assert all(reason in str(check) for reason in check.reasons)
    assert "<script" not in check._repr_html_()
    assert "wished: east" in check._repr_html_()


# what would open a closed box


def test_one_constraint_that_shuts_everyone_out_is_named() -> None:
    answer = crowd().explain(WESTERNER, where={"east": 0.3, "north": 3.0})
    assert answer.status is Status.NO_TARGET
    assert answer.opens == (("east",),)
    assert "a way opens if east may move further" in answer.reason
    assert crowd().explain(WESTERNER, where={"north": 3.0}).found


def test_two_constraints_are_named_where_neither_alone_would_do() -> None:
    data = pd.DataFrame(
        np.random.default_rng(0).normal(size=(300, 3)), columns=["east", "north", "up"]
    )
    made = LocalFACE(
        lambda frame: 0.0 + (frame[["east", "north"]].min(axis=1) > 0.4),
        data,
        search=Search(n_neighbors=40),
    )
    answer = made.explain(
        {"east": -0.5, "north": -0.5, "up": 0.0}, where={"east": 0.2, "north": 0.2, "up": 2.5}
    )
    assert answer.status is Status.NO_TARGET
    assert answer.opens == (("east", "north"),)
    assert "a way opens if east and north may move further" in answer.reason


def test_the_searches_for_what_opens_are_counted_and_kept_within_the_budget() -> None:
    where = {"east": 0.3}
    answer = crowd().explain(WESTERNER, where=where)
    assert f"seen: {answer.disclosure.sentence}" in str(answer)
    assert answer.disclosure.rows > 0
    held = crowd(max_rows=25).explain(WESTERNER, where=where)
    assert held.status is not Status.FOUND
    assert held.disclosure.rows <= 25


def test_nothing_is_named_where_nothing_helps_and_nothing_is_spent_on_those_served() -> None:
    nobody = LocalFACE(lambda frame: np.full(len(frame), 0.3), CROWD, search=Search(n_neighbors=30))
    answer = nobody.explain(WESTERNER, where={"east": 0.3})
    assert answer.status is Status.NO_TARGET
    assert answer.opens == ()
    assert crowd().explain(WESTERNER).opens == ()


def test_a_limit_that_all_rows_keep_is_not_tried() -> None:
    """Limits that nature sets would let in nobody else if they gave way: trying them is in vain."""
    nobody = LocalFACE(lambda frame: np.full(len(frame), 0.3), CROWD, search=Search(n_neighbors=30))
    nobody.prescore()
    low, high = float(CROWD["north"].min()) - 1, float(CROWD["north"].max()) + 1
    kept, tight = (
        nobody.explain(WESTERNER, where={"east": 0.3, "north": limits}).disclosure.rows_scored
        for limits in ((low, high), (low, float(CROWD["north"].quantile(0.9))))
    )
    assert kept + len(CROWD) // 2 < tight


def test_what_opens_is_the_same_for_many_and_survives_json() -> None:
    people = pd.DataFrame([WESTERNER, {"east": 0.45, "north": 0.0}, {"east": -1.0, "north": -0.5}])
    many = crowd().explain_many(people, where={"east": 0.4}, progress=False)
    for answer, (_, person) in zip(many, people.iterrows(), strict=True):
        alone = crowd().explain(person, where={"east": 0.4})
        assert (alone.opens, alone.reason, alone.disclosure.rows) == (
            answer.opens,
            answer.reason,
            answer.disclosure.rows,
        )
        assert Recourse.from_json(answer.to_json()).opens == answer.opens
    assert many[0].opens == (("east",),)
    assert many[1].found
