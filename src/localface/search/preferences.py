"""Preferences: ends and actions that spare what a person would rather leave as it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from localface.geometry.segments import norms
from localface.search.graph import GraphPath, LocalGraph
from localface.search.lattice import weight_of
from localface.search.outcome import ActionPath, Outcome, acted, grounded, told
from localface.search.person import Person
from localface.search.plan import Plan
from localface.search.questions import Asks, ask_point_scores
from localface.search.stages.actions import act
from localface.search.stages.enhance import enhance
from localface.types import Array

_ENDS = 8  # other ends that are tried at a time where some features should stay as they are
_LOOKS = 5  # how often one looks on for ends that do without some features


def preferred(graph: LocalGraph, plan: Plan, first: Outcome, path: GraphPath) -> Asks[Outcome]:
    """Mind what the person would rather leave as it is: try without what is dear, and take what costs least."""
    person = graph.person
    best = yield from _sparing(graph, plan, first, path)
    if person.weights is None or person.fixed is not None:
        return best
    dear = person.weights > 1
    alone = [person.group_of == group for group in np.unique(person.group_of[dear])]
    for fixed in [dear, *(alone if len(alone) > 1 else [])]:
        if (
            best.actions is not None
            and (best.actions.moves[-1].point != person.factual)[fixed].any()
        ):
            other = yield from _sparing(graph.fixing(fixed), plan, first, path)
            if other.actions is not None and _dearness(person, other.actions) < _dearness(
                person, best.actions
            ):
                best = other
    return best


def _sparing(graph: LocalGraph, plan: Plan, first: Outcome, path: GraphPath) -> Asks[Outcome]:
    """Choose among the ends that can do without what is held, and find a way to the one chosen.

    Where changes have weights, the end is taken that costs least; where no end that is
    known does without what is held, look on. The people on the way may differ in what is
    held, as no two people share every number; the actions never touch it.
    """
    person, known, looked = graph.person, dict[int, float](), set[int]()
    log_floor = min(person.log_floor, float(first.log_densities[0]))
    for turn in range(1 if person.fixed is None or graph.goal is not None else 1 + _LOOKS):
        if turn and not (
            yield from _looked_on(graph, known, looked, plan.walk_options.n_neighbors)
        ):
            break
        found = list[Outcome]()
        for end in (yield from _likely(graph, known)):
            moves = yield from act(
                graph,
                end,
                log_floor=log_floor,
                max_changes=plan.max_changes,
                whole=plan.every_change,
            )
            led = None if moves is None else (yield from _led(graph, plan, first, (path, end)))
            if led is not None and moves is not None:
                found.append(replace(led, actions=(yield from grounded(graph, moves, log_floor))))
                if person.weights is None:
                    break
        if found:
            return min(found, key=lambda one: _dearness(person, one.actions))
    return (
        first
        if person.fixed is not None
        else replace(first, actions=(yield from acted(graph, plan, first, path)))
    )


def _likely(graph: LocalGraph, known: dict[int, float]) -> Asks[list[int]]:
    """The new ends that still reach the target with what is held put back, the least change first.

    ``known`` keeps the score that every known place has then.
    """
    person, ends = graph.person, graph.goals
    fresh = [
        vertex
        for vertex in (ends if graph.goal is not None else graph.vertices)
        if vertex not in known
    ]
    if not fresh:
        return []
    states = np.stack([_spared(person, graph.points[vertex]) for vertex in fresh])
    scores = graph.scores[fresh]
    if person.fixed is not None:
        rows = graph.ids[fresh][graph.ids[fresh] >= 0]
        scores = yield from ask_point_scores(states, rows)
    known.update(zip(fresh, scores.tolist(), strict=True))
    apart = norms((states - person.factual) * (1.0 if person.weights is None else person.weights))
    order = [i for i in np.lexsort((np.array(fresh), apart)) if scores[i] >= person.min_score]
    return [fresh[i] for i in order if fresh[i] in ends][:_ENDS]


def _looked_on(
    graph: LocalGraph, known: dict[int, float], looked: set[int], n_neighbors: int
) -> Asks[bool]:
    """Look around the place that lacks least of the score with what is held put back; False where none is left."""
    person = graph.person

    def promise(vertex: int) -> tuple[float, float, int]:
        apart = float(norms(_spared(person, graph.points[vertex]) - person.factual))
        return max(0.0, person.min_score - known[vertex]), round(apart, 9), vertex

    left = [vertex for vertex in known if vertex not in looked]
    if not left or graph.cut:
        return False
    looked.add(min(left, key=promise))
    yield from graph.nearby(min(left, key=promise), n_neighbors)
    return True


def _spared(person: Person, point: Array) -> Array:
    """A state with what is held put back."""
    return point if person.fixed is None else np.where(person.fixed, person.factual, point)


def _dearness(person: Person, acted: ActionPath | None) -> tuple[float, float]:
    """What the changes come to: their number, then the sum of their sizes, both weighted."""
    assert acted is not None
    apart = acted.moves[-1].point - person.factual
    groups = np.unique(person.group_of[apart != 0]).tolist()
    weights = [weight_of(person, (group,)) for group in groups]
    sizes = [float(norms(apart[person.group_of == group])) for group in groups]
    return round(sum(weights), 9), round(
        sum(w * size for w, size in zip(weights, sizes, strict=True)), 9
    )


def _led(
    graph: LocalGraph, plan: Plan, first: Outcome, there: tuple[GraphPath, int]
) -> Asks[Outcome | None]:
    """The best way to another end through people who are known already, if there is one."""
    path, end = there
    if end == path.vertices[-1]:
        return first
    start = path.vertices[1] if first.entry else 0
    if start == end:
        path = GraphPath((end,), 0.0)
    else:
        path = yield from enhance(
            graph.towards(end), GraphPath((start, end), np.inf), price=plan.price, astar=plan.astar
        )
    if not np.isfinite(path.cost):
        return None
    whole = GraphPath((0, *path.vertices), path.cost) if first.entry else path
    return (yield from told("FOUND", graph, whole, entry=first.entry, relaxed=first.relaxed))
