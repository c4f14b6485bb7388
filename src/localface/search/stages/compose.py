"""Compose: a state to become where nobody will do, made of what others have and of what the person keeps.

Whoever reaches the target may differ from the person in what never moves. What they have in
what does move can be taken over all the same, as far as the person may go: if the model agrees,
and the ground is as common as anywhere on a path, it is an end as sound as a real person, and
the answer says that it is none.
"""

from __future__ import annotations

from dataclasses import dataclass

from localface.geometry.segments import Array
from localface.search.questions import Asks, Loan, borrow
from localface.search.state import Atlas, Step

_STATES = 32  # states that are considered, nearest first
_SAME = 1e-9  # how far apart rounding may put a state and a row that are one
_SLIGHT = 1e-9  # what rounding may take off a level


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """Where to go, None where there is nothing, and the atlas that knows the place.

    ``entry`` tells that the way there is an entry step, ``cut`` that the row budget withheld states.
    """

    atlas: Atlas
    end: int | None
    entry: bool
    cut: bool


def compose(atlas: Atlas) -> Asks[Composition]:
    """Find the nearest composed state that can be gone to straight.

    Someone who stands on uncommon ground may start from there, but not end there. The
    states are known to an atlas of their own, so that who finds none has learnt nothing.
    """
    person, level = atlas.person, (yield from atlas.level())
    entry = level < person.floor - _SLIGHT
    loan: Loan = yield from borrow(person.factual, person.like, _STATES, person.min_score)
    states, own = loan.points, atlas.holding(person.held)
    fine = person.lawful(states) & person.bounds.contain(states) & person.bounds.one_way(person.factual, states)
    places = [own.put(state, float(score)) for state, score in zip(states[fine], loan.scores[fine], strict=True)]
    common = yield from _passing(own, places, [(place, place) for place in places])
    straight = yield from _passing(own.under(level) if entry else own, common, [(0, place) for place in common])
    end = (yield from _someone(own, straight[0])) if straight else None
    return Composition(own, end, entry, loan.cut)


def _passing(atlas: Atlas, places: list[int], steps: list[Step]) -> Asks[list[int]]:
    """Those places whose step can be taken."""
    passes = yield from atlas.traversable(steps)
    return [place for place, one in zip(places, passes, strict=True) if one]


def _someone(atlas: Atlas, place: int) -> Asks[int]:
    """The row that has just this state, should there be one: too far for a search, perhaps, but somebody."""
    state: Array = atlas.points[place]
    rows = yield from atlas.reveal(state, 1, atlas.person.bounds, radius=_SAME)
    return next((row for row in rows if (atlas.points[row] == state).all()), place)
