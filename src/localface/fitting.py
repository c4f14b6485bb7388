"""Fitting: from a table, a model and options to a desk that answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from localface._version import __version__
from localface.answers import Answers
from localface.crowd import Crowd
from localface.density.fit import fit_kde, fit_knn, ordinary_reach
from localface.density.knn import KNN
from localface.density.protocol import Density
from localface.density.sampled import Sampled, log_density
from localface.desk import Desk
from localface.driver import Driver
from localface.errors import DataError, InputError, SchemaError
from localface.frames import Form, read_table
from localface.geometry import Array
from localface.options import Options
from localface.outcomes import Plan
from localface.parts import Target
from localface.schema import Schema
from localface.scoring import Scorer, fed, read_model, read_trees
from localface.sources.table import Table
from localface.space import Space
from localface.stages.enhance import Price
from localface.stages.explore import Gait

_COMPARED = 64  # rows on which a forest's own call is compared with what its trees say
_KNN_DENSITY = 10  # the k of density="knn"


def fitted_desk(model: Any, data: Any, *, schema: Schema | None, target: object, options: Options) -> Desk:
    """Read the table, learn what is common in it, and open a desk.

    The same row twice is one person: rows are kept distinct and in canonical order, so
    that neither their order nor an accidental copy can change an answer.
    """
    schema = Schema.infer(data) if schema is None else _checked(schema)
    records = read_table(data, schema)
    schema.check_relations(records, "the data")
    distinct, rows = np.unique(records + 0.0, axis=0, return_index=True)
    _check_size(len(records), len(distinct), options)
    form = Form.of(data, schema)
    score = _scorer(model, target, fed(model, form, schema), distinct, min_score=options.min_score)
    space = Space.fit(schema, distinct)
    space.check(distinct, "the data")
    crowd = Crowd(space.points(distinct))
    source = Table(crowd, distinct, rows.astype(np.int64), n_rows=len(records))
    density = _density(crowd, space, form, options)
    floor = _floor(density, space, options)
    return Desk(
        schema=schema,
        options=options,
        form=form,
        space=space,
        source=source,
        density=density,
        score=score,
        floor=floor,
        plan=_plan(crowd, space, density, options),
        driver=Driver(source, density, score, min_score=score.min_score),
        answers=_answers(schema, space, density, score, options=options, floor=floor),
    )


def _scorer(model: Any, target: object, form: Form, records: Array, *, min_score: float) -> Scorer:
    """Read the model; a forest's trees directly, where that gives the same."""
    reading = read_model(model, target=target)
    return Scorer(reading, form, min_score=min_score, trees=read_trees(model, reading, form, records[:_COMPARED]))


def _answers(
    schema: Schema, space: Space, density: Density, score: Scorer, *, options: Options, floor: float
) -> Answers:
    """What all answers have in common."""
    reading = score.reading
    return Answers(
        schema=schema,
        target=Target(reading.label, options.min_score, at_most=reading.sign < 0, kind=reading.kind),
        options=options,
        scale=density.scale,
        scales=tuple(space.scales.tolist()),
        certified=density.certified and (options.edges != "average" or options.density == "kde"),
        radius=density.radius(floor) if isinstance(density, KNN) else None,
        feature_of=space.feature_of,
        shown=score.shown,
        version=__version__,
    )


def _density(crowd: Crowd, space: Space, form: Form, options: Options) -> Density:
    """Fit the density that was asked for; the cover rule has one of its own."""
    density, discrete = options.density, space.discrete
    if options.edges == "cover":
        return fit_knn(crowd, discrete, k=options.people)
    if density == "kde":
        return fit_kde(crowd, discrete)
    if density == "knn":
        return fit_knn(crowd, discrete, k=_KNN_DENSITY)
    if hasattr(density, "lowest") and hasattr(density, "scale"):
        fitted: Density = density
        return fitted
    if callable(density) or hasattr(density, "score_samples"):
        taken = form if not hasattr(density, "n_features_in_") else fed(density, form, space.schema)
        evaluate = log_density(density, lambda places: taken.frame(space.records(places)))
        return Sampled(evaluate, crowd, discrete, reach=ordinary_reach(crowd))
    raise InputError(
        f"density={density!r}: 'kde', 'knn', a function from records to densities, or an estimator with "
        "score_samples is wanted"
    )


def _floor(density: Density, space: Space, options: Options) -> float:
    if options.edges == "cover" and options.radius is not None:
        return -space.width * float(np.log(options.radius))
    return density.scale.quantile(options.min_density)


def _plan(crowd: Crowd, space: Space, density: Density, options: Options) -> Plan:
    """How searches go about it."""
    price, reach = Price(), np.inf
    if options.price == "density":
        price = Price(usual=density.scale.quantile(0.5), exponent=1 / space.width)
    if options.momentum_steps:
        spacing = fit_knn(crowd, space.discrete, k=1)
        reach = spacing.radius(spacing.scale.quantile(options.min_density))
    return Plan(
        Gait(options.n_neighbors, options.momentum_steps, reach),
        slack=options.slack,
        cost=options.price,
        price=price,
        strategy=options.strategy,
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
        raise DataError(f"the data has {came}: at least 2 different people are needed to say what is common")
    if options.n_neighbors > n:
        raise DataError(
            f"n_neighbors={options.n_neighbors}, but the data has only {n} rows: pass n_neighbors={n} or fewer"
        )
    if options.edges == "cover" and options.people >= n_distinct:
        raise DataError(
            f"people={options.people}, but everyone has only {n_distinct - 1} others around them "
            f"(the same row twice is one): pass people={n_distinct - 1} or fewer"
        )
