"""From records to the numbers that an estimator sees behind its transformers.

Categories are looked up in a table that is made once, by the user's own transformers; numbers
go through the operations that these would do (``paths.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from localface.data.table_format import TableFormat
from localface.models.readers.paths import CannotRead, Path, Paths, Step, paths_through
from localface.types import Array, Mask

Index = npt.NDArray[np.int64]

_MOST_CELLS = 5_000_000  # of the table in which categories are looked up
_SINGLE = {"float32", "<f4", "float"}  # as pandas and polars, NumPy and pyarrow call it


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """What every category of some features becomes, and which the transformers refuse.

    Parameters
    ----------
    features : the places of these features in a record
    sizes : how many categories each has; what is missing is one more
    columns : the columns that are looked up
    position : the place in ``features`` that each of these columns comes from
    start : where in ``values`` the categories of each column begin
    values : what each category becomes, column by column
    allowed_start : where in ``allowed`` the categories of each feature begin
    allowed : whether the transformers take a category, feature by feature
    """

    features: Index
    sizes: Index
    columns: Index
    position: Index
    start: Index
    values: Array
    allowed_start: Index
    allowed: Mask

    def codes(self, records: Array) -> Index:
        """Return the categories of records by number; what is missing comes last."""
        codes = records[:, self.features]
        return np.asarray(np.where(np.isnan(codes), self.sizes, np.rint(codes)).astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class NumberColumns:
    """Columns that numbers reach by the same operations, each with arguments of its own."""

    columns: Index
    features: Index
    operations: tuple[Any, ...]
    arguments: tuple[tuple[Array, ...], ...]

    def __call__(self, numbers: Array) -> Array:
        """Return these columns for records whose numbers are as the table stores them."""
        values = numbers[:, _in_a_row(self.features)]
        for operation, arguments in zip(self.operations, self.arguments, strict=True):
            values = operation(values, *arguments)
        return values


@dataclass(frozen=True, slots=True, eq=False)
class Front:
    """All that stands before an estimator: from records to its matrix of numbers."""

    width: int
    lookup: Lookup
    numbers: tuple[NumberColumns, ...]
    whole: Index  # features whose numbers are whole
    single: Index  # features whose numbers the table keeps in single precision
    as_they_are: bool  # whether records are the matrix

    def takes(self, records: Array) -> Mask:
        """Tell which records have no category that the transformers refuse."""
        codes = self.lookup.codes(records) + self.lookup.allowed_start
        return np.asarray(self.lookup.allowed.take(codes).all(axis=1))

    def __call__(self, records: Array) -> Array | None:
        """Return the estimator's matrix; None where the transformers refuse a category."""
        if self.as_they_are:
            return records
        matrix = np.empty((len(records), self.width))
        if len(self.lookup.features):
            codes = self.lookup.codes(records)
            if not self.lookup.allowed.take(codes + self.lookup.allowed_start).all():
                return None
            cells = codes[:, self.lookup.position] + self.lookup.start
            matrix[:, _in_a_row(self.lookup.columns)] = self.lookup.values.take(cells)
        stored = self._as_stored(records)
        for group in self.numbers:
            matrix[:, _in_a_row(group.columns)] = group(stored)
        return matrix

    def _as_stored(self, records: Array) -> Array:
        if not len(self.whole) and not len(self.single):
            return records
        stored = np.array(records, dtype=np.float64)
        whole, single = _in_a_row(self.whole), _in_a_row(self.single)
        stored[:, whole] = np.rint(stored[:, whole])
        stored[:, single] = stored[:, single].astype(np.float32)
        return stored


def _in_a_row(places: Index) -> Index | slice:
    """Places as a slice where each is the next one: it takes a fraction of the time."""
    n = len(places)
    if n and places[-1] - places[0] == n - 1 and (np.diff(places) == 1).all():
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


def make_front(
    transformers: Sequence[Any], table_format: TableFormat, *, usual: Array, has_gaps: Mask
) -> Front:
    """Read transformers, each after the other, that are called with tables of a format.

    ``usual`` is a record that they take, ``has_gaps`` tells of which features the data has
    missing values. CannotRead where a transformer is unknown.
    """
    columns = table_format.columns
    names = list(dict.fromkeys(column.tells or column.name for column in columns))
    first: Paths = [
        None if column.labels is not None else Path(names.index(column.name)) for column in columns
    ]
    if any(column.holds_dates for column in columns):
        raise CannotRead("a column of dates")
    paths = first
    for transformer in transformers:
        paths = paths_through(transformer, paths)
    numeric = [(names.index(one.name), one) for one in columns if one.labels is None]
    single = _indices(at for at, one in numeric if one.dtype.lower() in _SINGLE)
    if any(path is not None and path.steps and path.feature in single for path in paths):
        raise CannotRead("transformers that may work in single precision")
    lookup = _make_lookup(transformers, table_format, paths, usual=usual, has_gaps=has_gaps)
    plain = all(column.holds_floats() for column in columns)
    return Front(
        width=len(paths),
        lookup=lookup,
        numbers=_grouped(paths),
        whole=_indices(at for at, one in numeric if one.whole),
        single=single,
        as_they_are=plain and paths == first,
    )


