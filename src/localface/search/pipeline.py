"""One person's search: the stages in order, and what is said when they find nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from localface.search.graph import GraphPath, LocalGraph
from localface.search.outcome import Outcome, acted, nothing, told
from localface.search.person import Person
from localface.search.plan import Plan
from localface.search.preferences import preferred
from localface.search.questions import (
    Asks,
    TargetCounts,
    ask_census,
    ask_point_scores,
    ask_widening,
)
from localface.search.stages.compose import compose
from localface.search.stages.enhance import enhance
from localface.search.stages.exploit import exploit
from localface.search.stages.explore import Exploration, explore
from localface.search.stages.paper import algorithm_1, algorithm_2, paper_graph
from localface.search.stages.relax import highest_way
from localface.types import Array


def find_recourse(
    person: Person,
    plan: Plan,
    *,
    goal: Array | None = None,
    relax: bool = False,
    wished: bool = False,
) -> Asks[Outcome]:
    """Look for recourse for one person; a goal that is ``wished`` for is one whatever its score."""
    first = person.factual[None, :]
    scores = yield from ask_point_scores(
        first if goal is None else np.stack([person.factual, goal])
    )
    graph = LocalGraph(person, float(scores[0]))
    if graph.arrived(0) and not wished:
        return (yield from told("ALREADY_THERE", graph, GraphPath((0,), 0.0)))
    if goal is not None:
        suits = wished or (
            scores[1] >= person.min_score and bool(person.keeps_relations(goal[None, :])[0])
        )
        if not (suits and bool(person.bounds.contain(goal))):
            return (yield from told("NO_TARGET", graph, GraphPath((0,), 0.0)))
        graph.goal = graph.put(goal, float(scores[1]))
    if plan.strategy == "paper":
        return (yield from _printed(graph, plan))
    return (
        yield from _guided(
            graph, replace(plan, every_change=plan.every_change or wished), relax=relax
        )
    )


def measure_path(person: Person, states: Array) -> Asks[Outcome]:
    """Tell what going straight through some states would be like, whether or not one could; nobody is looked at."""
    scores = yield from ask_point_scores(np.stack([person.factual, *states]))
    graph = LocalGraph(person, float(scores[0]))
    vertices = [
        graph.put(state, float(score)) for state, score in zip(states, scores[1:], strict=True)
    ]
    return (yield from told("FOUND", graph, graph.path((0, *vertices))))


def count_targets(person: Person) -> Asks[TargetCounts]:
    """Count the people whom someone may become; nobody is looked at."""
    return (yield from ask_census(person.bounds, why=False))


def least_widening(person: Person, record: Array, reaches: Array) -> Asks[float]:
    """Tell how many times as far as ``reaches`` someone would have to be allowed to go; nobody is looked at."""
    return (yield from ask_widening(person.bounds, record, reaches))


def _guided(graph: LocalGraph, plan: Plan, *, relax: bool) -> Asks[Outcome]:
    """Explore, then know the ground and take the best way through it, in turns."""
    if (yield from _lost(graph)):
        return (yield from _refused(graph, plan, Exploration(()), relax=relax))
    found = yield from explore(graph, plan.walk_options)
    if not found.trail:
        return (yield from _refused(graph, plan, found, relax=relax))
    if plan.existence_only:
        return nothing("FOUND", graph.person)
    if plan.cost == "safest":
        graph, found = yield from _safest(graph, plan, found)
    return (yield from _best(graph, plan, found, relaxed=False))


def _lost(graph: LocalGraph) -> Asks[bool]:
    """Tell whether someone on common ground wants to go where no step can end: then none need be tried."""
    if graph.goal is None:
        return False
    here, there = yield from graph.traversable([(0, 0), (graph.goal, graph.goal)])
    return here and not there


def _best(graph: LocalGraph, plan: Plan, found: Exploration, *, relaxed: bool) -> Asks[Outcome]:
    """Make a way that was found as good as it can be; an entry step stays what it is."""
    path = graph.path(found.trail[1:] if found.entry else found.trail)
    if plan.price.exponent:
        means = yield from graph.means(path.steps)
        lengths = np.array([graph.length(*step) for step in path.steps])
        path = GraphPath(path.vertices, float(plan.price.exact(lengths, np.array(means)).sum()))
    path = yield from enhance(graph, path, price=plan.price, astar=plan.astar)
    proven, k = False, plan.walk_options.n_neighbors
    while path.steps and not proven and not graph.cut:
        known = len(graph.ids)
        complete = yield from exploit(graph, path, k=k, slack=plan.slack)
        if len(graph.ids) > known:
            path = yield from enhance(graph, path, price=plan.price, astar=plan.astar)
        proven, k = complete and _provable(graph, plan, found), 2 * k
        if complete:
            break
    whole = GraphPath((0, *path.vertices), path.cost) if found.entry else path
    found_way = yield from told(
        "FOUND", graph, whole, entry=found.entry, relaxed=relaxed, proven=proven
    )
    return (yield from _with_actions(graph, plan, found_way, whole))


def _with_actions(
    graph: LocalGraph, plan: Plan, found_way: Outcome, whole: GraphPath
) -> Asks[Outcome]:
    """Add the actions, if they are wanted."""
    if plan.actions and not (graph.person.fixed is None and graph.person.weights is None):
        return (yield from preferred(graph, plan, found_way, whole))
    return (
        replace(found_way, actions=(yield from acted(graph, plan, found_way, whole)))
        if plan.actions
        else found_way
    )


def _provable(graph: LocalGraph, plan: Plan, found: Exploration) -> bool:
    """Tell whether the ball proves anything: an entry is chosen for its ground, and other costs are no lengths."""
    measured = plan.exact_source and np.isfinite(plan.slack)
    return bool(
        measured and graph.person.rule == "lowest" and plan.cost == "length" and not found.entry
    )


def _safest(
    graph: LocalGraph, plan: Plan, found: Exploration
) -> Asks[tuple[LocalGraph, Exploration]]:
    """Raise the floor as far as a way to some target allows; the shortest way above it is then the answer."""
    start = found.trail[1] if found.entry else 0
    trail, level = yield from highest_way(graph, start, n_neighbors=plan.walk_options.n_neighbors)
    trail = (0, *trail) if found.entry else trail
    return graph.under(max(level, graph.person.log_floor)), Exploration(trail, entry=found.entry)


def _refused(graph: LocalGraph, plan: Plan, found: Exploration, *, relax: bool) -> Asks[Outcome]:
    """Say why there is nothing; with ``relax``, find the least relaxation that there is a way for."""
    withheld = False
    if plan.composed_ends and graph.goal is None:
        made = yield from compose(graph)
        if made.end is not None:
            return (yield from _composed(made.graph, plan, made.end, entry=made.entry))
        withheld = made.cut
    status = "UNREACHABLE" if (yield from graph.hopeful()) else "NO_TARGET"
    if withheld or (status == "UNREACHABLE" and graph.cut):
        status = "BUDGET"
    if status == "UNREACHABLE" and relax:
        start = found.entries[0] if found.entries else 0
        trail, level = yield from highest_way(
            graph, start, n_neighbors=plan.walk_options.n_neighbors
        )
        if trail:
            lower, entry = graph.under(min(level, graph.person.log_floor)), start != 0
            eased = Exploration((0, *trail) if entry else trail, entry=entry)
            return (yield from _best(lower, plan, eased, relaxed=True))
        status = "BUDGET" if graph.cut else status
    outcome = yield from told(status, graph, GraphPath((0,), 0.0), counts=graph.counts)
    return replace(outcome, no_floor_helps=relax and status == "UNREACHABLE")


def _composed(graph: LocalGraph, plan: Plan, end: int, *, entry: bool) -> Asks[Outcome]:
    """Go straight to a composed state; from uncommon ground, that is an entry step."""
    if plan.existence_only:
        return nothing("FOUND", graph.person)
    path = graph.path((0, end))
    found_way = yield from told("FOUND", graph, path, entry=entry)
    outcome = yield from _with_actions(graph, plan, found_way, path)
    return replace(outcome, composed=outcome.ids[-1] < 0)


def _printed(graph: LocalGraph, plan: Plan) -> Asks[Outcome]:
    """The paper's own algorithms, for comparison."""
    if graph.goal is None:
        end = yield from algorithm_1(
            graph,
            n_neighbors=plan.walk_options.n_neighbors,
            momentum_steps=plan.walk_options.momentum_steps,
        )
        if end is None:
            return (yield from _refused(graph, plan, Exploration(()), relax=False))
        graph.goal = end
    vertices = yield from algorithm_2(graph, n_neighbors=plan.walk_options.n_neighbors)
    path = yield from paper_graph(graph, vertices)
    if path is None:
        return (
            yield from told("BUDGET" if graph.cut else "UNREACHABLE", graph, GraphPath((0,), 0.0))
        )
    return (yield from told("FOUND", graph, path))
