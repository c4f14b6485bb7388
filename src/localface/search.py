"""One person's search: the stages in order, and what is said when they find nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from localface.atlas import Atlas, Person, Way
from localface.geometry import Array
from localface.questions import Asks, Counts, Ids, along, census, company, levels, point_scores
from localface.stages.actions import Move, act
from localface.stages.enhance import Price, enhance
from localface.stages.exploit import exploit
from localface.stages.explore import Exploration, explore
from localface.stages.printed import algorithm_1, algorithm_2, printed_graph
from localface.stages.relax import highest_way


@dataclass(frozen=True, slots=True)
class Plan:
    """How a search goes about it; the same for everyone who asks."""

    n_neighbors: int
    momentum_steps: int = 0
    reach: float = np.inf
    slack: float = 0.05
    cost: str = "length"
    price: Price = field(default_factory=Price)
    astar: bool = True
    strategy: str = "guided"
    actions: bool = True
    max_changes: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Acted:
    """The actions of an outcome: states in order, and the ground at and under them."""

    moves: tuple[Move, ...]
    levels: Array
    lowest: Array
    people: Ids
    floor: float


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a search found, in points and log-densities; units come later."""

    status: str
    points: Array
    ids: tuple[int, ...]
    scores: tuple[float, ...]
    levels: Array  # log-density where each vertex stands
    lowest: Array  # what the rule measures along each step
    floor: float
    cost: float = 0.0
    entry: bool = False
    relaxed: bool = False
    proven: bool = False
    counts: Counts | None = None
    acted: Acted | None = None
    hopeless: bool = False  # no floor, however low, opens a way


def search(person: Person, plan: Plan, *, goal: Array | None = None, relax: bool = False) -> Asks[Outcome]:
    """Look for recourse for one person."""
    first = person.factual[None, :]
    scores = yield from point_scores(first if goal is None else np.stack([person.factual, goal]))
    atlas = Atlas(person, float(scores[0]))
    if atlas.arrived(0):
        return (yield from _told("ALREADY_THERE", atlas, Way((0,), 0.0)))
    if goal is not None:
        if not (scores[1] >= person.min_score and bool(person.bounds.contain(goal))):
            return (yield from _told("NO_TARGET", atlas, Way((0,), 0.0)))
        atlas.goal = atlas.put(goal, float(scores[1]))
    if plan.strategy == "paper":
        return (yield from _printed(atlas, plan))
    return (yield from _guided(atlas, plan, relax=relax))


def _guided(atlas: Atlas, plan: Plan, *, relax: bool) -> Asks[Outcome]:
    """Explore, then know the ground and take the best way through it, in turns."""
    found = yield from explore(
        atlas, n_neighbors=plan.n_neighbors, momentum_steps=plan.momentum_steps, reach=plan.reach
    )
    if not found.trail:
        return (yield from _refused(atlas, plan, found, relax=relax))
    if plan.cost == "safest":
        atlas, found = yield from _safest(atlas, plan, found)
    return (yield from _best(atlas, plan, found, relaxed=False))


def _best(atlas: Atlas, plan: Plan, found: Exploration, *, relaxed: bool) -> Asks[Outcome]:
    """Make a way that was found as good as it can be; an entry step stays what it is."""
    way = atlas.way(found.trail[1:] if found.entry else found.trail)
    if plan.price.exponent:
        means = yield from atlas.means(way.steps)
        lengths = np.array([atlas.length(*step) for step in way.steps])
        way = Way(way.places, float(plan.price.exact(lengths, np.array(means)).sum()))
    way = yield from enhance(atlas, way, price=plan.price, astar=plan.astar)
    proven, k = False, plan.n_neighbors
    while way.steps and not proven and not atlas.cut:
        complete = yield from exploit(atlas, way, k=k, slack=plan.slack)
        way = yield from enhance(atlas, way, price=plan.price, astar=plan.astar)
        proven, k = complete and atlas.person.rule == "lowest", 2 * k
        if complete:
            break
    whole = Way((0, *way.places), way.cost) if found.entry else way
    told = yield from _told("FOUND", atlas, whole, entry=found.entry, relaxed=relaxed, proven=proven)
    return replace(told, acted=(yield from _acted(atlas, plan, told, whole))) if plan.actions else told