def transform(transformers: Sequence[Any], table_format: TableFormat, records: Array) -> Array:
    """Return what comes out of transformers for records, as a matrix of doubles."""
    table = table_format.make_table(records)
    if not transformers:
        numbers = table_format.numbers_or_none(records)
        if numbers is None:
            raise CannotRead("a column that holds no numbers")
        return numbers
    for transformer in transformers:
        if transformer is not None and transformer != "passthrough":
            table = transformer.transform(table)
    table = table.toarray() if hasattr(table, "toarray") else table
    return np.asarray(table, dtype=np.float64)


def _make_lookup(
    transformers: Sequence[Any],
    table_format: TableFormat,
    paths: Paths,
    *,
    usual: Array,
    has_gaps: Mask,
) -> Lookup:
    """Try every category of every feature, all else as usual."""
    sizes = _categories_of_features(table_format)
    features = _indices(at for at, size in enumerate(sizes) if size)
    counts = np.array([sizes[at] for at in features], dtype=np.int64)
    allowed_start = np.cumsum(np.append(0, counts + 1))[:-1].astype(np.int64)
    tried = np.repeat(usual[None, :], int((counts + 1).sum()) + 1, axis=0)
    if len(tried) * len(paths) > _MOST_CELLS:
        raise CannotRead("too many categories")
    likely = np.ones(len(tried), dtype=np.bool_)
    likely[allowed_start + counts] = has_gaps[features]
    for at, size, start in zip(features, counts, allowed_start, strict=True):
        tried[start : start + size + 1, at] = np.append(np.arange(size), np.nan)
    found, allowed = _transform_each(transformers, table_format, tried, likely)
    if found.shape[1] != len(paths):
        raise CannotRead("transformers of another width than they say")
    columns = _indices(at for at, path in enumerate(paths) if path is None)
    blocks = [
        slice(start, start + size + 1) for start, size in zip(allowed_start, counts, strict=True)
    ]
    position = _indices(_source(found[:, at], allowed, blocks) for at in columns)
    values = [found[blocks[own], at] for at, own in zip(columns, position, strict=True)]
    lengths = [len(one) for one in values]
    return Lookup(
        features=features,
        sizes=counts,
        columns=columns,
        position=position,
        start=np.cumsum([0, *lengths])[:-1].astype(np.int64),
        values=np.concatenate([*values, np.zeros(0)]),
        allowed_start=allowed_start,
        allowed=allowed[:-1],
    )


def _transform_each(
    transformers: Sequence[Any], table_format: TableFormat, records: Array, likely: Mask
) -> tuple[Array, Mask]:
    """Return what comes out for each record, and which are taken; the last one must be.

    Where the transformers refuse some record, only the ``likely`` ones are tried again.
    """
    usual = transform(transformers, table_format, records[-1:])
    found = np.repeat(usual, len(records), axis=0)
    allowed = np.ones(len(records), dtype=np.bool_)
    tries = [np.arange(len(records))]
    while tries:
        rows = tries.pop()
        try:
            found[rows] = transform(transformers, table_format, records[rows])
        except Exception:  # some category is refused: which?
            allowed[rows] = False
            if not likely[rows].all():
                tries.append(rows[likely[rows]])
            elif len(rows) > 1:
                tries += np.array_split(rows, 2)
        else:
            allowed[rows] = True
    return found, allowed


def _source(column: Array, allowed: Mask, blocks: list[slice]) -> int:
    """Return which feature's categories a column varies with; it may be only one."""
    varying = [
        at for at, block in enumerate(blocks) if _varies(column[block][allowed[block]], column[-1])
    ]
    if len(varying) > 1:
        raise CannotRead("a column that mixes features")
    return varying[0] if varying else 0


def _varies(values: Array, usual: float) -> bool:
    return not np.array_equal(values, np.full(len(values), usual), equal_nan=True)


def _categories_of_features(table_format: TableFormat) -> list[int]:
    """Count the categories of each feature, in the order of records; 0 for numbers."""
    counts: dict[str, int] = {}
    for column in table_format.columns:
        labels = column.told_labels if column.tells else column.labels
        counts[column.tells or column.name] = len(labels or ())
    return list(counts.values())


def _grouped(paths: Paths) -> tuple[NumberColumns, ...]:
    """Put columns together that numbers reach by the same operations."""
    groups: dict[tuple[Any, ...], list[tuple[int, Path]]] = {}
    for at, path in enumerate(paths):
        if path is not None:
            groups.setdefault(tuple(one.operation for one in path.steps), []).append((at, path))
    return tuple(
        NumberColumns(
            columns=_indices(at for at, _ in members),
            features=_indices(path.feature for _, path in members),
            operations=operations,
            arguments=_arguments([path.steps for _, path in members]),
        )
        for operations, members in groups.items()
    )


def _arguments(steps: list[tuple[Step, ...]]) -> tuple[tuple[Array, ...], ...]:
    """Return the arguments of each operation, one number a column."""
    by_operation = zip(*steps, strict=True)
    return tuple(
        tuple(np.array(own) for own in zip(*(step.arguments for step in same), strict=True))
        for same in by_operation
    )


def _indices(places: Any) -> Index:
    return np.array(list(places), dtype=np.int64)
