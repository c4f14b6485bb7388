"""Where zero lies says nothing: moved as a whole, a world gives the same answer, moved.

Units have no natural zero, and someone who stands at it hides a sign that is wrong. So many kinds
of searches are run twice, and what they find is held against the world itself.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from localface.geometry.bounds import Bounds
from localface.search.outcome import Outcome
from localface.search.pipeline import find_recourse
from localface.search.plan import Plan, Price, WalkOptions
from scripted import ALONG, Script, someone, taking_over

AWAY = np.array([64.0, -32.0, 16.0, 128.0])
WIDTH = len(AWAY)
PLAN = Plan(WalkOptions(8))
HEIGHT = 1.5  # nats by which a row alone is above the floor


class Made:
    """A crowd around a bend, a score that rises along it, and who asks; all of it moved."""

    def __init__(self, seed: int, away: np.ndarray) -> None:
        chance = np.random.default_rng(seed)
        along = chance.uniform(0, 3, size=(60, 1))
        bend = np.hstack([along, np.sin(along), np.zeros((60, 1)), along / 2])
        rows = bend + chance.normal(size=(60, WIDTH)) * [0.3, 0.3, 0.0, 0.3]
        rows[:, 2] = chance.integers(0, 2, 60)
        self.rows = np.round(rows * 64) / 64
        self.away = away
        self.own = np.array([0.25, 0.125, 0.0, -0.25])
        self.weights = chance.uniform(0.05, 0.15, size=WIDTH) * [1.0, 0.5, 1.0, 1.0]
        reached = np.sort(self.rows @ self.weights)
        self.target = float(reached[-10:-8].mean())  # nine rows reach it
        self.end = self.rows[(self.rows @ self.weights).argmax()]

    def score(self, points: np.ndarray) -> np.ndarray:
        return np.asarray(0.5 + 0.6 * np.tanh((points - self.away) @ self.weights - self.target))

    def log_density(self, points: np.ndarray) -> np.ndarray:
        apart = (points - self.away)[:, None] - self.rows
        kernels = np.exp(-(apart**2).sum(axis=2) / (2 * 0.4**2))
        return np.asarray(np.log(kernels.sum(axis=1) + 1e-300) + HEIGHT)

    def script(self) -> Script:
        return Script(
            self.rows + self.away,
            score=self.score,
            log_density=self.log_density,
            composed=self.rows + self.away,
        )

    def person(self, *, keeps: bool = False, own: Any = None, **options: Any) -> Any:
        """Who asks; what is given of points is moved with them."""
        factual = (self.own if own is None else np.asarray(own, dtype=float)) + self.away
        lower = np.array(options.pop("lower", np.full(WIDTH, -np.inf))) + self.away
        upper = np.array(options.pop("upper", np.full(WIDTH, np.inf))) + self.away
        columns = np.arange(WIDTH)
        up, down = (np.isin(columns, options.pop(one, ())) for one in ("up", "down"))
        bounds = Bounds(lower, upper, up, down)
        noticed = options.pop("noticed", 0.0)
        step = options.pop("round_to", None)

        def round_outwards(column: int, values: np.ndarray) -> np.ndarray:
            if step is None:
                return values
            apart = values - factual[column]
            return factual[column] + np.sign(apart) * np.ceil(np.abs(apart) / step - 1e-9) * step

        def keeps_relations(points: np.ndarray) -> np.ndarray:
            here = points - self.away
            return here[:, 0] <= here[:, 3] + 2.0 if keeps else np.ones(len(points), dtype=bool)

        if options.pop("takes_over", False):
            options["projection"] = taking_over(bounds, factual)
        return someone(
            factual,
            bounds=bounds,
            discrete=columns == 2,
            just_noticeable=(factual - noticed, factual + noticed),
            round_outwards=round_outwards,
            keeps_relations=keeps_relations,
            **options,
        )


def search(seed: int, away: np.ndarray, kind: dict[str, Any]) -> tuple[Made, Any, Outcome]:
    made = Made(seed, away)
    options = dict(kind)
    plan = replace(PLAN, **options.pop("plan", {}))
    goal = made.end + away if options.pop("goal", False) else None
    relax = options.pop("relax", False)
    person = made.person(**options)
    return made, person, made.script().run(find_recourse(person, plan, goal=goal, relax=relax))


FEW = {"takes_over": True, "upper": [2.5, 2.0, 1.0, 2.5]}
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "a longest step": {"max_step": 1.2},
    "a longest step, straight": {"max_step": 1.2, **FEW},
    "weights": {"weights": np.array([3.0, 1.0, 1.0, 0.5])},
    "one way": {"up": [0], "down": [2]},
    "to a goal": {"goal": True, "plan": {"every_change": True}},
    "from below the floor": {"own": [-1.5, -1.25, 0.0, -1.0]},
    "from below the floor, straight": {"own": [-1.5, -1.25, 0.0, -1.0], **FEW},
    "a higher floor": {"log_floor": 0.8, "relax": True},
    "a floor too high": {"log_floor": 2.2, "relax": True},
    "a floor too high, straight": {"log_floor": 2.2, "relax": True, **FEW},
    "least effort": {"plan": {"least_effort": True}},
    "least effort, straight": {"plan": {"least_effort": True}, **FEW},
    "least effort, fixed": {"plan": {"least_effort": True}, "fixed": np.arange(WIDTH) == 1, **FEW},
    "few features": {"plan": {"max_features": 2}, "log_floor": 0.5},
    "several at once": {"plan": {"max_changes": 2}},
    "by density": {"plan": {"cost": "density", "price": Price(1.5, 0.5)}},
    "the safest": {"plan": {"cost": "safest"}},
    "by the mean": {"rule": "mean"},
    "with momentum": {"plan": {"walk_options": WalkOptions(8, momentum_steps=2)}},
    "as printed": {"plan": {"strategy": "paper"}},
    "in round numbers": {"round_to": 0.25, "noticed": 0.2},
    "linked": {"group_of": np.array([0, 0, 1, 2])},
    "relations": {"keeps": True},
    "signed": {"signed": True},
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_a_world_that_is_moved_gives_the_same_answer_moved(kind: str, seed: int) -> None:
    _, _, here = search(seed, 0 * AWAY, KINDS[kind])
    _, _, there = search(seed, AWAY, KINDS[kind])

    assert there.status == here.status
    assert there.ids == here.ids
    np.testing.assert_allclose(there.points, here.points + AWAY, atol=1e-9)
    np.testing.assert_allclose(there.scores, here.scores, atol=1e-9)
    np.testing.assert_allclose(there.step_log_densities, here.step_log_densities, atol=1e-6)
    assert there.cost == pytest.approx(here.cost, abs=1e-6)
    assert (there.entry, there.relaxed, there.proven) == (here.entry, here.relaxed, here.proven)
    assert there.log_floor == pytest.approx(here.log_floor, abs=1e-6)
    assert (there.actions is None) == (here.actions is None)
    if here.actions is not None and there.actions is not None:
        assert [one.follows for one in there.actions.moves] == [
            one.follows for one in here.actions.moves
        ]
        for one, other in zip(there.actions.moves, here.actions.moves, strict=True):
            np.testing.assert_allclose(one.point, other.point + AWAY, atol=1e-9)
            assert one.score == pytest.approx(other.score, abs=1e-9)


def lowest(made: Made, start: np.ndarray, end: np.ndarray) -> float:
    return float(made.log_density(start + ALONG * (end - start)).min())


def mean(made: Made, start: np.ndarray, end: np.ndarray) -> float:
    return float(np.log(np.exp(made.log_density(start + ALONG * (end - start))).mean()))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"as printed"}))
def test_what_is_found_keeps_every_rule_in_the_world_itself(kind: str, seed: int) -> None:
    made, person, found = search(seed, AWAY, KINDS[kind])
    own = float(made.log_density(person.factual[None, :])[0])
    measured = mean if person.rule == "mean" else lowest
    if found.status != "FOUND":
        return

    ways = [(found.points, found.step_log_densities, found.log_floor)]
    if found.actions is not None:
        moves = np.stack([person.factual, *(move.point for move in found.actions.moves)])
        ways.append((moves, found.actions.step_log_densities, found.actions.log_floor))
        assert found.actions.log_floor <= max(own, found.log_floor)
        _check_actions(made, person, found, to_goal="goal" in KINDS[kind])
    for states, stated, log_floor in ways:
        assert states[0].tolist() == person.factual.tolist()
        steps = list(pairwise(states))
        truth = np.array([measured(made, *step) for step in steps])
        np.testing.assert_allclose(stated, truth, atol=1e-9)
        assert (truth >= min(own, log_floor) - 1e-8).all()
        assert (truth[1:] >= log_floor - 1e-8).all()
        assert made.score(states[-1:])[0] >= 0.5
        assert made.log_density(states[-1:])[0] >= found.log_floor - 1e-8
        assert all(person.bounds.contain(states[1:]))
        assert all(np.linalg.norm(end - start) <= person.max_step for start, end in steps)
        for start, end in steps:
            assert (end >= start)[person.bounds.up].all()
            assert (end <= start)[person.bounds.down].all()


def _check_actions(made: Made, person: Any, found: Outcome, *, to_goal: bool) -> None:
    """Each action is one, ends where the target is reached, and touches what it may."""
    assert found.actions is not None
    moves = found.actions.moves
    own = float(made.log_density(person.factual[None, :])[0])
    for move in moves:
        assert made.score(move.point[None, :])[0] == pytest.approx(move.score)
        assert person.keeps_relations(move.point[None, :])[0]
    if own >= found.log_floor and not to_goal and person.max_step == np.inf:
        assert all(move.score < 0.5 for move in moves[:-1])
    if person.fixed is not None:
        assert (moves[-1].point == person.factual)[person.fixed].all()
    for number, move in enumerate(moves):
        assert all(other < number for other in move.follows)


def shortest(made: Made, person: Any) -> float:
    """The length of the shortest path over all rows that keeps every rule; infinite without one."""
    points = np.concatenate([person.factual[None, :], made.rows + made.away])
    reached = made.score(points) >= 0.5
    best = np.full(len(points), np.inf)
    best[0] = 0.0
    left = set(range(len(points)))
    while left:
        here = min(left, key=lambda one: float(best[one]))
        left.remove(here)
        if reached[here] or not np.isfinite(best[here]):
            return float(best[here])
        for there in left:
            length = float(np.linalg.norm(points[there] - points[here]))
            steps = points[there] - points[here]
            if best[here] + length >= best[there] or length > person.max_step:
                continue
            backwards = np.where(person.bounds.up, steps < 0, person.bounds.down & (steps > 0))
            if backwards.any():
                continue
            if lowest(made, points[here], points[there]) >= person.log_floor - 1e-9:
                best[there] = best[here] + length
    return np.inf


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["plain", "a longest step", "one way", "a higher floor"])
def test_a_path_is_found_where_there_is_one_and_hardly_longer_than_the_shortest(
    kind: str, seed: int
) -> None:
    options = {**KINDS[kind], "plan": {"walk_options": WalkOptions(60), "slack": 0.05}}
    made, person, found = search(seed, AWAY, options)
    best = shortest(made, person)

    if found.relaxed or found.status != "FOUND":
        assert best == np.inf
        return
    assert best - 1e-9 <= found.cost
    assert found.proven
    assert found.cost <= 1.05 * best + 1e-9
