"""Baselines of one step: nearest unlike neighbour, straight line, NICE, Wachter."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.ensemble import RandomForestClassifier

from localface import Feature, LocalFACE, Schema, Search
from localface.data.read import read_records
from localface.data.space import Space
from localface.errors import InputError, ModelError
from localface.evaluation.baselines import Proposal, Task
from localface.evaluation.baselines.nearest import NearestUnlike, StraightLine
from localface.evaluation.baselines.nice import NICE
from localface.evaluation.baselines.problem import median_deviations
from localface.evaluation.baselines.wachter import Wachter
from localface.evaluation.metrics import ReferenceRows, TraversalRule, points_of_records
from worlds import blobs, mixed, moons

pytestmark = pytest.mark.slow

WEIGHTS = np.array([1.5, -0.8, 0.4, 0.05])
METHODS: dict[str, Callable[..., Any]] = {
    "nearest": NearestUnlike,
    "straight": StraightLine,
    "sparsity": NICE,
    "proximity": lambda task: NICE(task, reward="proximity"),
    "plausibility": lambda task: NICE(task, reward="plausibility"),
    "local": lambda task: Wachter(task, max_iter=10, n_candidates=64),
    "evolution": lambda task: Wachter(task, optimizer="evolution", max_iter=8, n_candidates=48),
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def logistic(table: Any) -> Any:
    return 1 / (1 + np.exp(-(np.asarray(table, dtype=float) @ WEIGHTS)))


def slope(records: Any) -> Any:
    score = logistic(records)[:, None]
    return score * (1 - score) * WEIGHTS


@cache
def linear(n: int = 300) -> Task:
    data = np.random.default_rng(3).normal(size=(n, 4)) * [1.0, 2.0, 0.5, 3.0]
    return Task.of(logistic, data, min_score=0.7)


@cache
def credit() -> Task:
    world = mixed()
    return Task.of(world.model, world.data, schema=world.schema, min_score=world.min_score)


def refused(task: Task, n: int = 6) -> Any:
    """Some people who do not reach the target, from all over the table."""
    short = task.records[~task.reaches_target]
    return short[:: max(1, len(short) // n)][:n]


# what all of them keep to


def judged_credit(person: pd.DataFrame, proposal: Proposal) -> None:
    """The constraints of the credit world, and its model, held against an answer by hand."""
    world = mixed()
    end = proposal.path.iloc[[-1]].reset_index(drop=True)
    one = person.iloc[0]
    other = end.iloc[0]
    assert world.model.predict_proba(end)[0, 1] >= world.min_score
    assert abs(other["age"] - one["age"]) <= 10
    assert other["years_employed"] >= one["years_employed"]
    assert other["married"] == one["married"]
    assert other["home"] in ("rent", "own", "family")
    assert other["school"] in ("basic", "middle", "high")
    assert (
        end.dtypes.to_dict()
        == person.reset_index(drop=True).astype(world.data.dtypes).dtypes.to_dict()
    )
    assert len(proposal.states) == 2
    assert proposal.path.iloc[0].to_dict() == one.to_dict()


@every_method
def test_every_answer_is_valid_and_keeps_the_constraints_of_a_mixed_table(method: Any) -> None:
    world = mixed()
    explainer = method(credit())
    people = [world.people.iloc[[i]] for i in range(4)]

    proposals = [explainer.explain(person, where=world.where) for person in people]

    for person, proposal in zip(people, proposals, strict=True):
        if proposal.found:
            judged_credit(person, proposal)
        else:
            assert proposal.reason
    assert sum(proposal.found for proposal in proposals) >= (1 if method is StraightLine else 4)


@every_method
def test_someone_already_there_takes_no_steps(method: Any) -> None:
    task = linear()
    person = task.records[task.scores.argmax()]

    proposal = method(task).explain(person)

    assert proposal.found
    assert proposal.states.tolist() == [person.tolist()]
    assert proposal.counterfactual.tolist() == person.tolist()


@every_method
def test_whoever_may_change_nothing_is_told_why_there_is_no_proposal(method: Any) -> None:
    task = linear()
    person = refused(task)[0]

    proposal = method(task).explain(person, where=dict.fromkeys(task.schema.names, "never"))

    assert not proposal.found
    assert proposal.counterfactual is None
    assert "may become" in proposal.reason or "was found" in proposal.reason


@every_method
def test_a_target_that_nobody_reaches_is_said(method: Any) -> None:
    data = linear().records
    task = Task.of(lambda table: 0.3 * logistic(table), data, min_score=0.9)

    proposal = method(task).explain(data[0])

    assert not proposal.found
    assert (
        "no row of the data reaches the target" in proposal.reason
        or "score of 0.9 was found" in proposal.reason
    )


class Moody:
    """A model that stops answering."""

    broken = False

    def __call__(self, table: Any) -> Any:
        if self.broken:
            raise RuntimeError("no licence")
        return logistic(table)


@every_method
def test_a_model_that_fails_is_named(method: Any) -> None:
    model = Moody()
    explainer = method(Task.of(model, linear().records, min_score=0.7))
    model.broken = True

    with pytest.raises(ModelError, match="no licence"):
        explainer.explain(refused(linear())[0])


def ordered() -> Schema:
    features = [Feature("low"), Feature("high"), Feature("count", kind="integer", moves="up")]
    return Schema(features).relate("low", "<=", "high")


@every_method
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_relations_whole_numbers_and_one_way_features_hold_at_every_state(
    method: Any, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    data = np.column_stack([np.sort(rng.normal(size=(60, 2)), axis=1), rng.integers(0, 6, 60)])
    task = Task.of(
        lambda table: 1 / (1 + np.exp(3 - 2 * table[:, 0] - 0.5 * table[:, 2])),
        data,
        schema=ordered(),
        min_score=0.5,
    )
    explainer = method(task)

    for person in refused(task, 3):
        proposal = explainer.explain(person)

        if proposal.found:
            end = proposal.states[-1]
            assert 2 * end[0] + 0.5 * end[2] >= 3
            assert end[0] <= end[1]
            assert end[2] >= person[2]
            assert end[2] == round(end[2])


@pytest.mark.parametrize("method", [NearestUnlike, NICE, Wachter], ids=lambda one: one.__name__)
def test_someone_outside_of_what_is_allowed_is_brought_in(method: Any) -> None:
    world = mixed()
    person = world.people[world.people["home"] == "rent"].iloc[[0]]

    proposal = method(credit()).explain(person, where={"home": ["own"], "age": (25, 60)})

    end = proposal.path.iloc[-1]
    assert end["home"] == "own"
    assert 25 <= end["age"] <= 60
    assert world.model.predict_proba(proposal.path.iloc[[-1]])[0, 1] >= world.min_score


def test_nice_brings_people_in_by_a_feature_that_hardly_pays() -> None:
    task = linear()
    for person in refused(task, 20):
        if person[3] < 3:
            proposal = NICE(task).explain(person, where={"x3": (3, None)})

            assert proposal.states[-1][3] >= 3


def test_a_row_that_breaks_a_relation_is_nobody_to_become() -> None:
    data = np.array(
        [[0.0, 1.0, 0], [0.1, 1.2, 1], [0.3, 0.9, 2], [1.0, 0.2, 1], [2.0, 2.5, 1], [0.2, 0.4, 3]]
    )
    task = Task.of(lambda table: table[:, 0] / 3, data, schema=ordered(), min_score=0.3)

    proposals = [method(task).explain(data[0]) for method in (NearestUnlike, NICE)]

    assert [proposal.rows[-1] for proposal in proposals[:1]] == [4]  # and not 3, which is nearer
    assert all(proposal.states[-1][0] == 2.0 for proposal in proposals)


# the nearest unlike neighbour


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), reach=st.sampled_from([0.55, 1.05, 3.05]))
def test_the_nearest_unlike_neighbour_is_that_of_brute_force(seed: int, reach: float) -> None:
    data = np.round(np.random.default_rng(seed).normal(size=(40, 4)), 1)
    task = Task.of(logistic, data, min_score=0.7)
    person = data[logistic(data).argmin()]

    proposal = NearestUnlike(task).explain(person, where={"x1": reach})

    points = points_of_records(data, Space.fit(task.schema, np.unique(data, axis=0)))
    start = points[logistic(data).argmin()]
    best = np.inf
    row = None
    for i, other in enumerate(data):
        apart = float(np.sqrt(((points[i] - start) ** 2).sum()))
        if (
            logistic(other[None, :])[0] >= 0.7
            and abs(other[1] - person[1]) <= reach
            and apart < best - 1e-12
        ):
            best = apart
            row = i
    assert proposal.found == (row is not None)
    if row is not None:
        assert proposal.cost == pytest.approx(best)
        assert proposal.states[-1].tolist() == data[proposal.rows[-1]].tolist()
        assert proposal.rows[0] is None


def test_many_people_get_the_answers_that_each_would_get() -> None:
    explainer = NearestUnlike(credit())
    people = mixed().people.iloc[:8]

    together = explainer.explain_many(people, where=mixed().where)

    for i, proposal in enumerate(together):
        alone = explainer.explain(people.iloc[[i]], where=mixed().where)
        assert proposal.states.tolist() == alone.states.tolist()
        assert proposal.rows == alone.rows


# the straight line


def test_a_straight_line_is_traversable_and_no_nearer_row_has_one() -> None:
    world = blobs()
    data = world.data[:250]
    people = world.people[:15]
    task = Task.of(world.model, data)
    rows = ReferenceRows(points_of_records(np.unique(data, axis=0), task.space))
    goods = np.unique(data, axis=0)
    goods = goods[world.model.predict_proba(goods)[:, 1] >= 0.5]
    ends = points_of_records(goods, task.space)

    found = []
    for min_density in (0.05, 0.3):
        line = StraightLine(task, min_density=min_density, max_tries=1000)
        rule = TraversalRule.of_density(line.density, rows, min_density=min_density)
        for person in people:
            proposal = line.explain(person)

            start = points_of_records(person[None, :], task.space)
            apart = np.sqrt(((ends - start) ** 2).sum(axis=1))
            first = next(
                (i for i in np.argsort(apart) if rule.traversable(start, ends[[i]])[0]),
                None,
            )
            found.append(first is not None)
            assert proposal.found == found[-1], proposal.reason
            if first is not None:
                assert proposal.cost == pytest.approx(apart[first])
    assert 0 < sum(found) < len(found)


def test_a_straight_line_keeps_to_the_ground_that_localface_keeps_to() -> None:
    task = credit()
    people = mixed().people.iloc[:12]
    explainer = LocalFACE(
        task.model,
        task.data,
        schema=task.schema,
        min_score=task.min_score,
        search=Search(n_neighbors=15),
    )
    theirs = explainer.density
    ours = StraightLine(task).density
    assert ours.bandwidth == theirs.bandwidth
    points = task.space.points(read_records(people, task.schema))
    starts, ends = points[:6], points[6:]
    np.testing.assert_array_equal(
        ours.lowest_along(starts, ends, None).log_densities,
        theirs.lowest_along(starts, ends, None).log_densities,
    )


def test_a_straight_line_gives_up_after_so_many_rows_and_says_so() -> None:
    world = moons()
    task = Task.of(world.model, world.data[:250])
    line = StraightLine(task, min_density=0.2, max_tries=10**6)
    blocked = next(p for p in world.people if "any of" in line.explain(p).reason)

    proposal = StraightLine(task, min_density=0.2, max_tries=3).explain(blocked)

    assert "the 3 nearest of" in proposal.reason


# NICE


def greedy(task: Task, person: Any, neighbour: Any) -> tuple[Any, list[int]]:
    """The greedy rule with sparsity as reward, one state at a time."""
    state = person.copy()
    changed = []
    while task.scorer(state[None, :])[0] < task.min_score:
        best = (-np.inf, -1)
        for j in range(len(state)):
            if state[j] != neighbour[j]:
                tried = state.copy()
                tried[j] = neighbour[j]
                best = max(best, (float(task.scorer(tried[None, :])[0]), -j))
        j = -best[1]
        state[j] = neighbour[j]
        changed.append(j)
    return state, changed


def test_nice_follows_the_greedy_rule_and_stops_with_the_change_that_is_enough() -> None:
    task = linear()
    for person in refused(task, 20):
        neighbour = NearestUnlike(task).explain(person).states[-1]

        end = NICE(task).explain(person).states[-1]

        state, changed = greedy(task, person, neighbour)
        assert end.tolist() == state.tolist()
        before = end.copy()
        before[changed[-1]] = person[changed[-1]]
        assert logistic(before[None, :])[0] < 0.7


@pytest.mark.parametrize("reward", ["sparsity", "proximity", "plausibility"])
def test_nice_only_ever_takes_values_of_the_neighbour(reward: str) -> None:
    task = credit()
    for person in refused(task):
        neighbour = NearestUnlike(task).explain(task.form.make_table(person[None, :])).states[-1]

        proposal = NICE(task, reward=reward).explain(task.form.make_table(person[None, :]))

        end = proposal.states[-1]
        assert ((end == person) | (end == neighbour)).all()
        assert task.scorer(end[None, :])[0] >= task.min_score
        assert len(proposal.states) == 2


def test_without_a_reward_nice_becomes_the_neighbour() -> None:
    task = linear()
    for person in refused(task):
        nice = NICE(task, reward="none").explain(person)
        nearest = NearestUnlike(task).explain(person)

        assert nice.states.tolist() == nearest.states.tolist()
        assert nice.rows == nearest.rows


def test_proximity_pays_less_distance_for_the_score_than_sparsity() -> None:
    data = np.random.default_rng(0).normal(size=(300, 2))
    people = data[np.abs(data).max(axis=1) < 0.5]
    neighbour = [1.0, 3.0]

    def score(table: Any) -> Any:  # the second gains a little more, but is much further away
        x0, x1 = np.asarray(table).T
        return 0.55 * (x0 >= 1) + 0.6 * (x1 >= 3)

    below = data[(data[:, 0] < 1) & (data[:, 1] < 3)]
    task = Task.of(score, np.vstack([below, neighbour]), min_score=0.5)

    for person in people:
        sparse = NICE(task, reward="sparsity").explain(person)
        near = NICE(task, reward="proximity").explain(person)

        assert sparse.states[-1].tolist() == [person[0], neighbour[1]]
        assert near.states[-1].tolist() == [neighbour[0], person[1]]
        assert near.cost < sparse.cost
    assert len(people) > 20


def test_plausibility_ends_on_more_common_ground_than_sparsity() -> None:
    rng = np.random.default_rng(0)
    first, free = rng.normal(size=(2, 1500))
    data = np.column_stack([first, first + 0.5 * rng.normal(size=1500), free])

    def score(table: Any) -> Any:  # the first feature gains most, and the second goes with it
        return 1 / (1 + np.exp(-(np.asarray(table) @ [1.2, 0.6, 1.0])))

    far_apart = (score(data) < 0.4) | (score(data) > 0.8)  # some changes to choose from are enough
    task = Task.of(score, data[far_apart], min_score=0.5)
    explainers = {reward: NICE(task, reward=reward) for reward in ("sparsity", "plausibility")}
    density = explainers["plausibility"].density

    levels = {}
    for reward, explainer in explainers.items():
        points = task.space.points(
            np.stack([explainer.explain(person).states[-1] for person in refused(task, 60)])
        )
        levels[reward] = density.lowest_along(points, points, None).log_densities.mean()

    assert levels["plausibility"] > levels["sparsity"] + 0.2


def test_linked_features_are_taken_over_together() -> None:
    base = linear()
    task = Task.of(
        logistic, base.records, schema=Schema.infer(base.records).link("x0", "x1"), min_score=0.7
    )
    for person in refused(task, 20):
        neighbour = NearestUnlike(task).explain(person).states[-1]

        end = NICE(task).explain(person).states[-1]

        assert (end[0] == neighbour[0]) == (end[1] == neighbour[1])


def test_a_mistaken_reward_is_named() -> None:
    with pytest.raises(InputError, match=r"reward='sparse' \(did you mean 'sparsity'\?\)"):
        NICE(linear(), reward="sparse")


# Wachter


def optimum(task: Task, person: Any) -> float:
    """The least distance to the score of the logistic model, as a linear programme."""
    units = median_deviations(task)
    rows = task.records
    room = np.concatenate([rows.max(axis=0) - person, person - rows.min(axis=0)]) / np.tile(
        units, 2
    )
    gains = np.concatenate([WEIGHTS * units, -WEIGHTS * units])
    needed = np.log(0.7 / 0.3) - person @ WEIGHTS
    found = linprog(
        np.ones(8), A_ub=-gains[None, :], b_ub=[-needed], bounds=[(0, one) for one in room]
    )
    return float(found.fun)


@pytest.mark.parametrize(
    ("options", "within"),
    [({"gradient": slope}, 1.005), ({}, 1.1), ({"optimizer": "evolution"}, 1.25)],
    ids=["gradient", "local", "evolution"],
)
def test_wachter_comes_close_to_the_optimum_of_a_linear_model(
    options: dict[str, Any], within: float
) -> None:
    task = linear()
    explainer = Wachter(task, **options)
    for person in refused(task, 8):
        proposal = explainer.explain(person)

        best = optimum(task, person)
        end = proposal.states[-1]
        assert logistic(end[None, :])[0] >= 0.7
        assert proposal.cost == pytest.approx(
            (np.abs(end - person) / median_deviations(task)).sum()
        )
        assert best * (1 - 1e-6) <= proposal.cost <= best * within + 1e-3


def test_a_gradient_leaves_what_need_not_change_exactly_as_it_is() -> None:
    task = linear()
    people = refused(task, 15)
    ends = np.stack([Wachter(task, gradient=slope).explain(person).states[-1] for person in people])
    changed = (ends != people).sum(axis=1)

    assert changed.max() <= 2  # one feature is best, and a second where the first is at its limit


def test_a_gradient_takes_turns_with_categories_and_whole_numbers() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {
            "x": rng.normal(size=200),
            "n": rng.integers(0, 5, 200),
            "c": rng.choice(["a", "b", "d"], 200),
        }
    )
    worth = {"a": 0.0, "b": 0.0, "d": 3.0}

    def model(table: Any) -> Any:
        gone = 0.2 * table["x"] + 0.1 * table["n"] + table["c"].map(worth)
        return 1 / (1 + np.exp(3 - gone.to_numpy(dtype=float)))

    def by_record(records: Any) -> Any:
        score = 1 / (
            1 + np.exp(3 - 0.2 * records[:, 0] - 0.1 * records[:, 1] - 3.0 * (records[:, 2] == 2))
        )
        return (score * (1 - score))[:, None] * [0.2, 0.1, 0.0]

    task = Task.of(model, data, schema=Schema.infer(data), min_score=0.5)

    proposal = Wachter(task, gradient=by_record, optimizer="gradient").explain(
        {"x": 0.1, "n": 1, "c": "a"}
    )

    assert proposal.found, proposal.reason
    assert proposal.counterfactual == {"x": 0.1, "n": 1, "c": "d"}


def test_moving_back_makes_answers_cheaper_and_keeps_them_valid() -> None:
    data = linear().records
    task = Task.of(
        RandomForestClassifier(20, random_state=0).fit(data, logistic(data) > 0.5),
        data,
        min_score=0.7,
    )
    people = refused(task, 12)

    rough, fine = ([Wachter(task, refine=on).explain(p) for p in people] for on in (False, True))

    assert all(a.cost >= b.cost for a, b in zip(rough, fine, strict=True))
    assert sum(a.cost for a in rough) > sum(b.cost for b in fine)
    assert (task.scorer(np.stack([p.states[-1] for p in fine])) >= task.min_score).all()


@pytest.mark.parametrize("optimizer", ["local", "evolution"])
def test_the_same_seed_gives_the_same_answer_whoever_was_asked_before(optimizer: str) -> None:
    task = linear()
    first, second = refused(task, 2)
    explainer = Wachter(task, optimizer=optimizer, seed=5)

    again = [explainer.explain(first), explainer.explain(second)][1]

    assert (
        again.states.tolist()
        == Wachter(task, optimizer=optimizer, seed=5).explain(second).states.tolist()
    )
    other = Wachter(task, optimizer=optimizer, seed=6, refine=False).explain(second)
    assert (
        other.states.tolist()
        != Wachter(task, optimizer=optimizer, seed=5, refine=False).explain(second).states.tolist()
    )


def test_lambda_is_increased_until_the_score_is_reached() -> None:
    task = linear()
    person = task.records[task.scores.argmin()]

    timid = Wachter(task, gradient=slope, optimizer="gradient", lambdas=(1e-3,)).explain(person)
    bold = Wachter(task, gradient=slope, optimizer="gradient", lambdas=(1e-3, 1e3, 1e6)).explain(
        person
    )

    assert "no state with a score of 0.7 was found" in timid.reason
    assert bold.found


def test_a_value_that_is_to_fall_is_followed_downwards() -> None:
    class Cost:
        def predict(self, table: Any) -> Any:
            return np.asarray(table, dtype=float) @ WEIGHTS

    task = Task.of(Cost(), linear().records, target="at most", min_score=-1.0)
    person = np.array([1.0, 0.0, 0.0, 0.0])

    proposal = Wachter(
        task, gradient=lambda records: np.tile(WEIGHTS, (len(records), 1)), optimizer="gradient"
    ).explain(person)

    assert proposal.found, proposal.reason
    assert -1.1 < proposal.states[-1] @ WEIGHTS <= -1.0


def test_a_feature_that_most_people_share_is_measured_by_the_scale_of_the_space() -> None:
    rng = np.random.default_rng(0)
    data = np.column_stack(
        [rng.normal(size=101), np.where(np.arange(101) < 80, 0.0, rng.normal(size=101))]
    )
    task = Task.of(lambda table: 1 / (1 + np.exp(-table[:, 0])), data)

    units = median_deviations(task)

    assert units[0] == pytest.approx(np.median(np.abs(data[:, 0] - np.median(data[:, 0]))))
    assert units[1] == pytest.approx(data[:, 1].std())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"optimizer": "grad"}, "optimizer='grad'.*'gradient'"),
        ({"optimizer": "gradient"}, "needs a gradient: pass gradient="),
        ({"lambdas": (10.0, 1.0)}, "each larger than the last"),
        ({"lambdas": ()}, "positive numbers"),
        ({"max_iter": 0}, "max_iter of at least 1"),
    ],
)
def test_mistaken_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Wachter(linear(), **options)


def fails(records: Any) -> Any:
    raise RuntimeError("no licence")


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (fails, "gradient failed on 1 record.*no licence"),
        (lambda records: np.ones(4), r"shape \(4,\) for records of shape \(1, 4\)"),
        (lambda records: np.full(records.shape, np.nan), "not finite"),
    ],
    ids=["raises", "wrong shape", "nan"],
)
def test_a_gradient_that_is_none_is_refused(gradient: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Wachter(linear(), gradient=gradient).explain(refused(linear())[0])


class TorchLike:
    """Looks like a torch module, but its outputs are not the model's: no gradient of it."""

    def forward(self, records: Any) -> Any:
        return records

    def parameters(self) -> Any:
        return iter(())

    def zero_grad(self) -> None:
        return None

    def state_dict(self) -> dict[str, Any]:
        return {}


def test_a_module_that_gives_another_score_is_refused() -> None:
    with pytest.raises(ModelError, match="does not give the score that the task reads"):
        Wachter(linear(), gradient=TorchLike())


def test_a_torch_module_gives_its_own_slope() -> None:
    torch = pytest.importorskip(
        "torch", reason="torch is not installed: its slopes cannot be tried"
    )
    layer = torch.nn.Linear(4, 1).double()
    with torch.no_grad():
        layer.weight[:] = torch.tensor(WEIGHTS)
        layer.bias[:] = 0.0
    module = torch.nn.Sequential(layer, torch.nn.Sigmoid())
    task = linear()
    for person in refused(task, 5):
        by_torch = Wachter(task, gradient=module, optimizer="gradient").explain(person)
        by_hand = Wachter(task, gradient=slope, optimizer="gradient").explain(person)

        assert by_torch.cost == pytest.approx(by_hand.cost, rel=1e-3)
    with pytest.raises(ModelError, match="a sigmoid or softmax"):
        Wachter(task, gradient=layer)
