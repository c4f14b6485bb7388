"""What every method is given: the same people, model, constraints, target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from localface.data.box import Box
from localface.data.one_person import open_person
from localface.data.read import read_people, read_record, read_records
from localface.data.schema import Schema
from localface.data.space import Space
from localface.data.table_format import TableFormat, person_format
from localface.errors import DataError
from localface.evaluation.baselines.proposal import Proposal
from localface.geometry.bounds import Bounds
from localface.models.model_table import model_table_format
from localface.models.output import read_output
from localface.models.scorer import Scorer
from localface.types import Array, Ids, Mask


class Method(Protocol):
    """Anything that proposes a recourse for one person."""

    def explain(self, person: Any, *, where: Mapping[str, Any] | None = None) -> Proposal:
        """Propose a recourse, or say why there is none."""
        ...


@dataclass(slots=True)
class CallCounter:
    """How often the model was called and on how many records: the one memory of a task."""

    calls: int = 0
    records: int = 0

    def count(self, n: int) -> None:
        """Count one call on ``n`` records."""
        self.calls += 1
        self.records += n


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """One person as a method sees them: the record, how far it may move, and both as points."""

    record: Array
    point: Array
    form: TableFormat
    box: Box
    bounds: Bounds


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A table of people, a model, a schema with its constraints, and the score to reach.

    Records are in the user's units, points in standard deviations wherever the rows are: the
    space that LocalFACE searches, so that distances mean the same to every method. Rows are
    distinct and in canonical order, and ``rows`` says where each stands in the table.

    Example
    -------
    >>> from localface.cases.moons import two_moons
    >>> moons = two_moons(200)
    >>> task = Task.of(moons.model, moons.data)
    >>> len(task.records), bool(task.reaches_target.any())
    (200, True)
    """

    model: Any
    data: Any
    schema: Schema
    target: object
    form: TableFormat
    space: Space
    records: Array
    rows: Ids
    points: Array
    scorer: Scorer
    scores: Array
    calls: CallCounter = field(default_factory=CallCounter)

    @classmethod
    def of(
        cls,
        model: Any,
        data: Any,
        *,
        schema: Schema | None = None,
        target: object = 1,
        min_score: float = 0.5,
    ) -> Task:
        """Read a table and a model, and score every row once."""
        from localface.models.readers.verify import verified_reader_or_none

        schema = Schema.infer(data) if schema is None else schema
        records = read_records(data, schema)
        if not len(records):
            raise DataError("the data has no rows: at least one person is needed to compare with")
        distinct, first = np.unique(records + 0.0, axis=0, return_index=True)
        form = TableFormat.of(data, schema)
        space = Space.fit(schema, distinct)
        output = read_output(model, target=target)
        model_form = model_table_format(model, form, schema)
        reader = verified_reader_or_none(model, output, model_form, distinct)
        scorer = Scorer(output, model_form, min_score=min_score, reader=reader)
        return cls(
            model=model,
            data=data,
            schema=schema,
            target=target,
            form=form,
            space=space,
            records=distinct,
            rows=first.astype(np.int64),
            points=space.points(distinct),
            scorer=scorer,
            scores=scorer(distinct),
        )

    @property
    def min_score(self) -> float:
        """The score to reach, as ``score`` gives scores: higher is nearer to the target."""
        return self.scorer.min_score

    @property
    def reaches_target(self) -> Mask:
        """Which rows reach the target."""
        return np.asarray(self.scores >= self.min_score)

    def score(self, records: Array) -> Array:
        """Score records, counted; higher is nearer to the target."""
        self.calls.count(len(records))
        return self.scorer(records)

    def read_query(self, person: Any, where: Mapping[str, Any] | None = None) -> Query:
        """Read one person and what they may change."""
        opened = open_person(person)
        record = read_record(opened, self.schema)
        return self._build_query(record, person_format(opened, self.form), where)

    def read_queries(self, people: Any, where: Mapping[str, Any] | None = None) -> Iterator[Query]:
        """Read many people, a table or a list, one after the other."""
        for record in read_people(people, self.schema):
            yield self._build_query(record, self.form, where)

    def keeps_relations(self, records: Array) -> Mask:
        """Which records keep the relations that the schema declares between features."""
        return ~self.schema.breaks_relation(records)

    def project(self, records: Array, query: Query) -> Array:
        """The nearest records that a person may become, feature by feature.

        A category that is not allowed, or a value that does not exist, gives way to the
        person's own. Broken relations are not mended.
        """
        existing = np.where(self._which_values_exist(records), records, query.record)
        return query.box.project_records(self.schema.features, existing, query.record)

    def _which_values_exist(self, records: Array) -> Mask:
        """Which values a record can have at all: categories that there are, and any number."""
        counts = np.array(
            [
                len(feature.categories or ()) if feature.discrete else np.inf
                for feature in self.schema
            ]
        )
        codes = np.rint(records)
        return np.asarray(~np.isfinite(counts) | ((codes >= 0) & (codes < counts)))

    def propose(
        self,
        query: Query,
        states: Sequence[Array],
        *,
        rows: Sequence[int | None] = (),
        cost: float | None = None,
    ) -> Proposal:
        """A proposal that leads from the person through some states."""
        path = np.stack([query.record, *states])
        numbers = (None, *(rows or (None,) * len(states)))
        return Proposal(
            found=True, states=path, form=query.form, schema=self.schema, rows=numbers, cost=cost
        )

    def propose_nothing(self, query: Query, reason: str) -> Proposal:
        """No proposal, and why."""
        return Proposal(
            found=False,
            states=query.record[None, :],
            form=query.form,
            schema=self.schema,
            reason=reason,
        )

    def _build_query(
        self, record: Array, form: TableFormat, where: Mapping[str, Any] | None
    ) -> Query:
        box = self.schema.box(record, where)
        point = self.space.points(record[None, :])[0]
        return Query(record, point, form, box, self.space.bounds(box))
