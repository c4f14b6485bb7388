"""Explore: find a row that reaches the target, by steps that a person could take."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from localface.density.protocol import FLOOR_TOLERANCE
from localface.geometry.deviation import turn_until_segment_stays_near
from localface.geometry.segments import norms
from localface.search.below_floor import are_below_floor
from localface.search.graph import LocalGraph
from localface.search.person import Person
from localface.search.plan import WalkOptions
from localface.search.questions import Questions
from localface.search.stages.entry import find_entries, rank_entries
from localface.search.trails import Trail
from localface.types import Array

_PATIENCE = 8  # steps refused one by one before it is asked of all ends whether they are on ground
_MOST_AHEAD = 32  # steps asked about at once where one after the other is refused


@dataclass(frozen=True, slots=True)
class Exploration:
    """The trail that was found to a target (empty if none), and how it begins.

    ``entry`` says that it begins with an entry step; ``entries`` are the rows above the floor
    by which someone below it could enter, the best first. ``gave_up`` says that there was more to
    look at.
    """

    trail: Trail
    entry: bool = False
    entries: Trail = ()
    gave_up: bool = False


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

    Each look around a vertex gives a run of candidates in order; only the first of each run
    is in the heap.
    """

    def __init__(self, trail: Trail) -> None:
        self.trails: dict[int, Trail] = {trail[-1]: trail}
        self._heads: list[tuple[Candidate, int]] = []
        self._runs: list[Iterator[Candidate]] = []
        self._blended_towards: set[int] = set()

    def push_steps(self, graph: LocalGraph, start: int, ends: list[int], *, blend: bool) -> None:
        """Add steps from an accepted vertex by priority f / (1 + distance): Eq. 2, as argmax."""
        fresh = np.array([end for end in ends if end not in self.trails], dtype=np.int64)
        distances = norms(graph.points[fresh] - graph.points[start])
        losses = -graph.appeal_of(fresh) / (1 + distances)
        rows = graph.ids[fresh]
        order = np.lexsort((fresh, rows, distances, losses))
        columns = [column[order].tolist() for column in (losses, distances, rows, fresh)]
        run = zip(*columns, strict=True)
        self._add_run_of_candidates(
            Candidate(loss, far, row, start, end, blend) for loss, far, row, end in run
        )

    def take_blended_step(self, step: Candidate) -> bool:
        """Tell whether to move towards the row rather than onto it.

        That happens at most once for each row, so that the walk ends. The step onto the row
        itself goes back into the queue, should the blend lead nowhere.
        """
        if not step.blend or step.end in self._blended_towards:
            return False
        self._blended_towards.add(step.end)
        self._add_run_of_candidates(iter([step._replace(blend=False)]))
        return True

    def pop_most_promising(self) -> Candidate | None:
        """Take the most promising step whose end is not accepted yet."""
        while self._heads:
            step, run = heapq.heappop(self._heads)
            self._push_next_of_run(run)
            if step.end not in self.trails:
                return step
        return None

    def steps_ahead(self, n: int) -> list[Candidate]:
        """Return the ``n`` most promising steps, and leave them in the queue."""
        ahead: list[Candidate] = []
        while len(ahead) < n and (step := self.pop_most_promising()) is not None:
            ahead.append(step)
        self._add_run_of_candidates(iter(ahead))
        return ahead

    def _add_run_of_candidates(self, run: Iterator[Candidate]) -> None:
        self._runs.append(run)
        self._push_next_of_run(len(self._runs) - 1)

    def _push_next_of_run(self, run: int) -> None:
        """Put the next candidate of a run into the heap."""
        head = next(self._runs[run], None)
        if head is not None:
            heapq.heappush(self._heads, (head, run))


def explore(graph: LocalGraph, walk_options: WalkOptions) -> Questions[Exploration]:
    """Find the first vertex that reaches the target by traversable steps.

    Algorithm 1 of the paper on traversable steps only, with a queue where the printed
    walk would be stuck: it never crosses a gap, and when the queue runs empty there is
    no path for this k, floor and box. Someone below the floor, or whom no traversable
    step lets leave, is first taken above the floor by one entry step.
    """
    if walk_options.patience == 0 and not (yield from graph.may_have_targets()):
        return Exploration(())
    tried: set[int] = set()
    log_density = yield from graph.factual_log_density()
    if log_density >= graph.person.log_floor - FLOOR_TOLERANCE:
        queue = Queue((0,))
        trail = yield from _best_first_search(graph, queue, walk_options)
        tried = set(queue.trails)
        if trail or len(tried) > 1:
            return Exploration(trail, gave_up=len(tried) >= walk_options.most)
    return (yield from _explore_from_entries(graph, walk_options, tried))


