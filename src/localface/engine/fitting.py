"""Fits an engine to a table, a model and options."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from localface._version import __version__
from localface.answers.assemble import AnswerAssembler
from localface.data.schema import Schema
from localface.data.seen_values import SeenValues
from localface.data.space import Space
from localface.data.table_format import TableFormat
from localface.density.common_states import CommonStates, fit_common_states
from localface.density.fit import fit_kde, fit_knn
from localface.density.knn import KNN
from localface.density.protocol import Density
from localface.density.sampled import SampledDensity, wrap_user_density
from localface.engine.driver import Driver
from localface.engine.engine import Engine
from localface.engine.floor import log_floor_from_options
from localface.engine.loading import LoadedTable, load_table
from localface.engine.targeting import (
    fitted_target,
    make_target,
    options_for_target,
    refuse_score_of_no_probability,
)
from localface.errors import InputError, ModelError, NearCopiesWarning
from localface.geometry.device.device import Device, device_named
from localface.geometry.point_set import PointSet
from localface.models.agreeing import AgreeingScorer
from localface.models.model_table import model_table_format
from localface.models.output import read_output
from localface.models.scorer import Scorer
from localface.options import Options
from localface.search.plan import Plan, Price, WalkOptions
from localface.types import Array, Ids

_TRIED_WITH_GAPS = 8  # rows with missing values that the model is tried on
_KNN_DENSITY = 10  # the k of density="knn"


def fit_engine(
    model: Any,
    data: Any,
    *,
    schema: Schema | None,
    target: object,
    options: Options,
    groups: object = None,
    each_row: object = None,
    device: str | None = None,
) -> Engine:
    """Load the table, read the model, fit the density; of all rows where a device is named."""
    on = device_named(device)
    all_rows = device is not None
    table = load_table(
        data, schema, options, groups=groups, each_row=each_row, all_rows=all_rows, device=on
    )
    options = options_for_target(options, target)
    wanted = fitted_target(model, target)
    score = _make_scorer(model, wanted, table, options)
    density = fit_density(
        table.fitted_points, table.space, table.form, options, groups=table.groups, device=on
    )
    log_floor = log_floor_from_options(density, table.space, options)
    spacing = _fit_spacing(table.fitted_points, table.space, options)
    engine = Engine(
        schema=table.schema,
        options=options,
        form=table.form,
        space=table.space,
        source=table.source,
        density=density,
        score=score,
        log_floor=log_floor,
        plan=_make_plan(
            table.space, density, options, spacing=spacing, exact_source=table.source.exact
        ),
        driver=Driver(table.source, density, score, fitted_on_sample=table.fitted_on_sample),
        answers=_make_answer_assembler(table, density, score, options=options, log_floor=log_floor),
        seen=_seen_points(table.space, table.seen),
        spacing=spacing,
        people=table.people,
        extra_columns=table.extra_columns,
        model=model,
        target=1 if target is None else target,
    )
    if on is not None and score.reading != "called":
        from localface.models.readers.trees import trees_on

        with trees_on(on):  # every process that asks the device then knows all scores
            engine.driver.prescore()
    return engine


def _seen_points(space: Space, seen: Sequence[SeenValues]) -> tuple[Array, Array]:
    """The points of the smallest and the largest numbers in the data; categories have no ends."""
    ends = np.array([[one.lowest, one.highest] for one in seen]).reshape(-1, 2).T
    known = np.where(np.isfinite(ends), ends, space.centres)
    lowest, highest = space.points(known)
    open_ended = space.discrete | ~np.isfinite(ends).all(axis=0)[space.feature_of]
    return np.where(open_ended, -np.inf, lowest), np.where(open_ended, np.inf, highest)


def warn_of_near_copies(density: Density, *, stacklevel: int) -> None:
    """Warn where rows look like the same people again, and nobody said whose they are."""
    if isinstance(density, CommonStates) and density.copies.distance > 0:
        warnings.warn(
            "many rows have a near-copy, as if people had several rows each; near-copies were left "
            "out together when the floor was set. Say whose rows they are with groups= (one label "
            "a row, or the name of a column; --groups on the command line), or "
            "groups=range(len(data)) if every row is somebody else's",
            NearCopiesWarning,
            stacklevel=stacklevel + 1,
        )


def _make_scorer(model: Any, target: object, table: LoadedTable, options: Options) -> Scorer:
    """Read the model, or several of which the first and enough others must agree.

    A model that is known well enough is read directly, where that gives the same.
    """
    if isinstance(model, list | tuple):
        if not model:
            raise ModelError("the list of models is empty: give at least one")
        each = [_make_scorer(one, target, table, options) for one in model]
        return AgreeingScorer(each, min_score=options.min_score, agree=options.agree)
    from localface.models.readers.verify import verified_reader_or_none

    form = model_table_format(model, table.form, table.schema)
    records = table.fitted_records
    output = read_output(model, target=target)
    if output.range is None:
        refuse_score_of_no_probability(model, options.min_score, output.kind)
    scorer = Scorer(
        output,
        form,
        min_score=options.min_score,
        reader=verified_reader_or_none(model, output, form, records),
    )
    incomplete = np.flatnonzero(np.isnan(records).any(axis=1))[:_TRIED_WITH_GAPS]
    if len(incomplete):
        scorer.exact_scores(records[incomplete])  # a model that cannot read them says so at once
    return scorer


def _make_answer_assembler(
    table: LoadedTable, density: Density, score: Scorer, *, options: Options, log_floor: float
) -> AnswerAssembler:
    """What all answers have in common."""
    space = table.space
    return AnswerAssembler(
        schema=table.schema,
        target=make_target(score, options.min_score),
        options=options,
        scale=density.scale,
        scales=tuple(space.scales.tolist()),
        certified=density.certified
        and (options.edges != "average" or options.density in ("kde", "isotropic")),
        radius=density.radius_at(log_floor) if isinstance(density, KNN) else None,
        feature_of=space.feature_of,
        group_of=space.groups,
        display_score=score.display_score,
        display_scores=score.display_scores,
        version=__version__,
        recall=table.source.recall,
        density=density,
        seen=table.seen,
    )


def fit_density(
    points: PointSet,
    space: Space,
    form: TableFormat,
    options: Options,
    *,
    groups: Ids | None = None,
    device: Device | None = None,
) -> Density:
    """Fit the density that was asked for; the cover rule has one of its own.

    ``groups`` numbers the person of each row, where people have several.
    """
    density = options.density
    discrete = space.discrete
    if options.edges == "cover":
        return fit_knn(points, discrete, k=options.min_people)
    if density == "kde" and not options.as_published:
        return fit_common_states(points, space, groups=groups, device=device)
    if density in ("kde", "isotropic"):
        return fit_kde(points, discrete)
    if density == "knn":
        return fit_knn(points, discrete, k=_KNN_DENSITY)
    if hasattr(density, "lowest_along") and hasattr(density, "scale"):
        fitted: Density = density
        return fitted
    if callable(density) or hasattr(density, "score_samples"):
        taken = (
            form
            if not hasattr(density, "n_features_in_")
            else model_table_format(density, form, space.schema)
        )
        log_density = wrap_user_density(density, lambda some: taken.make_table(space.records(some)))
        return SampledDensity(log_density, points, discrete)
    raise InputError(
        f"density={density!r}: 'kde', 'isotropic', 'knn', a function from records to densities, "
        "or an estimator with score_samples is wanted"
    )


def _fit_spacing(points: PointSet, space: Space, options: Options) -> KNN | None:
    """How far people stand apart, where momentum needs to know how far off the rows it may lead."""
    return fit_knn(points, space.discrete, k=1) if options.momentum_steps else None


def _make_plan(
    space: Space, density: Density, options: Options, *, spacing: KNN | None, exact_source: bool
) -> Plan:
    """How searches go about it."""
    price = Price()
    if options.path_cost_rule == "density":
        price = Price(usual_log_density=density.scale.quantile(0.5), exponent=1 / space.width)
    momentum_radius = (
        np.inf
        if spacing is None
        else spacing.radius_at(spacing.scale.quantile(options.min_density))
    )
    return Plan(
        WalkOptions(options.n_neighbors, options.momentum_steps, momentum_radius),
        slack=options.slack,
        cost=options.path_cost_rule,
        price=price,
        strategy=options.strategy,
        exact_source=exact_source,
    )
