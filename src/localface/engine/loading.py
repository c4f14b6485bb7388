"""Opens the table that an engine is fitted on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from localface.data.absence import distinct_records, is_absent
from localface.data.frames import column_names
from localface.data.people import number_people, take_groups_column
from localface.data.read import read_records
from localface.data.schema import Schema
from localface.data.seen_values import SeenValues, read_seen_values
from localface.data.space import Space
from localface.data.table_format import TableFormat
from localface.data.value_scales import absences_in
from localface.errors import DataError, InputError, SchemaError
from localface.geometry.device.device import Device
from localface.geometry.point_set import PointSet
from localface.options import Options, Search
from localface.sources.cell_rows import make_compact
from localface.sources.cells import Cells
from localface.sources.device_table import DeviceTable
from localface.sources.partition import SAMPLE, row_hashes, smallest_hashes
from localface.sources.store import Store
from localface.sources.table import TableSource
from localface.types import Array, Floats, Ids

MAX_SCANNED_ROWS = 200_000  # rows up to which a scan of all of them is quicker than an index


@dataclass(frozen=True, slots=True, eq=False)
class LoadedTable:
    """A loaded table: the source that is searched, and the rows the density is fitted on."""

    schema: Schema
    form: TableFormat
    space: Space
    source: TableSource | Cells
    fitted_records: Array
    fitted_points: PointSet  # the same, as points
    seen: tuple[SeenValues, ...]  # what all rows hold of each feature
    groups: Ids | None = None  # the person of each of them, where the user says whose rows are
    people: Ids | None = None  # the same of each row of the user's table
    extra_columns: tuple[str, ...] = ()  # columns of the user's table that are no features

    @property
    def fitted_on_sample(self) -> bool:
        """Whether the density is fitted on a sample: its rows have other ids than the source's."""
        return not isinstance(self.source, TableSource)


def load_table(
    data: Any,
    schema: Schema | None,
    options: Options,
    *,
    groups: object = None,
    each_row: object = None,
    all_rows: bool = False,
    device: Device | None = None,
) -> LoadedTable:
    """Open a table that came in memory, or one that was written into a folder.

    ``groups`` says whose each row is: one label a row, or the name of a column, which is no
    feature unless the schema names it; ``each_row`` what one row is called. With ``all_rows``
    every row counts, however many there are, and a ``device`` may look at them.
    """
    if isinstance(data, Store):
        if all_rows:
            raise InputError(
                "device= is for rows in memory, and those of a store stay on disk: load the table "
                "and give it as data, or leave device= out",
                option="device",
            )
        if groups is not None:
            raise InputError(
                "groups= is for rows in memory, and a store keeps distinct rows only: write the "
                "store with one row a person",
                option="groups",
            )
        schema = _called(data.schema if schema is None else _check_schema(schema), each_row)
        return _load_from_store(data, schema, options)
    labels, others = take_groups_column(data, groups)
    schema = Schema.infer(others, groups=labels) if schema is None else _check_schema(schema)
    schema = _called(schema, each_row)
    records = read_records(data, schema)
    schema.check_relations(records, "the data")
    form = TableFormat.of(data, schema)
    people = number_people(labels, len(records))
    extra = tuple(name for name in _named_columns(data) if name not in schema.names)
    if len(records) > MAX_SCANNED_ROWS and not all_rows:
        compact = make_compact(records)
        del records  # nothing of that size is held twice
        loaded = _load_into_cells(compact, schema, form, options, people)
    else:
        loaded = _load_to_scan(records, schema, form, options, people, device)
    return replace(loaded, extra_columns=extra)


def _called(schema: Schema, each_row: object) -> Schema:
    return schema if each_row is None else schema.with_each_row(each_row)


def _named_columns(data: Any) -> tuple[str, ...]:
    return () if isinstance(data, np.ndarray) else column_names(data)


def _load_to_scan(
    records: Array,
    schema: Schema,
    form: TableFormat,
    options: Options,
    people: Ids | None,
    device: Device | None,
) -> LoadedTable:
    """Take rows that are few enough to be scanned, or that a device scans.

    The same row twice is one person: rows are kept distinct and in canonical order, so
    that neither their order nor an accidental copy can change an answer.
    """
    distinct, first = distinct_records(records)
    _check_table_size(len(records), len(distinct), options)
    space = Space.fit(schema, distinct, linear=options.as_published)
    space.check_magnitudes(distinct, "the data")
    points = PointSet(space.points(distinct))
    table = TableSource(points, distinct, first, n_rows=len(records))
    if device is not None:
        scan = device.scan_of(points.points)
        table = DeviceTable(points, distinct, first, n_rows=len(records), scan=scan)
    groups = None if people is None else _people_of_distinct(records, people)
    seen = read_seen_values(schema, distinct)
    return LoadedTable(schema, form, space, table, distinct, points, seen, groups, people)


