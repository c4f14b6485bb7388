"""A table is opened in memory, in cells or from a folder; what cannot be fitted is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from localface import Feature, Schema
from localface.data.read import read_records
from localface.engine.loading import LoadedTable, load_table, number_people
from localface.errors import DataError, InputError, SchemaError
from localface.sources.cells import Cells
from localface.sources.store import Store, write_store
from localface.sources.table import TableSource
from small_engine import options, table


def test_few_rows_are_scanned_each_distinct_row_once() -> None:
    data = pd.concat([table(), table()])

    loaded = load_table(data, None, options())

    assert isinstance(loaded.source, TableSource)
    assert loaded.source.n_rows == 400
    assert len(loaded.fitted_records) == len(table().drop_duplicates())
    assert not loaded.fitted_on_sample


def test_the_order_of_the_rows_does_not_matter() -> None:
    one = load_table(table(), None, options())
    other = load_table(table().sample(frac=1.0, random_state=1), None, options())

    assert np.array_equal(one.fitted_records, other.fitted_records)


def test_whose_a_row_is_that_several_people_have_does_not_depend_on_their_order() -> None:
    data = pd.concat([table(), table()[:50]], ignore_index=True)
    groups = np.arange(len(data))
    order = np.random.default_rng(0).permutation(len(data))

    one = load_table(data, None, options(), groups=groups)
    other = load_table(data.iloc[order], None, options(), groups=groups[order])

    assert one.groups is not None
    assert other.groups is not None
    assert one.groups.tolist() == other.groups.tolist()


def test_many_rows_are_searched_in_cells_and_fitted_on_a_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("localface.engine.loading.MAX_SCANNED_ROWS", 500)
    monkeypatch.setattr("localface.engine.loading.SAMPLE", 300)
    data = table(2000)

    loaded = load_table(data, None, options())

    assert isinstance(loaded.source, Cells)
    assert 0 < len(loaded.fitted_records) <= 300
    assert loaded.fitted_on_sample


@pytest.mark.parametrize("given", [True, False])
def test_a_store_keeps_its_rows_in_their_folder(tmp_path: Path, given: bool) -> None:
    pytest.importorskip("pyarrow")
    schema = Schema.infer(table(2000))
    write_store(tmp_path / "rows", lambda: iter([table(2000)]), schema)
    store = Store.open(tmp_path / "rows")

    loaded = load_table(store, schema if given else None, options())

    assert loaded.schema == schema
    assert loaded.source.n_rows == 2000
    assert loaded.fitted_on_sample


def mixed(n: int = 2000) -> pd.DataFrame:
    """A table whose extremes and rarest categories are in one row each."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {
            "length": rng.normal(size=n).round(2),
            "ward": rng.choice(["east", "west"], n),
            "grade": rng.integers(0, 3, n),
        }
    )
    data.loc[n - 1] = [9.0, "north", 3]
    return data


MIXED = Schema(
    [
        Feature("length"),
        Feature("ward", kind="categorical", categories=("east", "west", "north", "south")),
        Feature("grade", kind="ordinal", categories=(0, 1, 2, 3, 4)),
    ]
)


def check_everybody_is_seen(loaded: LoadedTable) -> None:
    length, ward, grade = loaded.seen

    assert length.lowest == pytest.approx(mixed()["length"].min())
    assert length.highest == pytest.approx(9.0)
    assert ward.codes == {0, 1, 2}
    assert grade.codes == {0, 1, 2, 3}


def test_what_rows_hold_is_known_of_all_rows_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    check_everybody_is_seen(load_table(mixed(), MIXED, options()))

    monkeypatch.setattr("localface.engine.loading.MAX_SCANNED_ROWS", 500)
    monkeypatch.setattr("localface.engine.loading.SAMPLE", 300)

    check_everybody_is_seen(load_table(mixed(), MIXED, options()))


def test_what_rows_hold_is_known_of_all_rows_in_a_folder(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    write_store(tmp_path / "rows", lambda: iter([read_records(mixed(), MIXED)]), MIXED, sample=300)

    check_everybody_is_seen(load_table(Store.open(tmp_path / "rows"), None, options()))


def test_what_is_no_schema_is_refused() -> None:
    wrong: Any = {"a": "number"}

    with pytest.raises(SchemaError, match="schema= is a dict"):
        load_table(table(), wrong, options())


@pytest.mark.parametrize(
    ("rows", "given", "message"),
    [
        ([[1.0, 2.0]], {}, "has 1 row:"),
        ([[1.0, 2.0]] * 3, {}, "3 rows, all of them the same"),
        ([[1.0, 2.0], [2.0, 3.0]], {"n_neighbors": 5}, "only 2 rows"),
        (
            [[1.0, 2.0], [2.0, 3.0]],
            {"n_neighbors": 2, "edges": "cover", "min_people": 2},
            "only 1 others",
        ),
    ],
)
def test_a_table_that_is_too_small_is_refused(
    rows: list[list[float]], given: dict[str, Any], message: str
) -> None:
    data = pd.DataFrame(rows, columns=["a", "b"])

    with pytest.raises(DataError, match=message):
        load_table(data, None, options(**given))


def test_labels_of_any_kind_number_the_people() -> None:
    for labels in (["b", "a", "b"], [7, 3, 7], np.array(["x", 1, "x"], dtype=object)):
        numbers = number_people(labels, 3)
        assert numbers is not None
        assert numbers[0] == numbers[2] != numbers[1]
        assert sorted(set(numbers.tolist())) == [0, 1]
    assert number_people(None, 3) is None


def test_every_distinct_row_keeps_its_person() -> None:
    data = table()
    labels = np.arange(len(data)) // 2

    loaded = load_table(data, None, options(), groups=labels)

    assert loaded.groups is not None
    for record, person in zip(loaded.fitted_records, loaded.groups, strict=True):
        theirs = data.to_numpy(dtype=float)[labels == person]
        assert (theirs == record).all(axis=1).any()


def test_people_are_named_of_a_sample_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localface.engine.loading.MAX_SCANNED_ROWS", 500)
    monkeypatch.setattr("localface.engine.loading.SAMPLE", 300)
    data = table(2000)
    labels = np.arange(2000) // 4

    loaded = load_table(data, None, options(), groups=labels)

    assert loaded.groups is not None
    assert len(loaded.groups) == len(loaded.fitted_records)
    for record, person in zip(loaded.fitted_records, loaded.groups, strict=True):
        theirs = data.to_numpy(dtype=float)[labels == person]
        assert (theirs == record).all(axis=1).any()


@pytest.mark.parametrize(
    ("groups", "message"),
    [([1, 2, 3], "3 people, and the data has 200 rows"), ([5] * 200, "one person only")],
)
def test_names_that_do_not_fit_the_rows_are_refused(groups: list[int], message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_table(table(), None, options(), groups=groups)


def test_a_store_takes_no_names(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    write_store(tmp_path / "rows", lambda: iter([table(2000)]), Schema.infer(table(2000)))

    with pytest.raises(InputError, match="groups= is for rows in memory"):
        load_table(Store.open(tmp_path / "rows"), None, options(), groups=[1] * 2000)
