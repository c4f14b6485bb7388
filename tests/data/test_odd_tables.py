"""Every odd table is read, or refused by name: nobody meets a traceback of another library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from localface import Feature, LocalFACE, Schema
from localface.data.read import read_people, read_record, read_records
from localface.errors import DataError, LocalFACEError, SchemaError
from odd_tables import odd_tables, x, y

TABLES = odd_tables()
KINDS: dict[str, dict[str, Any]] = {
    "numeric": {"kind": "numeric"},
    "integer": {"kind": "integer"},
    "binary": {"kind": "binary", "categories": (0, 1)},
    "categorical": {"kind": "categorical", "categories": ("a", "b", "1")},
    "ordinal": {"kind": "ordinal", "categories": (1, 2, 3)},
    "date": {"kind": "integer", "since": "2020-01-01"},
}


def made(name: str) -> Any:
    try:
        return TABLES[name]()
    except Exception as error:
        pytest.skip(f"this library makes no such table: {type(error).__name__}")


@contextmanager
def refused_or_fine() -> Iterator[None]:
    """Nothing is raised, or a sentence."""
    said = "a sentence, where none was needed"
    try:
        yield
    except LocalFACEError as error:
        said = str(error)
    assert len(said) > 20


def score(table: Any) -> Any:
    """A model of the plain column."""
    frame = table if isinstance(table, np.ndarray) else nw.from_native(table)["x"].to_numpy()
    first = frame[:, 0] if frame.ndim == 2 else frame
    return 1 / (1 + np.exp(-first.astype(float)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TABLES)
def test_an_odd_table_is_answered_or_refused_with_a_sentence(name: str) -> None:
    data = made(name)
    with refused_or_fine():
        explainer = LocalFACE(score, data, schema=None)
        one = data.iloc[0] if hasattr(data, "iloc") else data[:1]
        answer = explainer.explain(one, max_seconds=20.0)
        assert str(answer)
        assert answer.to_json()
        assert len(explainer.explain_many(data[:3], progress=False, max_seconds=20.0)) == 3


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TABLES)
def test_an_odd_table_is_read_by_a_schema_or_refused_with_a_sentence(name: str, kind: str) -> None:
    data = made(name)
    schema = Schema([Feature("x"), Feature("c", **KINDS[kind])])
    for read in (read_records, read_people):
        with refused_or_fine():
            records = read(data, schema)
            assert records.dtype == np.float64
            assert type(records) is np.ndarray
    try:
        one = data.iloc[0] if hasattr(data, "iloc") else data[:1]
    except (TypeError, IndexError):  # there is no first row
        return
    with refused_or_fine():
        assert type(read_record(one, schema)) is np.ndarray


def test_categories_that_mix_text_and_numbers_are_told() -> None:
    mixed = pd.DataFrame({"x": x, "c": pd.Categorical([1, "a"] * 30)})
    with pytest.raises(SchemaError, match="'c' mixes text and numbers"):
        Schema.infer(mixed)


def test_a_dictionary_of_arrow_is_a_category() -> None:
    stored = pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    table = pd.DataFrame({"x": x, "c": pd.Series(["a", "b", "d"] * 20).astype(stored)})
    explainer = LocalFACE(score, table)
    assert explainer.schema["c"].categories == ("a", "b", "d")
    path = explainer.explain(table.iloc[0]).path
    assert path["c"].dtype == stored


@pytest.mark.parametrize("wide", [2**53 + 1, -(2**53) - 1, 2**64, 2**90])
@pytest.mark.parametrize("gap", [False, True])
def test_whole_numbers_that_floats_cannot_tell_apart_are_refused(wide: int, gap: bool) -> None:
    values: list[int | None] = [wide, wide + 1, *range(58)]
    if gap:
        values[5] = None
    schema = Schema([Feature("x"), Feature("c", kind="integer")])
    tables: list[Any] = [pd.DataFrame({"x": x, "c": pd.Series(values, dtype=object)})]
    if abs(wide) < 2**63:
        tables.append(pd.DataFrame({"x": x, "c": pd.array(values, dtype="Int64")}))
        tables.append(pa.table({"x": x, "c": pa.array(values)}))
        tables.append(pl.DataFrame({"x": x, "c": pl.Series(values, dtype=pl.Int64)}))
    tables.append(pl.DataFrame({"x": x, "c": pl.Series(values, dtype=pl.Int128)}))
    for table in tables:
        with pytest.raises(DataError, match="'c' holds numbers too large to be kept exactly"):
            read_records(table, schema)


def test_a_number_beyond_all_floats_is_told() -> None:
    schema = Schema([Feature("x"), Feature("c")])
    for huge in (10**400, 2**53 + 1):
        with pytest.raises(DataError, match="'c' holds numbers too large to be kept exactly"):
            read_record({"x": 1.0, "c": huge}, schema)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_a_matrix_is_an_array() -> None:
    plain = LocalFACE(score, np.c_[x, y])
    matrix = LocalFACE(score, np.matrix(np.c_[x, y]))
    people = np.matrix(np.c_[x, y])[:2]
    for one, other in zip(
        plain.explain_many(np.asarray(people), progress=False),
        matrix.explain_many(people, progress=False),
        strict=True,
    ):
        assert one.records.tobytes() == other.records.tobytes()


def test_what_is_masked_is_missing() -> None:
    masked = np.ma.masked_array(np.c_[x, y], mask=np.c_[x > 1, y > 1])
    schema = Schema([Feature("x"), Feature("c")])
    records = read_records(masked, schema)
    np.testing.assert_array_equal(np.isnan(records), masked.mask)
    row = int(np.flatnonzero(x > 1)[0])
    np.testing.assert_array_equal(read_record(masked[row], schema), records[row])


def test_whole_numbers_of_128_bits_are_read() -> None:
    table = pl.DataFrame({"x": x, "c": pl.Series(range(60), dtype=pl.Int128)})
    schema = Schema([Feature("x"), Feature("c", kind="integer")])
    np.testing.assert_array_equal(read_records(table, schema)[:, 1], np.arange(60.0))


def test_a_table_of_narwhals_is_read_without_a_word() -> None:
    schema = Schema([Feature("x"), Feature("c")])
    for table in (pd.DataFrame({"x": x, "c": y}), pa.table({"x": x, "c": y})):
        np.testing.assert_array_equal(read_records(nw.from_native(table), schema), np.c_[x, y])


def test_repeated_names_of_arrow_are_told() -> None:
    table = pa.Table.from_arrays([pa.array(x), pa.array(y)], names=["x", "x"])
    with pytest.raises(DataError, match="more than one column 'x'"):
        LocalFACE(score, table)
