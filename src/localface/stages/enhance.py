"""Enhance: the best way through the ground that is known, checking only the steps it might take."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from localface.atlas import Atlas, Step, Way
from localface.geometry import Array, Mask, norms
from localface.questions import Asks, Hole, Ids

_MOST_ON_AVERAGE = 48
"""Places considered under the average rule, least detour first: a mean that is too low points at no hole
through which other steps could be struck out, so that every step must be asked about by itself."""


def enhance(atlas: Atlas, known: Way, *, price: Price, astar: bool = True) -> Asks[Way]:
    """Find the cheapest traversable way from where ``known`` starts to any goal.

    Steps are assumed passable and cheap until the search wants them: find the best way,
    check and price its steps, strike out what is refused, search again. A place can only
    be on a better way if going straight there and straight on costs less than the way
    that is known already.
    """
    chart = Chart(atlas, known, price)
    while True:
        way = cheapest(chart.costs, chart.ends, chart.remaining * astar, below=known.cost)
        if way is None:
            return known
        steps = list(itertools.pairwise(way))
        passes = yield from atlas.traversable(chart.named(steps))
        for step in [step for step, fine in zip(steps, passes, strict=True) if not fine]:
            chart.strike(step)
        if all(passes) and (yield from chart.priced(steps)):
            return Way(tuple(chart.places[i] for i in way), float(sum(chart.costs[step] for step in steps)))


@dataclass(frozen=True, slots=True)
class Price:
    """What a step costs: its length, and more where the ground is less common than an ordinary person's.

    With an ``exponent`` the cost is length * max(1, (usual / D)^exponent), D the mean
    density along the step: it falls with density, and is never less than the length, so
    that straight lines bound it from below. An exponent of one over the dimension counts
    lengths in distances between neighbours. (The paper prints D * length, under which
    dense ground is dear: see "Reading the paper".)
    """

    usual: float = 0.0
    exponent: float = 0.0

    def exact(self, lengths: Array, means: Array) -> Array:
        """What steps cost, given the log of the mean density along them."""
        return np.asarray(lengths * np.exp(self.exponent * np.maximum(self.usual - means, 0.0)))


class Chart:
    """The places that could be on a better way and what every step between them costs at least."""

    def __init__(self, atlas: Atlas, known: Way, price: Price) -> None:
        self.atlas, self.price = atlas, price
        self.places, self.points, self.remaining = _worth_a_look(atlas, known)
        self.ends = np.flatnonzero(np.isin(self.places, atlas.goals))
        self.lengths = norms(self.points[:, None, :] - self.points[None, :, :])
        fine = atlas.person.bounds.one_way(self.points[:, None, :], self.points[None, :, :])
        self.costs = np.where(fine & (self.lengths <= atlas.person.max_step), self.lengths, np.inf)
        for i, j in atlas.struck_out(self.places):
            self.costs[i, j] = self.costs[j, i] = np.inf
        straight = same_kind(self.points, atlas.person.discrete)
        self._spans = np.where(straight, self.lengths, 0.0)  # a hole refuses straight steps only
        self._holes = 0
        self._priced: set[Step] = set()
        self._strike_holes()

    def named(self, steps: list[Step]) -> list[Step]:
        """The steps as the atlas numbers them."""
        return [(self.places[a], self.places[b]) for a, b in steps]

    def strike(self, step: Step) -> None:
        """Strike out a refused step, and all others through the hole that refused it."""
        self.costs[step] = self.costs[step[::-1]] = np.inf
        self._strike_holes()

    def priced(self, steps: list[Step]) -> Asks[bool]:
        """Put exact costs on steps; tell whether they all had them already."""
        fresh = [step for step in steps if step not in self._priced]
        if self.price.exponent == 0 or not fresh:
            return True
        means = yield from self.atlas.means(self.named(fresh))
        exact = self.price.exact(np.array([self.lengths[step] for step in fresh]), np.array(means))
        for step, cost in zip(fresh, exact.tolist(), strict=True):
            self.costs[step] = cost
            self._priced.add(step)
        return False

    def _strike_holes(self) -> None:
        for hole in self.atlas.holes[self._holes :]:
            self.costs[crossing(hole, self.points, self._spans)] = np.inf
        self._holes = len(self.atlas.holes)


def _worth_a_look(atlas: Atlas, known: Way) -> tuple[list[int], Array, Array]:
    """The start, the goals and the rows between, and how far it is from each to the nearest goal."""
    start = known.places[0]
    places = np.array(list(dict.fromkeys([start, *atlas.places])))
    points = np.stack([atlas.points[place] for place in places])
    goals = np.stack([atlas.points[goal] for goal in atlas.goals])
    remaining = norms(points[:, None, :] - goals[None, :, :]).min(axis=1)
    detour = norms(points - points[0]) + remaining
    if atlas.person.rule == "mean" and len(places) > _MOST_ON_AVERAGE:
        detour[np.argsort(detour, kind="stable")[_MOST_ON_AVERAGE:]] = np.inf
    near = detour < known.cost
    near[0] = True
    return places[near].tolist(), points[near], remaining[near]


def same_kind(points: Array, discrete: Mask) -> Mask:
    """Tell which pairs of points agree on every discrete column, so that the step between them is straight."""
    if not discrete.any():
        return np.ones((len(points), len(points)), dtype=bool)
    _, kind = np.unique(points[:, discrete], axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    return np.asarray(kind[:, None] == kind[None, :])


def crossing(hole: Hole, points: Array, spans: Array) -> Mask:
    """Tell which straight steps between points touch a hole, from one Gram matrix.

    The squared area that two places span with the centre is the squared distance of
    their line from the centre times their squared distance from each other.
    """
    away = points - hole.centre
    gram = away @ away.T
    squares = np.diag(gram).copy()
    between = (gram < squares[:, None]) & (gram < squares[None, :])  # the closest approach is on the step
    area = squares[:, None] * squares[None, :] - gram * gram
    return np.asarray(between & (area < (hole.radius * (1 - 1e-9) * spans) ** 2))


def cheapest(costs: Array, ends: Ids, remaining: Array, *, below: float) -> list[int] | None:
    """A* on a dense matrix of step costs, from place 0 to any end, if it can be had below a price.

    ``remaining`` must never overestimate; with zeros this is Dijkstra's algorithm.
    """
    spent = np.full(len(costs), np.inf)
    spent[0] = 0.0
    parent = np.zeros(len(costs), dtype=np.int64)
    closed = np.zeros(len(costs))  # infinite once a place is done with
    is_end = np.zeros(len(costs), dtype=bool)
    is_end[ends] = True
    while True:
        estimate = spent + remaining + closed
        here = int(np.argmin(estimate))
        if not estimate[here] < below:
            return None
        if is_end[here]:
            return _traced(parent, here)
        closed[here] = np.inf
        through = spent[here] + costs[here]
        better = np.flatnonzero((through < spent) & (closed == 0))
        spent[better] = through[better]
        parent[better] = here


def _traced(parent: Ids, end: int) -> list[int]:
    way = [end]
    while way[-1] != 0:
        way.append(int(parent[way[-1]]))
    return way[::-1]
