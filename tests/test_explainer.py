"""What an explainer does with its options, on small worlds with known truth."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KernelDensity
from sklearn.svm import SVC

from judge import Judge
from judged_density import PlainSpace
from localface import Feature, LocalFACE, Recourse, Schema, Search, Status
from localface.cases.moons import two_moons
from localface.models.scorer import signed
from worlds import WORLDS, World, make_explainer

Array = np.ndarray[Any, Any]

BEYOND = [6.0, 0.0]  # the middle of a crowd with nobody between it and the first


def explainer_of(world: World, **options: Any) -> LocalFACE:
    settings = {
        "schema": world.schema,
        "n_neighbors": world.n_neighbors,
        "min_score": world.min_score,
    }
    return make_explainer(world.model, world.data, **{**settings, **options})


@cache
def small_moons() -> World:
    """Two moons of 300 people."""
    data, labels = make_moons(n_samples=300, noise=0.17, random_state=0)
    fresh, _ = make_moons(n_samples=60, noise=0.17, random_state=1)
    model = SVC(gamma=2.0).fit(data, labels)
    return World(
        "moons",
        data,
        model,
        fresh[model.decision_function(fresh) < 0],
        n_neighbors=15,
        min_score=0.0,
    )


@cache
def moons(**options: Any) -> LocalFACE:
    return explainer_of(small_moons(), **options)


@cache
def apart() -> tuple[Array, Any]:
    """Two crowds with nobody in between, and a model that tells them apart."""
    data, which = make_blobs(
        n_samples=70, centers=np.array([[0.0, 0.0], BEYOND]), cluster_std=0.8, random_state=0
    )
    return data, LogisticRegression().fit(data, which)


def crowd(n: int = 250) -> pd.DataFrame:
    """One broad crowd in the plane: every place in it can be reached."""
    return pd.DataFrame(np.random.default_rng(3).normal(size=(n, 2)), columns=["east", "north"])


CROWD = crowd()
IS_EAST = (CROWD["east"] > 0.5).astype(int)
EASTWARD = LogisticRegression().fit(CROWD, IS_EAST)
WESTERNER = {"east": -0.8, "north": 0.1}


def steps_of(explainer: LocalFACE, answer: Recourse) -> Array:
    """The length of each step, worked out again from the path."""
    points = PlainSpace.of(explainer.engine.space).points(answer.records)
    return np.linalg.norm(np.diff(points, axis=0), axis=1)


def same(one: Recourse, other: Recourse) -> bool:
    return (
        one.status is other.status
        and one.records.tobytes() == other.records.tobytes()
        and one.scores == other.scores
    )


# a counterfactual that was brought along


def test_a_known_counterfactual_is_reached_and_is_the_end_of_the_path() -> None:
    goal = np.array([1.0, -0.45])
    answer = moons().explain(np.array([-0.9, 0.3]), counterfactual=goal)
    assert answer.found
    assert answer.counterfactual.tolist() == goal.tolist()
    assert answer.rows[-1] is None
    assert all(one.holds for one in answer.certificates)
    assert len(answer.certificates) > 1


def test_a_known_counterfactual_may_be_one_of_the_rows_and_is_given_back_bit_for_bit() -> None:
    data = small_moons().data
    someone = data[np.argmin(np.linalg.norm(data - [1.0, -0.45], axis=1))]
    answer = moons().explain(np.array([-0.9, 0.3]), counterfactual=someone)
    assert answer.found
    assert answer.records[-1].tobytes() == someone.tobytes()


def test_a_known_counterfactual_beyond_a_gap_is_unreachable_and_says_so() -> None:
    data, model = apart()
    answer = LocalFACE(model, data, search=Search(n_neighbors=15)).explain(
        np.zeros(2), counterfactual=np.array(BEYOND)
    )
    assert answer.status is Status.UNREACHABLE
    assert "the counterfactual that was given cannot be reached" in answer.reason
    assert "a way opens if the floor comes down from 5 % to 2.2 %" in answer.reason


def test_with_relax_even_a_counterfactual_beyond_a_gap_is_reached_at_a_stated_price() -> None:
    data, model = apart()
    explainer = LocalFACE(model, data, search=Search(n_neighbors=15))
    answer = explainer.explain(np.zeros(2), counterfactual=np.array(BEYOND), relax=True)
    assert answer.found
    assert answer.relaxed_to is not None
    assert answer.relaxed_to < 0.05
    assert answer.counterfactual.tolist() == BEYOND


# relaxation


def bottleneck(judge: Judge, start: Array, is_target: Array) -> float:
    """The highest lowest density of any path over all rows, by Dijkstra in plain NumPy."""
    places = np.vstack([start, judge.rows])
    n = len(places)
    lowest = np.full((n, n), -np.inf)
    for i in range(n):
        for j in range(i):
            lowest[i, j] = lowest[j, i] = judge.lowest(places[i], places[j], 151)
    best, done = np.full(n, -np.inf), np.zeros(n, dtype=bool)
    best[0] = np.inf
    while True:
        here = int(np.argmax(np.where(done, -np.inf, best)))
        if here > 0 and is_target[here - 1]:
            return float(best[here])
        done[here] = True
        best = np.maximum(best, np.minimum(best[here], lowest[here]))


def weakest(judge: Judge, answer: Recourse) -> float:
    points = judge.points(answer.path)
    return min(judge.lowest(a, b) for a, b in pairwise(points))


def relaxing(n_neighbors: int) -> LocalFACE:
    data, model = apart()
    return LocalFACE(model, data, search=Search(n_neighbors=n_neighbors))


@cache
def relaxed(n_neighbors: int) -> Recourse:
    return relaxing(n_neighbors).explain(np.array([0.0, 0.0]), relax=True)


@cache
def least_relaxation() -> tuple[Judge, float]:
    """The judge of the two crowds, and the best that any path between them can be."""
    data, model = apart()
    judge = Judge.of(relaxing(70), data, relaxed(70))
    is_target = model.predict_proba(judge.codes)[:, 1] >= 0.5
    return judge, bottleneck(judge, judge.points(relaxed(70).path)[0], is_target)


def test_without_relax_crowds_far_apart_are_unreachable_with_a_reason() -> None:
    data, model = apart()
    answer = LocalFACE(model, data, search=Search(n_neighbors=15)).explain(np.array([0.0, 0.0]))
    assert answer.status is Status.UNREACHABLE
    assert "35 people within the constraints reach the target" in answer.reason
    assert "a way opens if the floor comes down from 5 % to 1.9 %" in answer.reason
    assert answer.relaxed_to is None


@pytest.mark.slow
def test_the_least_relaxation_is_that_of_brute_force_over_all_rows_and_steps() -> None:
    answer = relaxed(70)
    judge, best = least_relaxation()
    assert answer.found
    assert weakest(judge, answer) == pytest.approx(best, abs=0.01)
    assert answer.relaxed_to == pytest.approx(
        min(one.lowest for one in answer.certificates), abs=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize("n_neighbors", [3, 15])
def test_a_gap_wider_than_the_nearest_neighbors_is_still_crossed_on_the_best_ground_there_is(
    n_neighbors: int,
) -> None:
    answer = relaxed(n_neighbors)
    judge, best = least_relaxation()
    assert answer.found
    assert answer.relaxed_to is not None
    assert weakest(judge, answer) <= best + 0.01


def test_a_relaxation_is_stated_in_every_rendering() -> None:
    answer = relaxed(15)
    assert "floor relaxed to" in repr(answer)
    assert "relaxed: the floor was lowered from 5 %" in str(answer)
    assert "relaxed" in answer._repr_html_()
    assert f'"relaxed_to": {answer.relaxed_to!r}' in answer.to_json()
    assert Recourse.from_json(answer.to_json()).relaxed_to == answer.relaxed_to
    assert answer.to_frame()["relaxed_to"].tolist() == [answer.relaxed_to] * len(answer.path)
    assert answer.meta["relaxed_to"] == answer.relaxed_to


def test_a_relaxation_that_a_budget_cut_short_is_not_called_the_least() -> None:
    moons = two_moons(seed=0)
    person = np.asarray(moons.data)[142]
    few = LocalFACE(moons.model, moons.data, max_rows=500)

    whole = LocalFACE(moons.model, moons.data).explain(person, relax=True, min_density=0.6)
    cut = few.explain(person, relax=True, min_density=0.6)

    assert whole.relaxed_to is not None
    assert cut.relaxed_to is not None
    assert cut.relaxed_to <= whole.relaxed_to
    assert "the least that opens" in str(whole)
    assert not whole.cut_short
    assert "the least that opens" not in str(cut)
    assert cut.cut_short


def test_relax_changes_nothing_for_those_who_need_no_relaxation() -> None:
    person = np.array([-0.9, 0.3])
    assert same(moons().explain(person, relax=True), moons().explain(person))
    assert moons().explain(person, relax=True).relaxed_to is None


def test_where_no_floor_helps_relax_says_so() -> None:
    data, model = apart()
    among_rows = Search(n_neighbors=15, max_step=0.5, through="rows")
    answer = LocalFACE(model, data, search=among_rows).explain(np.array([0.0, 0.0]), relax=True)
    assert answer.status is Status.UNREACHABLE
    assert "no floor, however low, opens a way" in answer.reason


def test_a_gap_too_wide_for_a_step_between_rows_is_crossed_in_small_steps_if_the_floor_gives_way():
    data, model = apart()
    answer = LocalFACE(model, data, search=Search(n_neighbors=15, max_step=0.5)).explain(
        np.array([0.0, 0.0]), relax=True
    )
    assert answer.found
    assert answer.relaxed_to is not None
    assert max(step.length for step in answer.certificates) <= 0.5


# targets


def test_either_class_can_be_the_target() -> None:
    answer = LocalFACE(
        EASTWARD, CROWD, target=0, min_score=0.7, search=Search(n_neighbors=20)
    ).explain({"east": 1.2, "north": 0.0})
    assert answer.found
    assert EASTWARD.predict_proba(answer.path)[-1, 0] >= 0.7


@pytest.mark.parametrize("target", [0, 1, 2])
def test_one_class_of_many(target: int) -> None:
    which = np.digitize(CROWD["east"], [-0.4, 0.4])
    model = LogisticRegression().fit(CROWD, which)
    person = {"east": [1.2, -1.2, -1.2][target], "north": 0.0}
    answer = LocalFACE(model, CROWD, target=target, search=Search(n_neighbors=20)).explain(person)
    assert answer.found
    assert model.predict_proba(answer.path)[-1, target] >= 0.5


def test_a_margin_may_be_negative_all_the_way_to_the_target() -> None:
    model = SVC(gamma=0.5).fit(CROWD, IS_EAST)
    answer = LocalFACE(model, CROWD, min_score=-0.2, search=Search(n_neighbors=20)).explain(
        WESTERNER
    )
    assert answer.found
    assert answer.scores == pytest.approx(model.decision_function(answer.path).tolist())
    assert answer.scores[0] < -0.2 <= answer.scores[-1]


@pytest.mark.parametrize(("target", "wanted"), [("at least", 36_000), ("at most", 18_000)])
def test_a_regressor_goes_up_or_down(target: str, wanted: float) -> None:
    model = LinearRegression().fit(CROWD, 30_000 + 10_000 * CROWD["east"])
    person = {"east": -0.3, "north": 0.0}
    answer = LocalFACE(
        model, CROWD, target=target, min_score=wanted, search=Search(n_neighbors=20)
    ).explain(person)
    values = model.predict(answer.path)
    assert answer.found
    assert answer.scores == pytest.approx(values.tolist())
    assert (values[-1] >= wanted) if target == "at least" else (values[-1] <= wanted)
    assert answer.target.is_reached_by(answer.scores[-1])
    assert not answer.target.is_reached_by(answer.scores[0])


def test_a_function_and_a_signed_function_lead_to_the_same_row_when_they_mean_the_same() -> None:
    def plain(frame: pd.DataFrame) -> Any:
        return np.exp(frame["east"])

    above = LocalFACE(plain, CROWD, min_score=np.exp(0.6), search=Search(n_neighbors=250)).explain(
        WESTERNER
    )
    signs = LocalFACE(
        signed(lambda frame: frame["east"]),
        CROWD,
        target="at least",
        min_score=0.6,
        search=Search(n_neighbors=250),
    )
    assert above.found
    assert above.rows[-1] == signs.explain(WESTERNER).rows[-1]


# limits


def test_no_step_is_longer_than_max_step() -> None:
    person = np.array([-0.9, 0.3])
    free, short = moons().explain(person), moons(max_step=0.4).explain(person)
    lengths = steps_of(moons(), short)
    assert short.found
    assert steps_of(moons(), free).max() > 0.4
    assert lengths.max() <= 0.4
    assert [one.length for one in short.certificates] == pytest.approx(lengths.tolist())
    assert short.cost >= free.cost - 1e-9


def test_max_step_holds_for_an_entry_step_and_for_a_known_counterfactual_too() -> None:
    explainer = LocalFACE(EASTWARD, CROWD, search=Search(n_neighbors=20, max_step=0.5))
    lonely = explainer.explain({"east": -2.9, "north": 2.2})
    assert steps_of(explainer, lonely).max(initial=0.0) <= 0.5
    given = explainer.explain(WESTERNER, counterfactual={"east": 0.9, "north": 0.0})
    assert given.found
    assert steps_of(explainer, given).max() <= 0.5


def test_a_row_budget_is_kept_and_its_end_is_told() -> None:
    answer = moons(max_rows=10).explain(np.array([-0.9, 0.3]))
    assert answer.status is Status.BUDGET
    assert answer.disclosure.rows <= 10
    assert "max_rows=10 was spent" in answer.reason
    assert moons(max_rows=900).explain(np.array([-0.9, 0.3])).found


# costs and rules


@pytest.mark.parametrize("person", [[-0.9, 0.3], [0.0, 1.0], [0.6, 0.8]])
def test_the_safest_way_has_no_lower_ground_than_the_shortest_and_is_no_shorter(
    person: list[float],
) -> None:
    shortest, safest = (moons(cost=cost).explain(np.array(person)) for cost in ("length", "safest"))
    assert shortest.found
    assert safest.found
    assert (
        min(one.lowest for one in safest.certificates)
        >= min(one.lowest for one in shortest.certificates) - 1e-9
    )
    assert safest.cost >= shortest.cost / 1.05 - 1e-9


def test_the_density_cost_keeps_to_more_common_ground_than_the_shortest_way() -> None:
    means = []
    for person in small_moons().people[7:11]:  # four whose shortest way is over rare ground
        shortest, common = (
            moons(cost=cost, through="rows").explain(person) for cost in ("length", "density")
        )
        assert common.found
        assert all(one.holds for one in common.certificates)
        means.append([np.mean(shortest.densities[1:]), np.mean(common.densities[1:])])
    assert all(common > shortest for shortest, common in means)


@pytest.mark.parametrize("edges", ["strict", "average", "cover"])
def test_every_rule_for_steps_is_named_in_its_certificates(edges: str) -> None:
    answer = moons(edges=edges).explain(np.array([-0.9, 0.3]))
    assert answer.found
    assert {one.rule for one in answer.certificates} == {edges}
    assert all(one.holds for one in answer.certificates)
    assert all((one.people == 3) == (edges == "cover") for one in answer.certificates)


def test_momentum_may_leave_the_rows_but_not_the_ground() -> None:
    answers = [moons(momentum_steps=2).explain(person) for person in small_moons().people[:6]]
    assert all(answer.found for answer in answers)
    assert all(one.holds or one.entry for answer in answers for one in answer.certificates)
    middle = [row for answer in answers for row in answer.rows[1:]]
    assert None in middle
    assert (
        small_moons().model.decision_function(np.stack([answer.records[-1] for answer in answers]))
        >= 0
    ).all()


def test_momentum_keeps_whole_numbers_whole_and_categories_real() -> None:
    world = WORLDS["mixed"]()
    explainer = explainer_of(world, momentum_steps=2)
    for answer in explainer.explain_many(world.people[:5], where=world.where, progress=False):
        assert (answer.path["years_employed"] % 1 == 0).all()
        assert set(answer.path["home"]) <= {"rent", "own", "family"}
        assert (answer.path.dtypes == world.data.dtypes).all()


def test_the_papers_strategy_finds_something_and_claims_nothing_that_does_not_hold() -> None:
    world = small_moons()
    explainer = moons(strategy="paper")
    answers = explainer.explain_many(world.people[:12], progress=False)
    judge = Judge.of(explainer, world.data, answers[0])
    assert any(answers.found)
    for answer in answers:
        points = judge.points(answer.path)
        for a, b, certificate in zip(points[:-1], points[1:], answer.certificates, strict=True):
            assert certificate.holds == (judge.lowest(a, b) >= judge.floor - 1e-6)
            assert certificate.holds
        assert answer.proven_within is None
        assert answer.found or answer.reason


# densities


def test_a_knn_density_is_certified_and_its_steps_hold() -> None:
    answer = LocalFACE(EASTWARD, CROWD, density="knn", search=Search(n_neighbors=20)).explain(
        WESTERNER
    )
    assert answer.found
    assert all(one.certified and one.holds for one in answer.certificates)


def kernel(frame: pd.DataFrame) -> Any:
    return np.exp(-0.5 * (frame["east"] ** 2 + frame["north"] ** 2))


@pytest.mark.parametrize(
    "density", [kernel, KernelDensity(bandwidth=0.4).fit(CROWD)], ids=["function", "estimator"]
)
def test_a_density_of_the_users_own_is_marked_as_not_certified(density: Any) -> None:
    answer = LocalFACE(EASTWARD, CROWD, density=density, search=Search(n_neighbors=20)).explain(
        WESTERNER
    )
    assert answer.found
    assert not any(one.certified for one in answer.certificates)
    assert all(one.holds for one in answer.certificates)
    assert all(
        "not certified" in one.sentence or "sampled" in one.sentence for one in answer.certificates
    )


def test_a_density_of_the_users_own_sees_the_users_own_units_and_columns() -> None:
    seen: list[pd.DataFrame] = []

    def watched(frame: pd.DataFrame) -> Any:
        seen.append(frame)
        return kernel(frame)

    LocalFACE(EASTWARD, CROWD, density=watched, search=Search(n_neighbors=20)).explain(WESTERNER)
    assert all(list(frame.columns) == ["east", "north"] for frame in seen)
    assert seen[0].sort_values("east").to_numpy() == pytest.approx(
        CROWD.sort_values("east").to_numpy()
    )


# kinds of input


def score_of(frame: Any) -> Any:
    """A model that takes any table."""
    east = frame[:, 0] if isinstance(frame, np.ndarray) else np.asarray(frame["east"], dtype=float)
    return 1 / (1 + np.exp(-4 * (east - 0.5)))


TABLES: dict[str, Any] = {
    "numpy": CROWD.to_numpy(),
    "pandas": CROWD,
    "polars": pl.DataFrame(CROWD.to_dict("list")),
    "pyarrow": pa.table(CROWD.to_dict("list")),
}


@pytest.mark.parametrize("kind", TABLES)
def test_answers_come_in_the_kind_of_table_that_the_data_came_in(kind: str) -> None:
    data = TABLES[kind]
    explainer = LocalFACE(score_of, data, search=Search(n_neighbors=20))
    answer = explainer.explain_many(
        data[:20] if kind != "pyarrow" else data.slice(0, 20), progress=False
    )[4]
    assert type(answer.path) is type(data)
    wanted = LocalFACE(score_of, CROWD, search=Search(n_neighbors=20)).explain_many(
        CROWD[:20], progress=False
    )[4]
    assert answer.records.tobytes() == wanted.records.tobytes()


def test_one_person_comes_back_as_they_came() -> None:
    explainer = LocalFACE(score_of, CROWD, search=Search(n_neighbors=20))
    persons = {
        dict: WESTERNER,
        pd.Series: pd.Series(WESTERNER),
        np.ndarray: np.array(list(WESTERNER.values())),
        pd.DataFrame: pd.DataFrame([WESTERNER]),
        pl.DataFrame: pl.DataFrame([WESTERNER]),
    }
    answers = {kind: explainer.explain(person) for kind, person in persons.items()}
    assert all(type(answer.counterfactual) is kind for kind, answer in answers.items())
    assert len({answer.records.tobytes() for answer in answers.values()}) == 1
    assert answers[dict].counterfactual == answers[pd.Series].counterfactual.to_dict()


# constraints of one call


def test_no_target_names_the_constraint_that_excludes_the_most() -> None:
    is_target = EASTWARD.predict_proba(CROWD)[:, 1] >= 0.5
    explainer = LocalFACE(EASTWARD, CROWD, search=Search(n_neighbors=20, through="rows"))
    answer = explainer.explain(WESTERNER, where={"east": 0.5, "north": (0, None)})
    south = int((CROWD["north"][is_target] < 0).sum())
    assert answer.status is Status.NO_TARGET
    assert south < is_target.sum()
    assert answer.reason.startswith(f"{is_target.sum()} people in the data have it")
    assert f"'east within 0.5 of -0.8' alone rules out {is_target.sum()}" in answer.reason


def test_a_constraint_on_categories_counts_everyone_it_rules_out() -> None:
    towns = np.array(["a", "b", "c", "d"])[np.arange(len(CROWD)) % 4]
    data = CROWD.assign(town=towns)
    reaches = data["town"].isin(["c", "d"]) & (data["east"] > 0.5)

    def score(frame: pd.DataFrame) -> Any:
        return frame["town"].isin(["c", "d"]) * (1 / (1 + np.exp(-9 * (frame["east"] - 0.5))))

    search = Search(n_neighbors=20, through="rows")
    explainer = LocalFACE(score, data, min_density=0.01, search=search)
    answer = explainer.explain(
        {**WESTERNER, "town": "a"}, where={"town": ["a", "b"], "north": (-3.5, None)}
    )
    assert answer.status is Status.NO_TARGET
    assert f"alone rules out {reaches.sum()}" in answer.reason
    pinned = explainer.explain({**WESTERNER, "town": "a"}, where={"town": "never"})
    assert f"'town never moves' alone rules out {reaches.sum()}" in pinned.reason


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ({"north": 0.3}, lambda path: ((path["north"] - 0.1).abs() <= 0.3).all()),
        ({"north": "up"}, lambda path: path["north"].is_monotonic_increasing),
        ({"north": "down"}, lambda path: path["north"].is_monotonic_decreasing),
        ({"north": (-0.2, 0.6)}, lambda path: path["north"].between(-0.2, 0.6).all()),
        ({"north": (None, 0.2)}, lambda path: (path["north"] <= 0.2).all()),
        (
            {"north": {"within": 1, "moves": "up"}},
            lambda path: path["north"].between(0.1, 1.1).all(),
        ),
    ],
)
def test_constraints_of_one_call_hold_all_along_the_path(where: Any, holds: Any) -> None:
    answer = LocalFACE(EASTWARD, CROWD, search=Search(n_neighbors=20)).explain(
        WESTERNER, where=where
    )
    assert answer.found
    assert holds(answer.path)


def test_a_feature_that_never_moves_in_one_call_moves_in_the_next() -> None:
    world = WORLDS["mixed"]()
    explainer, person = explainer_of(world), world.people.iloc[0]
    kept = explainer.explain(person, where={"home": "never", "married": "never"})
    assert set(kept.path["home"]) == {person["home"]}
    chosen = explainer.explain(person, where={"home": ["own", person["home"]]})
    assert set(chosen.path["home"]) <= {"own", person["home"]}


def test_what_the_schema_declares_holds_in_every_call() -> None:
    schema = Schema([Feature("east"), Feature("north", moves="up", bounds=(None, 1))])
    explainer = LocalFACE(EASTWARD, CROWD, schema=schema, search=Search(n_neighbors=20))
    people = CROWD[(EASTWARD.predict(CROWD) == 0) & (CROWD["north"] < 1)]
    for answer in explainer.explain_many(people[:8], progress=False):
        assert answer.path["north"].is_monotonic_increasing
        assert (answer.path["north"].iloc[1:] <= 1).all()


# the answer as a whole


def test_a_real_answer_makes_the_round_trip_through_json() -> None:
    world = WORLDS["mixed"]()
    explainer = explainer_of(world)
    for answer in explainer.explain_many(
        world.people[:4], where=world.where, relax=True, progress=False
    ):
        again = Recourse.from_json(answer.to_json())
        assert again.to_json() == answer.to_json()
        assert same(again, answer)
        assert str(again) == str(answer)
        assert again.path.equals(answer.path)
        assert again.certificates == answer.certificates


def test_scoring_the_table_first_gives_the_same_answers_with_fewer_model_calls() -> None:
    calls: list[int] = []

    def counted(frame: pd.DataFrame) -> Any:
        calls.append(len(frame))
        return score_of(frame)

    people = CROWD[score_of(CROWD) < 0.5][:10]
    plain = LocalFACE(counted, CROWD, search=Search(n_neighbors=20)).explain_many(
        people, progress=False
    )
    without = len(calls)
    calls.clear()
    explainer = LocalFACE(counted, CROWD, search=Search(n_neighbors=20)).prescore()
    assert calls == [len(CROWD)]
    calls.clear()
    quick = explainer.explain_many(people, progress=False)
    assert all(same(one, other) for one, other in zip(quick, plain, strict=True))
    assert len(calls) < without
    scored = [[answer.disclosure.rows_scored for answer in answers] for answers in (quick, plain)]
    assert sum(scored[0]) < sum(scored[1])


def test_the_same_question_has_the_same_answer_again_and_from_another_explainer() -> None:
    world = small_moons()
    first, second = explainer_of(world), explainer_of(world)
    for person in world.people[:4]:
        one = first.explain(person)
        assert same(one, first.explain(person))
        assert same(one, second.explain(person))


def test_the_data_and_the_person_are_left_as_they_were() -> None:
    data, person = CROWD.copy(), dict(WESTERNER)
    explainer = LocalFACE(EASTWARD, data, search=Search(n_neighbors=20))
    explainer.explain(person, relax=True)
    assert data.equals(CROWD)
    assert person == WESTERNER
    before = explainer.explain(person)
    data["east"] += 100
    assert same(explainer.explain(person), before)


def test_many_answers_are_listed_in_the_order_people_came() -> None:
    people = CROWD[EASTWARD.predict(CROWD) == 0][:9]
    answers = LocalFACE(EASTWARD, CROWD, search=Search(n_neighbors=20)).explain_many(
        people, progress=False
    )
    assert [answer.path.iloc[0].tolist() for answer in answers] == people.to_numpy().tolist()
    assert len(answers[2:5]) == 3
    assert len(answers.to_frame()["status"]) == 9
    assert "9 recourses" in repr(answers)


def test_an_explainer_introduces_itself() -> None:
    assert repr(LocalFACE(EASTWARD, CROWD, search=Search(n_neighbors=20))) == (
        "<LocalFACE: 250 people, 2 features, target class 1, score at least 0.5, floor 5%>"
    )


def test_many_answers_make_one_table_of_the_users_own_kind() -> None:
    explainer = LocalFACE(
        lambda frame: 1 / (1 + np.exp(-frame["east"])), CROWD, search=Search(n_neighbors=20)
    )
    table = explainer.explain_many(CROWD.iloc[:5], progress=False).to_frame()
    assert isinstance(table, pd.DataFrame)
    assert len(table) == 5
    assert set(table["status"]) <= {status.name for status in Status}


def test_a_table_with_fewer_rows_than_the_usual_neighbours_is_answered_at_the_first_call() -> None:
    rows = np.random.default_rng(0).normal(size=(43, 3))
    data = pd.DataFrame(rows, columns=["a", "b", "c"])
    model = LogisticRegression().fit(data, data.sum(axis=1) > 0)
    refused = data[model.predict_proba(data)[:, 1] < 0.4]

    answers = LocalFACE(model, data, target=True).explain_many(refused, progress=False)

    assert any(answers.found)
    assert all(answer.disclosure.rows <= len(data) for answer in answers)
    assert all("compared with only about 43 people" in answer.cautions for answer in answers)


@pytest.mark.parametrize("prefer", ["features", "effort"])
def test_a_table_of_categories_alone_has_plans_by_several_changes(prefer: str) -> None:
    """There is no number that could go further than a donor's."""
    chance = np.random.default_rng(0)
    table = pd.DataFrame({name: chance.choice(["a", "b", "c"], 400) for name in "pqrs"})

    def share_of_c(frame: pd.DataFrame) -> Array:
        return np.asarray((frame == "c").sum(axis=1)) / 4

    found = LocalFACE(share_of_c, table).explain(table.iloc[6], prefer=prefer)

    assert found.status is Status.FOUND
    assert len(found.actions) == 2
