"""The engine: takes requests in the user's units, has them searched, hands out answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from localface.answers.assemble import AnswerAssembler
from localface.answers.cautions import cautions_about_missing
from localface.answers.disclosure import Disclosure
from localface.answers.rarer_plans import mention_rarer_plan
from localface.answers.recourse import Recourse
from localface.data.box import Box
from localface.data.constraints import compile_comparable_box
from localface.data.likely_codes import refuse_likely_codes
from localface.data.own_bounds import check_own_bounds
from localface.data.schema import Schema
from localface.data.space import Space
from localface.data.stops import stops_of
from localface.data.table_format import TableFormat
from localface.density.knn import KNN
from localface.density.protocol import Density
from localface.engine.decoding import (
    action_records,
    make_decoder,
    path_records,
    waiting_record,
)
from localface.engine.driver import Driver
from localface.engine.floor import log_floor_from_options
from localface.engine.growth import grown_records
from localface.engine.job import Decode, Result, SearchJob
from localface.engine.outcomes import Outcomes
from localface.engine.requests import Request, SearchJobs
from localface.errors import InputError
from localface.geometry.bounds import Bounds
from localface.geometry.projection import Projection
from localface.models.scorer import Scorer
from localface.options import Options
from localface.search.outcome import Outcome
from localface.search.person import Person
from localface.search.pipeline import find_recourse
from localface.search.plan import Plan
from localface.search.questions import Questions
from localface.sources.holder import RowHolder
from localface.types import Array, Ids, Mask

Finish = Callable[[Recourse], Recourse]
"""Adds to an answer what the engine itself does not know."""
Wrap = Callable[[SearchJob[Outcome]], Questions[Outcome]]
"""Makes another search of one that is about to run: to watch it, or to go on where it ends."""
Retargeted = tuple[Scorer, Driver]
"""How a model is read for another target, and what has been scored for it."""
PlannedRequest = tuple["Engine", Request, Plan]


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """All that it takes to answer requests about one table and one model.

    ``log_floor`` is the log-density that no step may fall below; ``finish`` is called with
    every answer before it is handed out; ``spacing`` knows how far people are apart, where
    searches have momentum; ``people`` numbers the person of each row of the user's table, where
    that is known; ``seen`` are the points of the smallest and the largest numbers in the data;
    ``extra_columns`` are those of the user's table that are no features; ``target`` is what is to
    be reached, ``retargeted`` remembers other targets; the model can be fitted on ``outcomes``.
    """

    schema: Schema
    options: Options
    form: TableFormat
    space: Space
    source: RowHolder
    density: Density
    score: Scorer
    log_floor: float
    plan: Plan
    driver: Driver
    answers: AnswerAssembler
    seen: tuple[Array, Array] | None = None
    finish: Finish | None = None
    spacing: KNN | None = None
    people: Ids | None = None
    extra_columns: tuple[str, ...] = ()
    model: Any = None
    target: object = None
    retargeted: dict[object, Retargeted] = field(default_factory=dict)
    outcomes: Outcomes | None = None

    def with_thresholds(
        self, *, min_score: float | None = None, min_density: float | None = None
    ) -> Engine:
        """The same engine at another target score or floor; what was fitted or scored is shared."""
        options = replace(
            self.options,
            min_score=self.options.min_score if min_score is None else min_score,
            min_density=self.options.min_density if min_density is None else min_density,
        )
        if options == self.options:
            return self
        log_floor = log_floor_from_options(self.density, self.space, options)
        plan = self.plan
        if self.spacing is not None:
            radius = self.spacing.radius_at(self.spacing.scale.quantile(options.min_density))
            plan = replace(plan, walk_options=replace(plan.walk_options, momentum_radius=radius))
        answers = replace(
            self.answers,
            target=replace(self.answers.target, min_score=options.min_score),
            options=options,
            radius=self.density.radius_at(log_floor) if isinstance(self.density, KNN) else None,
        )
        return replace(
            self,
            options=options,
            log_floor=log_floor,
            plan=plan,
            answers=answers,
            score=self.score.with_min_score(options.min_score),
        )

    def make_request(
        self,
        record: Array,
        form: TableFormat,
        where: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Request:
        """Write a request down for a record; the options are the fields of ``Request``."""
        who = f"this {self.schema.each_row.one}"
        self.space.absence_columns.refuse_unknown(record, who)
        self.schema.check_relations(record[None, :], who)
        self.space.check_magnitudes(record[None, :], who)
        refuse_likely_codes(self.schema, record, self.answers.seen, who)
        check_own_bounds(self.schema, record, self.answers.seen)
        given = {"limits": where, **options}
        return Request(record, form, self.schema.box(record, where), **given)

    def answer(
        self, requests: Iterable[Request], plan: Plan, *, wrap: Wrap | None = None
    ) -> Iterator[tuple[int, Recourse]]:
        """Answer requests in lock-step; each comes with its number, in the order they are done.

        ``wrap`` may put another search in place of each, such as one that goes on afterwards.
        """
        jobs = SearchJobs(
            self._with_this_engine(requests, plan), lambda asked: _make_search_job(asked, wrap)
        )
        for number, outcome, disclosure in self.driver.run(jobs):
            (_, request, _), job = jobs.pop(number)
            yield number, self.assemble_recourse(request, job.decode, outcome, disclosure)

    def answer_or_error(
        self, requests: Iterable[Request], plan: Plan
    ) -> Iterator[tuple[int, Recourse | InputError]]:
        """Answer requests in lock-step; one that cannot be answered gets the error instead."""
        return self.answer_together(self._with_this_engine(requests, plan))

    def answer_together(
        self, asked: Iterable[PlannedRequest]
    ) -> Iterator[tuple[int, Recourse | InputError]]:
        """Answer requests in lock-step, each under its own target score, floor and plan.

        Their engines were made of this one by ``at``. Requests may run dry and have more
        later, which then join those that are under way.
        """
        jobs = SearchJobs(asked, _make_search_job)
        for number, outcome, disclosure in self.driver.run_or_error(jobs, apart=True):
            (engine, request, _), job = jobs.pop(number)
            if isinstance(outcome, InputError):
                yield number, outcome
            else:
                yield number, engine.assemble_recourse(request, job.decode, outcome, disclosure)

    def make_job(
        self, request: Request, asks: Questions[Result], decode: Decode
    ) -> SearchJob[Result]:
        """A search for the driver to run on behalf of a request."""
        return SearchJob(
            asks,
            decode,
            self.score.min_score,
            wanted=request.wanted,
            person=request.person,
            deadline=request.clock.start(),
            account=request.account,
            max_rows=self.options.max_rows,
            asker=self.space.points(request.record[None, :])[0],
        )

    def assemble_recourse(
        self, request: Request, decode: Decode, outcome: Outcome, disclosure: Disclosure
    ) -> Recourse:
        """Put what a search found into the user's units."""
        answer = self._assemble(request, decode, outcome, disclosure)
        missing = outcome.missing_actions
        if missing is not None and missing.rarer not in (None, outcome.actions):
            with_rarer = replace(outcome, actions=missing.rarer)
            rarer = self._assemble(request, decode, with_rarer, disclosure)
            answer = mention_rarer_plan(answer, rarer)
        return answer if self.finish is None else self.finish(answer)

    def _assemble(
        self, request: Request, decode: Decode, outcome: Outcome, disclosure: Disclosure
    ) -> Recourse:
        records, rows = path_records(self.source, outcome, decode)
        records[0] = request.record
        answer = self.answers.assemble_recourse(
            outcome,
            records,
            rows,
            form=request.form,
            box=request.box,
            disclosure=disclosure,
            goal=request.goal,
            action_records=action_records(self.source, outcome, decode),
            waiting_record=waiting_record(outcome, decode, request.record),
        )
        told = tuple(cautions_about_missing(self.schema, request.record, request.options_of))
        return replace(answer, cautions=(*told, *answer.cautions)) if told else answer

    def with_all_revealed(self, request: Request, answer: Recourse) -> Recourse:
        """Return an answer that tells all that was revealed for it, by whatever search."""
        disclosure = request.account.make_disclosure(self.source.n_rows)
        if disclosure == answer.disclosure:  # one search was all there was
            return answer
        return replace(answer, disclosure=disclosure)

    def make_person(
        self,
        record: Array,
        box: Box,
        *,
        weights: Mapping[str, float] | None = None,
        fixed: Collection[str] = (),
        bounds: Bounds | None = None,
        point: Array | None = None,
    ) -> Person:
        """Someone as a search sees them.

        ``bounds`` are those of the box, and ``point`` is the record's, where they are known.
        """
        options = self.options
        bounds = self.space.bounds(box) if bounds is None else bounds
        factual = self.space.points(record[None, :])[0] if point is None else point
        stops = stops_of(self.space, record, round_values=options.round_values)
        return Person(
            factual=factual,
            bounds=bounds,
            min_score=self.score.min_score,
            log_floor=self.log_floor,
            discrete=self.space.discrete,
            rule="mean" if options.edges == "average" else "lowest",
            max_step=np.inf if options.max_step is None else float(options.max_step),
            signed=self.score.output.may_be_negative,
            snap=self.space.snap,
            group_of=self.space.groups,
            part_of_the_way=self.space.goes_part_of_the_way,
            just_noticeable=self.space.just_noticeable(record, factual),
            seen=self.seen,
            keeps_relations=self._keeps_relations,
            stops_at_round_values=options.round_values,
            round_outwards=stops.round_outwards,
            round_closely=stops.round_closely,
            next_multiples=stops.next_multiples,
            projection=self._make_projection(record, box, bounds, factual),
            weights=self._weights_of_columns(weights) if weights else None,
            fixed=self.space.columns_of(fixed) if fixed else None,
            grown=self._grown_states(record, box),
        )

    def make_decoder(
        self, exact: Sequence[Array], within: Box | None = None, bounds: Bounds | None = None
    ) -> Decode:
        """Turn points into records, taking over known values bit for bit."""
        return make_decoder(self.space, exact, within, bounds)

    def goal_point(self, request: Request) -> Array | None:
        """Where a request wants to go, as a point."""
        return None if request.goal is None else self.space.points(request.goal[None, :])[0]

    def _with_this_engine(
        self, requests: Iterable[Request], plan: Plan
    ) -> Iterator[PlannedRequest]:
        return ((self, request, plan) for request in requests)

    def _weights_of_columns(self, weights: Mapping[str, float]) -> Array | None:
        """What a change of each column costs; None where all cost the same."""
        each = np.array([float(weights.get(name, 1.0)) for name in self.schema.names])
        return None if (each == 1).all() else each[self.space.feature_of]

    def _make_projection(
        self, record: Array, box: Box, bounds: Bounds, point: Array
    ) -> Projection | None:
        """What a person may take over from rows; None where paths lead through rows themselves."""
        if self.options.through == "rows" or self.options.as_published:
            return None
        kept = box.project_records(self.schema.features, record[None, :], record)[0]
        alike = compile_comparable_box(self.schema.features, record)
        whole = box.with_whole_limits(self.schema.features)
        return Projection(
            bounds if whole is box else self.space.bounds(whole),
            point if np.array_equal(kept, record) else self.space.points(kept[None, :])[0],
            self.space.groups,
            None if alike is None else self.space.bounds(alike),
            self.space.goes_part_of_the_way,
        )

    def _grown_states(self, record: Array, box: Box) -> Array | None:
        """The states that a person comes to by waiting; None where nothing grows by itself."""
        if not box.grows_to:
            return None
        highest = np.array([one.highest for one in self.answers.seen])
        records = grown_records(self.schema, record, box, highest)
        return self.space.points(records) if len(records) else None

    def _keeps_relations(self, points: Array) -> Mask:
        """Tell which states keep the relations that the schema declares between features."""
        if not (self.schema.relations or self.schema.rules):
            return np.ones(len(points), dtype=bool)
        return ~self.schema.breaks_relation(self.space.records(points))


def _make_search_job(asked: PlannedRequest, wrap: Wrap | None = None) -> SearchJob[Outcome]:
    """The search for recourse that a request asks for."""
    engine, request, plan = asked
    box = request.box
    bounds = engine.space.bounds(box)
    known = engine.space.points(np.stack(request.known_records))
    decode = make_decoder(engine.space, request.known_records, box, bounds, points=known)
    person = engine.make_person(
        request.record,
        box,
        weights=request.weights,
        fixed=request.fixed,
        bounds=bounds,
        point=known[0],
    )
    asks = find_recourse(
        person,
        plan,
        goal=None if request.goal is None else known[1],
        relax=request.relax,
        wished=request.wished,
    )
    job = engine.make_job(request, asks, decode)
    return job if wrap is None else replace(job, asks=wrap(job))
