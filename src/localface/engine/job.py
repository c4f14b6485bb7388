"""One search as the driver runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from localface.engine.account import Account
from localface.search.questions import Questions
from localface.types import Array

Result = TypeVar("Result")
Decode = Callable[[Array, Array], Array]
"""From points to records, given records whose values the points may have taken over."""


@dataclass(frozen=True, slots=True, eq=False)
class SearchJob(Generic[Result]):
    """A generator of questions, with what it takes to answer them for one person.

    Parameters
    ----------
    asks : yields questions, is sent the answers, and returns what it found
    decode : turns points that are no rows into the records that the model is asked about
    min_score : the score that the search is after
    wanted : asked every round; a search that nobody waits for any more ends
    person : the number of the person in the table that they came in, for error messages
    deadline : when its time is up, by ``time.perf_counter``: then ``OutOfTime`` is raised in it
        once, and it closes with what it has
    account : where what it is shown is counted, with all other searches of the same call
    max_rows : how many rows that account may hold
    asker : the point of the person whom it is about: a row that lies there says nothing of how
        common their states are, as nobody vouches for themselves
    """

    asks: Questions[Result]
    decode: Decode
    min_score: float
    wanted: Callable[[], bool] | None = None
    person: int | None = None
    deadline: float = float("inf")
    account: Account = field(default_factory=Account)
    max_rows: int | None = None
    asker: Array | None = None


def take_points_as_records(points: Array, donors: Array) -> Array:
    """Take points for records as they are: the decoder of a search that asks about records."""
    return points
