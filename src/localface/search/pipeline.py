"""One person's search: the stages in order, and what is said when they find nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from localface.geometry.segments import Array
from localface.search.outcome import Outcome, Plan, acted, nothing, told
from localface.search.preferences import preferred
from localface.search.questions import Asks, census, point_scores, widening
from localface.search.stages.compose import compose
from localface.search.stages.enhance import enhance
from localface.search.stages.exploit import exploit
from localface.search.stages.explore import Exploration, explore
from localface.search.stages.paper import algorithm_1, algorithm_2, printed_graph
from localface.search.stages.relax import highest_way
from localface.search.state import Atlas, Person, Way


def search(
    person: Person, plan: Plan, *, goal: Array | None = None, relax: bool = False, wished: bool = False
) -> Asks[Outcome]:
    """Look for recourse for one person; a goal that is ``wished`` for is one whatever its score."""
    first = person.factual[None, :]
    scores = yield from point_scores(first if goal is None else np.stack([person.factual, goal]))
    atlas = Atlas(person, float(scores[0]))
    if atlas.arrived(0) and not wished:
        return (yield from told("ALREADY_THERE", atlas, Way((0,), 0.0)))
    if goal is not None:
        suits = wished or (scores[1] >= person.min_score and bool(person.lawful(goal[None, :])[0]))
        if not (suits and bool(person.bounds.contain(goal))):
            return (yield from told("NO_TARGET", atlas, Way((0,), 0.0)))
        atlas.goal = atlas.put(goal, float(scores[1]))
    if plan.strategy == "paper":
        return (yield from _printed(atlas, plan))
    return (yield from _guided(atlas, replace(plan, whole=plan.whole or wished), relax=relax))


def survey(person: Person, states: Array) -> Asks[Outcome]:
    """Tell what going straight through some states would be like, whether or not one could; nobody is looked at."""
    scores = yield from point_scores(np.stack([person.factual, *states]))
    atlas = Atlas(person, float(scores[0]))
    places = [atlas.put(state, float(score)) for state, score in zip(states, scores[1:], strict=True)]
    return (yield from told("FOUND", atlas, atlas.way((0, *places))))


def count(person: Person) -> Asks[Outcome]:
    """Count the people whom someone may become; nobody is looked at."""
    counts = yield from census(person.bounds, why=False)
    return nothing("FOUND" if counts.targets else "NO_TARGET", person, counts)


def span(person: Person, record: Array, reaches: Array) -> Asks[Outcome]:
    """Tell how many times as far as ``reaches`` someone would have to be allowed to go; nobody is looked at."""
    factor = yield from widening(person.bounds, record, reaches)
    return replace(nothing("FOUND" if np.isfinite(factor) else "NO_TARGET", person), cost=factor)


def _guided(atlas: Atlas, plan: Plan, *, relax: bool) -> Asks[Outcome]:
    """Explore, then know the ground and take the best way through it, in turns."""
    if (yield from _lost(atlas)):
        return (yield from _refused(atlas, plan, Exploration(()), relax=relax))
    found = yield from explore(atlas, plan.gait)
    if not found.trail:
        return (yield from _refused(atlas, plan, found, relax=relax))
    if plan.first:
        return nothing("FOUND", atlas.person)
    if plan.cost == "safest":
        atlas, found = yield from _safest(atlas, plan, found)
    return (yield from _best(atlas, plan, found, relaxed=False))


def _lost(atlas: Atlas) -> Asks[bool]:
    """Tell whether someone on common ground wants to go where no step can end: then none need be tried."""
    if atlas.goal is None:
        return False
    here, there = yield from atlas.traversable([(0, 0), (atlas.goal, atlas.goal)])
    return here and not there


def _best(atlas: Atlas, plan: Plan, found: Exploration, *, relaxed: bool) -> Asks[Outcome]:
    """Make a way that was found as good as it can be; an entry step stays what it is."""
    way = atlas.way(found.trail[1:] if found.entry else found.trail)
    if plan.price.exponent:
        means = yield from atlas.means(way.steps)
        lengths = np.array([atlas.length(*step) for step in way.steps])
        way = Way(way.places, float(plan.price.exact(lengths, np.array(means)).sum()))
    way = yield from enhance(atlas, way, price=plan.price, astar=plan.astar)
    proven, k = False, plan.gait.n_neighbors
    while way.steps and not proven and not atlas.cut:
        known = len(atlas.ids)
        complete = yield from exploit(atlas, way, k=k, slack=plan.slack)
        if len(atlas.ids) > known:
            way = yield from enhance(atlas, way, price=plan.price, astar=plan.astar)
        proven, k = complete and _provable(atlas, plan, found), 2 * k
        if complete:
            break
    whole = Way((0, *way.places), way.cost) if found.entry else way
    found_way = yield from told("FOUND", atlas, whole, entry=found.entry, relaxed=relaxed, proven=proven)
    return (yield from _with_actions(atlas, plan, found_way, whole))


def _with_actions(atlas: Atlas, plan: Plan, found_way: Outcome, whole: Way) -> Asks[Outcome]:
    """Add the actions, if they are wanted."""
    if plan.actions and not (atlas.person.held is None and atlas.person.weights is None):
        return (yield from preferred(atlas, plan, found_way, whole))
    return replace(found_way, acted=(yield from acted(atlas, plan, found_way, whole))) if plan.actions else found_way


def _provable(atlas: Atlas, plan: Plan, found: Exploration) -> bool:
    """Tell whether the ball proves anything: an entry is chosen for its ground, and other costs are no lengths."""
    measured = plan.proves and np.isfinite(plan.slack)
    return bool(measured and atlas.person.rule == "lowest" and plan.cost == "length" and not found.entry)


def _safest(atlas: Atlas, plan: Plan, found: Exploration) -> Asks[tuple[Atlas, Exploration]]:
    """Raise the floor as far as a way to some target allows; the shortest way above it is then the answer."""
    start = found.trail[1] if found.entry else 0
    trail, level = yield from highest_way(atlas, start, n_neighbors=plan.gait.n_neighbors)
    trail = (0, *trail) if found.entry else trail
    return atlas.under(max(level, atlas.person.floor)), Exploration(trail, entry=found.entry)


def _refused(atlas: Atlas, plan: Plan, found: Exploration, *, relax: bool) -> Asks[Outcome]:
    """Say why there is nothing; with ``relax``, find the least relaxation that there is a way for."""
    withheld = False
    if plan.states and atlas.goal is None:
        made = yield from compose(atlas)
        if made.end is not None:
            return (yield from _composed(made.atlas, plan, made.end, entry=made.entry))
        withheld = made.cut
    status = "UNREACHABLE" if (yield from atlas.hopeful()) else "NO_TARGET"
    if withheld or (status == "UNREACHABLE" and atlas.cut):
        status = "BUDGET"
    if status == "UNREACHABLE" and relax:
        start = found.entries[0] if found.entries else 0
        trail, level = yield from highest_way(atlas, start, n_neighbors=plan.gait.n_neighbors)
        if trail:
            lower, entry = atlas.under(min(level, atlas.person.floor)), start != 0
            eased = Exploration((0, *trail) if entry else trail, entry=entry)
            return (yield from _best(lower, plan, eased, relaxed=True))
        status = "BUDGET" if atlas.cut else status
    outcome = yield from told(status, atlas, Way((0,), 0.0), counts=atlas.counts)
    return replace(outcome, hopeless=relax and status == "UNREACHABLE")


def _composed(atlas: Atlas, plan: Plan, end: int, *, entry: bool) -> Asks[Outcome]:
    """Go straight to a composed state; from uncommon ground, that is an entry step."""
    if plan.first:
        return nothing("FOUND", atlas.person)
    way = atlas.way((0, end))
    found_way = yield from told("FOUND", atlas, way, entry=entry)
    outcome = yield from _with_actions(atlas, plan, found_way, way)
    return replace(outcome, composed=outcome.ids[-1] < 0)


def _printed(atlas: Atlas, plan: Plan) -> Asks[Outcome]:
    """The paper's own algorithms, for comparison."""
    if atlas.goal is None:
        end = yield from algorithm_1(atlas, n_neighbors=plan.gait.n_neighbors, momentum_steps=plan.gait.momentum_steps)
        if end is None:
            return (yield from _refused(atlas, plan, Exploration(()), relax=False))
        atlas.goal = end
    vertices = yield from algorithm_2(atlas, n_neighbors=plan.gait.n_neighbors)
    way = yield from printed_graph(atlas, vertices)
    if way is None:
        return (yield from told("BUDGET" if atlas.cut else "UNREACHABLE", atlas, Way((0,), 0.0)))
    return (yield from told("FOUND", atlas, way))
