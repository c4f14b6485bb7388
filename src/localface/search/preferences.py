"""Preferences: paths that leave alone what a person would rather not change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from localface.geometry.segments import norms
from localface.search.closing import close_search, find_actions_along, measure_actions
from localface.search.graph import GraphPath, LocalGraph
from localface.search.outcome import ActionPath, Outcome
from localface.search.person import Person
from localface.search.plan import Plan
from localface.search.questions import Questions, ask_point_scores
from localface.search.stages.actions import find_actions
from localface.search.stages.enhance import enhance
from localface.types import Array

_ENDS = 8  # other ends that are tried at a time where some features should stay as they are
_LOOKS = 5  # how often rows are revealed to find ends that do without some features


def search_with_preferences(
    graph: LocalGraph, plan: Plan, first: Outcome, path: GraphPath
) -> Questions[Outcome]:
    """Search again with the expensive features fixed; keep the answer that costs least.

    All features whose weight is above 1 are fixed together, then each of them alone.
    """
    person = graph.person
    best = yield from _path_to_cheapest_end(graph, plan, first, path)
    if person.weights is None or person.fixed is not None:
        return best
    expensive = person.weights > 1
    alone = [person.group_of == group for group in np.unique(person.group_of[expensive])]
    for fixed in [expensive, *(alone if len(alone) > 1 else [])]:
        if best.actions is None or not _change_per_column(person, best.actions)[fixed].any():
            continue
        other = yield from _path_to_cheapest_end(graph.with_fixed_columns(fixed), plan, first, path)
        if other.actions is None:
            continue
        if _weighted_cost(person, other) < _weighted_cost(person, best):
            best = other
    return best


def _path_to_cheapest_end(
    graph: LocalGraph, plan: Plan, first: Outcome, path: GraphPath
) -> Questions[Outcome]:
    """Choose among the ends that can do without what is fixed, and find a path to the one chosen.

    Where changes have weights, the end is taken that costs least; where no end that is
    known does without what is fixed, reveal more rows. The rows on the path may differ in
    what is fixed, as no two people share every number; the actions never change it.
    """
    person = graph.person
    known: dict[int, float] = {}
    looked: set[int] = set()
    more_looks = 0 if person.fixed is None or graph.goal is not None else _LOOKS
    for turn in range(1 + more_looks):
        if turn and not (
            yield from _reveal_more_rows(graph, known, looked, plan.walk_options.n_neighbors)
        ):
            break
        found = yield from _paths_to_ends(graph, plan, first, path, known=known)
        if found:
            return min(found, key=lambda one: _weighted_cost(person, one))
    if person.fixed is not None:
        return first
    actions = yield from find_actions_along(graph, plan, first, path)
    return replace(first, actions=actions)


def _paths_to_ends(
    graph: LocalGraph, plan: Plan, first: Outcome, path: GraphPath, *, known: dict[int, float]
) -> Questions[list[Outcome]]:
    """Paths to new ends, with their actions; without weights the first that is found will do."""
    log_floor = min(graph.person.log_floor, float(first.log_densities[0]))
    found: list[Outcome] = []
    for end in (yield from _new_ends_keeping_fixed(graph, known)):
        moves = yield from find_actions(
            graph,
            end,
            log_floor=log_floor,
            max_changes=plan.max_changes,
            every_change=plan.every_change,
        )
        if moves is None:
            continue
        outcome = yield from _best_path_to_end(graph, plan, first, path, end=end)
        if outcome is None:
            continue
        actions = yield from measure_actions(graph.person, moves, log_floor)
        found.append(replace(outcome, actions=actions))
        if graph.person.weights is None:
            break
    return found


def _new_ends_keeping_fixed(graph: LocalGraph, known: dict[int, float]) -> Questions[list[int]]:
    """The new ends that still reach the target with what is fixed restored, least change first.

    ``known`` keeps the score that every known vertex has then.
    """
    person = graph.person
    ends = graph.goals
    vertices = ends if graph.goal is not None else graph.vertices_besides_factual
    fresh = [vertex for vertex in vertices if vertex not in known]
    if not fresh:
        return []
    states = np.stack([_restore_fixed_columns(person, graph.points[vertex]) for vertex in fresh])
    scores = graph.scores[fresh]
    if person.fixed is not None:
        rows = graph.ids[fresh][graph.ids[fresh] >= 0]
        scores = yield from ask_point_scores(states, rows)
    known.update(zip(fresh, scores.tolist(), strict=True))
    weights = 1.0 if person.weights is None else person.weights
    distances = norms((states - person.factual) * weights)
    order = np.lexsort((np.array(fresh), distances))
    reaching = [fresh[i] for i in order if scores[i] >= person.min_score]
    return [vertex for vertex in reaching if vertex in ends][:_ENDS]


def _reveal_more_rows(
    graph: LocalGraph, known: dict[int, float], looked: set[int], n_neighbors: int
) -> Questions[bool]:
    """Reveal rows around the vertex that lacks least of the score; False where none is left.

    Scores are those with what is fixed restored.
    """
    person = graph.person

    def missing_score_and_distance(vertex: int) -> tuple[float, float, int]:
        state = _restore_fixed_columns(person, graph.points[vertex])
        distance = float(norms(state - person.factual))
        return max(0.0, person.min_score - known[vertex]), round(distance, 9), vertex

    left = [vertex for vertex in known if vertex not in looked]
    if not left or graph.cut:
        return False
    nearest = min(left, key=missing_score_and_distance)
    looked.add(nearest)
    yield from graph.reveal_rows_around(nearest, n_neighbors)
    return True


def _restore_fixed_columns(person: Person, point: Array) -> Array:
    """A state with the person's own values in the columns that are fixed."""
    return point if person.fixed is None else np.where(person.fixed, person.factual, point)


def _change_per_column(person: Person, actions: ActionPath) -> Array:
    """By how much the actions change each column."""
    return actions.moves[-1].point - person.factual


def _weighted_cost(person: Person, outcome: Outcome) -> tuple[float, float]:
    """What the changes come to: their number, then the sum of their sizes, both weighted."""
    assert outcome.actions is not None
    apart = _change_per_column(person, outcome.actions)
    groups = np.unique(person.group_of[apart != 0]).tolist()
    weights = [person.weight_of((group,)) for group in groups]
    sizes = [float(norms(apart[person.group_of == group])) for group in groups]
    total = sum(weight * size for weight, size in zip(weights, sizes, strict=True))
    return round(sum(weights), 9), round(total, 9)


def _best_path_to_end(
    graph: LocalGraph, plan: Plan, first: Outcome, path: GraphPath, *, end: int
) -> Questions[Outcome | None]:
    """The best path to another end through rows that are known already, if there is one."""
    if end == path.vertices[-1]:
        return first
    start = path.vertices[1] if first.entry else 0
    if start == end:
        found = GraphPath((end,), 0.0)
    else:
        unknown = GraphPath((start, end), np.inf)
        found = yield from enhance(
            graph.with_goal(end), unknown, price=plan.price, astar=plan.astar
        )
    if not np.isfinite(found.cost):
        return None
    if first.entry:
        found = GraphPath((0, *found.vertices), found.cost)
    return (
        yield from close_search("FOUND", graph, found, entry=first.entry, relaxed=first.relaxed)
    )
