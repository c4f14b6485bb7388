"""Explore: find someone to become, by steps that a person could take."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from localface.atlas import Atlas
from localface.geometry import Array, norms, turned_within
from localface.questions import Asks

Trail = tuple[int, ...]

_PATIENCE = 8
"""Places accepted before asking whether there is anyone to become at all: nobody should be shown to
someone who cannot get there, and few need to ask."""


@dataclass(frozen=True, slots=True)
class Exploration:
    """The way that was found to a target (empty if none), and whether it begins with an entry step."""

    trail: Trail
    entry: bool = False
    entries: Trail = ()  # rows that someone on uncommon ground could enter by, the best first


@dataclass(frozen=True, slots=True, order=True)
class Candidate:
    """A step that might be taken; the smallest is the most promising."""

    loss: float
    distance: float
    row: int
    start: int
    end: int
    blend: bool


class Queue:
    """Candidate steps, the paper's priority first; backtracks where a greedy walk would be stuck."""

    def __init__(self, trail: Trail) -> None:
        self.trails: dict[int, Trail] = {trail[-1]: trail}
        self._heap: list[Candidate] = []
        self._blended: set[int] = set()

    def push(self, atlas: Atlas, start: int, ends: list[int], *, blend: bool) -> None:
        """Add steps from an accepted place with priority f / (1 + distance): Eq. 2, argmax reading."""
        fresh = [end for end in ends if end not in self.trails]
        if not fresh:
            return
        distances = norms(np.stack([atlas.points[end] for end in fresh]) - atlas.points[start])
        priorities = atlas.appeal(fresh) / (1 + distances)
        for end, distance, priority in zip(fresh, distances.tolist(), priorities.tolist(), strict=True):
            heapq.heappush(self._heap, Candidate(-priority, distance, atlas.ids[end], start, end, blend))

    def to_blend(self, step: Candidate) -> bool:
        """Tell whether to move towards the row rather than onto it: once a row, or the walk might never end.

        The step onto the row itself goes back into the queue, should the blend lead nowhere.
        """
        if not step.blend or step.end in self._blended:
            return False
        self._blended.add(step.end)
        heapq.heappush(self._heap, Candidate(step.loss, step.distance, step.row, step.start, step.end, False))
        return True

    def pop(self) -> Candidate | None:
        """Take the most promising step whose end is not accepted yet."""
        while self._heap:
            step = heapq.heappop(self._heap)
            if step.end not in self.trails:
                return step
        return None


def explore(atlas: Atlas, *, n_neighbors: int, momentum_steps: int, reach: float) -> Asks[Exploration]:
    """Find the first place that reaches the target by traversable steps.

    Algorithm 1 of the paper on traversable steps only, with a queue where the printed
    walk would be stuck: it never crosses a gap, and when the queue runs empty there is
    no way for this k, floor and box. Someone who stands on uncommon ground, or whom no
    traversable step lets leave, is first taken onto common ground by one entry step.
    """
    tried: set[int] = set()
    common = yield from atlas.traversable([(0, 0)])
    if common[0]:
        queue = Queue((0,))
        trail = yield from _best_first(atlas, queue, n_neighbors, momentum_steps, reach)
        tried = set(queue.trails)
        if trail or len(tried) > 1:
            return Exploration(trail)
    entries = yield from _entries(atlas, n_neighbors)
    for entry in entries:
        if entry in tried:
            continue
        queue = Queue((0, entry))
        trail = yield from _best_first(atlas, queue, n_neighbors, momentum_steps, reach)
        if trail:
            return Exploration(trail, entry=True, entries=entries)
        if not (yield from atlas.hopeful()):
            break
        tried |= set(queue.trails)
    return Exploration((), entry=bool(entries), entries=entries)


def _best_first(atlas: Atlas, queue: Queue, n_neighbors: int, momentum_steps: int, reach: float) -> Asks[Trail]:
    """Expand the most promising place until a target is accepted or nothing is left."""
    (here,) = queue.trails
    if atlas.arrived(here):
        return queue.trails[here]
    yield from _expand(atlas, queue, here, n_neighbors, blend=momentum_steps > 0)
    while (step := queue.pop()) is not None:
        here = step.end
        if queue.to_blend(step):
            here = yield from _blended(atlas, queue.trails[step.start], step.end, momentum_steps, reach)
        passes = yield from atlas.traversable([(step.start, here)])  # lazily: one check an expansion, not k
        if not passes[0]:
            continue
        queue.trails[here] = (*queue.trails[step.start], here)
        if atlas.arrived(here):
            return queue.trails[here]
        if len(queue.trails) == _PATIENCE and not (yield from atlas.hopeful()):
            return ()
        yield from _expand(atlas, queue, here, n_neighbors, blend=momentum_steps > 0)
    return ()


def _expand(atlas: Atlas, queue: Queue, here: int, n_neighbors: int, *, blend: bool) -> Asks[None]:
    """Look around an accepted place; a counterfactual that was brought along is always a candidate."""
    around = yield from atlas.nearby(here, n_neighbors)
    queue.push(atlas, here, around, blend=blend)
    if atlas.goal is not None:
        queue.push(atlas, here, [atlas.goal], blend=False)


def _blended(atlas: Atlas, trail: Trail, row: int, momentum_steps: int, reach: float) -> Asks[int]:
    """Move half way towards the row and on with the running direction: Eqs. 2 and 3, mended.

    Discrete columns take the row's value; a step that would deviate too far from the
    rows is turned towards the chosen one (the corrected theorem).
    """
    here, chosen = atlas.points[trail[-1]], atlas.points[row]
    back = min(momentum_steps, len(trail) - 1)  # mu = min(m, t)
    momentum = (here - atlas.points[trail[-1 - back]]) / back if back else np.zeros_like(here)
    ahead = turned_within(here, chosen, here + (chosen - here + momentum) / 2, reach)
    return (yield from atlas.scored(_legal(atlas, ahead, chosen)))


def _legal(atlas: Atlas, ahead: Array, chosen: Array) -> Array:
    """The nearest state to ``ahead`` that a record can have, inside the box."""
    person = atlas.person
    inside = np.clip(np.where(person.discrete, chosen, ahead), person.bounds.lower, person.bounds.upper)
    settled = person.settle(inside)
    fine = bool(person.bounds.contain(settled)) and bool(person.lawful(settled[None, :])[0])
    return settled if fine else chosen


def _entries(atlas: Atlas, n_neighbors: int) -> Asks[Trail]:
    """Rows on common ground near someone who is not, the step with the highest lowest density first.

    Looks further out until there is such a row, or no row is left.
    """
    k, common = n_neighbors, list[int]()
    while not common:
        around = yield from atlas.nearby(0, k)
        fine = yield from atlas.traversable([(row, row) for row in around])
        common = [row for row, ok in zip(around, fine, strict=True) if ok and atlas.permitted((0, row))]
        if len(around) < k or atlas.cut:
            break
        k *= 2
    if not common:
        return ()
    ground = yield from atlas.ground([(0, row) for row in common], None, atlas.person.rule)
    order = np.lexsort((np.array([atlas.ids[row] for row in common]), -ground.values))
    return tuple(common[i] for i in order)
