"""Measures how well a floor tells held-out rows from composed records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from localface.analyses.floor_report.group_findings import find_groups
from localface.analyses.floor_report.judges import Judged, judged_by_classifier
from localface.analyses.floor_report.pair_findings import find_pairs
from localface.analyses.floor_report.report import (
    BESIDE,
    CEILING,
    Circumstances,
    FloorReport,
)
from localface.analyses.floor_report.trial import Trial
from localface.data.people import number_people
from localface.data.schema import Schema
from localface.data.space import Space
from localface.data.table_format import TableFormat
from localface.density.common_states import CommonStates
from localface.density.common_states.distances import evenly_spread
from localface.density.protocol import FLOOR_TOLERANCE, Density
from localface.engine.fitting import fit_density
from localface.engine.floor import log_floor_from_options
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

    @property
    def people(self) -> Ids | None:
        """The number of the person of each row of the user's table, where that is known."""
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

    ``groups`` names the person of each row of the user's table, where the table does not know
    itself; ``options`` are those of the explainer, and ``seed`` decides who is held out.
    """
    records, people = _rows(table, groups)
    trial = Trial.of(records, people, seed)
    with _shown(progress) as done:
        in_use = FittedFloor.of(table, trial, options)
        judges = [in_use.judged(trial).figures(f"the floor in use ({in_use.word})")]
        beside = _beside(options)
        done(BESIDE[beside.density])
        compared = FittedFloor.of(table, trial, beside)
        judges.append(compared.judged(trial).figures(BESIDE[beside.density]))
        done("pairs and groups")
        model, refused = _first_model((in_use, compared), trial)
        pairs = () if model is None else find_pairs(model, refused)
        low_groups = find_groups(table.schema, trial.known, in_use.known_below(trial))
        done("a boosted classifier")
        ceiling = judged_by_classifier(
            trial, category_counts(table.schema), options.min_density, seed
        )
    if ceiling is not None:
        judges.append(ceiling.figures(CEILING))
    circumstances = Circumstances(
        min_density=options.min_density,
        n_rows=table.source.n_rows,
        n_fitted=len(trial.known),
        n_held_out=len(trial.held_out),
        n_people=None if people is None else len(np.unique(people)),
        own=tuple(one.name for one in table.schema if one.own),
        copies_found=model is not None and model.copies.distance > 0,
        refitted=in_use.refitted,
        each_row=table.schema.each_row,
    )
    return FloorReport(tuple(judges), pairs, low_groups, len(refused), circumstances)


@dataclass(frozen=True, slots=True, eq=False)
class FittedFloor:
    """A density that is fitted on the known rows of a trial, and its floor."""

    space: Space
    density: Density
    log_floor: float
    word: str  # what the density is called
    refitted: bool  # whether it is one of ours, which is fitted again on a part of the rows

    @classmethod
    def of(cls, table: OpenTable, trial: Trial, options: Options) -> FittedFloor:
        """Fit what the options ask for; a density of the user's own stays as it is."""
        refitted = isinstance(options.density, str) or options.edges == "cover"
        space = table.space
        if refitted:
            space = Space.fit(table.schema, trial.known, linear=options.as_published)
        points = PointSet(space.points(trial.known))
        density = fit_density(points, space, table.form, options, groups=trial.groups)
        rule = "cover" if options.edges == "cover" else options.density
        return cls(
            space,
            density,
            log_floor_from_options(density, space, options) - FLOOR_TOLERANCE,
            rule if isinstance(rule, str) else "your own",
            refitted,
        )

    def log_densities(self, records: Array) -> Array:
        """Judge records that are not among the known rows."""
        places = self.space.points(records)
        return self.density.lowest_along(places, places, None).log_densities

    def judged(self, trial: Trial) -> Judged:
        """Judge all records of a trial."""
        return Judged.by(self.log_densities, trial, self.log_floor)

    def known_below(self, trial: Trial) -> Mask:
        """Tell which known rows are below the floor."""
        if not self.refitted:
            return np.asarray(self.log_densities(trial.known) < self.log_floor)
        own = self.density.row_log_densities(np.arange(len(trial.known)))
        return np.asarray(own < self.log_floor)


def _beside(options: Options) -> Options:
    """The options of the density that the one in use is compared with."""
    ours = options.density == "kde" and options.edges != "cover" and not options.as_published
    return replace(
        options, density="isotropic" if ours else "kde", edges="strict", strategy="guided"
    )


def _first_model(floors: Sequence[FittedFloor], trial: Trial) -> tuple[CommonStates | None, Array]:
    """Return the model of kernels and pairs among them, and the composed records it refuses."""
    for floor in floors:
        if isinstance(floor.density, CommonStates):
            return floor.density, trial.composed[
                floor.log_densities(trial.composed) < floor.log_floor
            ]
    return None, trial.composed[:0]


def _rows(table: OpenTable, groups: object) -> tuple[Array, Ids | None]:
    """Take the distinct rows, or some of very many, with the number of the person of each."""
    ids = list_all_rows(table.source)
    ids = ids[evenly_spread(len(ids), _MOST_ROWS)]
    if len(ids) < _FEWEST_ROWS:
        raise DataError(
            f"{len(ids)} different rows: at least {_FEWEST_ROWS} are needed to hold some out"
        )
    codes = table.people
    if groups is not None:
        codes = number_people(groups, table.source.n_rows)
    if codes is not None:
        codes = codes[table.source.row_numbers(ids)]
    return table.source.records(ids), codes


def category_counts(schema: Schema) -> tuple[int, ...]:
    """Return how many categories each feature has, 0 for what is ordered."""
    return tuple(len(one.categories or ()) if one.discrete else 0 for one in schema)


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
