"""Tables of every odd form: each is read, or refused with a sentence that names what is wrong."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

Make = Callable[[], Any]

N = 60
rng = np.random.default_rng(0)
x = rng.normal(size=N)
y = rng.normal(size=N)


def odd_tables() -> dict[str, Make]:
    """Makers of all tables by name; a library may refuse to make one."""
    return {
        **{f"pandas {name}": _beside_x(pd.DataFrame, make) for name, make in _pandas().items()},
        **{f"polars {name}": _beside_x(pl.DataFrame, make) for name, make in _polars().items()},
        **{f"arrow {name}": _beside_x(pa.table, make) for name, make in _arrow().items()},
        **{f"arrow table {name}": make for name, make in _arrow_tables().items()},
        **{f"array {name}": make for name, make in _arrays().items()},
        **_others(),
    }


def _beside_x(table: Callable[[Any], Any], make: Make) -> Make:
    return lambda: table({"x": x, "c": make()})


def _readonly(array: Any) -> Any:
    array.setflags(write=False)
    return array


def pdf(**columns: Any) -> pd.DataFrame:
    """A table with a plain column beside others."""
    return pd.DataFrame({"x": x, **columns})


def _pandas() -> dict[str, Make]:
    """Columns of pandas."""
    return {
        "mixed int str cat": lambda: pd.Categorical([1, "a"] * (N // 2)),
        "object mixed": lambda: np.array([1, "a", 2.5] * (N // 3), dtype=object),
        "object bool none": lambda: np.array([True, None, False] * (N // 3), dtype=object),
        "huge int": lambda: np.array([2**53 + 1 + i for i in range(N)]),
        "huge uint": lambda: np.array([2**63 + i for i in range(N)], dtype=np.uint64),
        "python bigint": lambda: np.array([2**80 + i for i in range(N)], dtype=object),
        "neg bigint": lambda: np.array([-(2**80) - i for i in range(N)], dtype=object),
        "int64 min": lambda: np.array([np.iinfo(np.int64).min, *list(range(N - 1))]),
        "Decimal": lambda: [Decimal(i) / 10 for i in range(N)],
        "Decimal nan": lambda: [Decimal("NaN")] + [Decimal(i) / 10 for i in range(N - 1)],
        "Decimal inf": lambda: [Decimal("Infinity")] + [Decimal(i) / 10 for i in range(N - 1)],
        "Decimal sNaN": lambda: [Decimal("sNaN")] + [Decimal(i) / 10 for i in range(N - 1)],
        "Fraction": lambda: [Fraction(i, 3) for i in range(N)],
        "complex": lambda: x + 1j * y,
        "complex obj": lambda: np.array(list(x + 1j * y), dtype=object),
        "bytes": lambda: [b"a", b"b"] * (N // 2),
        "lists": lambda: [[1, 2]] * N,
        "dicts": lambda: [{"a": 1}] * N,
        "sets": lambda: [{1}] * N,
        "tuples": lambda: [(1, 2), (2, 3)] * (N // 2),
        "arrays": lambda: [np.zeros(2)] * N,
        "float16": lambda: x.astype(np.float16),
        "longdouble": lambda: x.astype(np.longdouble),
        "datetime": lambda: pd.date_range("2020", periods=N),
        "tz": lambda: pd.date_range("2020", periods=N, tz="UTC"),
        "timedelta": lambda: pd.to_timedelta(range(N), unit="D"),
        "period": lambda: pd.period_range("2020", periods=N, freq="M"),
        "interval": lambda: pd.interval_range(0, N),
        "dates": lambda: [dt.date(2020, 1, 1) + dt.timedelta(i) for i in range(N)],
        "times": lambda: [dt.time(i % 24) for i in range(N)],
        "NaT": lambda: [pd.NaT] * N,
        "all nan": lambda: [np.nan] * N,
        "all none": lambda: [None] * N,
        "all NA": lambda: pd.array([pd.NA] * N, dtype="Int64"),
        "Int64 NA": lambda: pd.array([1, pd.NA, 3] * (N // 3), dtype="Int64"),
        "Int64 huge NA": lambda: pd.array([2**62, pd.NA, 3] * (N // 3), dtype="Int64"),
        "boolean NA": lambda: pd.array([True, pd.NA, False] * (N // 3), dtype="boolean"),
        "string NA": lambda: pd.array(["a", pd.NA, "b"] * (N // 3), dtype="string"),
        "Float64": lambda: pd.array(x, dtype="Float64"),
        "inf": lambda: [np.inf, *list(x[1:])],
        "huge float": lambda: [1e308, -1e308] * (N // 2),
        "tiny": lambda: [5e-324, 1e-310, 0] * (N // 3),
        "neg zero": lambda: [-0.0, 0.0, 1.0] * (N // 3),
        "arrow dict": lambda: pd.Series(["a", "b"] * (N // 2)).astype(
            pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
        ),
        "arrow str": lambda: pd.Series(["a", "b"] * (N // 2)).astype(pd.ArrowDtype(pa.string())),
        "arrow decimal": lambda: pd.Series([Decimal(i) for i in range(N)]).astype(
            pd.ArrowDtype(pa.decimal128(10, 2))
        ),
        "arrow date": lambda: pd.Series([dt.date(2020, 1, 1 + i % 28) for i in range(N)]).astype(
            pd.ArrowDtype(pa.date32())
        ),
        "arrow list": lambda: pd.Series([[1]] * N).astype(pd.ArrowDtype(pa.list_(pa.int64()))),
        "arrow duration": lambda: pd.Series(pd.to_timedelta(range(N), unit="D")).astype(
            pd.ArrowDtype(pa.duration("s"))
        ),
        "sparse": lambda: pd.arrays.SparseArray([0, 0, 1] * (N // 3)),
        "cat int": lambda: pd.Categorical([1, 2] * (N // 2)),
        "cat float nan": lambda: pd.Categorical([1.5, np.nan, 2.5] * (N // 3)),
        "cat date": lambda: pd.Categorical(list(pd.date_range("2020", periods=2)) * (N // 2)),
        "cat interval": lambda: pd.cut(x, 3),
        "cat tuple": lambda: pd.Categorical([("a", 1), ("b", 2)] * (N // 2)),
        "cat unused": lambda: pd.Categorical(["a", "b"] * (N // 2), categories=["a", "b", "c"]),
        "cat bool": lambda: pd.Categorical([True, False] * (N // 2)),
        "cat mixed bool str": lambda: pd.Categorical([True, "x"] * (N // 2)),
        "cat of one": lambda: pd.Categorical(["a"] * N),
        "cat empty": lambda: pd.Categorical([None] * N),
        "cat 1 and True": lambda: np.array([1, True, "1"] * (N // 3), dtype=object),
        "cat mixed float str": lambda: np.array([1.0, "1.0", np.nan] * (N // 3), dtype=object),
        "emoji": lambda: ["😀", "a\x00b"] * (N // 2),
        "surrogate": lambda: ["\ud800", "b"] * (N // 2),
        "empty text": lambda: ["", "a"] * (N // 2),
        "long text": lambda: ["x" * 10000, "y"] * (N // 2),
        "numpy str": lambda: np.array(["a", "b"] * (N // 2)),
        "numpy bytes": lambda: np.array([b"a", b"b"] * (N // 2)),
        "void": lambda: np.zeros(N, dtype="V4"),
        "constant": lambda: np.ones(N),
        "classes": lambda: [int, str] * (N // 2),
        "functions": lambda: [len, print] * (N // 2),
        "nested df": lambda: [pd.DataFrame()] * N,
        "numpy scalar obj": lambda: np.array([np.float32(i) for i in range(N)], dtype=object),
        "np bool obj": lambda: np.array([np.bool_(i % 2) for i in range(N)], dtype=object),
        "pandas Timestamp obj": lambda: np.array(
            [pd.Timestamp("2020") + pd.Timedelta(i, "D") for i in range(N)], dtype=object
        ),
        "far dates": lambda: [dt.datetime(9999, 1, 1), dt.datetime(1, 1, 1)] * (N // 2),
        "str numbers": lambda: ["1", "2.5"] * (N // 2),
        "str inf": lambda: ["inf", "1"] * (N // 2),
        "bool": lambda: [True, False] * (N // 2),
        "uint8": lambda: np.arange(N, dtype=np.uint8),
        "big endian": lambda: x.astype(">f8"),
        "big endian int": lambda: np.arange(N).astype(">i4"),
        "obj ints huge mix": lambda: np.array([2**53 + 1, 1, 2] * (N // 3), dtype=object),
        "float huge whole": lambda: [2.0**60, 2.0**61, 1.0] * (N // 3),
    }


def _polars() -> dict[str, Make]:
    """Columns of polars."""
    return {
        "int128": lambda: pl.Series(list(range(N)), dtype=pl.Int128),
        "int128 huge": lambda: pl.Series([2**100 + i for i in range(N)], dtype=pl.Int128),
        "cat": lambda: pl.Series(["a", "b"] * (N // 2), dtype=pl.Categorical),
        "enum": lambda: pl.Series(["a", "b"] * (N // 2), dtype=pl.Enum(["a", "b"])),
        "decimal": lambda: pl.Series([Decimal(i) for i in range(N)], dtype=pl.Decimal(10, 2)),
        "list": lambda: pl.Series([[1]] * N),
        "struct": lambda: pl.Series([{"a": 1}] * N),
        "array": lambda: pl.Series([[1, 2]] * N, dtype=pl.Array(pl.Int64, 2)),
        "null": lambda: pl.Series([None] * N),
        "binary": lambda: pl.Series([b"a"] * N),
        "time": lambda: pl.Series([dt.time(1)] * N),
        "duration": lambda: pl.Series([dt.timedelta(i) for i in range(N)]),
        "date": lambda: pl.Series([dt.date(2020, 1, 1) + dt.timedelta(i) for i in range(N)]),
        "datetime": lambda: pl.Series(
            [dt.datetime(2020, 1, 1) + dt.timedelta(i) for i in range(N)]
        ),
        "object": lambda: pl.Series([object()] * N, dtype=pl.Object),
        "bool": lambda: pl.Series([True, None] * (N // 2)),
        "uint64": lambda: pl.Series([2**63 + i for i in range(N)], dtype=pl.UInt64),
        "f32": lambda: pl.Series(x.tolist(), dtype=pl.Float32),
        "int nulls": lambda: pl.Series([1, None, 3] * (N // 3)),
        "huge int nulls": lambda: pl.Series([2**60, None, 3] * (N // 3)),
        "int8": lambda: pl.Series([1, 2] * (N // 2), dtype=pl.Int8),
        "nan": lambda: pl.Series([float("nan"), 1.0, 2.0] * (N // 3)),
        "tz": lambda: pl.Series([dt.datetime(2020, 1, 1)] * N).dt.replace_time_zone("UTC"),
    }


def _arrow() -> dict[str, Make]:
    """Columns of Arrow."""
    return {
        "dict": lambda: pa.array(["a", "b"] * (N // 2)).dictionary_encode(),
        "dict int": lambda: pa.array([5, 6] * (N // 2)).dictionary_encode(),
        "dict null": lambda: pa.array(["a", None] * (N // 2)).dictionary_encode(),
        "dict ordered": lambda: pa.DictionaryArray.from_arrays(
            pa.array([0, 1] * (N // 2)), pa.array(["a", "b"]), ordered=True
        ),
        "dict null values": lambda: pa.DictionaryArray.from_arrays(
            pa.array([0, 1] * (N // 2)), pa.array(["a", None])
        ),
        "dict dup": lambda: pa.DictionaryArray.from_arrays(
            pa.array([0, 1] * (N // 2)), pa.array(["a", "a"])
        ),
        "dict float": lambda: pa.array([0.5, 1.5] * (N // 2)).dictionary_encode(),
        "dict bool": lambda: pa.DictionaryArray.from_arrays(
            pa.array([0, 1] * (N // 2)), pa.array([True, False])
        ),
        "dict date": lambda: pa.array(
            [dt.date(2020, 1, 1), dt.date(2021, 1, 1)] * (N // 2)
        ).dictionary_encode(),
        "decimal": lambda: pa.array([Decimal(i) for i in range(N)], pa.decimal128(20, 2)),
        "decimal256": lambda: pa.array([Decimal(i) for i in range(N)], pa.decimal256(40, 2)),
        "list": lambda: pa.array([[1]] * N),
        "struct": lambda: pa.array([{"a": 1}] * N),
        "null": lambda: pa.nulls(N),
        "binary": lambda: pa.array([b"a", b"b"] * (N // 2)),
        "large str": lambda: pa.array(["a", "b"] * (N // 2), pa.large_string()),
        "str view": lambda: pa.array(["a", "b"] * (N // 2), pa.string_view()),
        "date32": lambda: pa.array([dt.date(2020, 1, 1)] * N),
        "ts": lambda: pa.array([dt.datetime(2020, 1, 1 + i % 28) for i in range(N)]),
        "time": lambda: pa.array([dt.time(1)] * N),
        "duration": lambda: pa.array([dt.timedelta(i) for i in range(N)]),
        "half": lambda: pa.array(x.astype(np.float16)),
        "bool": lambda: pa.array([True, None] * (N // 2)),
        "ree": lambda: pa.RunEndEncodedArray.from_arrays([N // 2, N], [1.0, 2.0]),
        "uint64": lambda: pa.array([2**63 + i for i in range(N)], pa.uint64()),
        "int null": lambda: pa.array([1, None, 2] * (N // 3)),
        "huge int null": lambda: pa.array([2**62, None, 2] * (N // 3)),
        "map": lambda: pa.array([[("a", 1)]] * N, pa.map_(pa.string(), pa.int64())),
        "fsb": lambda: pa.array([b"ab"] * N, pa.binary(2)),
        "month interval": lambda: pa.array([(1, 2, 3)] * N, pa.month_day_nano_interval()),
    }


def _arrow_tables() -> dict[str, Make]:
    """Tables of Arrow."""
    return {
        "dup names": lambda: pa.Table.from_arrays([pa.array(x), pa.array(y)], names=["x", "x"]),
        "no cols": lambda: pa.table({}),
        "empty name": lambda: pa.table({"x": x, "": y}),
        "chunked": lambda: pa.concat_tables([pa.table({"x": x, "c": y})] * 2),
        "recordbatch": lambda: pa.record_batch({"x": x, "c": y}),
        "reader": lambda: pa.table({"x": x}).to_reader(),
    }


def _arrays() -> dict[str, Make]:
    """Arrays."""
    return {
        "object": lambda: np.c_[x, y].astype(object),
        "object mixed": lambda: np.array([[1.0, "a"], [2.0, "b"]] * (N // 2), dtype=object),
        "str": lambda: np.array([["1", "2"]] * N),
        "bool": lambda: np.c_[x > 0, y > 0],
        "complex": lambda: np.c_[x, y] + 1j,
        "1d": lambda: x,
        "3d": lambda: np.zeros((3, 3, 3)),
        "0d": lambda: np.array(1.0),
        "empty": lambda: np.zeros((0, 2)),
        "no cols": lambda: np.zeros((N, 0)),
        "int huge": lambda: np.array([[2**62 + i, i] for i in range(N)]),
        "uint64": lambda: np.array([[2**63 + i, i] for i in range(N)], dtype=np.uint64),
        "dates": lambda: np.array([["2020-01-01", "2021-01-01"]] * N, dtype="M8[D]"),
        "td": lambda: np.array([[1, 2]] * N, dtype="m8[D]"),
        "bigobj": lambda: np.array([[2**100 + i, i] for i in range(N)], dtype=object),
        "f16": lambda: np.c_[x, y].astype("f2"),
        "fortran": lambda: np.asfortranarray(np.c_[x, y]),
        "neg stride": lambda: np.c_[x, y][::-1, ::-1],
        "readonly": lambda: _readonly(np.c_[x, y]),
        "longdouble": lambda: np.c_[x, y].astype(np.longdouble),
        "void": lambda: np.zeros((N, 2), dtype="V3"),
        "big endian": lambda: np.c_[x, y].astype(">f8"),
        "noneobj": lambda: np.array([[None, 1.0]] * N, dtype=object),
        "matrix": lambda: np.matrix(np.c_[x, y]),
        "masked": lambda: np.ma.masked_array(np.c_[x, y], mask=np.c_[x > 1, y > 1]),
        "masked nowhere": lambda: np.ma.masked_array(np.c_[x, y]),
        "recarray": lambda: np.rec.fromarrays([x, y], names="x,c"),
        "structured": lambda: np.array(
            list(zip(x, y, strict=True)), dtype=[("x", float), ("c", float)]
        ),
        "structured 2d": lambda: np.array(
            [[(1.0, 2.0)] * 2] * N, dtype=[("x", float), ("c", float)]
        ),
    }


def _others() -> dict[str, Make]:
    """Tables that are odd as a whole, and things that are no tables."""
    return {
        "list of dicts": lambda: [
            {"x": float(a), "c": float(b)} for a, b in zip(x, y, strict=True)
        ],
        "dict of lists": lambda: {"x": list(x), "c": list(y)},
        "list of lists": lambda: [[1, 2]] * N,
        "None": lambda: None,
        "text": lambda: "abc",
        "number": lambda: 5,
        "generator": lambda: (i for i in [1]),
        "series": lambda: pd.Series(x),
        "pl series": lambda: pl.Series(x),
        "lazy": lambda: pl.DataFrame({"x": x}).lazy(),
        "groupby": lambda: pdf(c=y).groupby("c"),
        "df dup": lambda: pd.DataFrame(np.c_[x, y], columns=["x", "x"]),
        "df int names": lambda: pd.DataFrame(np.c_[x, y]),
        "df none name": lambda: pd.DataFrame(np.c_[x, y], columns=["x", None]),
        "df tuple names": lambda: pd.DataFrame(np.c_[x, y], columns=[("a", "b"), ("a", "c")]),
        "df multiindex cols": lambda: pd.DataFrame(
            np.c_[x, y], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
        ),
        "df multiindex rows": lambda: pdf(c=y).set_index(["x", "c"]),
        "df dup index": lambda: pdf(c=y).set_axis([0] * N),
        "df empty": lambda: pd.DataFrame(),
        "df norows": lambda: pdf(c=y)[:0],
        "df one": lambda: pdf(c=y)[:1],
        "df cat names": lambda: pdf(c=y).set_axis(pd.CategoricalIndex(["x", "c"]), axis=1),
        "df date names": lambda: pdf(c=y).set_axis(pd.date_range("2020", periods=2), axis=1),
        "df empty names": lambda: pdf(c=y).set_axis(["x", ""], axis=1),
        "df space names": lambda: pdf(c=y).set_axis(["x", " x"], axis=1),
        "df nul names": lambda: pdf(c=y).set_axis(["x", "a\x00b"], axis=1),
        "df flags": lambda: pdf(c=y).set_flags(allows_duplicate_labels=False),
        "memoryview": lambda: memoryview(np.c_[x, y]),
        "range": lambda: range(5),
        "df subclass": lambda: type("My", (pd.DataFrame,), {})(pdf(c=y)),
        "set": lambda: {1, 2},
    }
