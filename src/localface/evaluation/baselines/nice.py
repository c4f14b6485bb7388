"""NICE: a person takes over values of their nearest unlike neighbour, one at a time, until the model answers so."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from localface.density.protocol import Density
from localface.errors import InputError, listed, near_miss
from localface.evaluation.baselines.nearest import common_ground, jump, nobody, unlike
from localface.evaluation.baselines.proposal import Proposal
from localface.evaluation.baselines.task import Asked, Task
from localface.geometry.segments import norms
from localface.types import Array, Mask

REWARDS = ("sparsity", "proximity", "plausibility", "none")


class NICE:
    """Copy values of the nearest row that reaches the target, in the order that pays most.

    The idea of NICE (Brughmans, Leyman and Martens 2021), written anew: see "Baselines"
    for what differs. The states in between are the method's bookkeeping and no path, so
    that the proposal is one jump.

    Parameters
    ----------
    reward : what a change is chosen by: the score it gains (``sparsity``), that per distance
        (``proximity``) or for common ground (``plausibility``); ``none`` becomes the neighbour
    density : a fitted density to use for ``plausibility`` instead of one fitted to the rows

    Example
    -------
    >>> from localface.cases.moons import two_moons
    >>> moons = two_moons(200)
    >>> NICE(Task.of(moons.model, moons.data)).explain(moons.person)
    <Proposal: found, 1 step>
    """

    def __init__(
        self, task: Task, *, reward: str = "sparsity", density: Density | None = None
    ) -> None:
        if reward not in REWARDS:
            raise InputError(
                f"reward={reward!r}{near_miss(reward, REWARDS)}: one of {listed(REWARDS)} is wanted"
            )
        self.task = task
        self.reward = reward
        self._given = density
        groups, columns = np.unique(task.space.groups, return_inverse=True)
        member = np.zeros((len(groups), len(task.schema)), dtype=bool)
        member[columns, task.space.feature_of] = True
        self._groups: Mask = member  # features that change together: one, or all that are linked

    @cached_property
    def density(self) -> Density:
        """What says how common a place is; fitted when it is first needed."""
        return common_ground(self.task) if self._given is None else self._given

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Propose the person with some values of their neighbour, or say why there is nobody to take them from."""
        task, asked = self.task, self.task.asked(person, where)
        score = float(task.score(asked.record[None, :])[0])
        if score >= task.min_score:
            return task.proposed(asked, [])
        ids, apart = unlike(task, asked)
        if not len(ids):
            return nobody(task, asked)
        neighbour = task.records[ids[0]]
        end = neighbour if self.reward == "none" else self._mixed(asked, neighbour, score)
        if (end == neighbour).all():
            return jump(task, asked, int(ids[0]), float(apart[0]))
        return task.proposed(
            asked, [end], cost=float(norms(task.space.points(end[None, :])[0] - asked.point))
        )

    def _mixed(self, asked: Asked, neighbour: Array, score: float) -> Array:
        """Copy values until the score is reached, which it is at the latest when all are copied."""
        state, score = self._entered(asked, neighbour, score)
        while score < self.task.min_score:
            options = self._options(state, neighbour)
            if not len(options):  # features that only change together by their relations
                return neighbour
            scores = self.task.score(options)
            best = int(self._rewards(asked, state, options, scores - score).argmax())
            state, score = options[best], float(scores[best])
        return state

    def _entered(self, asked: Asked, neighbour: Array, score: float) -> tuple[Array, float]:
        """Someone who stands outside of what is allowed takes over first what brings them in."""
        outside = np.array([not asked.box.holds(j, code) for j, code in enumerate(asked.record)])
        if not outside.any():
            return asked.record, score
        moved = self._groups[(self._groups & outside).any(axis=1)].any(axis=0)
        state = np.where(moved, neighbour, asked.record)
        fine = self.task.lawful(state[None, :])[0]
        return state, float(self.task.score(state[None, :])[0]) if fine else score

    def _options(self, state: Array, neighbour: Array) -> Array:
        """Every lawful state that is one change nearer to the neighbour."""
        differ = self._groups & (state != neighbour)
        options = np.where(differ[differ.any(axis=1)], neighbour, state)
        return np.asarray(options[self.task.lawful(options)])

    def _rewards(self, asked: Asked, state: Array, options: Array, gains: Array) -> Array:
        """What each change gains for what it takes; where the score falls, what it takes counts the other way."""
        if self.reward == "sparsity":
            return gains
        points = self.task.space.points(options)
        if self.reward == "proximity":
            now = norms(self.task.space.points(state[None, :]) - asked.point)
            prices = np.maximum(norms(points - asked.point) - now, 1e-12)
        else:
            levels = self.density.lowest_along(points, points, None).log_densities
            prices = 1 + np.maximum(self.density.scale.quantile(0.5) - levels, 0.0)
        return np.asarray(np.where(gains > 0, gains / prices, gains * prices))