def _explore_from_entries(
    graph: LocalGraph, walk_options: WalkOptions, tried: set[int]
) -> Questions[Exploration]:
    """Enter by one row after the other, until a trail leads to a target."""
    entries, ranked = yield from find_entries(graph, walk_options.n_neighbors)
    for i in range(len(entries)):
        if i > 0 and not ranked:  # the first led nowhere: now the order of the others matters
            entries = (entries[0], *(yield from rank_entries(graph, entries[1:])))
            ranked = True
        if entries[i] in tried:
            continue
        queue = Queue((0, entries[i]))
        trail = yield from _best_first_search(graph, queue, walk_options)
        if trail:
            return Exploration(trail, entry=True, entries=entries)
        if not (yield from graph.may_have_targets()):
            break
        tried |= set(queue.trails)
        if len(tried) >= walk_options.most:
            break
    gave_up = len(tried) >= walk_options.most
    return Exploration((), entry=bool(entries), entries=entries, gave_up=gave_up)


def _best_first_search(
    graph: LocalGraph, queue: Queue, walk_options: WalkOptions
) -> Questions[Trail]:
    """Expand the most promising vertex until a target is accepted or nothing is left."""
    (here,) = queue.trails
    if graph.is_goal(here):
        return queue.trails[here]
    yield from _push_steps_around(graph, queue, here, walk_options)
    refusals = _Refusals()
    while (step := queue.pop_most_promising()) is not None:
        here = step.end
        if queue.take_blended_step(step):
            here = yield from _momentum_step(
                graph, queue.trails[step.start], step.end, walk_options
            )
        if not (yield from _can_take_step(graph, queue, step._replace(end=here), refusals)):
            continue
        queue.trails[here] = (*queue.trails[step.start], here)
        if graph.is_goal(here):
            return queue.trails[here]
        out_of_patience = len(queue.trails) == walk_options.patience
        if out_of_patience and not (yield from graph.may_have_targets()):
            return ()
        if len(queue.trails) >= walk_options.most:
            return ()
        yield from _push_steps_around(graph, queue, here, walk_options)
    return ()


@dataclass(slots=True)
class _Refusals:
    """How many steps were refused, and what follows from it.

    Steps ``ahead`` are asked about before their turn. Vertices up to ``looked_at`` were held
    against the floor.
    """

    n: int = 0
    ahead: int = 0
    looked_at: int = 1


def _can_take_step(
    graph: LocalGraph, queue: Queue, step: Candidate, refusals: _Refusals
) -> Questions[bool]:
    """Check a step when its turn has come, not all those around; more where many are refused."""
    edges = [(step.start, step.end)]
    if refusals.ahead and not step.blend and not graph.knows_edge(edges[0]):
        edges += [(one.start, one.end) for one in queue.steps_ahead(refusals.ahead)]
    passes = yield from graph.are_traversable(edges)
    if passes[0]:
        refusals.ahead //= 2
        return True
    refusals.n += 1
    if refusals.n % _PATIENCE == 0:
        refusals.looked_at = yield from _rule_out_ends(graph, refusals.looked_at)
    if refusals.n >= _PATIENCE:
        refusals.ahead = min(2 * refusals.ahead + 1, _MOST_AHEAD)
    return False


def _rule_out_ends(graph: LocalGraph, first: int) -> Questions[int]:
    """Find the vertices below the floor among those from a number on; returns the next number.

    No step there can be taken, and a question about many states costs less than one about a
    single step.
    """
    fresh = list(range(first, len(graph.points)))
    if graph.person.rule != "lowest" or not fresh:
        return first
    low = yield from are_below_floor(graph, fresh)
    graph.below_floor.update((first + np.flatnonzero(low)).tolist())
    return len(graph.points)


def _push_steps_around(
    graph: LocalGraph, queue: Queue, here: int, walk_options: WalkOptions
) -> Questions[None]:
    """Look around an accepted vertex; a given goal is always a candidate."""
    around = yield from graph.reveal_rows_around(here, walk_options.n_neighbors)
    queue.push_steps(graph, here, around, blend=walk_options.momentum_steps > 0)
    if graph.goal is not None:
        queue.push_steps(graph, here, [graph.goal], blend=False)


def _momentum_step(
    graph: LocalGraph, trail: Trail, row: int, walk_options: WalkOptions
) -> Questions[int]:
    """Move half way towards the row and on with the running direction: Eqs. 2 and 3, mended.

    Discrete columns take the row's value; a step that would deviate too far from the
    rows is turned towards the chosen one (the corrected theorem).
    """
    here = graph.points[trail[-1]]
    chosen = graph.points[row]
    back = min(walk_options.momentum_steps, len(trail) - 1)  # mu = min(m, t)
    momentum = np.zeros_like(here)
    if back:
        momentum = (here - graph.points[trail[-1 - back]]) / back
    ahead = turn_until_segment_stays_near(
        here, chosen, here + (chosen - here + momentum) / 2, walk_options.momentum_radius
    )
    return (
        yield from graph.add_state_asking_score(_nearest_valid_state(graph.person, ahead, chosen))
    )


def _nearest_valid_state(person: Person, ahead: Array, chosen: Array) -> Array:
    """The nearest state to ``ahead`` that a record can have within the bounds, else ``chosen``."""
    mixed = np.where(person.discrete, chosen, ahead)
    inside = np.clip(mixed, person.bounds.lower, person.bounds.upper)
    snapped = person.snap(inside)
    related = bool(person.keeps_relations(snapped[None, :])[0])
    return snapped if related and bool(person.bounds.contain(snapped)) else chosen