def _people_of_distinct(records: Array, people: Ids) -> Ids:
    """Whose each distinct row is: of several people with the same row, the first by name.

    The first by position would make answers depend on the order of the rows.
    """
    by_name = np.argsort(people, kind="stable")
    _, first = distinct_records(records[by_name])
    return np.asarray(people[by_name[first]])


def _load_into_cells(
    records: Array | Floats, schema: Schema, form: TableFormat, options: Options, people: Ids | None
) -> LoadedTable:
    """Take many rows: they are searched in cells, and the density is fitted on a sample."""
    some = smallest_hashes(row_hashes(records), SAMPLE)
    sample, first = distinct_records(records[some].astype(np.float64))
    groups = None if people is None else people[some][first]
    absences = absences_in(schema, records)
    space = Space.fit(schema, sample, linear=options.as_published, absences=absences)
    space.check_magnitudes(records, "the data")
    rows = np.arange(len(records))
    source = Cells.of(records, rows, points_of=space.points, n_rows=len(records))
    _check_table_size(len(records), source.n_distinct, options)
    points = PointSet(space.points(sample))
    seen = _seen_in_all_rows(schema, sample, records)
    return LoadedTable(schema, form, space, source, sample, points, seen, groups, people)


def _load_from_store(store: Store, schema: Schema, options: Options) -> LoadedTable:
    """Take a table that was written into a folder: its rows stay there."""
    space = Space.fit(schema, store.sample, absences=store.absences)
    source = store.as_source(space.points)
    _check_table_size(store.n_rows, store.n_distinct, options)
    sample, _ = distinct_records(store.sample)
    form = TableFormat.default_for(schema)
    points = PointSet(space.points(sample))
    seen = _seen_in_store(store, space, sample)
    return LoadedTable(schema, form, space, source, sample, points, seen)


def _seen_in_all_rows(
    schema: Schema, sample: Array, records: Array | Floats
) -> tuple[SeenValues, ...]:
    """What rows hold of each feature: spacing and quantiles by a sample, the extremes by all."""
    found = []
    for j, values in enumerate(read_seen_values(schema, sample)):
        codes = records[:, j].astype(np.float64)
        codes = codes[~is_absent(schema.features[j], codes)]
        if values.codes is not None:
            found.append(values.including(np.flatnonzero(np.bincount(codes.astype(np.int64)))))
        elif len(codes):
            found.append(values.including([codes.min(), codes.max()]))
        else:
            found.append(values)
    return tuple(found)


def _seen_in_store(store: Store, space: Space, sample: Array) -> tuple[SeenValues, ...]:
    """The same for rows on disk: the boxes of their cells say how far they go.

    Every code of an ordinal feature between the extremes counts as seen.
    """
    ends = np.stack([store.partition.lower.min(axis=1), store.partition.upper.max(axis=1)])
    absence = space.absence_columns.mask(space.width)
    ends[:, absence] = 0.0
    low, high = space.records(ends)
    found = []
    for j, values in enumerate(read_seen_values(space.schema, sample)):
        if space.schema.features[j].kind == "categorical":
            columns = np.flatnonzero((space.feature_of == j) & ~absence)
            found.append(values.including(np.flatnonzero(ends[1, columns] > 0)))
        elif values.codes is not None:
            found.append(values.including(np.arange(low[j], high[j] + 1)))
        else:
            found.append(values.including([low[j], high[j]]))
    return tuple(found)


def _check_schema(schema: object) -> Schema:
    if isinstance(schema, Schema):
        return schema
    raise SchemaError(
        f"schema= is a {type(schema).__name__}: give Schema([Feature(...), ...]), "
        "Schema.load(path), or None to have it guessed"
    )


def _check_table_size(n: int, n_distinct: int, options: Options) -> None:
    if n_distinct < 2:
        came = f"{n} rows, all of them the same" if n > 1 else f"{n} row"
        raise DataError(
            f"the data has {came}: at least 2 different people are needed to say what is common"
        )
    asked_for = options.n_neighbors != Search().n_neighbors  # the default suits any table
    if asked_for and options.n_neighbors > n:
        raise DataError(
            f"n_neighbors={options.n_neighbors}, but the data has only {n} rows: "
            f"pass n_neighbors={n} or fewer"
        )
    if options.edges == "cover" and options.min_people >= n_distinct:
        raise DataError(
            f"min_people={options.min_people}, but everyone has only {n_distinct - 1} others "
            f"around them (the same row twice is one): pass min_people={n_distinct - 1} or fewer"
        )
