"""Tables in files, read block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mixed_people import SCHEMA, people

from localface.data.read import read_records
from localface.errors import DataError
from localface.sources.blocks import blocks_of_csv, blocks_of_parquet
from localface.sources.store import write_store
from localface.types import Array


# On disk
def parts(records: Array, size: int = 700) -> Callable[[], Iterator[Array]]:
    return lambda: (records[first : first + size] for first in range(0, len(records), size))


def frame(records: Array) -> pd.DataFrame:
    table = pd.DataFrame(records, columns=list(SCHEMA.names))
    return table.assign(
        ward=np.array(["a", "b", "c"])[records[:, 4].astype(int)],
        visits=table["visits"].astype(int),
        note="x",
    )


def test_parquet_and_csv_files_are_read_in_blocks(tmp_path: Path) -> None:
    table = frame(people(900, seed=0))
    (tmp_path / "parts").mkdir()
    table[:500].to_parquet(tmp_path / "parts" / "a.parquet", row_group_size=120)
    table[500:].to_parquet(tmp_path / "parts" / "b.parquet")
    table.to_csv(tmp_path / "all.csv", index=False)
    wanted = read_records(table, SCHEMA)

    for blocks in (
        blocks_of_parquet(tmp_path / "parts", SCHEMA),
        blocks_of_csv(tmp_path / "all.csv", SCHEMA),
    ):
        np.testing.assert_array_equal(np.concatenate(list(blocks())), wanted)
        np.testing.assert_array_equal(np.concatenate(list(blocks())), wanted)
    store = write_store(tmp_path / "store", blocks_of_parquet(tmp_path / "parts", SCHEMA), SCHEMA)
    assert store.n_rows == 900


def test_a_file_that_lacks_a_column_is_refused(tmp_path: Path) -> None:
    table = frame(people(50, seed=0)).rename(columns={"weight": "wieght"})
    table.to_parquet(tmp_path / "x.parquet")
    table.to_csv(tmp_path / "x.csv", index=False)
    for blocks_of, name in ((blocks_of_parquet, "x.parquet"), (blocks_of_csv, "x.csv")):
        with pytest.raises(DataError, match=r"lacks 'weight' \(did you mean 'wieght'\?\)"):
            blocks_of(tmp_path / name, SCHEMA)
    with pytest.raises(DataError, match=r"there is no \.parquet file"):
        blocks_of_parquet(tmp_path / "nowhere", SCHEMA)
