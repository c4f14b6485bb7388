"""Fitting: from a table, a model and options to a desk that answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localface._version import __version__
from localface.answers.assemble import AnswerAssembler
from localface.answers.target import Target
from localface.data.read import TableFormat, read_table
from localface.data.schema import Schema
from localface.data.space import Space
from localface.density.fit import fit_kde, fit_knn, usual_near_radius
from localface.density.knn import KNN
from localface.density.protocol import Density
from localface.density.sampled import SampledDensity, checked_log_density
from localface.engine.driver import Driver
from localface.engine.engine import Engine, floor_of
from localface.errors import DataError, InputError, SchemaError
from localface.geometry.point_set import PointSet
from localface.models.scorer import Scorer, fed, read_model, read_trees
from localface.options import Options
from localface.search.plan import Plan, Price, WalkOptions
from localface.sources.cells import Cells
from localface.sources.partition import SAMPLE, hashed, sampled
from localface.sources.store import Store
from localface.sources.table import TableSource
from localface.types import Array

SCANNED = 200_000  # rows up to which a scan of all of them is quicker than an index
_COMPARED = 64  # rows on which a forest's own call is compared with what its trees say
_KNN_DENSITY = 10  # the k of density="knn"


@dataclass(frozen=True, slots=True, eq=False)
class LoadedTable:
    """The people of a table: where they are asked for, and those from whom it is learnt what is common."""

    schema: Schema
    form: TableFormat
    space: Space
    source: TableSource | Cells
    learnt: Array  # records
    crowd: PointSet  # the same, as points

    @property
    def share(self) -> float | None:
        """How many people each of those stands for; None where they are the rows of the source, by the same ids."""
        return (
            None
            if isinstance(self.source, TableSource)
            else self.source.n_distinct / len(self.crowd)
        )


def fit_engine(
    model: Any, data: Any, *, schema: Schema | None, target: object, options: Options
) -> Engine:
    """Open the table, learn what is common in it, and open a desk."""
    held = (
        _stored(data, schema, options)
        if isinstance(data, Store)
        else _in_memory(data, schema, options)
    )
    schema, space, source = held.schema, held.space, held.source
    form = fed(model, held.form, schema)
    score = _scorer(model, target, form, held.learnt, min_score=options.min_score)
    density = _density(held.crowd, space, held.form, options)
    floor, spacing = floor_of(density, space, options), _spacing(held.crowd, space, options)
    return Engine(
        schema=schema,
        options=options,
        form=held.form,
        space=space,
        source=source,
        density=density,
        score=score,
        floor=floor,
        plan=_plan(space, density, options, spacing=spacing, proves=source.exact),
        driver=Driver(source, density, score, share=held.share),
        answers=_answers(held, density, score, options=options, floor=floor),
        spacing=spacing,
    )


def _in_memory(data: Any, schema: Schema | None, options: Options) -> LoadedTable:
    """Take a table that fits into memory.

    The same row twice is one person: rows are kept distinct and in canonical order, so
    that neither their order nor an accidental copy can change an answer. Many rows are
    searched in cells, and it is learnt from some of them what is common.
    """
    schema = Schema.infer(data) if schema is None else _checked(schema)
    records = read_table(data, schema)
    schema.check_relations(records, "the data")
    form = TableFormat.of(data, schema)
    if len(records) > SCANNED:
        learnt = np.unique(records[sampled(hashed(records), SAMPLE)] + 0.0, axis=0)
        space = Space.fit(schema, learnt)
        space.check(records, "the data")
        rows = np.arange(len(records))
        source = Cells.of(
            space.points(records), records, rows, points_of=space.points, n_rows=len(records)
        )
        _check_size(len(records), source.n_distinct, options)
        return LoadedTable(schema, form, space, source, learnt, PointSet(space.points(learnt)))
    distinct, first = np.unique(records + 0.0, axis=0, return_index=True)
    _check_size(len(records), len(distinct), options)
    space = Space.fit(schema, distinct)
    space.check(distinct, "the data")
    crowd = PointSet(space.points(distinct))
    table = TableSource(crowd, distinct, first.astype(np.int64), n_rows=len(records))
    return LoadedTable(schema, form, space, table, distinct, crowd)


def _stored(store: Store, schema: Schema | None, options: Options) -> LoadedTable:
    """Take a table that was written into a folder: its rows stay there."""
    schema = store.schema if schema is None else _checked(schema)
    space = Space.fit(schema, store.sample)
    source = store.source(space.points)
    _check_size(store.n_rows, store.n_distinct, options)
    learnt = np.unique(store.sample + 0.0, axis=0)
    return LoadedTable(
        schema, TableFormat.plain(schema), space, source, learnt, PointSet(space.points(learnt))
    )


def _scorer(
    model: Any, target: object, form: TableFormat, records: Array, *, min_score: float
) -> Scorer:
    """Read the model; a forest's trees directly, where that gives the same."""
    reading = read_model(model, target=target)
    return Scorer(
        reading,
        form,
        min_score=min_score,
        trees=read_trees(model, reading, form, records[:_COMPARED]),
    )


