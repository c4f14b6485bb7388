"""FACE against brute force: every pair of people, a dense matrix, and all shortest paths."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from localface import Feature, Schema
from localface.density.fit import best_bandwidth
from localface.errors import DataError, InputError
from localface.evaluation.baselines import Proposal, Task, face
from localface.evaluation.baselines.face import FACE
from localface.evaluation.baselines.neighbor_lists import nearest_neighbors
from localface.geometry.point_set import PointSet
from worlds import mixed_table, moons

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]
KINDS = ["kde", "knn", "eps"]
every_kind = pytest.mark.parametrize("kind", KINDS)


@dataclass
class Brute:
    """FACE from its formulas alone, with a dense matrix; space and bandwidth are given."""

    task: Task
    kind: str
    n_neighbors: int
    eps: float | None = None
    most: int | None = None
    min_density: float = 0.05
    toll: float = 1.0
    densest: float = 0.99

    def __post_init__(self) -> None:
        self.points = self.task.points
        self.n, self.width = self.points.shape
        self.apart = apart(self.points, self.points)
        np.fill_diagonal(self.apart, np.inf)
        self.h = best_bandwidth(PointSet(self.points))
        self.radius = np.inf if self.kind == "knn" else self.eps or self.usual()
        self.most = self.n_neighbors if self.kind == "knn" else self.most or self.n
        self.lists = np.array([self.listed(row) for row in self.apart])
        self.joined = self.lists | self.lists.T
        pairs = np.argwhere(np.triu(self.joined))
        logs = np.array([self.log(self.points[i], self.points[j]) for i, j in pairs])
        self.top = np.quantile(logs, self.densest) if len(logs) else 0.0
        self.costs = np.full((self.n, self.n), np.inf)
        for i, j in pairs:
            self.costs[i, j] = self.costs[j, i] = self.cost(self.points[i], self.points[j])
        levels = np.array([self.density(point, without=i) for i, point in enumerate(self.points)])
        common = levels >= np.quantile(levels, self.min_density) - 1e-9
        self.targets = common & (self.task.scores >= self.task.min_score)

    def usual(self) -> float:
        k = min(self.n_neighbors, self.n - 1)
        return float(np.median(np.sort(self.apart, axis=1)[:, k - 1]))

    def listed(self, row: Array) -> Array:
        """The rows on the list of a point this far from all rows: nearest, then lower number."""
        first = sorted(range(self.n), key=lambda j: (row[j], j))[: self.most]
        return np.isin(np.arange(self.n), first) & np.isfinite(row) & (row <= self.radius)

    def density(self, place: Array, without: int | None = None) -> float:
        squares = ((self.points - place) ** 2).sum(axis=1)
        if without is not None:
            squares = np.delete(squares, without)
        constant = -self.width / 2 * np.log(2 * np.pi * self.h**2) - np.log(self.n)
        return float(logsumexp(-squares / (2 * self.h**2)) + constant)

    def log(self, start: Array, end: Array) -> float:
        if self.kind != "kde":
            return float(-self.width * np.log(np.sqrt(((end - start) ** 2).sum())))
        discrete = self.task.space.discrete
        middle = (start + end) / 2
        places = [np.where(discrete, one, middle) for one in (start, end)]
        return (self.density(places[0]) + self.density(places[1])) / 2

    def cost(self, start: Array, end: Array) -> float:
        length = float(np.sqrt(((end - start) ** 2).sum()))
        return (self.toll + max(0.0, self.top - self.log(start, end))) * length

    def matrix(self, person: Any, where: dict[str, Any] | None) -> Array:
        """What every step costs that this person may take, themselves in the last place."""
        query = self.task.read_query(person, where)
        away = apart(query.point[None, :], self.points)[0]
        full = self.lists.sum(axis=1) == self.most
        last = np.where(full, np.where(self.lists, self.apart, -np.inf).max(axis=1), np.inf)
        own = np.flatnonzero(away == 0)
        if len(own):
            steps = self.costs[own[0]]
        else:
            joins = (self.listed(away) | (away < last)) & (away <= self.radius)
            steps = np.array(
                [
                    self.cost(query.point, p) if j else np.inf
                    for p, j in zip(self.points, joins, strict=True)
                ]
            )
        costs = np.full((self.n + 1, self.n + 1), np.inf)
        costs[:-1, :-1] = self.costs
        costs[-1, :-1] = steps
        states = np.vstack([self.points, query.point])
        inside = ((states >= query.bounds.lower) & (states <= query.bounds.upper)).all(axis=1)
        costs[:, ~inside] = np.inf
        for column in range(self.width):
            ahead = states[None, :, column] - states[:, None, column]
            if query.bounds.up[column]:
                costs[ahead < 0] = np.inf
            if query.bounds.down[column]:
                costs[ahead > 0] = np.inf
        return costs

    def best(self, person: Any, where: dict[str, Any] | None = None) -> float:
        """The cheapest way to any target, by Floyd and Warshall."""
        costs = self.matrix(person, where)
        for middle in range(len(costs)):
            costs = np.minimum(costs, costs[:, [middle]] + costs[[middle]])
        return float(np.where(self.targets, costs[-1, :-1], np.inf).min())

    def paid(self, proposal: Proposal, person: Any, where: dict[str, Any] | None = None) -> float:
        """What the steps of a proposal cost; infinite if one is missing or the end is no target."""
        costs = self.matrix(person, where)
        places = [-1, *(int(np.flatnonzero(self.task.rows == row)[0]) for row in proposal.rows[1:])]
        end = 0.0 if self.targets[places[-1]] else np.inf
        return float(sum(costs[a, b] for a, b in pairwise(places)) + end)


def apart(first: Array, second: Array) -> Array:
    return np.sqrt(((first[:, None, :] - second[None, :, :]) ** 2).sum(axis=2))


def agrees(
    answer: Proposal, brute: Brute, person: Any, where: dict[str, Any] | None = None
) -> bool:
    """Check an answer against brute force; tell whether there was one."""
    best = brute.best(person, where)
    assert answer.found == np.isfinite(best), answer
    if answer.found:
        assert answer.cost == pytest.approx(best, rel=1e-5)
        assert brute.paid(answer, person, where) == pytest.approx(answer.cost, rel=1e-5)
        assert answer.rows[0] is None
    else:
        assert answer.reason
    return answer.found


def right(points: Any) -> Array:
    """The further to the right, the likelier."""
    return np.asarray(1 / (1 + np.exp(-2 * np.asarray(points, dtype=float)[:, 0])))


@cache
def cloud() -> tuple[Task, Array]:
    """People in three dimensions, some of them twice, in groups that not every step can join."""
    rng = np.random.default_rng(3)
    centres = np.repeat([[-2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.0, 1.0]], 15, axis=0)
    data = centres + rng.normal(scale=0.6, size=centres.shape)
    people = centres[::3] + rng.normal(scale=0.7, size=(15, 3))
    data = np.concatenate([data, data[:5]])
    schema = Schema([Feature("a"), Feature("b", moves="up"), Feature("c")])
    return Task.of(right, data, schema=schema, min_score=0.8), people[right(people) < 0.8]


def credit(people: pd.DataFrame) -> Array:
    worth = (
        np.log(people["income"])
        - 4 * people["debt"] / people["income"]
        + 0.5 * (people["home"] == "own")
    )
    return np.asarray(1 / (1 + np.exp(-3 * (worth.to_numpy() - 9.3))))


@cache
def table() -> tuple[Task, pd.DataFrame]:
    data = mixed_table(70, 0)
    schema = (
        Schema.infer(data)
        .with_("age", moves="freely", within=12)
        .with_("years_employed", moves="up")
        .with_("married", moves="freely")
    )
    people = mixed_table(30, 1)
    return Task.of(credit, data, schema=schema, min_score=0.6), people[
        credit(people) < 0.6
    ].reset_index(drop=True)


@every_kind
@pytest.mark.parametrize("n_neighbors", [2, 5, 500])
def test_ways_through_a_cloud_are_the_cheapest_there_are(kind: str, n_neighbors: int) -> None:
    task, people = cloud()
    brute = Brute(task, kind, n_neighbors)

    answers = FACE(task, graph=kind, n_neighbors=n_neighbors).explain_many(people)

    served = [agrees(answer, brute, person) for answer, person in zip(answers, people, strict=True)]
    assert any(served) or n_neighbors == 2


@every_kind
@pytest.mark.parametrize(
    "where", [None, {"c": "down", "b": 0.8}, {"a": (None, 1.5), "c": 1.0}], ids=str
)
def test_limits_hold_at_every_state_and_the_way_is_the_cheapest_within_them(
    kind: str, where: Any
) -> None:
    task, people = cloud()
    brute = Brute(task, kind, 6, eps=1.6)

    for person in people[:6]:
        agrees(
            FACE(task, graph=kind, n_neighbors=6, eps=1.6).explain(person, where=where),
            brute,
            person,
            where,
        )


@every_kind
def test_categories_and_whole_numbers_are_paid_for_as_they_flip(kind: str) -> None:
    task, people = table()
    where = {"married": "never", "home": ["own", "rent", "family"]}
    brute = Brute(task, kind, 12)
    method = FACE(task, graph=kind, n_neighbors=12)

    served = [
        agrees(method.explain(row, where=where), brute, row, where)
        for row in people.to_dict("records")[:12]
    ]
    free = [agrees(method.explain(row), brute, row) for row in people.to_dict("records")[:6]]

    assert any(served)
    assert any(free)


@given(
    cells=st.lists(st.tuples(st.integers(-3, 3), st.integers(-2, 2)), min_size=2, max_size=25),
    person=st.tuples(st.integers(-3, 0), st.integers(-2, 2)),
    kind=st.sampled_from(KINDS),
    n_neighbors=st.integers(1, 8),
    moves=st.sampled_from(["freely", "up", "down"]),
    within=st.sampled_from([None, 1.0, 3.0]),
    min_density=st.sampled_from([0.0, 0.2]),
)
@settings(max_examples=120)
def test_on_a_grid_full_of_ties_and_copies_every_answer_is_the_brute_force_one(
    cells: Any,
    person: Any,
    kind: str,
    n_neighbors: int,
    moves: Any,
    within: Any,
    min_density: float,
) -> None:
    data = np.array(cells, dtype=float)
    schema = Schema([Feature("a", scale=1.0), Feature("b", scale=1.0, moves=moves, within=within)])
    task = Task.of(right, data, schema=schema, min_score=0.7)
    if len(task.points) < 2:
        with pytest.raises(DataError, match="at least 2 different people"):
            FACE(task, graph=kind)
        return

    method = FACE(task, graph=kind, n_neighbors=n_neighbors, min_density=min_density)

    brute = Brute(task, kind, n_neighbors, min_density=min_density)
    agrees(method.explain(np.array(person, dtype=float)), brute, np.array(person, dtype=float))


@every_kind
def test_whoever_asks_is_joined_as_a_row_would_be(kind: str) -> None:
    rng = np.random.default_rng(2)
    cells = np.unique(rng.integers(-4, 5, (70, 2)), axis=0).astype(float)
    people = cells[::3]
    rows = np.delete(cells, np.s_[::3], axis=0)
    schema = Schema([Feature("a", scale=1.0), Feature("b", scale=1.0)])
    task = Task.of(right, rows, schema=schema, min_score=0.7)
    method = FACE(task, graph=kind, n_neighbors=2)
    brute = Brute(task, kind, 2)

    for person in people:
        query = task.read_query(person)
        ends, costs = method.graph.steps_from(
            query.point, query.bounds, np.ones(len(rows), dtype=bool)
        )
        steps = brute.matrix(person, None)[-1, :-1]
        assert ends.tolist() == np.flatnonzero(np.isfinite(steps)).tolist()
        assert costs == pytest.approx(steps[ends], rel=1e-5)


@pytest.mark.parametrize("kind", ["kde", "eps"])
def test_a_graph_with_too_many_edges_keeps_the_nearest_and_says_so(kind: str) -> None:
    task, people = cloud()
    method = FACE(task, graph=kind, n_neighbors=3, eps=2.0, max_edges=200)

    brute = Brute(task, kind, 3, eps=2.0, most=200 // 45)
    for person in people[:5]:
        agrees(method.explain(person), brute, person)
    more = (brute.apart <= 2.0).sum(axis=1) > 4
    assert method.graph.n_cut == more.sum() > 0
    assert f"{more.sum()} rows keep only their 4 nearest" in repr(method)
    assert method.graph.n_edges == np.triu(brute.joined).sum()


@every_kind
@pytest.mark.parametrize("densest", [0.5, 1.0])
@pytest.mark.parametrize("toll", [1e-6, 1.0])
def test_every_step_costs_something(kind: str, toll: float, densest: float) -> None:
    task, people = cloud()
    method = FACE(task, graph=kind, n_neighbors=8, toll=toll, densest=densest)

    links = method.graph.links

    lengths = apart(task.points, task.points)[links.nonzero()]
    assert (links.data >= toll * lengths * (1 - 1e-12)).all()
    assert links.data.min() > 0
    assert abs(links - links.T).max() == 0
    brute = Brute(task, kind, 8, toll=toll, densest=densest)
    for person in people[:3]:
        agrees(method.explain(person), brute, person)


def test_people_whom_rounding_lays_on_one_another_still_pay_for_the_step() -> None:
    data = np.array([[0.0, 0.0], [1e-17, 0.0], [1.0, 0.3], [2.0, 0.1], [3.0, 0.0]])
    schema = Schema([Feature("a", scale=1.0), Feature("b", scale=1.0)])
    task = Task.of(right, data, schema=schema, min_score=0.9)
    for kind in KINDS:
        assert FACE(task, graph=kind, n_neighbors=2, min_density=0).graph.links.data.min() > 0


@every_kind
def test_many_at_once_get_bit_for_bit_what_each_gets_alone(kind: str) -> None:
    task, people = table()
    where = {"married": "never"}

    together = FACE(task, graph=kind, n_neighbors=15).explain_many(people, where=where)
    fresh = [
        FACE(task, graph=kind, n_neighbors=15).explain(people.iloc[i], where=where)
        for i in range(len(people))
    ]

    assert len(together) == len(people)
    assert {answer.found for answer in together} == {True, False}
    for one, alone in zip(together, fresh, strict=True):
        assert (one.found, one.rows, one.cost, one.reason) == (
            alone.found,
            alone.rows,
            alone.cost,
            alone.reason,
        )
        assert one.states.tobytes() == alone.states.tobytes()


@pytest.mark.parametrize(
    ("moves", "where", "searches"),
    [
        ("freely", None, 1),
        ("up", None, 1),
        ("freely", {"b": (0.0, 5.0)}, 1),
        ("freely", {"b": 2.0}, 8),
    ],
)
def test_people_whose_limits_come_to_the_same_share_one_search(
    moves: Any, where: Any, searches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, people = cloud()
    schema = task.schema.with_("b", moves=moves)
    method = FACE(Task.of(right, task.data, schema=schema, min_score=0.8), n_neighbors=8)
    real = face.dijkstra
    calls = list[int]()
    monkeypatch.setattr(
        face, "dijkstra", lambda *args, **options: calls.append(1) or real(*args, **options)
    )

    people = people[people[:, 1] > 0] if where == {"b": (0.0, 5.0)} else people[:8]
    method.explain_many(people, where=where)

    assert len(people) > 1
    assert len(calls) == searches


def test_no_array_has_a_place_for_every_pair() -> None:
    n = 6000
    data = np.random.default_rng(0).normal(size=(n, 3))
    task = Task.of(right, data, min_score=0.8)

    tracemalloc.start()
    method = FACE(task, graph="knn", n_neighbors=5, density_rows=200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert method.graph.links.nnz <= 2 * n * 5
    assert peak < n * n * 8 / 2


def test_neighbours_are_exact_where_products_round() -> None:
    rng = np.random.default_rng(0)
    points = np.unique(
        rng.integers(-3, 3, (300, 4)) * 0.1 + rng.choice([0.0, 1e7], (300, 1)), axis=0
    )

    found = nearest_neighbors(PointSet(points), np.arange(len(points)), most=7, radius=np.inf)

    away = apart(points, points)
    np.fill_diagonal(away, np.inf)
    first = [sorted(range(len(points)), key=lambda j, row=row: (row[j], j))[:7] for row in away]
    assert found.ends.reshape(-1, 7).tolist() == first
    assert (found.lengths == away[found.starts, found.ends]).all()


def test_a_density_summed_over_some_rows_leaves_out_a_rows_own_kernel() -> None:
    world = moons()
    task = Task.of(world.model, world.data, min_score=0.6)

    method = FACE(task, n_neighbors=10, density_rows=300, min_density=0.2)

    held = np.unique(np.linspace(0, 999, 300).astype(int))
    squares = apart(task.points, task.points[held]) ** 2
    squares[held, np.arange(300)] = np.inf
    h = best_bandwidth(PointSet(task.points[held]))
    levels = logsumexp(-squares / (2 * h * h), axis=1)
    common = levels >= np.quantile(levels[held], 0.2) - 1e-6
    assert "density of 300 of them" in repr(method)
    assert sorted(method.targets) == sorted(task.rows[common & task.reaches_target])


def test_a_person_who_is_a_row_goes_as_that_row() -> None:
    task, _ = cloud()
    brute = Brute(task, "knn", 4)
    refused = np.flatnonzero(task.scores < task.min_score)

    answers = FACE(task, graph="knn", n_neighbors=4).explain_many(task.records[refused])

    for answer, row in zip(answers, refused, strict=True):
        agrees(answer, brute, task.records[row])
        assert task.rows[row] not in answer.rows


def test_rows_are_numbers_in_the_users_own_table_and_states_are_their_values() -> None:
    world = moons()
    shuffled = np.random.default_rng(1).permutation(world.data)
    plain, other = (
        FACE(Task.of(world.model, data), n_neighbors=20) for data in (world.data, shuffled)
    )

    for person in world.people[:10]:
        one = plain.explain(person)
        two = other.explain(person)
        assert (one.states == two.states).all()
        assert one.cost == two.cost
        assert (world.data[list(one.rows[1:])] == one.states[1:]).all()
        assert (shuffled[list(two.rows[1:])] == one.states[1:]).all()


def test_someone_already_there_takes_no_step() -> None:
    task, _ = cloud()
    answer = FACE(task, n_neighbors=5).explain(np.array([9.0, 9.0, 9.0]))
    assert (answer.found, answer.cost, answer.rows, len(answer.states)) == (True, 0.0, (None,), 1)


def test_the_reason_says_what_is_missing() -> None:
    task, people = cloud()
    method = FACE(task, n_neighbors=5)
    person = people[0]

    def reason(asker: FACE, person: Array, **where: Any) -> str:
        answer = asker.explain(person, where=where)
        assert not answer.found
        assert answer.counterfactual is None
        return answer.reason

    assert (
        reason(method, person, a="never", c="never")
        == "no row lies within what this person may change"
    )
    assert "whom this person may become reaches the score" in reason(method, person, a=0.5)
    assert reason(method, np.array([-60.0, -60.0, 0.0])) == "nobody is near enough to step to"
    reasons = [answer.reason for answer in FACE(task, eps=0.6).explain_many(people)]
    assert any(reason.startswith("no path leads from here to anyone") for reason in reasons)
    picky = FACE(task, n_neighbors=5, min_density=0.999)
    assert "but the density at none of them is above that at 99.9% of people" in reason(
        picky, person
    )


def test_rows_that_break_a_relation_are_neither_the_way_nor_the_end() -> None:
    start = [0.0, 0.5]
    broken = [1.0, 0.5]
    end = [1.8, 1.85]
    free = Schema([Feature("a", scale=1.0), Feature("b", scale=1.0)])
    ruled = free.relate("a", "<=", "b")

    ways = {}
    for schema in (free, ruled):
        task = Task.of(right, np.array([start, broken, end]), schema=schema, min_score=0.9)
        ways[schema] = FACE(task, graph="eps", eps=1.6, min_density=0).explain(np.array([0.0, 0.6]))
    ended = FACE(
        Task.of(right, np.array([start, broken, end]), schema=ruled, min_score=0.85),
        eps=1.6,
        min_density=0,
    )

    assert ways[free].rows == (None, 1, 2)
    assert ways[ruled].reason.startswith("no path leads from here")
    assert ended.targets.tolist() == [2]


def test_mistaken_options_are_told_together() -> None:
    task, _ = cloud()
    with pytest.raises(InputError) as caught:
        FACE(
            task,
            graph="kd",
            n_neighbors=0,
            eps=-1.0,
            min_density=1,
            toll=0,
            densest=0,
            density_rows=1,
        )
    for part in (
        "did you mean 'kde'?",
        "n_neighbors=0",
        "eps=-1.0",
        "min_density=1",
        "toll=0",
        "densest=0",
    ):
        assert part in str(caught.value)
    assert "density_rows=1: a whole number of at least 2" in str(caught.value)
