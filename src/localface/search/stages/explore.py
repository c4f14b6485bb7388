"""Explore: find someone to become, by steps that a person could take."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from localface.geometry.deviation import turned_within
from localface.geometry.segments import norms
from localface.search.graph import LocalGraph
from localface.search.plan import WalkOptions
from localface.search.questions import Asks, ask_row_densities
from localface.types import Array

Trail = tuple[int, ...]

_ALIKE = 1e-3  # nats by which entry steps must differ to be told apart: most dip lowest where the person stands
_NEAREST = 8  # rows looked at first for one to enter by
_SLIGHT = 1e-9  # what rounding may take off a level


@dataclass(frozen=True, slots=True)
class Exploration:
    """The way that was found to a target (empty if none), and whether it begins with an entry step."""

    trail: Trail
    entry: bool = False
    entries: Trail = ()  # rows that someone on uncommon ground could enter by, the best first


class Candidate(NamedTuple):
    """A step that might be taken; the smallest is the most promising."""

    loss: float
    distance: float
    row: int
    start: int
    end: int
    blend: bool


class Queue:
    """Candidate steps, the paper's priority first; backtracks where a greedy walk would be stuck.

    Each look around gives a run of candidates in order; only the head of a run stands in line.
    """

    def __init__(self, trail: Trail) -> None:
        self.trails: dict[int, Trail] = {trail[-1]: trail}
        self._heads: list[tuple[Candidate, int]] = []
        self._runs: list[Iterator[Candidate]] = []
        self._blended: set[int] = set()

    def push(self, graph: LocalGraph, start: int, ends: list[int], *, blend: bool) -> None:
        """Add steps from an accepted place with priority f / (1 + distance): Eq. 2, argmax reading."""
        fresh = np.array([end for end in ends if end not in self.trails], dtype=np.int64)
        distances = norms(graph.points[fresh] - graph.points[start])
        losses, rows = -graph.appeal(fresh) / (1 + distances), graph.ids[fresh]
        order = np.lexsort((fresh, rows, distances, losses))
        run = zip(
            *(column[order].tolist() for column in (losses, distances, rows, fresh)), strict=True
        )
        self._line_up(Candidate(loss, far, row, start, end, blend) for loss, far, row, end in run)

    def to_blend(self, step: Candidate) -> bool:
        """Tell whether to move towards the row rather than onto it: once a row, or the walk might never end.

        The step onto the row itself goes back into the queue, should the blend lead nowhere.
        """
        if not step.blend or step.end in self._blended:
            return False
        self._blended.add(step.end)
        self._line_up(iter([step._replace(blend=False)]))
        return True

    def pop(self) -> Candidate | None:
        """Take the most promising step whose end is not accepted yet."""
        while self._heads:
            step, run = heapq.heappop(self._heads)
            self._next(run)
            if step.end not in self.trails:
                return step
        return None

    def _line_up(self, run: Iterator[Candidate]) -> None:
        self._runs.append(run)
        self._next(len(self._runs) - 1)

    def _next(self, run: int) -> None:
        head = next(self._runs[run], None)
        if head is not None:
            heapq.heappush(self._heads, (head, run))


def explore(graph: LocalGraph, walk_options: WalkOptions) -> Asks[Exploration]:
    """Find the first place that reaches the target by traversable steps.

    Algorithm 1 of the paper on traversable steps only, with a queue where the printed
    walk would be stuck: it never crosses a gap, and when the queue runs empty there is
    no way for this k, floor and box. Someone who stands on uncommon ground, or whom no
    traversable step lets leave, is first taken onto common ground by one entry step.
    """
    if walk_options.patience == 0 and not (yield from graph.hopeful()):
        return Exploration(())
    tried: set[int] = set()
    here = yield from graph.log_density()
    if here >= graph.person.log_floor - _SLIGHT:
        queue = Queue((0,))
        trail = yield from _best_first(graph, queue, walk_options)
        tried = set(queue.trails)
        if trail or len(tried) > 1:
            return Exploration(trail)
    entries, ranked = yield from _entries(graph, walk_options.n_neighbors)
    for vertex in range(len(entries)):
        if vertex > 0 and not ranked:  # the first led nowhere: now the order of the others matters
            entries, ranked = (entries[0], *(yield from _ranked(graph, entries[1:]))), True
        if entries[vertex] in tried:
            continue
        queue = Queue((0, entries[vertex]))
        trail = yield from _best_first(graph, queue, walk_options)
        if trail:
            return Exploration(trail, entry=True, entries=entries)
        if not (yield from graph.hopeful()):
            break
        tried |= set(queue.trails)
    return Exploration((), entry=bool(entries), entries=entries)


def _best_first(graph: LocalGraph, queue: Queue, walk_options: WalkOptions) -> Asks[Trail]:
    """Expand the most promising place until a target is accepted or nothing is left."""
    (here,) = queue.trails
    if graph.arrived(here):
        return queue.trails[here]
    yield from _expand(graph, queue, here, walk_options)
    while (step := queue.pop()) is not None:
        here = step.end
        if queue.to_blend(step):
            here = yield from _blended(graph, queue.trails[step.start], step.end, walk_options)
        passes = yield from graph.traversable(
            [(step.start, here)]
        )  # lazily: one check an expansion, not k
        if not passes[0]:
            continue
        queue.trails[here] = (*queue.trails[step.start], here)
        if graph.arrived(here):
            return queue.trails[here]
        if len(queue.trails) == walk_options.patience and not (yield from graph.hopeful()):
            return ()
        yield from _expand(graph, queue, here, walk_options)
    return ()


def _expand(graph: LocalGraph, queue: Queue, here: int, walk_options: WalkOptions) -> Asks[None]:
    """Look around an accepted place; a counterfactual that was brought along is always a candidate."""
    around = yield from graph.nearby(here, walk_options.n_neighbors)
    queue.push(graph, here, around, blend=walk_options.momentum_steps > 0)
    if graph.goal is not None:
        queue.push(graph, here, [graph.goal], blend=False)


def _blended(graph: LocalGraph, trail: Trail, row: int, walk_options: WalkOptions) -> Asks[int]:
    """Move half way towards the row and on with the running direction: Eqs. 2 and 3, mended.

    Discrete columns take the row's value; a step that would deviate too far from the
    rows is turned towards the chosen one (the corrected theorem).
    """
    here, chosen = graph.points[trail[-1]], graph.points[row]
    back = min(walk_options.momentum_steps, len(trail) - 1)  # mu = min(m, t)
    momentum = (here - graph.points[trail[-1 - back]]) / back if back else np.zeros_like(here)
    ahead = turned_within(here, chosen, here + (chosen - here + momentum) / 2, walk_options.reach)
    return (yield from graph.scored(_legal(graph, ahead, chosen)))


def _legal(graph: LocalGraph, ahead: Array, chosen: Array) -> Array:
    """The nearest state to ``ahead`` that a record can have, inside the box."""
    person = graph.person
    inside = np.clip(
        np.where(person.discrete, chosen, ahead), person.bounds.lower, person.bounds.upper
    )
    settled = person.snap(inside)
    fine = bool(person.bounds.contain(settled)) and bool(
        person.keeps_relations(settled[None, :])[0]
    )
    return settled if fine else chosen


def _entries(graph: LocalGraph, n_neighbors: int) -> Asks[tuple[Trail, bool]]:
    """Rows on common ground near someone who is not, the best to enter by first; and whether the others are in order.

    Looks further out until there is such a row, or no row is left. No step can be better
    than where the person stands, so the nearest row by a step that is as good need not be
    compared with anyone.
    """
    k, common = n_neighbors, list[int]()
    while not common:
        around = yield from graph.nearby(0, k)
        ground = yield from ask_row_densities(graph.ids[around], graph.points[around])
        fine = ground >= graph.person.log_floor - _SLIGHT
        common = [
            row for row, ok in zip(around, fine, strict=True) if ok and graph.permitted((0, row))
        ]
        if len(around) < k or graph.cut:
            break
        k *= 2
    if common and graph.person.rule == "lowest":
        here = yield from graph.log_density()
        found = yield from graph.ground(
            [(0, row) for row in common[:_NEAREST]], here - _ALIKE, "lowest"
        )
        if found.passes.any():
            best = common.pop(int(np.flatnonzero(found.passes)[0]))
            return (best, *common), False
    return (yield from _ranked(graph, tuple(common))), True


def _ranked(graph: LocalGraph, entries: Trail) -> Asks[Trail]:
    """Rows to enter by, the step with the highest lowest density first; of steps that are alike, the shortest."""
    if not entries:
        return ()
    ground = yield from graph.ground([(0, row) for row in entries], None, graph.person.rule)
    rows, alike = list(entries), np.floor(ground.log_densities / _ALIKE)
    distances = norms(graph.points[rows] - graph.points[0])
    return tuple(rows[i] for i in np.lexsort((graph.ids[rows], distances, -alike)))
