"""Measures how well a floor tells held-out rows from composed records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import numpy as np

from localface.analyses.floor_report.group_findings import find_groups
from localface.analyses.floor_report.judges import Judged, JudgeFigures, judged_by_classifier
from localface.analyses.floor_report.pair_findings import find_pairs
from localface.analyses.floor_report.report import (
    CEILING,
    STRICTER,
    Circumstances,
    FloorReport,
)
from localface.analyses.floor_report.trial import Trial
from localface.data.schema import Schema
from localface.data.space import Space
from localface.data.table_format import TableFormat
from localface.density.common_states import CommonStates, category_counts
from localface.density.common_states.copies import group_codes
from localface.density.common_states.distances import evenly_spread
from localface.density.protocol import FLOOR_TOLERANCE
from localface.engine.engine import log_floor_from_options
from localface.engine.fitting import fit_density
from localface.errors import DataError
from localface.geometry.point_set import PointSet
from localface.options import Options
from localface.sources.holder import RowHolder, list_all_rows
from localface.types import Array, Ids, Mask

_FEWEST_ROWS = 20
_MOST_ROWS = 15_500


class OpenTable(Protocol):
    """A table that was opened: an engine is one, and so is what ``load_table`` returns."""

    @property
    def schema(self) -> Schema:
        """What a record is."""
        ...

    @property
    def form(self) -> TableFormat:
        """How the table came."""
        ...

    @property
    def space(self) -> Space:
        """How records become points."""
        ...

    @property
    def source(self) -> RowHolder:
        """Where the rows are."""
        ...


def measure_floor(
    table: OpenTable,
    options: Options,
    *,
    groups: object = None,
    seed: int = 0,
    progress: bool = True,
) -> FloorReport:
    """Fit the density in use on a part of the rows, and judge the others beside composed records.

    ``groups`` names the person of each row of the user's table; ``options`` are those of the
    explainer, and ``seed`` decides who is held out.
    """
    records, people = _rows(table, groups)
    trial = Trial.of(records, people, seed)
    floor = options.min_density
    with _shown(progress) as done:
        in_use, below = _floor_in_use(table, trial, options)
        done("kernels and pairs")
        model = _stricter_model(table.schema, trial)
        stricter = Judged.by(model.shares, trial, floor)
        done("pairs and groups")
        refused = trial.composed[stricter.composed < floor]
        pairs = find_pairs(model, table.schema, refused)
        low_groups = find_groups(table.schema, trial.known, below, model=model, floor=floor)
        done("a boosted classifier")
        ceiling = judged_by_classifier(trial, category_counts(table.schema), floor, seed)
    judges = [in_use, stricter.figures(STRICTER)]
    if ceiling is not None:
        judges.append(ceiling.figures(CEILING))
    circumstances = Circumstances(
        min_density=floor,
        n_rows=table.source.n_rows,
        n_fitted=len(trial.known),
        n_held_out=len(trial.held_out),
        n_people=None if people is None else len(np.unique(people)),
        own=tuple(table.schema.names[j] for j in _own(table.schema)),
        copies_found=model.shape.copies.distance > 0,
        refitted=_refitted(options),
    )
    return FloorReport(tuple(judges), pairs, low_groups, len(refused), circumstances)


def _rows(table: OpenTable, groups: object) -> tuple[Array, Ids | None]:
    """Take the distinct rows, or some of very many, with the number of the person of each."""
    ids = list_all_rows(table.source)
    ids = ids[evenly_spread(len(ids), _MOST_ROWS)]
    if len(ids) < _FEWEST_ROWS:
        raise DataError(
            f"{len(ids)} different rows: at least {_FEWEST_ROWS} are needed to hold some out"
        )
    codes = group_codes(groups)
    if codes is not None:
        if len(codes) != table.source.n_rows:
            raise DataError(
                f"groups= names {len(codes):,} people, and the data has "
                f"{table.source.n_rows:,} rows: give one name a row"
            )
        codes = codes[table.source.row_numbers(ids)]
        if len(np.unique(codes)) < 2:
            raise DataError("groups= names one person only: nobody could be held out")
    return table.source.records(ids), codes


def _floor_in_use(table: OpenTable, trial: Trial, options: Options) -> tuple[JudgeFigures, Mask]:
    """Judge by the density in use, fitted on the known rows; also says which of them are below."""
    points = PointSet(table.space.points(trial.known))
    density = fit_density(points, table.space, table.form, options)
    floor = log_floor_from_options(density, table.space, options) - FLOOR_TOLERANCE

    def log_densities(records: Array) -> Array:
        places = table.space.points(records)
        return density.lowest_along(places, places, None).log_densities

    if _refitted(options):
        own = density.row_log_densities(np.arange(len(points)))
    else:
        own = log_densities(trial.known)
    rule = "cover" if options.edges == "cover" else options.density
    word = rule if isinstance(rule, str) else "your own"
    judged = Judged.by(log_densities, trial, floor)
    return judged.figures(f"the floor in use ({word})"), own < floor


def _refitted(options: Options) -> bool:
    """Whether the density is one of ours, which is fitted again on a part of the rows."""
    return isinstance(options.density, str) or options.edges == "cover"


def _own(schema: Schema) -> list[int]:
    return [j for j, feature in enumerate(schema) if feature.moves == "never"]


def _stricter_model(schema: Schema, trial: Trial) -> CommonStates:
    """Fit kernels and pairs on the known rows."""
    sizes = category_counts(schema)
    return CommonStates.fit(trial.known, sizes, own=_own(schema), groups=trial.groups)


@contextmanager
def _shown(progress: bool) -> Iterator[Callable[[str], None]]:
    """Show which part is under way."""
    from tqdm.auto import tqdm

    with tqdm(total=4, unit=" parts", disable=None if progress else True, leave=False) as bar:
        bar.set_description("the floor in use")

        def done(following: str) -> None:
            bar.update()
            bar.set_description(following)

        yield done
