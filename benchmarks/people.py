"""How long does it take to read one person? Processor time by the form that they come in.

    python benchmarks/people.py [--times 100]

Each form is read as `explain` reads it: the record, and the format that the answer comes back
in. One table has 22 columns of numbers, the other 15 of numbers, counts and categories.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from localface.data.one_person import open_person
from localface.data.read import read_record
from localface.data.schema import Schema
from localface.data.table_format import TableFormat, person_format

LIMIT_MS = 0.2  # of processor time, for one person in any form
_ROWS = 200


def main() -> None:
    """Measure and print one line a form; the exit status is 1 where one takes too long."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=100, help="readings in each of ten runs (100)")
    chosen = parser.parse_args()
    slow = 0
    for title, table in (("22 numbers", numbers_table()), ("15 mixed", mixed_table())):
        for form, spent in times_by_form(table, times=chosen.times):
            slow += spent > LIMIT_MS
            print(f"{title:12s} {form:22s} {spent:7.3f} ms")
    raise SystemExit(int(slow > 0))


def times_by_form(table: pd.DataFrame, *, times: int) -> Iterator[tuple[str, float]]:
    """Tell for each form of a person how many milliseconds of processor time reading takes."""
    schema = Schema.infer(table)
    stored = TableFormat.of(table, schema)
    for form, person in forms_of_person(table).items():
        yield form, _quickest_ms(lambda one=person: _read(one, schema, stored), times)


def forms_of_person(table: pd.DataFrame) -> dict[str, Any]:
    """The first person of a table in each form that a person may come in."""
    row = table.iloc[0]
    one = table.iloc[[0]]
    return {
        "dict": row.to_dict(),
        "pandas Series": row,
        "pandas frame": one,
        "polars frame": pl.from_pandas(one),
        "pyarrow table": pl.from_pandas(one).to_arrow(),
        "array": row.to_numpy(),
        "dict with an id": {**row.to_dict(), "id": 7},
        "pandas frame with an id": one.assign(id=7),
    }


def numbers_table() -> pd.DataFrame:
    """A table of 22 columns of numbers."""
    values = np.random.default_rng(0).normal(size=(_ROWS, 22))
    return pd.DataFrame(values, columns=[f"x{j}" for j in range(22)])


def mixed_table() -> pd.DataFrame:
    """A table of 15 columns: numbers, counts, categories as text, and yes or no."""
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {f"x{j}": rng.normal(size=_ROWS) for j in range(6)}
    columns |= {f"count{j}": rng.integers(0, 40, _ROWS) for j in range(4)}
    columns |= {f"word{j}": rng.choice(["low", "middle", "high"], _ROWS) for j in range(3)}
    columns |= {f"flag{j}": rng.integers(0, 2, _ROWS).astype(bool) for j in range(2)}
    return pd.DataFrame(columns)


def _read(person: Any, schema: Schema, stored: TableFormat) -> Any:
    opened = open_person(person)
    return read_record(opened, schema, extra=("id",)), person_format(opened, stored)


def _quickest_ms(call: Callable[[], Any], times: int) -> float:
    """The quickest of ten runs: what others do on the machine only ever adds."""
    call()
    spent = []
    for _ in range(10):
        started = time.process_time_ns()
        for _ in range(times):
            call()
        spent.append((time.process_time_ns() - started) / times / 1e6)
    return min(spent)


if __name__ == "__main__":
    main()
