"""Watches what searches are handed: which rows, and on whose behalf."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any
from unittest.mock import patch

import numpy as np

from localface.engine.driver import Driver
from localface.engine.job import SearchJob
from localface.search.questions import (
    BestState,
    Census,
    ComposedStates,
    OutOfTime,
    Questions,
    RowDensities,
    ScorePoints,
    ScoreRows,
    TargetCounts,
)
from localface.sources.protocol import Neighbors

EVERYBODY = -1


@dataclass
class Watch:
    """The rows that searches were handed, by the number of the person whom they are for."""

    rows: dict[int | None, set[int]] = field(default_factory=dict)
    searches: int = 0

    @property
    def everywhere(self) -> set[int]:
        """The rows that any search was handed."""
        return set().union(*self.rows.values())

    def of(self, person: int | None) -> int:
        """How many rows the searches for one person were handed, or those for everybody."""
        return len(self.everywhere if person == EVERYBODY else self.rows.get(person, set()))

    def most(self) -> int:
        """The most rows that the searches for one person were handed."""
        return max(map(len, self.rows.values()), default=0)

    def follow(self, asks: Questions[Any], person: int | None) -> Questions[Any]:
        """Ask the same questions, and note the rows of each answer."""
        known = self.rows.setdefault(person, set())
        question = next(asks)
        while True:
            try:
                try:
                    answer = yield question
                except OutOfTime as late:
                    question = asks.throw(late)
                    continue
                _check_question(question, known)
                for one in answer if isinstance(answer, list) else [answer]:
                    if isinstance(one, Neighbors | ComposedStates):
                        known.update(one.ids.tolist())
                if isinstance(question, Census):
                    _check_that_only_numbers_are_told(answer, len(question.bounds.lower))
                question = asks.send(answer)
            except StopIteration as end:
                return end.value


def _check_question(question: Any, known: set[int]) -> None:
    """A search asks only about rows that were handed to some search for the same person."""
    if isinstance(question, ScoreRows | RowDensities):
        assert set(question.ids.tolist()) <= known
    if isinstance(question, ScorePoints):
        assert {row for row in question.donors.tolist() if row >= 0} <= known


def _check_that_only_numbers_are_told(counts: TargetCounts, width: int) -> None:
    """A census hands out counts, a score and which columns change: nobody's values."""
    told = [*_values_of(counts), *([] if counts.best is None else _values_of(counts.best))]
    for value in told:
        if isinstance(value, np.ndarray):
            assert value.shape == (width,)
            assert value.dtype.kind in "ib"
        else:
            assert value is None or isinstance(value, int | float | BestState)


def _values_of(one: Any) -> list[Any]:
    return [getattr(one, each.name) for each in fields(one)]


@contextmanager
def watched_rows() -> Iterator[Watch]:
    """Watch every search that any driver runs."""
    watch = Watch()
    plain = Driver.run_or_error

    def run_or_error(self: Driver, jobs: Any, **options: Any) -> Any:
        def watched(job: SearchJob[Any]) -> SearchJob[Any]:
            watch.searches += 1
            return replace(job, asks=watch.follow(job.asks, job.person))

        return plain(self, map(watched, jobs), **options)

    with patch.object(Driver, "run_or_error", run_or_error):
        yield watch
