"""One person's search: the stages in order, and what is said when they find nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from localface.atlas import Atlas, Person, Way
from localface.geometry import Array, norms
from localface.questions import Asks, Counts, Ids, along, company, levels, point_scores
from localface.stages.actions import Move, act, in_small_steps, weight_of
from localface.stages.enhance import Price, enhance
from localface.stages.exploit import exploit
from localface.stages.explore import Exploration, explore
from localface.stages.printed import algorithm_1, algorithm_2, printed_graph
from localface.stages.relax import highest_way

_ENDS = 8  # other ends that are tried at a time where some features should stay as they are
_LOOKS = 5  # how often one looks on for ends that do without some features


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
    whole: bool = False  # the actions make every change, not only those that the score needs


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


def search(
    person: Person, plan: Plan, *, goal: Array | None = None, relax: bool = False, wished: bool = False
) -> Asks[Outcome]:
    """Look for recourse for one person; a goal that is ``wished`` for is one whatever its score."""
    first = person.factual[None, :]
    scores = yield from point_scores(first if goal is None else np.stack([person.factual, goal]))
    atlas = Atlas(person, float(scores[0]))
    if atlas.arrived(0) and not wished:
        return (yield from _told("ALREADY_THERE", atlas, Way((0,), 0.0)))
    if goal is not None:
        if not ((wished or scores[1] >= person.min_score) and bool(person.bounds.contain(goal))):
            return (yield from _told("NO_TARGET", atlas, Way((0,), 0.0)))
        atlas.goal = atlas.put(goal, float(scores[1]))
    if plan.strategy == "paper":
        return (yield from _printed(atlas, plan))
    return (yield from _guided(atlas, replace(plan, whole=plan.whole or wished), relax=relax))


def survey(person: Person, states: Array) -> Asks[Outcome]:
    """Tell what going straight through some states would be like, whether or not one could; nobody is looked at."""
    scores = yield from point_scores(np.stack([person.factual, *states]))
    atlas = Atlas(person, float(scores[0]))
    places = [atlas.put(state, float(score)) for state, score in zip(states, scores[1:], strict=True)]
    return (yield from _told("FOUND", atlas, atlas.way((0, *places))))


def count(person: Person) -> Asks[Outcome]:
    """Count the people whom someone may become; nobody is looked at."""
    atlas = Atlas(person, -np.inf)
    hopeful = yield from atlas.hopeful()
    return (yield from _told("FOUND" if hopeful else "NO_TARGET", atlas, Way((0,), 0.0), counts=atlas.counts))


def _guided(atlas: Atlas, plan: Plan, *, relax: bool) -> Asks[Outcome]:
    """Explore, then know the ground and take the best way through it, in turns."""
    if (yield from _lost(atlas)):
        return (yield from _refused(atlas, plan, Exploration(()), relax=relax))
    found = yield from explore(
        atlas, n_neighbors=plan.n_neighbors, momentum_steps=plan.momentum_steps, reach=plan.reach
    )
    if not found.trail:
        return (yield from _refused(atlas, plan, found, relax=relax))
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
    proven, k = False, plan.n_neighbors
    while way.steps and not proven and not atlas.cut:
        complete = yield from exploit(atlas, way, k=k, slack=plan.slack)
        way = yield from enhance(atlas, way, price=plan.price, astar=plan.astar)
        proven, k = complete and atlas.person.rule == "lowest", 2 * k
        if complete:
            break
    whole = Way((0, *way.places), way.cost) if found.entry else way
    told = yield from _told("FOUND", atlas, whole, entry=found.entry, relaxed=relaxed, proven=proven)
    if plan.actions and not (atlas.person.held is None and atlas.person.weights is None):
        return (yield from _preferred(atlas, plan, told, whole))
    return replace(told, acted=(yield from _acted(atlas, plan, told, whole))) if plan.actions else told


def _acted(atlas: Atlas, plan: Plan, told: Outcome, way: Way) -> Asks[Acted]:
    """Turn the way into actions; where no few changes do it, the steps of the way are the actions.

    Someone who stands on uncommon ground meets no state more unusual than their own.
    """
    floor = min(atlas.person.floor, float(told.levels[0]))
    moves = yield from act(atlas, way.places[-1], floor=floor, max_changes=plan.max_changes, whole=plan.whole)
    if moves is None:
        ahead = way.places[1:]
        moves = tuple(Move(atlas.points[p], atlas.scores[p], (i - 1,) if i else ()) for i, p in enumerate(ahead))
    return (yield from _grounded(atlas, moves, floor))


def _grounded(atlas: Atlas, moves: tuple[Move, ...], floor: float) -> Asks[Acted]:
    """Work out the ground at and under the actions."""
    moves = yield from in_small_steps(atlas, moves, floor)
    states = np.stack([atlas.person.factual, *(move.point for move in moves)])
    under = yield from along(states[:-1], states[1:], None, atlas.person.rule)
    at = yield from along(states[1:], states[1:], None, atlas.person.rule)
    near = yield from company(states[1:])
    return Acted(moves, at.values, under.values, near, floor)


def _preferred(atlas: Atlas, plan: Plan, told: Outcome, way: Way) -> Asks[Outcome]:
    """Mind what the person would rather leave as it is: try without what is dear, and take what costs least."""
    person = atlas.person
    best = yield from _sparing(atlas, plan, told, way)
    if person.weights is None or person.held is not None:
        return best
    dear = person.weights > 1
    alone = [person.group_of == group for group in np.unique(person.group_of[dear])]
    for held in [dear, *(alone if len(alone) > 1 else [])]:
        if best.acted is not None and (best.acted.moves[-1].point != person.factual)[held].any():
            other = yield from _sparing(atlas.holding(held), plan, told, way)
            if other.acted is not None and _dearness(person, other.acted) < _dearness(person, best.acted):
                best = other
    return best


def _sparing(atlas: Atlas, plan: Plan, told: Outcome, way: Way) -> Asks[Outcome]:
    """Choose among the ends that can do without what is held, and find a way to the one chosen.

    Where changes have weights, the end is taken that costs least; where no end that is
    known does without what is held, look on. The people on the way may differ in what is
    held, as no two people share every number; the actions never touch it.
    """
    person, known, looked = atlas.person, dict[int, float](), set[int]()
    floor = min(person.floor, float(told.levels[0]))
    for turn in range(1 if person.held is None or atlas.goal is not None else 1 + _LOOKS):
        if turn and not (yield from _looked_on(atlas, known, looked, plan.n_neighbors)):
            break
        found = list[Outcome]()
        for end in (yield from _likely(atlas, known)):
            moves = yield from act(atlas, end, floor=floor, max_changes=plan.max_changes, whole=plan.whole)
            led = None if moves is None else (yield from _led(atlas, plan, told, (way, end)))
            if led is not None and moves is not None:
                found.append(replace(led, acted=(yield from _grounded(atlas, moves, floor))))
                if person.weights is None:
                    break
        if found:
            return min(found, key=lambda one: _dearness(person, one.acted))
    return told if person.held is not None else replace(told, acted=(yield from _acted(atlas, plan, told, way)))


def _likely(atlas: Atlas, known: dict[int, float]) -> Asks[list[int]]:
    """The new ends that still reach the target with what is held put back, the least change first.

    ``known`` keeps the score that every known place has then.
    """
    person, ends = atlas.person, atlas.goals
    fresh = [place for place in (ends if atlas.goal is not None else atlas.places) if place not in known]
    if not fresh:
        return []
    states = np.stack([_spared(person, atlas.points[place]) for place in fresh])
    scores = np.array([atlas.scores[place] for place in fresh])
    if person.held is not None:
        rows = np.array([atlas.ids[place] for place in fresh if atlas.ids[place] >= 0], dtype=np.int64)
        scores = yield from point_scores(states, rows)
    known.update(zip(fresh, scores.tolist(), strict=True))
    apart = norms((states - person.factual) * (1.0 if person.weights is None else person.weights))
    order = [i for i in np.lexsort((np.array(fresh), apart)) if scores[i] >= person.min_score]
    return [fresh[i] for i in order if fresh[i] in ends][:_ENDS]


def _looked_on(atlas: Atlas, known: dict[int, float], looked: set[int], n_neighbors: int) -> Asks[bool]:
    """Look around the place that lacks least of the score with what is held put back; False where none is left."""
    person = atlas.person

    def promise(place: int) -> tuple[float, float, int]:
        apart = float(norms(_spared(person, atlas.points[place]) - person.factual))
        return max(0.0, person.min_score - known[place]), round(apart, 9), place

    left = [place for place in known if place not in looked]
    if not left or atlas.cut:
        return False
    looked.add(min(left, key=promise))
    yield from atlas.nearby(min(left, key=promise), n_neighbors)
    return True


def _spared(person: Person, point: Array) -> Array:
    """A state with what is held put back."""
    return point if person.held is None else np.where(person.held, person.factual, point)


def _dearness(person: Person, acted: Acted | None) -> tuple[float, float]:
    """What the changes come to: their number, then the sum of their sizes, both weighted."""
    assert acted is not None
    apart = acted.moves[-1].point - person.factual
    groups = np.unique(person.group_of[apart != 0]).tolist()
    weights = [weight_of(person, (group,)) for group in groups]
    sizes = [float(norms(apart[person.group_of == group])) for group in groups]
    return round(sum(weights), 9), round(sum(w * size for w, size in zip(weights, sizes, strict=True)), 9)


def _led(atlas: Atlas, plan: Plan, told: Outcome, there: tuple[Way, int]) -> Asks[Outcome | None]:
    """The best way to another end through people who are known already, if there is one."""
    way, end = there
    if end == way.places[-1]:
        return told
    start = way.places[1] if told.entry else 0
    if start == end:
        way = Way((end,), 0.0)
    else:
        way = yield from enhance(atlas.towards(end), Way((start, end), np.inf), price=plan.price, astar=plan.astar)
    if not np.isfinite(way.cost):
        return None
    whole = Way((0, *way.places), way.cost) if told.entry else way
    return (yield from _told("FOUND", atlas, whole, entry=told.entry, relaxed=told.relaxed))


def _safest(atlas: Atlas, plan: Plan, found: Exploration) -> Asks[tuple[Atlas, Exploration]]:
    """Raise the floor as far as a way to some target allows; the shortest way above it is then the answer."""
    start = found.trail[1] if found.entry else 0
    trail, level = yield from highest_way(atlas, start, n_neighbors=plan.n_neighbors)
    trail = (0, *trail) if found.entry else trail
    return atlas.under(max(level, atlas.person.floor)), Exploration(trail, entry=found.entry)


def _refused(atlas: Atlas, plan: Plan, found: Exploration, *, relax: bool) -> Asks[Outcome]:
    """Say why there is nothing; with ``relax``, find the least relaxation that there is a way for."""
    status = "UNREACHABLE" if (yield from atlas.hopeful()) else "NO_TARGET"
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
    outcome = yield from _told(status, atlas, Way((0,), 0.0), counts=atlas.counts)
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
