"""Holds a reader against the model's own call: only what agrees is read."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from localface.data.table_format import TableFormat
from localface.models.output import ModelOutput
from localface.models.readers.reader import ModelReader, read_model
from localface.types import Array, Mask

_ROWS = 64  # records of each sort that are compared
_MOST_CATEGORIES = 512
_CLOSE = 1e-12  # where the last bits are left to the order of a sum or to an exponential


def verified_reader_or_none(
    model: Any, output: ModelOutput, table_format: TableFormat, records: Array
) -> ModelReader | None:
    """Return a reader of a model, if it gives what the model's own call gives.

    Compared are some of the ``records``, every category, and numbers in between. Where
    something is missing it is read only for the features where that agrees as well.
    """
    if not len(records):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the model says so itself when it is called
            reader = read_model(model, output, table_format, records)
            if reader is None:
                return None
            return _verified(
                reader, lambda rows: output.call(table_format.make_table(rows)), records
            )
    except Exception:  # whatever it is, the model is called then, and says so itself
        return None


def agrees(reader: ModelReader, records: Array, expected: object) -> bool:
    """Tell whether a reader gives what the model's own call gave for some records."""
    return bool(_agreement(reader, records, expected).all())


def _verified(
    reader: ModelReader, call: Callable[[Array], Any], records: Array
) -> ModelReader | None:
    complete = records[~np.isnan(records).any(axis=1)]
    if not len(complete):
        return None
    sample = _spread(complete, _ROWS)
    tried = np.concatenate([sample, _between(reader, complete), _categories(reader, sample[0])])
    tried = tried[reader.front.takes(tried)]
    if not len(tried) or not agrees(reader, tried, call(tried)):
        return None
    return replace(reader, reads_missing=_missing_read(reader, call, records, sample))


def _agreement(reader: ModelReader, records: Array, expected: object) -> Mask:
    """Tell for each record whether the reader gives what is expected."""
    wanted = np.asarray(expected)
    got = reader(records)
    if got is None or wanted.shape != got.shape:
        return np.zeros(len(records), dtype=bool)
    if reader.estimator.exact:
        same = got == wanted
    else:
        same = np.isclose(got, wanted, rtol=_CLOSE, atol=_CLOSE)
    return np.asarray(same.reshape(len(records), -1).all(axis=1))


def _missing_read(
    reader: ModelReader, call: Callable[[Array], Any], records: Array, sample: Array
) -> Mask:
    """Find the features that may be missing: one at a time, then as they are in the data."""
    gone: Mask = np.asarray(np.isnan(records).any(axis=0))
    reads: Mask = np.zeros(len(gone), dtype=np.bool_)
    for features in (np.flatnonzero(gone), np.flatnonzero(~gone)):
        tried = np.resize(sample, (len(features), sample.shape[1]))
        tried[np.arange(len(features)), features] = np.nan
        taken = reader.front.takes(tried)
        if taken.any():
            reads[features[taken]] = _agreement_or_none(reader, call, tried[taken])
    incomplete = _spread(records[(np.isnan(records) & reads).any(axis=1)], _ROWS)
    read = replace(reader, reads_missing=reads)
    incomplete = incomplete[~(np.isnan(incomplete) & ~reads).any(axis=1)]
    if len(incomplete) and not _agreement_or_none(read, call, incomplete).all():
        return np.zeros(len(gone), dtype=np.bool_)
    return reads


def _agreement_or_none(reader: ModelReader, call: Callable[[Array], Any], records: Array) -> Mask:
    """Tell where a reader agrees; nowhere, if the model refuses the records."""
    try:
        expected = call(records)
    except Exception:
        return np.zeros(len(records), dtype=bool)
    return _agreement(reader, records, expected)


def _spread(records: Array, n: int) -> Array:
    """Return some of the records, evenly spread."""
    at = np.unique(np.linspace(0, len(records) - 1, min(n, len(records))).astype(np.int64))
    return np.array(records[at], dtype=np.float64) if len(records) else records


def _between(reader: ModelReader, records: Array) -> Array:
    """Return records with numbers between those of two others, and categories of either."""
    rng = np.random.default_rng(0)
    one, other = (records[rng.integers(len(records), size=_ROWS)] for _ in range(2))
    share = rng.random(one.shape)
    share[:, reader.front.lookup.features] = np.rint(share[:, reader.front.lookup.features])
    return np.where(share == 1, other, one + share * (other - one))


def _categories(reader: ModelReader, usual: Array) -> Array:
    """Return the usual record with each category of each feature in turn."""
    lookup = reader.front.lookup
    parts = [usual[None, :]]
    for feature, size in zip(lookup.features, lookup.sizes, strict=True):
        tried = np.repeat(usual[None, :], min(int(size), _MOST_CATEGORIES), axis=0)
        tried[:, feature] = np.arange(len(tried))
        parts.append(tried)
    return np.concatenate(parts)
