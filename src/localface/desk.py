"""The desk: takes requests in the user's units, has them searched, hands out answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from localface.answers import Answers
from localface.atlas import Person
from localface.box import Box
from localface.driver import Case, Decode, Driver
from localface.frames import Form
from localface.geometry import Array, Bounds, Mask
from localface.options import Options
from localface.recourse import Recourse
from localface.schema import Schema
from localface.scoring import Scorer
from localface.search import Outcome, Plan, search
from localface.sources.protocol import Source
from localface.space import Space


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What one person asks: who they are, what they may change, and where to, if they know."""

    record: Array
    form: Form
    box: Box
    goal: Array | None = None
    relax: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Desk:
    """All that it takes to answer requests about one table and one model."""

    schema: Schema
    options: Options
    space: Space
    source: Source
    score: Scorer
    floor: float
    driver: Driver
    answers: Answers

    def request(self, record: Array, form: Form, where: Mapping[str, Any] | None = None, **options: Any) -> Request:
        """Write a request down."""
        return Request(record, form, self.schema.box(record, where), **options)

    def answered(self, requests: Iterable[Request], plan: Plan) -> Iterator[tuple[int, Recourse]]:
        """Answer requests in lock-step; each comes with its number, in the order they are done."""
        open_: dict[int, tuple[Request, Decode]] = {}

        def cases() -> Iterator[Case]:
            for number, request in enumerate(requests):
                decode = self.decoder([request.record] if request.goal is None else [request.record, request.goal])
                open_[number] = (request, decode)
                goal = None if request.goal is None else self.space.points(request.goal[None, :])[0]
                person = self.person(request.record, self.space.bounds(request.box))
                yield Case(search(person, plan, goal=goal, relax=request.relax), decode)

        for number, outcome, disclosure in self.driver.run(cases(), max_rows=self.options.max_rows):
            request, decode = open_.pop(number)
            records, rows = self._records(outcome, decode)
            records[0] = request.record
            yield (
                number,
                self.answers.recourse(
                    outcome,
                    records,
                    rows,
                    form=request.form,
                    box=request.box,
                    disclosure=disclosure,
                    goal=request.goal,
                    acted=_states(outcome, decode, records),
                ),
            )

    def person(self, record: Array, bounds: Bounds) -> Person:
        """Someone as a search sees them."""
        options = self.options
        return Person(
            factual=self.space.points(record[None, :])[0],
            bounds=bounds,
            min_score=self.score.min_score,
            floor=self.floor,
            discrete=self.space.discrete,
            rule="mean" if options.edges == "average" else "lowest",
            max_step=np.inf if options.max_step is None else float(options.max_step),
            signed=self.score.reading.signed,
            settle=self.space.settle,
            group_of=self.space.groups,
            grain=self.space.grain,
            lawful=self._lawful,
        )

    def decoder(self, exact: Sequence[Array]) -> Decode:
        """Turn points into records, taking over known values bit for bit wherever a point has them."""
        firsts = np.searchsorted(self.space.feature_of, np.arange(len(self.schema)))

        def decode(points: Array, lent: Array) -> Array:
            records = np.array(self.space.records(points))
            for record in [*lent, *exact]:
                same = np.logical_and.reduceat(points == self.space.points(record[None, :]), firsts, axis=1)
                records = np.where(same, record, records)
            return records

        return decode

    def _records(self, outcome: Outcome, decode: Decode) -> tuple[Array, tuple[int | None, ...]]:
        """Bring a path back into the user's units; rows come back exactly as they are in the data."""
        records = decode(outcome.points, np.zeros((0, len(self.schema))))
        known = np.array([row >= 0 for row in outcome.ids])
        rows = np.array(outcome.ids, dtype=np.int64)[known]
        records[known] = self.source.records(rows)
        numbers = iter(self.source.row_numbers(rows).tolist())
        return records, tuple(next(numbers) if row >= 0 else None for row in outcome.ids)

    def _lawful(self, points: Array) -> Mask:
        """Tell which states keep the relations that the schema declares between features."""
        if not self.schema.relations:
            return np.ones(len(points), dtype=bool)
        return ~self.schema.broken(self.space.records(points))


def _states(outcome: Outcome, decode: Decode, records: Array) -> Array | None:
    """The states that the actions lead through, in the user's units, the person's own first."""
    if outcome.acted is None:
        return None
    return decode(np.stack([outcome.points[0], *(move.point for move in outcome.acted.moves)]), records)