def _acted(atlas: Atlas, plan: Plan, told: Outcome, way: Way) -> Asks[Acted]:
    """Turn the way into actions; where no few changes do it, the steps of the way are the actions.

    Someone who stands on uncommon ground meets no state more unusual than their own.
    """
    floor = min(atlas.person.floor, float(told.levels[0]))
    moves = yield from act(atlas, way.places[-1], floor=floor, max_changes=plan.max_changes)
    if moves is None:
        ahead = way.places[1:]
        moves = tuple(Move(atlas.points[p], atlas.scores[p], (i - 1,) if i else ()) for i, p in enumerate(ahead))
    states = np.stack([atlas.person.factual, *(move.point for move in moves)])
    under = yield from along(states[:-1], states[1:], None, atlas.person.rule)
    at = yield from along(states[1:], states[1:], None, atlas.person.rule)
    near = yield from company(states[1:])
    return Acted(moves, at.values, under.values, near, floor)


def _safest(atlas: Atlas, plan: Plan, found: Exploration) -> Asks[tuple[Atlas, Exploration]]:
    """Raise the floor as far as a way to some target allows; the shortest way above it is then the answer."""
    start = found.trail[1] if found.entry else 0
    trail, level = yield from highest_way(atlas, start, n_neighbors=plan.n_neighbors)
    trail = (0, *trail) if found.entry else trail
    return atlas.under(max(level, atlas.person.floor)), Exploration(trail, entry=found.entry)


def _refused(atlas: Atlas, plan: Plan, found: Exploration, *, relax: bool) -> Asks[Outcome]:
    """Say why there is nothing; with ``relax``, find the least relaxation that there is a way for."""
    if atlas.goal is not None:
        status, counts = "UNREACHABLE", None
    else:
        counts = yield from census(atlas.person.bounds)
        status = "UNREACHABLE" if counts.targets else "NO_TARGET"
    if status == "UNREACHABLE" and atlas.cut:
        status = "BUDGET"
    if status == "UNREACHABLE" and relax:
        start = found.entries[0] if found.entries else 0
        trail, level = yield from highest_way(atlas, start, n_neighbors=plan.n_neighbors)
        if trail:
            lower, entry = atlas.under(min(level, atlas.person.floor)), start != 0
            eased = Exploration((0, *trail) if entry else trail, entry=entry)
            return (yield from _best(lower, plan, eased, relaxed=True))
        status = "BUDGET" if atlas.cut else status
    outcome = yield from _told(status, atlas, Way((0,), 0.0), counts=counts)
    return replace(outcome, hopeless=relax and status == "UNREACHABLE")


def _printed(atlas: Atlas, plan: Plan) -> Asks[Outcome]:
    """The paper's own algorithms, for comparison."""
    if atlas.goal is None:
        end = yield from algorithm_1(atlas, n_neighbors=plan.n_neighbors, momentum_steps=plan.momentum_steps)
        if end is None:
            return (yield from _refused(atlas, plan, Exploration(()), relax=False))
        atlas.goal = end
    vertices = yield from algorithm_2(atlas, n_neighbors=plan.n_neighbors)
    way = yield from printed_graph(atlas, vertices)
    if way is None:
        return (yield from _told("BUDGET" if atlas.cut else "UNREACHABLE", atlas, Way((0,), 0.0)))
    return (yield from _told("FOUND", atlas, way))


def _told(
    status: str,
    atlas: Atlas,
    way: Way,
    *,
    entry: bool = False,
    relaxed: bool = False,
    proven: bool = False,
    counts: Counts | None = None,
) -> Asks[Outcome]:
    """Work out the ground under the way in full, and close the search."""
    stands = yield from _stood_on(atlas, way.places)
    under = np.zeros(0)
    if way.steps:
        under = (yield from atlas.ground(way.steps, None, atlas.person.rule)).values
    return Outcome(
        status=status,
        points=np.stack([atlas.points[place] for place in way.places]),
        ids=tuple(atlas.ids[place] for place in way.places),
        scores=tuple(atlas.scores[place] for place in way.places),
        levels=stands,
        lowest=under,
        floor=atlas.person.floor,
        cost=way.cost,
        entry=entry,
        relaxed=relaxed,
        proven=proven,
        counts=counts,
    )


def _stood_on(atlas: Atlas, places: tuple[int, ...]) -> Asks[Array]:
    """How common the ground is at each place: known for rows, worked out for others."""
    values = np.zeros(len(places))
    rows = [i for i, place in enumerate(places) if atlas.ids[place] >= 0]
    others = [i for i, place in enumerate(places) if atlas.ids[place] < 0]
    if rows:
        values[rows] = yield from levels(np.array([atlas.ids[places[i]] for i in rows]))
    ground = yield from atlas.ground([(places[i], places[i]) for i in others], None, atlas.person.rule)
    values[others] = ground.values
    return values
