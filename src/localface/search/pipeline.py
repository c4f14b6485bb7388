"""One person's search: the stages in order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from localface.search.closing import (
    close_improved,
    close_out_of_time,
    close_search,
    close_without_path,
    find_few_actions,
    outcome_without_measures,
    take_path_as_actions,
    why_no_actions,
)
from localface.search.going_straight import (
    go_straight,
    go_straight_below_floor,
    go_straight_with_more,
)
from localface.search.graph import LocalGraph
from localface.search.improving import PathImprovement
from localface.search.level_walk import KnownGround, LevelWalk
from localface.search.outcome import ActionPath, MissingActions, Outcome
from localface.search.person import Person
from localface.search.plan import Plan, WalkOptions
from localface.search.questions import (
    OutOfTime,
    Questions,
    TargetCounts,
    ask_point_scores,
    ask_target_counts,
    ask_widening_factor,
)
from localface.search.stages.explore import Exploration, explore
from localface.search.stages.paper import (
    paper_shortest_path,
    paper_walk_to_goal,
    paper_walk_to_target,
)
from localface.search.stages.relax import densest_path
from localface.search.stages.straight import FAR_STATES, NEAR_STATES
from localface.search.stages.waiting import add_waiting
from localface.types import Array

_SHORT_WALK = 4  # vertices that are accepted before a few actions to anybody's values are tried
_SURE_WALK = 24  # and before it is found out whether a walk through rows leads anywhere
_LONG_WALK = 64  # and before a walk through states of one person gives up


def find_recourse(
    person: Person,
    plan: Plan,
    *,
    goal: Array | None = None,
    relax: bool = False,
    wished: bool = False,
) -> Questions[Outcome]:
    """Search for recourse for one person.

    Without a ``goal`` the search may end at any row that reaches the target. A goal that is
    ``wished`` for need not reach it. ``relax`` lowers the floor where no path keeps it.
    """
    own = person.factual[None, :]
    scores = yield from ask_point_scores(own if goal is None else np.stack([person.factual, goal]))
    graph = LocalGraph(person, float(scores[0]))
    if graph.is_goal(0) and not wished:
        return (yield from close_without_path("ALREADY_THERE", graph))
    if goal is not None:
        distance_limits = scores[1] >= person.min_score and bool(
            person.keeps_relations(goal[None, :])[0]
        )
        if not ((wished or distance_limits) and bool(person.bounds.contain(goal))):
            return (yield from close_without_path("NO_TARGET", graph))
        graph.goal = graph.add_state(goal, float(scores[1]))
    if plan.strategy == "paper":
        try:
            return (yield from _search_as_in_the_paper(graph, plan))
        except OutOfTime:
            return (yield from close_out_of_time(graph))
    if wished and not plan.every_change:
        plan = replace(plan, every_change=True)
    outcome = yield from _guided_search(graph, plan, relax=relax)
    if relax and outcome.missing_actions is not None:
        rarer = outcome.missing_actions.rarer
        outcome = outcome if rarer is None else replace(outcome, actions=rarer)
    if goal is not None or plan.existence_only:
        return outcome
    return (yield from add_waiting(person, outcome))


def measure_path(person: Person, states: Array) -> Questions[Outcome]:
    """Measure the straight path through given states, whether or not one could take it.

    No row is revealed.
    """
    scores = yield from ask_point_scores(np.stack([person.factual, *states]))
    graph = LocalGraph(person, float(scores[0]))
    vertices = [
        graph.add_state(state, float(score))
        for state, score in zip(states, scores[1:], strict=True)
    ]
    return (yield from close_search("FOUND", graph, graph.path_through((0, *vertices))))


def count_targets(person: Person, *, states: bool = False) -> Questions[TargetCounts]:
    """Count the allowed rows that reach the target; no row is revealed.

    With ``states`` those are counted that the person could take over from rows: each is scored.
    """
    return (
        yield from ask_target_counts(
            person.bounds,
            why=False,
            projection=person.limiting_projection if states else None,
            keeps_relations=person.keeps_relations if states else None,
        )
    )


def least_widening(person: Person, record: Array, distance_limits: Array) -> Questions[float]:
    """The factor by which ``distance_limits`` must grow for any row to reach the target.

    No row is revealed.
    """
    return (yield from ask_widening_factor(person.bounds, record, distance_limits))


def _guided_search(graph: LocalGraph, plan: Plan, *, relax: bool) -> Questions[Outcome]:
    """Explore, then exploit and enhance in turns.

    Where a short walk leads to no target, a few actions to anybody's values are tried before a
    long one.
    """
    try:
        found = yield from _explore_in_turns(graph, plan)
        if isinstance(found, Outcome):
            return found
        if not found.trail:
            return (yield from _outcome_when_no_path_found(graph, plan, found, relax=relax))
    except OutOfTime:
        return (yield from close_out_of_time(graph))
    if plan.existence_only:
        return outcome_without_measures("FOUND", graph.person, states=graph.points[[*found.trail]])
    if plan.cost == "safest":
        try:
            graph, found = yield from _raise_floor(graph, plan, found)
        except OutOfTime:
            path = graph.path_through(found.trail[1:] if found.entry else found.trail)
            return (yield from close_improved(graph, found, path, cut_short=True))
    return (yield from _improve_path(graph, plan, found, relaxed=False))


def _explore_in_turns(graph: LocalGraph, plan: Plan) -> Questions[Exploration | Outcome]:
    """Walk a little, try a few actions to anybody's values, then walk on.

    Such actions go straight; where a path is not to be short but common, they come last. So
    they do where nothing is kept: states are rows then, and a walk through all of them finds
    the way there is, and proves it.
    """
    if (yield from _is_goal_below_floor(graph)):
        return Exploration(())
    projection = graph.person.projection
    if projection is None or graph.goal is not None:
        return (yield from _explore_all(graph, plan.walk_options))
    walks: list[float] = [_SHORT_WALK, _LONG_WALK] if plan.cost == "length" else [_LONG_WALK]
    if graph.person.limiting_projection is None:
        walks = [plan.walk_options.most]
        found = yield from _explore_all(graph, plan.walk_options)
    else:
        found = yield from explore(graph, replace(plan.walk_options, most=walks[0]))
    if found.trail:
        return found
    straight = yield from go_straight(graph, plan, projection, among=NEAR_STATES)
    if straight is not None:
        return straight
    if found.gave_up and len(walks) > 1 and (yield from _may_end_anywhere(graph, plan)):
        found = yield from explore(graph, replace(plan.walk_options, most=walks[1]))
    if not found.trail and not graph.cut:
        straight = yield from go_straight(graph, plan, projection, among=FAR_STATES)
        if straight is None and plan.max_features is not None:
            straight = yield from go_straight_with_more(graph, plan, projection)
    return found if straight is None else straight


def _explore_all(graph: LocalGraph, walk_options: WalkOptions) -> Questions[Exploration]:
    """Walk as far as it takes; where that is far, find out first whether there is a path at all.

    A walk that need not find a good path asks about many steps at once.
    """
    if walk_options.most <= _SURE_WALK or graph.person.rule != "lowest":
        return (yield from explore(graph, walk_options))
    found = yield from explore(graph, replace(walk_options, most=_SURE_WALK))
    if not found.gave_up:
        return found
    if not walk_options.momentum_steps:
        begun = {vertex: vertex for vertex in found.entries or (0,)}
        level = graph.person.log_floor
        walk = LevelWalk(KnownGround(graph), level, begun, n_neighbors=walk_options.n_neighbors)
        if (yield from walk.run(np.inf)) == ():
            return replace(found, gave_up=False)
    return (yield from explore(graph, walk_options))


def _may_end_anywhere(graph: LocalGraph, plan: Plan) -> Questions[bool]:
    """Tell whether a long walk could end: to count all states costs less than to walk in vain."""
    if plan.walk_options.momentum_steps:  # its states are nobody's, and are not counted
        return True
    return (yield from graph.has_targets())


def _is_goal_below_floor(graph: LocalGraph) -> Questions[bool]:
    """Tell whether someone above the floor wants to end below it: then no step need be tried."""
    if graph.goal is None:
        return False
    here, there = yield from graph.are_traversable([(0, 0), (graph.goal, graph.goal)])
    return here and not there


def _improve_path(
    graph: LocalGraph, plan: Plan, found: Exploration, *, relaxed: bool
) -> Questions[Outcome]:
    """Work out actions, and make the path that was found as good as it can be.

    An entry step stays what it is. When time is up, what there is by then is the answer.
    """
    trail = found.trail[1:] if found.entry else found.trail
    improvement = PathImprovement(graph.path_through(trail))
    actions: ActionPath | None = None
    missing: MissingActions | None = None
    in_time = True
    try:
        if plan.actions:
            actions = yield from find_few_actions(graph, plan)
            if graph.out_of_time:
                raise OutOfTime
        yield from improvement.run(graph, plan)
        if plan.actions and actions is None:
            trail = improvement.path.vertices
            actions = yield from take_path_as_actions(graph, plan, trail)
            if actions is None:
                missing = MissingActions()  # should time be up meanwhile
                missing = yield from why_no_actions(graph, plan, trail)
                actions = missing.with_more
                missing = None if missing.keeps_limit else missing
    except OutOfTime:
        in_time = False
    proven = improvement.complete and _can_prove_shortest(graph, plan, found)
    outcome = yield from close_improved(
        graph, found, improvement.path, relaxed=relaxed, proven=proven, cut_short=not in_time
    )
    if actions is None and missing is None:
        return outcome
    return replace(outcome, actions=actions, missing_actions=missing)


def _can_prove_shortest(graph: LocalGraph, plan: Plan, found: Exploration) -> bool:
    """Tell whether knowing all rows within the ball proves a path to be the shortest.

    An entry step is chosen for its density, and other costs are no lengths.
    """
    by_length = graph.person.rule == "lowest" and plan.cost == "length" and not found.entry
    return bool(plan.exact_source and np.isfinite(plan.slack) and by_length)


def _raise_floor(
    graph: LocalGraph, plan: Plan, found: Exploration
) -> Questions[tuple[LocalGraph, Exploration]]:
    """Raise the floor as far as a path to some target allows; the shortest above it is wanted."""
    start = found.trail[1] if found.entry else 0
    trail, log_density, _ = yield from densest_path(
        graph, start, n_neighbors=plan.walk_options.n_neighbors
    )
    if found.entry:
        trail = (0, *trail)
    raised = graph.with_floor(max(log_density, graph.person.log_floor))
    return raised, Exploration(trail, entry=found.entry)


def _outcome_when_no_path_found(
    graph: LocalGraph, plan: Plan, found: Exploration, *, relax: bool
) -> Questions[Outcome]:
    """Try a lower floor, where that is wanted; where it does not help, say why."""
    status = "UNREACHABLE" if (yield from graph.has_targets()) else "NO_TARGET"
    if graph.cut:
        status = "BUDGET"
    if status == "UNREACHABLE" and relax:
        outcome = yield from _search_above_lower_floor(graph, plan, found)
        if outcome is not None:
            return outcome
        status = "BUDGET" if graph.cut else status
    outcome = yield from close_without_path(status, graph)
    return replace(
        outcome,
        no_floor_helps=relax and status == "UNREACHABLE",
        cut_short=found.gave_up and status == "UNREACHABLE",
    )


def _search_above_lower_floor(
    graph: LocalGraph, plan: Plan, found: Exploration
) -> Questions[Outcome | None]:
    """Lower the floor as little as a path to some target needs; None where no floor helps."""
    start = 0
    trail, log_density, _ = yield from densest_path(
        graph, start, n_neighbors=plan.walk_options.n_neighbors
    )
    if found.entries:
        by_entry, entered, _ = yield from densest_path(
            graph, found.entries[0], n_neighbors=plan.walk_options.n_neighbors
        )
        if by_entry and (not trail or entered > log_density):
            start = found.entries[0]
            trail = by_entry
            log_density = entered
    if not trail:
        return (yield from go_straight_below_floor(graph, plan))
    entry = start != 0
    may_be_less = graph.cut  # rows that were withheld may have led over denser ground
    is_lower = log_density < graph.person.log_floor  # else a longer search was all that it took
    lowered = graph.with_floor(min(log_density, graph.person.log_floor))
    eased = Exploration((0, *trail) if entry else trail, entry=entry)
    outcome = yield from _improve_path(lowered, plan, eased, relaxed=is_lower)
    return replace(outcome, cut_short=outcome.cut_short or may_be_less)


def _search_as_in_the_paper(graph: LocalGraph, plan: Plan) -> Questions[Outcome]:
    """The paper's own algorithms, for comparison."""
    walk_options = plan.walk_options
    if graph.goal is None:
        end = yield from paper_walk_to_target(
            graph,
            n_neighbors=walk_options.n_neighbors,
            momentum_steps=walk_options.momentum_steps,
        )
        if end is None:
            return (
                yield from _outcome_when_no_path_found(graph, plan, Exploration(()), relax=False)
            )
        graph.goal = end
    vertices = yield from paper_walk_to_goal(graph, n_neighbors=walk_options.n_neighbors)
    path = yield from paper_shortest_path(graph, vertices)
    if path is None:
        return (yield from close_without_path("BUDGET" if graph.cut else "UNREACHABLE", graph))
    return (yield from close_search("FOUND", graph, path))
