"""Helping: of ways that cost nearly the same, one whose changes help others as well.

A change that reaches the target for one person, and takes most others further from it, is more
likely a quirk of the model than advice.
"""

from __future__ import annotations

from collections.abc import Sequence

from localface.search.person import Person
from localface.search.questions import OthersHelped, Questions, ask_whether_others_are_helped
from localface.search.stages.fewest import kinds_of_change
from localface.search.stages.way import Cost
from localface.types import Array, Ids

AGAINST_MOST = 0.5
"""Changes that help fewer of those whom they move go against what helps most others."""
_DOUBTFUL = 0.6  # of those whom they move: half of all that help fewer work against the truth
_ENOUGH = 0.8  # of those whom they move: more is not looked for
_STEP = 0.1  # of a share by which a way has to help more to be preferred
_NEARLY = 1.05  # times the effort that a way may take which helps more
_DEARER = 1.25  # the same where the cheapest is doubtful
_A_LITTLE = 0.25  # ordinary differences that it may take more then in any case


def choose_most_helping(
    person: Person, ends: Array, costs: Sequence[Cost], rows: Ids
) -> Questions[tuple[int, OthersHelped]]:
    """Choose one of some ends, the cheapest of which comes first; tell how many others it helps.

    Others take as few changes, as few of them at once, and hardly more effort. ``rows`` are those
    whose values the ends have taken over.
    """
    some = _worth_asking(person, ends, costs)
    columns = (person.group_of, person.discrete)
    helped = yield from ask_whether_others_are_helped(
        person.factual, ends[some], columns, rows, person.keeps_relations
    )
    nearly = [i for i, one in enumerate(some) if _costs_nearly(costs[one], costs[0])]
    best = max(nearly, key=lambda i: (_steps(helped[i]), -i))
    less_doubtful = min(range(len(some)), key=lambda i: doubt_of(helped[i]))
    if doubt_of(helped[less_doubtful]) < doubt_of(helped[best]):
        best = less_doubtful
    return some[best], helped[best]


def doubt_of(helped: OthersHelped) -> int:
    """How doubtful changes are: 0 not at all, 2 where one goes against what helps most others."""
    return int(helped.least < _DOUBTFUL) + int(helped.least < AGAINST_MOST)


def _worth_asking(person: Person, ends: Array, costs: Sequence[Cost]) -> list[int]:
    """The ends that cost little more than the cheapest: the first of those by the same changes."""
    found: dict[bytes, int] = {}
    for i, changes in enumerate(kinds_of_change(person.factual, ends)):
        if _costs_little_more(costs[i], costs[0]):
            found.setdefault(changes, i)
    return list(found.values())


def _costs_nearly(cost: Cost, least: Cost) -> bool:
    """Tell whether a way takes as few changes as another, and nearly the same effort."""
    return cost[:2] == least[:2] and cost[2] <= _NEARLY * least[2]


def _costs_little_more(cost: Cost, least: Cost) -> bool:
    """Tell whether a way takes as few changes as another, and little more effort."""
    most = max(_DEARER * least[2], least[2] + _A_LITTLE)
    return cost[:2] == least[:2] and cost[2] <= most


def _steps(helped: OthersHelped) -> int:
    """How many steps of a share a way helps, as far as they count."""
    return int(min(helped.least, _ENOUGH) / _STEP + 1e-9)
