"""The desk: takes requests in the user's units, has them searched, hands out answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from localface.answers import Answers
from localface.atlas import Person
from localface.box import Box
from localface.density.protocol import Density
from localface.driver import Case, Decode, Driver
from localface.errors import InputError
from localface.evidence import Witnesses
from localface.frames import Form
from localface.geometry import Array, Bounds, Mask
from localface.options import Options
from localface.outcomes import Outcome, Plan
from localface.recourse import Disclosure, Recourse
from localface.schema import Schema
from localface.scoring import Scorer
from localface.search import count, search, span, survey
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
    wished: bool = False  # the goal counts whatever its score
    weights: Mapping[str, float] = field(default_factory=dict)  # how dear a change is, for this person
    held: frozenset[str] = frozenset()  # what the actions leave as it is


@dataclass(frozen=True, slots=True, eq=False)
class Desk:
    """All that it takes to answer requests about one table and one model."""

    schema: Schema
    options: Options
    form: Form
    space: Space
    source: Source
    density: Density
    score: Scorer
    floor: float
    plan: Plan
    driver: Driver
    answers: Answers
    witnesses: Witnesses | None = None  # people over time, who say how often such moves were made

    def request(self, record: Array, form: Form, where: Mapping[str, Any] | None = None, **options: Any) -> Request:
        """Write a request down."""
        self.schema.check_relations(record[None, :], "this person")
        self.space.check(record[None, :], "this person")
        return Request(record, form, self.schema.box(record, where), **options)

    def answered(self, requests: Iterable[Request], plan: Plan) -> Iterator[tuple[int, Recourse]]:
        """Answer requests in lock-step; each comes with its number, in the order they are done."""
        open_: dict[int, tuple[Request, Decode]] = {}
        run = self.driver.run(self._cases(requests, plan, open_), max_rows=self.options.max_rows)
        for number, outcome, disclosure in run:
            yield number, self._closed(*open_.pop(number), outcome, disclosure)

    def tried(self, requests: Iterable[Request], plan: Plan) -> Iterator[tuple[int, Recourse | InputError]]:
        """Answer requests in lock-step; whoever cannot be answered gets the error instead."""
        open_: dict[int, tuple[Request, Decode]] = {}
        run = self.driver.tried(self._cases(requests, plan, open_), max_rows=self.options.max_rows, apart=True)
        for number, outcome, disclosure in run:
            asked = open_.pop(number)
            if isinstance(outcome, InputError):
                yield number, outcome
            else:
                yield number, self._closed(*asked, outcome, disclosure)

    def _cases(
        self, requests: Iterable[Request], plan: Plan, open_: dict[int, tuple[Request, Decode]]
    ) -> Iterator[Case]:
        """The searches that belong to requests, which are noted as open."""
        for number, request in enumerate(requests):
            decode = self.decoder([request.record] if request.goal is None else [request.record, request.goal])
            open_[number] = (request, decode)
            goal = None if request.goal is None else self.space.points(request.goal[None, :])[0]
            bounds = self.space.bounds(request.box)
            person = self.person(request.record, bounds, weights=request.weights, held=request.held)
            yield Case(search(person, plan, goal=goal, relax=request.relax, wished=request.wished), decode)

    def surveyed(self, request: Request, states: Array) -> tuple[Outcome, Recourse]:
        """Tell what going straight through some states would be like, in points and in the user's units."""
        decode = self.decoder([request.record] if request.goal is None else [request.record, request.goal])
        case = Case(survey(self.person(request.record, self.space.bounds(request.box)), states), decode)
        ((_, outcome, disclosure),) = self.driver.run([case])
        return outcome, self._closed(request, decode, outcome, disclosure)

    def hopeful(self, requests: Sequence[Request]) -> list[bool]:
        """Tell for each request whether there is anyone to become; nobody is looked at."""
        people = [self.person(request.record, self.space.bounds(request.box)) for request in requests]
        cases = (Case(count(person), self.decoder([])) for person in people)
        found = {number: outcome.status == "FOUND" for number, outcome, _ in self.driver.run(cases)}
        return [found[number] for number in range(len(requests))]

    def openings(self, requests: Sequence[Request], plan: Plan) -> list[tuple[bool, Disclosure]]:
        """Tell for each request whether there is a way, and what it took to tell; the way itself is not worked out."""
        first, cases = replace(plan, first=True), []
        for request in requests:
            person = self.person(request.record, self.space.bounds(request.box))
            cases.append(Case(search(person, first), self.decoder([request.record])))
        run = self.driver.tried(cases, max_rows=self.options.max_rows, apart=True)  # a failure opens nothing
        found = {n: (not isinstance(one, InputError) and one.status == "FOUND", seen) for n, one, seen in run}
        return [found[number] for number in range(len(requests))]

    def widenings(self, requests: Sequence[Request]) -> list[float]:
        """For each request how many times as wide its distances would have to be; infinite where that does not help."""
        cases = []
        for request in requests:
            free = self.person(request.record, self.space.bounds(request.box.widened(np.inf)))
            reaches = np.full(len(self.schema), np.inf)
            for j, reach in request.box.reaches.items():
                reaches[j] = reach.by
            cases.append(Case(span(free, request.record, reaches), self.decoder([])))
        found = {number: outcome.cost for number, outcome, _ in self.driver.run(cases)}
        return [found[number] for number in range(len(requests))]

    def person(
        self, record: Array, bounds: Bounds, *, weights: Mapping[str, float] | None = None, held: Collection[str] = ()
    ) -> Person:
        """Someone as a search sees them."""
        options, names, column_of = self.options, self.schema.names, self.space.feature_of
        given = np.array([float((weights or {}).get(name, 1.0)) for name in names])
        dear = None if (given == 1).all() else given
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
            weights=None if dear is None else dear[column_of],
            held=np.array([name in held for name in names])[column_of] if held else None,
        )

    def decoder(self, exact: Sequence[Array]) -> Decode:
        """Turn points into records, taking over known values bit for bit wherever a point has them."""
        firsts = np.searchsorted(self.space.feature_of, np.arange(len(self.schema)))
        known = np.stack(exact) if len(exact) else np.zeros((0, len(self.schema)))
        there = self.space.points(known)

        def decode(points: Array, lent: Array) -> Array:
            if points.shape == there.shape and np.array_equal(points, there):
                return known
            records = self.space.records(points)
            both = np.concatenate([self.space.points(lent), there])
            for record, point in zip([*lent, *known], both, strict=True):
                same = np.logical_and.reduceat(points == point, firsts, axis=1)
                records = np.where(same, record, records)
            return records

        return decode

    def _closed(self, request: Request, decode: Decode, outcome: Outcome, disclosure: Disclosure) -> Recourse:
        """Put what was found into the user's units."""
        records, rows = self._records(outcome, decode)
        records[0] = request.record
        answer = self.answers.recourse(
            outcome,
            records,
            rows,
            form=request.form,
            box=request.box,
            disclosure=disclosure,
            goal=request.goal,
            acted=_states(outcome, decode, records),
        )
        return answer if self.witnesses is None else self.witnesses.attached(answer)

    def _records(self, outcome: Outcome, decode: Decode) -> tuple[Array, tuple[int | None, ...]]:
        """Bring a path back into the user's units; rows come back exactly as they are in the data."""
        known = np.array(outcome.ids) >= 0
        rows = np.array(outcome.ids, dtype=np.int64)[known]
        records = np.empty((len(known), len(self.schema)))
        records[known] = self.source.records(rows)
        records[~known] = decode(outcome.points[~known], np.zeros((0, len(self.schema))))
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
