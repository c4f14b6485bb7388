"""What people ask of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from localface.data.box import Box
from localface.data.table_format import TableFormat
from localface.engine.account import Account
from localface.engine.clock import Clock
from localface.engine.job import Result, SearchJob
from localface.types import Array

_Entry = TypeVar("_Entry")


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What one person asks: who they are, what they may change, where to if they know.

    Parameters
    ----------
    record : the person as they are
    form : the kind of table that the answer comes back in
    box : what the person may change
    goal : the record to go to, where that is known
    relax : whether the floor may be lowered where the target cannot be reached
    wished : whether the goal counts whatever its score
    weights : by feature, how much a change counts
    fixed : features that the actions leave as they are
    wanted : tells whether someone still waits for the answer
    person : the number of the person in the table that they came in
    clock : the time that all searches for this person may take together
    account : what all searches for this person are shown together
    best_effort : whether to go as far as possible where the target cannot be reached
    options_of : by feature, the option by which the call lets it change
    lasting : how likely a retrained model is to agree, where that is wished
    limits : what ``where=`` says of features, also of those that the call keeps as they are
    """

    record: Array
    form: TableFormat
    box: Box
    goal: Array | None = None
    relax: bool = False
    wished: bool = False
    weights: Mapping[str, float] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()
    wanted: Callable[[], bool] | None = None
    person: int | None = None
    clock: Clock = field(default_factory=Clock)
    account: Account = field(default_factory=Account)
    best_effort: bool = False
    options_of: Mapping[str, str] = field(default_factory=dict)
    lasting: float | None = None
    limits: Mapping[str, Any] | None = None

    @property
    def known_records(self) -> list[Array]:
        """The records that are known to the last bit: the person's own, and the goal."""
        return [self.record] if self.goal is None else [self.record, self.goal]


class SearchJobs(Iterator[SearchJob[Result]], Generic[_Entry, Result]):
    """The searches that belong to what is asked, which stays open until it is popped.

    This is no generator, so that it may run dry and go on later.
    """

    def __init__(
        self, asked: Iterable[_Entry], start: Callable[[_Entry], SearchJob[Result]]
    ) -> None:
        self._asked = iter(asked)
        self._start = start
        self._open: dict[int, tuple[_Entry, SearchJob[Result]]] = {}
        self._number = 0

    def __next__(self) -> SearchJob[Result]:
        entry = next(self._asked)
        job = self._start(entry)
        self._open[self._number] = (entry, job)
        self._number += 1
        return job

    def pop(self, number: int) -> tuple[_Entry, SearchJob[Result]]:
        """Close what came as the ``number``-th: what was asked, and its search."""
        return self._open.pop(number)
