"""LocalFACE: from a table and a model to a sound recourse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from localface._version import __version__
from localface.answers import Answers, Recourses
from localface.atlas import Person
from localface.density.fit import fit_kde, fit_knn
from localface.density.knn import KNN
from localface.density.protocol import Density
from localface.density.sampled import Sampled, log_density
from localface.driver import Case, Driver
from localface.errors import DataError, InputError
from localface.frames import Form, person_form, read_people, read_person, read_table
from localface.geometry import Array
from localface.options import Options
from localface.recourse import Recourse, Target
from localface.schema import Schema
from localface.scoring import Scorer, fed, read_model
from localface.search import Plan, search
from localface.sources.table import Table
from localface.space import Space
from localface.stages.enhance import Price

_KNN_DENSITY = 10  # the k of density="knn"


class LocalFACE:
    """Finds what would have to change, in which order and by how much, through states people are really in.

    Parameters
    ----------
    model
        A fitted estimator (``predict_proba``, ``decision_function`` or ``predict``), or a
        function from a table like ``data`` to scores. It is only ever called.
    data
        The people to learn from: a pandas or polars frame, a pyarrow table, a NumPy array.
    schema
        What the columns are and how far a person may move; guessed from ``data`` if not given.
    target
        The class to reach; for a regressor ``"at least"`` or ``"at most"``.
    min_score
        The score to reach.
    min_density
        How unusual a place on the way may be: 0.05 means no more unusual than where the
        loneliest 5 % of people stand.
    edges
        What makes a step traversable: ``"strict"`` (every place on it is common enough, proven),
        ``"average"`` (it is so on average) or ``"cover"`` (at least ``people`` people within
        ``radius`` of every place).
    n_neighbors
        How many people are looked at around each place.
    max_step
        The longest step, in ordinary differences between people; ``None`` for no limit.
    max_rows
        How many people one answer may reveal; ``None`` for no limit.
    momentum_steps
        How many steps the paper's momentum looks back; above 0 the path may leave the rows.
    strategy
        ``"guided"``, or ``"paper"`` for the published algorithms as printed.
    density
        ``"kde"``, ``"knn"``, a function from records to densities, or an estimator with ``score_samples``.
    cost
        ``"length"``, ``"density"`` (falls with density; the default of average edges) or ``"safest"``.
    slack
        Look no further once the path is proven to be within this share of the best over all the data.
    people, radius
        The cover rule: how many people, within how many ordinary differences (chosen from
        ``min_density`` if not given).

    Examples
    --------
    >>> from localface.cases.moons import two_moons
    >>> moons = two_moons(seed=0)
    >>> explainer = LocalFACE(moons.model, moons.data, n_neighbors=15)
    >>> explainer.explain(moons.person).found
    True
    """

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        schema: Schema | None = None,
        target: object = 1,
        min_score: float = 0.5,
        min_density: float = 0.05,
        edges: str = "strict",
        n_neighbors: int = 50,
        max_step: float | None = None,
        max_rows: int | None = None,
        momentum_steps: int = 0,
        strategy: str = "guided",
        density: Any = "kde",
        cost: str | None = None,
        slack: float = 0.05,
        people: int = 3,
        radius: float | None = None,
    ) -> None:
        self.options = Options(
            min_score=min_score,
            min_density=min_density,
            edges=edges,
            n_neighbors=n_neighbors,
            max_step=max_step,
            max_rows=max_rows,
            momentum_steps=momentum_steps,
            strategy=strategy,
            density=density,
            cost=cost,
            slack=slack,
            people=people,
            radius=radius,
        )
        self.schema = Schema.infer(data) if schema is None else schema
        records = read_table(data, self.schema)
        _check_size(len(records), n_neighbors)
        distinct, rows = np.unique(records + 0.0, axis=0, return_index=True)
        self._form = Form.of(data, self.schema)
        reading = read_model(model, target=target)
        self._score = Scorer(reading, fed(model, self._form, self.schema), min_score=min_score)
        self._space = Space.fit(self.schema, distinct)
        points = self._space.points(distinct)
        self._source = Table(points, distinct, rows.astype(np.int64), n_rows=len(records))
        self.density = self._fitted(density, points)
        self.floor = self._floor()
        self._plan = self._planned(points)
        self._driver = Driver(self._source, self.density, self._score, min_score=self._score.min_score)
        self._answers = Answers(
            schema=self.schema,
            target=Target(reading.label, min_score, at_most=reading.sign < 0, kind=reading.kind),
            options=self.options,
            scale=self.density.scale,
            scales=tuple(self._space.scales.tolist()),
            certified=self.density.certified and (edges != "average" or density == "kde"),
            radius=self.density.radius(self.floor) if isinstance(self.density, KNN) else None,
            feature_of=self._space.feature_of,
            shown=self._score.shown,
            version=__version__,
        )

    def __repr__(self) -> str:
        n, p = self._source.n_rows, len(self.schema)
        wanted = self._answers.target.sentence
        return f"<LocalFACE: {n:,} people, {p} features, target {wanted}, floor {self.options.min_density:.0%}>"

    def explain(
        self,
        person: Any,
        *,
        where: Mapping[str, Any] | None = None,
        counterfactual: Any = None,
        relax: bool = False,
    ) -> Recourse:
        """Find recourse for one person.

        Parameters
        ----------
        person
            A dict, a pandas Series, a 1-D array or a one-row frame.
        where
            What this person may change, on top of the schema: ``{"age": 5}`` (within 5),
            ``{"sex": "never"}``, ``{"fio2": (0.21, 0.4)}``, ``{"ward": ["a", "b"]}``.
        counterfactual
            Where to go, if that is known already; explore is skipped.
        relax
            Where the target cannot be reached, lower the floor by as little as possible, and say so.
        """
        record = read_person(person, self.schema)
        form = person_form(person, self._form)
        goal = None if counterfactual is None else read_person(counterfactual, self.schema)
        (answer,) = self._run([(record, form)], where=where, goal=goal, relax=relax)
        return answer[1]

    def explain_many(
        self,
        people: Any,
        *,
        where: Mapping[str, Any] | None = None,
        relax: bool = False,
        progress: bool = True,
    ) -> Recourses:
        """Find recourse for many people at once, in the order they came.

        The searches advance together: each round is one neighbour query, one model call
        and one density evaluation for all of them. Every answer is the one ``explain``
        would give.
        """
        records = read_people(people, self.schema)
        one = (record for record in records)
        answers: list[Recourse | None] = [None] * len(records)
        found = self._run(((record, self._form) for record in one), where=where, goal=None, relax=relax)
        for number, answer in _shown(found, len(records), progress=progress):
            answers[number] = answer
        return Recourses([answer for answer in answers if answer is not None])

    def prescore(self) -> LocalFACE:
        """Score the whole table once, where that is allowed, so that later answers need few model calls."""
        self._driver.prescore()
        return self

    def _run(
        self, people: Iterable[tuple[Array, Form]], *, where: Mapping[str, Any] | None, goal: Array | None, relax: bool
    ) -> Iterator[tuple[int, Recourse]]:
        asked: dict[int, tuple[Array, Form, Callable[[Array], Array], Any]] = {}

        def cases() -> Iterator[Case]:
            for number, (record, form) in enumerate(people):
                box = self.schema.box(record, where)
                decode = self._decoder([record] if goal is None else [record, goal])
                asked[number] = (record, form, decode, box)
                end = None if goal is None else self._space.points(goal[None, :])[0]
                asks = search(self._person(record, self._space.bounds(box)), self._plan, goal=end, relax=relax)
                yield Case(asks, decode)

        for number, outcome, disclosure in self._driver.run(cases(), max_rows=self.options.max_rows):
            record, form, decode, box = asked.pop(number)
            records, rows = self._records(outcome.points, outcome.ids, decode)
            records[0] = record
            answer = self._answers.recourse(
                outcome, records, rows, form=form, box=box, disclosure=disclosure, goal=goal
            )
            yield number, answer

    def _records(
        self, points: Array, ids: Sequence[int], decode: Callable[[Array], Array]
    ) -> tuple[Array, tuple[int | None, ...]]:
        """Bring a path back into the user's units; rows come back exactly as they are in the data."""
        records = decode(points)
        known = np.array([row >= 0 for row in ids])
        rows = np.array(ids, dtype=np.int64)[known]
        records[known] = self._source.records(rows)
        numbers = iter(self._source.row_numbers(rows).tolist())
        return records, tuple(next(numbers) if row >= 0 else None for row in ids)

    def _person(self, record: Array, bounds: Any) -> Person:
        options = self.options
        return Person(
            factual=self._space.points(record[None, :])[0],
            bounds=bounds,
            min_score=self._score.min_score,
            floor=self.floor,
            discrete=self._space.discrete,
            rule="mean" if options.edges == "average" else "lowest",
            max_step=np.inf if options.max_step is None else float(options.max_step),
            signed=self._score.reading.signed,
            settle=self._space.settle,
        )

    def _decoder(self, exact: list[Array]) -> Callable[[Array], Array]:
        """Turn points into records, taking over the person's own values bit for bit wherever a point has them."""
        anchors = [(self._space.points(record[None, :])[0], record) for record in exact]
        firsts = np.searchsorted(self._space.feature_of, np.arange(len(self.schema)))

        def decode(points: Array) -> Array:
            records = np.array(self._space.records(points))
            for point, record in anchors:
                same = np.logical_and.reduceat(points == point, firsts, axis=1)
                records = np.where(same, record, records)
            return records

        return decode

    def _fitted(self, density: Any, points: Array) -> Density:
        discrete = self._space.discrete
        if self.options.edges == "cover":
            return fit_knn(points, discrete, k=self.options.people)
        if density == "kde":
            return fit_kde(points, discrete)
        if density == "knn":
            return fit_knn(points, discrete, k=_KNN_DENSITY)
        if hasattr(density, "lowest") and hasattr(density, "scale"):
            fitted: Density = density
            return fitted
        if callable(density) or hasattr(density, "score_samples"):
            frame = self._form if not hasattr(density, "n_features_in_") else fed(density, self._form, self.schema)
            return Sampled(
                log_density(density, lambda places: frame.frame(self._space.records(places))), points, discrete
            )
        raise InputError(
            f"density={density!r}: 'kde', 'knn', a function from records to densities, or an estimator with "
            "score_samples is wanted"
        )

    def _floor(self) -> float:
        if self.options.edges == "cover" and self.options.radius is not None:
            return -self._space.width * float(np.log(self.options.radius))
        return self.density.scale.quantile(self.options.min_density)

    def _planned(self, points: Array) -> Plan:
        options, price = self.options, Price()
        if options.price == "density":
            price = Price(usual=self.density.scale.quantile(0.5), exponent=1 / self._space.width)
        reach = np.inf
        if options.momentum_steps:
            spacing = fit_knn(points, self._space.discrete, k=1)
            reach = spacing.radius(spacing.scale.quantile(options.min_density))
        return Plan(
            n_neighbors=options.n_neighbors,
            momentum_steps=options.momentum_steps,
            reach=reach,
            slack=options.slack,
            cost=options.price,
            price=price,
            strategy=options.strategy,
        )


def _check_size(n: int, n_neighbors: int) -> None:
    if n < 2:
        raise DataError(f"the data has {n} row(s); at least 2 people are needed to say what is common")
    if n_neighbors > n:
        raise DataError(f"n_neighbors={n_neighbors}, but the data has only {n} rows: pass n_neighbors={n} or fewer")


def _shown(found: Iterator[tuple[int, Recourse]], total: int, *, progress: bool) -> Iterator[tuple[int, Recourse]]:
    """Pass answers on, with a bar that counts people done and found."""
    if not progress:
        yield from found
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, unit=" people", disable=None) as bar:
        reached = 0
        for number, answer in found:
            reached += answer.found
            bar.set_postfix(found=reached, refresh=False)
            bar.update()
            yield number, answer
