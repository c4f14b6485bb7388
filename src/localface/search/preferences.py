"""Preferences: ends and actions that spare what a person would rather leave as it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from localface.geometry.segments import Array, norms
from localface.search.lattice import weight_of
from localface.search.outcome import Acted, Outcome, Plan, acted, grounded, told
from localface.search.questions import Asks, point_scores
from localface.search.stages.actions import act
from localface.search.stages.enhance import enhance
from localface.search.state import Atlas, Person, Way

_ENDS = 8  # other ends that are tried at a time where some features should stay as they are
_LOOKS = 5  # how often one looks on for ends that do without some features


def preferred(atlas: Atlas, plan: Plan, first: Outcome, way: Way) -> Asks[Outcome]:
    """Mind what the person would rather leave as it is: try without what is dear, and take what costs least."""
    person = atlas.person
    best = yield from _sparing(atlas, plan, first, way)
    if person.weights is None or person.held is not None:
        return best
    dear = person.weights > 1
    alone = [person.group_of == group for group in np.unique(person.group_of[dear])]
    for held in [dear, *(alone if len(alone) > 1 else [])]:
        if best.acted is not None and (best.acted.moves[-1].point != person.factual)[held].any():
            other = yield from _sparing(atlas.holding(held), plan, first, way)
            if other.acted is not None and _dearness(person, other.acted) < _dearness(person, best.acted):
                best = other
    return best


def _sparing(atlas: Atlas, plan: Plan, first: Outcome, way: Way) -> Asks[Outcome]:
    """Choose among the ends that can do without what is held, and find a way to the one chosen.

    Where changes have weights, the end is taken that costs least; where no end that is
    known does without what is held, look on. The people on the way may differ in what is
    held, as no two people share every number; the actions never touch it.
    """
    person, known, looked = atlas.person, dict[int, float](), set[int]()
    floor = min(person.floor, float(first.levels[0]))
    for turn in range(1 if person.held is None or atlas.goal is not None else 1 + _LOOKS):
        if turn and not (yield from _looked_on(atlas, known, looked, plan.gait.n_neighbors)):
            break
        found = list[Outcome]()
        for end in (yield from _likely(atlas, known)):
            moves = yield from act(atlas, end, floor=floor, max_changes=plan.max_changes, whole=plan.whole)
            led = None if moves is None else (yield from _led(atlas, plan, first, (way, end)))
            if led is not None and moves is not None:
                found.append(replace(led, acted=(yield from grounded(atlas, moves, floor))))
                if person.weights is None:
                    break
        if found:
            return min(found, key=lambda one: _dearness(person, one.acted))
    return first if person.held is not None else replace(first, acted=(yield from acted(atlas, plan, first, way)))


def _likely(atlas: Atlas, known: dict[int, float]) -> Asks[list[int]]:
    """The new ends that still reach the target with what is held put back, the least change first.

    ``known`` keeps the score that every known place has then.
    """
    person, ends = atlas.person, atlas.goals
    fresh = [place for place in (ends if atlas.goal is not None else atlas.places) if place not in known]
    if not fresh:
        return []
    states = np.stack([_spared(person, atlas.points[place]) for place in fresh])
    scores = atlas.scores[fresh]
    if person.held is not None:
        rows = atlas.ids[fresh][atlas.ids[fresh] >= 0]
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


def _led(atlas: Atlas, plan: Plan, first: Outcome, there: tuple[Way, int]) -> Asks[Outcome | None]:
    """The best way to another end through people who are known already, if there is one."""
    way, end = there
    if end == way.places[-1]:
        return first
    start = way.places[1] if first.entry else 0
    if start == end:
        way = Way((end,), 0.0)
    else:
        way = yield from enhance(atlas.towards(end), Way((start, end), np.inf), price=plan.price, astar=plan.astar)
    if not np.isfinite(way.cost):
        return None
    whole = Way((0, *way.places), way.cost) if first.entry else way
    return (yield from told("FOUND", atlas, whole, entry=first.entry, relaxed=first.relaxed))
