"""The same three people in every kind of table, and as records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from localface.data.feature import Feature
from localface.data.schema import Schema

SCHEMA = Schema(
    [
        Feature("age", kind="integer"),
        Feature("temp"),
        Feature("on", kind="binary", categories=(False, True)),
        Feature("ward", kind="categorical", categories=("home", "icu", "step")),
        Feature("grade", kind="ordinal", categories=("low", "mid", "high")),
    ]
)


ROWS = {
    "age": [63, 40, 51],
    "temp": [37.1, 0.1 + 0.2, 1e-300],
    "on": [True, False, True],
    "ward": ["icu", "home", "icu"],
    "grade": ["low", "high", "mid"],
}


CODES = np.array([[63, 37.1, 1, 1, 0], [40, 0.1 + 0.2, 0, 0, 2], [51, 1e-300, 1, 1, 1]])


PERSON = {"age": 63, "temp": 37.1, "on": True, "ward": "icu", "grade": "low"}


def pandas_table() -> pd.DataFrame:
    grade = pd.Categorical(ROWS["grade"], ["low", "mid", "high", "never seen"], ordered=True)
    table = pd.DataFrame({**ROWS, "grade": grade, "spare": [1, 2, 3]})
    return table.astype({"age": "int32", "ward": "category"})[
        ["spare", "grade", "age", "temp", "on", "ward"]
    ]


def polars_table() -> pl.DataFrame:
    kinds = {"age": pl.Int16, "ward": pl.Categorical, "grade": pl.Enum(["low", "mid", "high"])}
    return pl.DataFrame(ROWS, schema_overrides=kinds)


def pyarrow_table() -> pa.Table:
    table = pa.table(ROWS)
    ward = pa.array(ROWS["ward"]).dictionary_encode()
    indices = ward.indices.cast(pa.int8())
    return table.set_column(
        3, "ward", pa.DictionaryArray.from_arrays(indices, ward.dictionary, ordered=True)
    )


def array() -> np.ndarray:
    return np.array(list(zip(*ROWS.values(), strict=True)), dtype=object)


TABLES = [pandas_table(), polars_table(), pyarrow_table(), array()]