def _answers(
    held: LoadedTable, density: Density, score: Scorer, *, options: Options, floor: float
) -> AnswerAssembler:
    """What all answers have in common."""
    reading, space = score.reading, held.space
    return AnswerAssembler(
        schema=held.schema,
        target=Target(
            reading.label, options.min_score, at_most=reading.sign < 0, kind=reading.kind
        ),
        options=options,
        scale=density.scale,
        scales=tuple(space.scales.tolist()),
        certified=density.certified and (options.edges != "average" or options.density == "kde"),
        radius=density.radius(floor) if isinstance(density, KNN) else None,
        feature_of=space.feature_of,
        display_score=score.shown,
        version=__version__,
        recall=held.source.recall,
    )


def _density(crowd: PointSet, space: Space, form: TableFormat, options: Options) -> Density:
    """Fit the density that was asked for; the cover rule has one of its own."""
    density, discrete = options.density, space.discrete
    if options.edges == "cover":
        return fit_knn(crowd, discrete, k=options.min_people)
    if density == "kde":
        return fit_kde(crowd, discrete)
    if density == "knn":
        return fit_knn(crowd, discrete, k=_KNN_DENSITY)
    if hasattr(density, "lowest_along") and hasattr(density, "scale"):
        fitted: Density = density
        return fitted
    if callable(density) or hasattr(density, "score_samples"):
        taken = form if not hasattr(density, "n_features_in_") else fed(density, form, space.schema)
        log_density = checked_log_density(
            density, lambda places: taken.frame(space.records(places))
        )
        return SampledDensity(log_density, crowd, discrete, near_radius=usual_near_radius(crowd))
    raise InputError(
        f"density={density!r}: 'kde', 'knn', a function from records to densities, or an estimator with "
        "score_samples is wanted"
    )


def _spacing(crowd: PointSet, space: Space, options: Options) -> KNN | None:
    """How far people stand apart, where momentum needs to know how far off the rows it may lead."""
    return fit_knn(crowd, space.discrete, k=1) if options.momentum_steps else None


def _plan(
    space: Space, density: Density, options: Options, *, spacing: KNN | None, proves: bool
) -> Plan:
    """How searches go about it."""
    price = Price()
    if options.path_cost == "density":
        price = Price(usual_log_density=density.scale.quantile(0.5), exponent=1 / space.width)
    reach = (
        np.inf if spacing is None else spacing.radius(spacing.scale.quantile(options.min_density))
    )
    return Plan(
        WalkOptions(options.n_neighbors, options.momentum_steps, reach),
        slack=options.slack,
        cost=options.path_cost,
        price=price,
        strategy=options.strategy,
        composed_ends=options.ends == "states" and options.strategy == "guided",
        exact_source=proves,
    )


def _checked(schema: object) -> Schema:
    if isinstance(schema, Schema):
        return schema
    raise SchemaError(
        f"schema= is a {type(schema).__name__}: give Schema([Feature(...), ...]), Schema.load(path), "
        "or None to have it guessed"
    )


def _check_size(n: int, n_distinct: int, options: Options) -> None:
    if n_distinct < 2:
        came = f"{n} rows, all of them the same" if n > 1 else f"{n} row"
        raise DataError(
            f"the data has {came}: at least 2 different people are needed to say what is common"
        )
    if options.n_neighbors > n:
        raise DataError(
            f"n_neighbors={options.n_neighbors}, but the data has only {n} rows: pass n_neighbors={n} or fewer"
        )
    if options.edges == "cover" and options.min_people >= n_distinct:
        raise DataError(
            f"min_people={options.min_people}, but everyone has only {n_distinct - 1} others around them "
            f"(the same row twice is one): pass min_people={n_distinct - 1} or fewer"
        )
