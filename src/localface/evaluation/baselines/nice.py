"""NICE: copies values of the nearest unlike neighbour until the target is reached."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from localface.density.protocol import Density
from localface.errors import InputError, did_you_mean, list_names
from localface.evaluation.baselines.nearest import (
    fit_default_density,
    propose_no_row,
    propose_row,
    target_rows_by_distance,
)
from localface.evaluation.baselines.proposal import Proposal
from localface.evaluation.baselines.task import Query, Task
from localface.geometry.segments import norms
from localface.types import Array, Mask

REWARDS = ("sparsity", "proximity", "plausibility", "none")


class NICE:
    """Copy values of the nearest row that reaches the target, the largest reward first.

    The idea of NICE (Brughmans, Leyman and Martens 2021), written anew: see "Baselines"
    for what differs. The states in between are the method's bookkeeping and no path, so
    that the proposal is one step.

    Parameters
    ----------
    reward : what a change is chosen by: the score it gains (``sparsity``), that per distance
        (``proximity``) or per loss of density (``plausibility``); ``none`` proposes the neighbour
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
                f"reward={reward!r}{did_you_mean(reward, REWARDS)}: "
                f"one of {list_names(REWARDS)} is wanted"
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
        """What says how common a point is; fitted when it is first needed."""
        return fit_default_density(self.task) if self._given is None else self._given

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Propose the person with some values of their neighbour, or say why there is none."""
        task = self.task
        query = task.read_query(person, where)
        score = float(task.score(query.record[None, :])[0])
        if score >= task.min_score:
            return task.propose(query, [])
        ids, distances = target_rows_by_distance(task, query)
        if not len(ids):
            return propose_no_row(task, query)
        neighbor = task.records[ids[0]]
        end = neighbor if self.reward == "none" else self._copy_values(query, neighbor, score)
        if (end == neighbor).all():
            return propose_row(task, query, int(ids[0]), float(distances[0]))
        cost = float(norms(task.space.points(end[None, :])[0] - query.point))
        return task.propose(query, [end], cost=cost)

    def _copy_values(self, query: Query, neighbor: Array, score: float) -> Array:
        """Copy values until the score is reached, which it is at the latest when all are copied."""
        state, score = self._enter_box(query, neighbor, score)
        while score < self.task.min_score:
            options = self._states_with_one_more_copy(state, neighbor)
            if not len(options):  # features that only change together by their relations
                return neighbor
            scores = self.task.score(options)
            best = int(self._rewards(query, state, options, scores - score).argmax())
            state = options[best]
            score = float(scores[best])
        return state

    def _enter_box(self, query: Query, neighbor: Array, score: float) -> tuple[Array, float]:
        """Someone outside of their box copies first what brings them in."""
        outside = np.array(
            [not query.box.allows_code(j, code) for j, code in enumerate(query.record)]
        )
        if not outside.any():
            return query.record, score
        moved = self._groups[(self._groups & outside).any(axis=1)].any(axis=0)
        state = np.where(moved, neighbor, query.record)
        if self.task.keeps_relations(state[None, :])[0]:
            score = float(self.task.score(state[None, :])[0])
        return state, score

    def _states_with_one_more_copy(self, state: Array, neighbor: Array) -> Array:
        """Every state with one more value of the neighbour that keeps the relations."""
        differ = self._groups & (state != neighbor)
        options = np.where(differ[differ.any(axis=1)], neighbor, state)
        return np.asarray(options[self.task.keeps_relations(options)])

    def _rewards(self, query: Query, state: Array, options: Array, gains: Array) -> Array:
        """The score gained over the price; a loss of score is multiplied by the price instead."""
        if self.reward == "sparsity":
            return gains
        points = self.task.space.points(options)
        if self.reward == "proximity":
            now = norms(self.task.space.points(state[None, :]) - query.point)
            prices = np.maximum(norms(points - query.point) - now, 1e-12)
        else:
            log_densities = self.density.lowest_along(points, points, None).log_densities
            prices = 1 + np.maximum(self.density.scale.quantile(0.5) - log_densities, 0.0)
        return np.asarray(np.where(gains > 0, gains / prices, gains * prices))
