"""The desk: takes requests in the user's units, has them searched, hands out answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from localface.analyses.observed_moves import MoveCounter
from localface.answers.assemble import AnswerAssembler
from localface.answers.disclosure import Disclosure
from localface.answers.recourse import Recourse
from localface.data.box import Box
from localface.data.read import TableFormat
from localface.data.schema import Schema
from localface.data.space import Space
from localface.density.knn import KNN
from localface.density.protocol import Density
from localface.engine.driver import Decode, Driver, SearchJob
from localface.errors import InputError
from localface.models.scorer import Scorer
from localface.options import Options
from localface.search.outcome import Outcome
from localface.search.person import Person
from localface.search.pipeline import (
    count_targets,
    find_recourse,
    least_widening,
    measure_path,
)
from localface.search.plan import Plan
from localface.search.questions import Asks
from localface.sources.holder import RowHolder
from localface.types import Array, Mask

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What one person asks: who they are, what they may change, and where to, if they know."""

    record: Array
    form: TableFormat
    box: Box
    goal: Array | None = None
    relax: bool = False
    wished: bool = False  # the goal counts whatever its score
    weights: Mapping[str, float] = field(
        default_factory=dict
    )  # how dear a change is, for this person
    fixed: frozenset[str] = frozenset()  # what the actions leave as it is
    wanted: Callable[[], bool] | None = None  # whether someone still waits for the answer


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """All that it takes to answer requests about one table and one model."""

    schema: Schema
    options: Options
    form: TableFormat
    space: Space
    source: RowHolder
    density: Density
    score: Scorer
    floor: float
    plan: Plan
    driver: Driver
    answers: AnswerAssembler
    move_counter: MoveCounter | None = (
        None  # people over time, who say how often such moves were made
    )
    spacing: KNN | None = None  # how far people stand apart, where searches have momentum

    def at(self, *, min_score: float | None = None, min_density: float | None = None) -> Engine:
        """The same desk for another target score or floor: what was learnt and what was scored are shared."""
        options = replace(
            self.options,
            min_score=self.options.min_score if min_score is None else min_score,
            min_density=self.options.min_density if min_density is None else min_density,
        )
        if options == self.options:
            return self
        floor, plan = floor_of(self.density, self.space, options), self.plan
        if self.spacing is not None:
            reach = self.spacing.radius(self.spacing.scale.quantile(options.min_density))
            plan = replace(plan, walk_options=replace(plan.walk_options, reach=reach))
        answers = replace(
            self.answers,
            target=replace(self.answers.target, min_score=options.min_score),
            options=options,
            radius=self.density.radius(floor) if isinstance(self.density, KNN) else None,
        )
        score = self.score.at(options.min_score)
        return replace(self, options=options, floor=floor, plan=plan, answers=answers, score=score)

    def request(
        self,
        record: Array,
        form: TableFormat,
        where: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Request:
        """Write a request down."""
        self.schema.check_relations(record[None, :], "this person")
        self.space.check(record[None, :], "this person")
        return Request(record, form, self.schema.box(record, where), **options)

    def answered(self, requests: Iterable[Request], plan: Plan) -> Iterator[tuple[int, Recourse]]:
        """Answer requests in lock-step; each comes with its number, in the order they are done."""
        open_: dict[int, tuple[Engine, Request, Decode]] = {}
        jobs = SearchJobs(((self, request, plan) for request in requests), open_)
        for number, outcome, disclosure in self.driver.run(jobs, max_rows=self.options.max_rows):
            yield number, _closed(*open_.pop(number), outcome, disclosure)

    def tried(
        self, requests: Iterable[Request], plan: Plan
    ) -> Iterator[tuple[int, Recourse | InputError]]:
        """Answer requests in lock-step; whoever cannot be answered gets the error instead."""
        return self.tried_together((self, request, plan) for request in requests)

    def tried_together(
        self, asked: Iterable[tuple[Engine, Request, Plan]]
    ) -> Iterator[tuple[int, Recourse | InputError]]:
        """Answer requests in lock-step that were made at this desk under different target scores, floors and plans.

        Requests may run dry and have more later, which then join those that are under way.
        """
        open_: dict[int, tuple[Engine, Request, Decode]] = {}
        run = self.driver.tried(
            SearchJobs(asked, open_), max_rows=self.options.max_rows, apart=True
        )
        for number, outcome, disclosure in run:
            one = open_.pop(number)
            yield (
                number,
                outcome if isinstance(outcome, InputError) else _closed(*one, outcome, disclosure),
            )

    def job(self, request: Request, asks: Asks[T], decode: Decode) -> SearchJob[T]:
        """A search for the driver to run on behalf of a request."""
        return SearchJob(asks, decode, self.score.min_score, request.wanted)

    def surveyed(self, request: Request, states: Array) -> tuple[Outcome, Recourse]:
        """Tell what going straight through some states would be like, in points and in the user's units."""
        decode = self.decoder(
            [request.record] if request.goal is None else [request.record, request.goal]
        )
        asks = measure_path(self.person(request.record, request.box), states)
        ((_, outcome, disclosure),) = self.driver.run([self.job(request, asks, decode)])
        return outcome, _closed(self, request, decode, outcome, disclosure)

    def hopeful(self, requests: Sequence[Request]) -> list[bool]:
        """Tell for each request whether there is anyone to become; nobody is looked at."""
        jobs = []
        for request in requests:
            person = self.person(request.record, request.box)
            jobs.append(self.job(request, count_targets(person), self.decoder([])))
        found = {number: counts.targets > 0 for number, counts, _ in self.driver.run(jobs)}
        return [found[number] for number in range(len(requests))]

    def openings(self, requests: Sequence[Request], plan: Plan) -> list[tuple[bool, Disclosure]]:
        """Tell for each request whether there is a way, and what it took to tell; the way itself is not worked out."""
        first, jobs = replace(plan, existence_only=True), []
        for request in requests:
            person = self.person(request.record, request.box)
            jobs.append(
                self.job(request, find_recourse(person, first), self.decoder([request.record]))
            )
        run = self.driver.tried(
            jobs, max_rows=self.options.max_rows, apart=True
        )  # a failure opens nothing
        found = {
            n: (not isinstance(one, InputError) and one.status == "FOUND", seen)
            for n, one, seen in run
        }
        return [found[number] for number in range(len(requests))]

    def widenings(self, requests: Sequence[Request]) -> list[float]:
        """For each request how many times as wide its distances would have to be; infinite where that does not help."""
        jobs = []
        for request in requests:
            free = self.person(request.record, request.box.widened(np.inf))
            reaches = np.full(len(self.schema), np.inf)
            for j, reach in request.box.reaches.items():
                reaches[j] = reach.by
            jobs.append(
                self.job(request, least_widening(free, request.record, reaches), self.decoder([]))
            )
        found = {number: factor for number, factor, _ in self.driver.run(jobs)}
        return [found[number] for number in range(len(requests))]

    def person(
        self,
        record: Array,
        box: Box,
        *,
        weights: Mapping[str, float] | None = None,
        fixed: Collection[str] = (),
    ) -> Person:
        """Someone as a search sees them."""
        options, names, column_of = self.options, self.schema.names, self.space.feature_of
        given = np.array([float((weights or {}).get(name, 1.0)) for name in names])
        dear = None if (given == 1).all() else given
        keeps, factual = (
            np.array([name in fixed for name in names]),
            self.space.points(record[None, :])[0],
        )
        fixed_columns = np.isin(
            self.space.groups, self.space.groups[keeps[column_of]]
        )  # what is linked stays together

        def project(records: Array) -> Array:
            near = self.space.points(box.nearest(self.schema.features, records, record))
            return np.where(fixed_columns, factual, near)

        return Person(
            factual=factual,
            bounds=self.space.bounds(box),
            min_score=self.score.min_score,
            log_floor=self.floor,
            discrete=self.space.discrete,
            rule="mean" if options.edges == "average" else "lowest",
            max_step=np.inf if options.max_step is None else float(options.max_step),
            signed=self.score.reading.signed,
            snap=self.space.settle,
            group_of=self.space.groups,
            resolution=self.space.grain,
            keeps_relations=self._lawful,
            project=project,
            weights=None if dear is None else dear[column_of],
            fixed=keeps[column_of] if fixed else None,
        )

    def decoder(self, exact: Sequence[Array], within: Box | None = None) -> Decode:
        """Turn points into records, taking over known values bit for bit wherever a point has them.

        ``within`` says whose limits rounding must not overstep.
        """
        firsts = np.searchsorted(self.space.feature_of, np.arange(len(self.schema)))
        known = np.stack(exact) if len(exact) else np.zeros((0, len(self.schema)))
        there = self.space.points(known)

        def decode(points: Array, donors: Array) -> Array:
            if points.shape == there.shape and np.array_equal(points, there):
                return known
            records = self.space.records(points)
            if within is not None:
                records = self._within(within, points, records)
            both = np.concatenate([self.space.points(donors), there])
            for record, point in zip([*donors, *known], both, strict=True):
                same = np.logical_and.reduceat(points == point, firsts, axis=1)
                records = np.where(same, record, records)
            return records

        return decode

    def records(self, outcome: Outcome, decode: Decode) -> tuple[Array, tuple[int | None, ...]]:
        """Bring a path back into the user's units; rows come back exactly as they are in the data."""
        known = np.array(outcome.ids) >= 0
        rows = np.array(outcome.ids, dtype=np.int64)[known]
        records = np.empty((len(known), len(self.schema)))
        records[known] = self.source.records(rows)
        records[~known] = decode(outcome.points[~known], np.zeros((0, len(self.schema))))
        numbers = iter(self.source.row_numbers(rows).tolist())
        return records, tuple(next(numbers) if row >= 0 else None for row in outcome.ids)

    def _within(self, box: Box, points: Array, records: Array) -> Array:
        """Records that stay inside a box wherever their points lie on its edge."""
        bounds, firsts = (
            self.space.bounds(box),
            np.searchsorted(self.space.feature_of, np.arange(len(self.schema))),
        )
        places, low, high = points[:, firsts], bounds.lower[firsts], bounds.upper[firsts]
        records = np.where(places == low, np.maximum(records, box.lower), records)
        return np.where(places == high, np.minimum(records, box.upper), records)

    def _lawful(self, points: Array) -> Mask:
        """Tell which states keep the relations that the schema declares between features."""
        if not self.schema.relations:
            return np.ones(len(points), dtype=bool)
        return ~self.schema.broken(self.space.records(points))


def _states(outcome: Outcome, decode: Decode, records: Array) -> Array | None:
    """The states that the actions lead through, in the user's units, the person's own first."""
    if outcome.actions is None:
        return None
    return decode(
        np.stack([outcome.points[0], *(move.point for move in outcome.actions.moves)]), records
    )


class SearchJobs(Iterator[SearchJob[Outcome]]):
    """The searches that belong to requests, which are noted as open; no generator, so that it may run dry and go on."""

    def __init__(
        self,
        asked: Iterable[tuple[Engine, Request, Plan]],
        open_: dict[int, tuple[Engine, Request, Decode]],
    ) -> None:
        self._asked, self._open, self._number = iter(asked), open_, 0

    def __next__(self) -> SearchJob[Outcome]:
        engine, request, plan = next(self._asked)
        exact = [request.record] if request.goal is None else [request.record, request.goal]
        decode = engine.decoder(exact, request.box if plan.composed_ends else None)
        self._open[self._number] = (engine, request, decode)
        self._number += 1
        goal = None if request.goal is None else engine.space.points(request.goal[None, :])[0]
        person = engine.person(
            request.record, request.box, weights=request.weights, fixed=request.fixed
        )
        asks = find_recourse(person, plan, goal=goal, relax=request.relax, wished=request.wished)
        return engine.job(request, asks, decode)


def _closed(
    engine: Engine, request: Request, decode: Decode, outcome: Outcome, disclosure: Disclosure
) -> Recourse:
    """Put what was found into the user's units."""
    records, rows = engine.records(outcome, decode)
    records[0] = request.record
    answer = engine.answers.assemble(
        outcome,
        records,
        rows,
        form=request.form,
        box=request.box,
        disclosure=disclosure,
        goal=request.goal,
        action_records=_states(outcome, decode, records),
    )
    return answer if engine.move_counter is None else engine.move_counter.attached(answer)


def floor_of(density: Density, space: Space, options: Options) -> float:
    """The log-density that no step may fall below."""
    if options.edges == "cover" and options.radius is not None:
        return -space.width * float(np.log(options.radius))
    return density.scale.quantile(options.min_density)
