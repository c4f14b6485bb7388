"""A table in a folder: written in passes, opened again, refused where damaged."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mixed_people import SCHEMA, people

from localface.data.space import Space
from localface.errors import DamagedFile, DataError
from localface.geometry.bounds import Bounds
from localface.sources.cells import Cells
from localface.sources.partition import row_hashes, smallest_hashes
from localface.sources.protocol import Nearest
from localface.sources.store import Store, write_store
from localface.types import NO_ROWS, Array


def cells_of(records: Array, space: Space, **options: Any) -> Cells:
    rows = np.arange(len(records))
    return Cells.of(records, rows, points_of=space.points, n_rows=len(records), **options)


def free(width: int) -> Bounds:
    nowhere = np.zeros(width, dtype=bool)
    return Bounds(np.full(width, -np.inf), np.full(width, np.inf), nowhere, nowhere)


def boxed(space: Space, record: Array, **limits: float) -> Bounds:
    """Hold smokes and ward, let the stay only grow, and keep to limits on the others."""
    schema = space.schema.with_("smokes", moves="never").with_("ward", moves="never")
    for name, within in limits.items():
        schema = schema.with_(name, within=within)
    bounds = space.bounds(schema.box(record, None))
    return bounds.reachable_from(space.points(record[None, :])[0])


def questions(space: Space, records: Array, k: int) -> list[Nearest]:
    """Questions of several kinds: free, in boxes wide and narrow."""
    asked = []
    for i, record in enumerate(records):
        limits: dict[str, float] = [{}, {"weight": 6.0}, {"weight": 1.5, "visits": 1}][i % 3]
        bounds = free(space.width) if i % 4 == 0 else boxed(space, record, **limits)
        asked.append(Nearest(space.points(record[None, :])[0], k, bounds, NO_ROWS))
    return asked


# On disk
def parts(records: Array, size: int = 700) -> Callable[[], Iterator[Array]]:
    return lambda: (records[first : first + size] for first in range(0, len(records), size))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Array]:
    folder, records = tmp_path_factory.mktemp("stores") / "people", people(5000, seed=0)
    write_store(folder, parts(records), SCHEMA)
    return folder, records


def test_a_store_answers_as_a_table_in_memory(written: tuple[Path, Array]) -> None:
    folder, records = written
    store = Store.open(folder)
    in_memory = cells_of(records, store.space)
    source = store.as_source()
    asked = questions(store.space, people(40, seed=7), 30)

    assert (store.n_rows, store.n_distinct) == (5000, len(np.unique(records, axis=0)))
    assert (source.n_rows, source.width, source.recall) == (5000, 8, in_memory.recall)
    for mine, theirs in zip(source.nearest(asked), in_memory.nearest(asked), strict=True):
        np.testing.assert_array_equal(mine.ids, theirs.ids)
        np.testing.assert_array_equal(mine.distances, theirs.distances)
        np.testing.assert_array_equal(
            source.row_numbers(mine.ids), in_memory.row_numbers(theirs.ids)
        )
        np.testing.assert_array_equal(
            records[source.row_numbers(mine.ids)], source.records(mine.ids)
        )


def test_a_store_gives_back_its_schema_and_a_sample_of_distinct_rows(
    written: tuple[Path, Array],
) -> None:
    folder, records = written
    store = Store.open(folder)
    assert store.schema.to_dict() == SCHEMA.to_dict()
    assert sorted(store.sample.tolist()) == np.unique(records, axis=0).tolist()


def test_a_store_does_not_depend_on_the_order_or_the_blocks_of_rows(
    written: tuple[Path, Array], tmp_path: Path
) -> None:
    folder, records = written
    shuffled = np.concatenate([records, records[:99]])[np.random.default_rng(3).permutation(5099)]
    write_store(tmp_path / "other", parts(shuffled, 311), SCHEMA)
    assert (tmp_path / "other" / "near").read_bytes() == (folder / "near").read_bytes()
    assert (tmp_path / "other" / "records").read_bytes() == (folder / "records").read_bytes()


def test_a_sample_smaller_than_the_table_sets_the_space(tmp_path: Path) -> None:
    records = people(5000, seed=0)
    store = write_store(tmp_path / "few", parts(records), SCHEMA, sample=400)
    assert len(store.sample) == 400
    np.testing.assert_array_equal(store.sample, records[smallest_hashes(row_hashes(records), 400)])
    np.testing.assert_array_equal(store.space.scales, Space.fit(SCHEMA, store.sample).scales)
    assert store.as_source().n_distinct == len(np.unique(records, axis=0))


def test_a_copy_opens_the_maps_again_and_carries_no_rows(written: tuple[Path, Array]) -> None:
    store = Store.open(written[0])
    source = store.as_source()
    packed = pickle.dumps(source)
    again = pickle.loads(packed)
    asked = questions(store.space, people(5, seed=8), 10)

    assert len(packed) < len(pickle.dumps(store.space)) + 1000
    assert isinstance(again._rows.near.base, np.memmap)
    for mine, theirs in zip(source.nearest(asked), again.nearest(asked), strict=True):
        np.testing.assert_array_equal(mine.ids, theirs.ids)


def test_mapped_rows_cannot_be_written_to(written: tuple[Path, Array]) -> None:
    source = Store.open(written[0]).as_source()
    with pytest.raises(ValueError, match="read-only"):
        source._rows.near[0, 0] = 1.0


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    write_store(tmp_path / "cut", parts(people(500, seed=0)), SCHEMA)
    with (tmp_path / "cut" / "records").open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(DamagedFile, match=r"1,000 bytes where .* are wanted: the store is damaged"):
        Store.open(tmp_path / "cut")


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    write_store(tmp_path / "old", parts(people(500, seed=0)), SCHEMA)
    about = tmp_path / "old" / "about.json"
    about.write_text(about.read_text().replace('"localface store": 3', '"localface store": 99'))
    with pytest.raises(DataError, match=r"store of version 99.*write it again"):
        Store.open(tmp_path / "old")


def test_a_foreign_folder_and_an_absent_one_are_refused(tmp_path: Path) -> None:
    (tmp_path / "about.json").write_text("[1, 2]")
    with pytest.raises(DataError, match="is no store, or one that was not written to the end"):
        Store.open(tmp_path)
    with pytest.raises(DataError, match="there is no folder"):
        Store.open(tmp_path / "nowhere")


def test_another_space_is_refused(written: tuple[Path, Array]) -> None:
    store = Store.open(written[0])
    other = Space.fit(SCHEMA.with_("weight", scale=123.0), store.sample)
    with pytest.raises(DataError, match="were parted in another space"):
        store.as_source(other.points)


@pytest.mark.parametrize("passes", [0, 1, 2])
def test_a_crash_in_mid_write_leaves_nothing(tmp_path: Path, passes: int) -> None:
    records, calls = people(2000, seed=0), iter(range(9))

    def failing() -> Iterator[Array]:
        fails = next(calls) == passes
        yield records[:1000]
        if fails:
            raise KeyboardInterrupt
        yield records[1000:]

    with pytest.raises(KeyboardInterrupt):
        write_store(tmp_path / "never", failing, SCHEMA)

    assert list(tmp_path.iterdir()) == []


def test_a_draft_that_a_killed_writer_leaves_is_no_store(
    written: tuple[Path, Array], tmp_path: Path
) -> None:
    (tmp_path / "draft").mkdir()
    for file in written[0].iterdir():
        if file.name != "about.json":
            (tmp_path / "draft" / file.name).write_bytes(file.read_bytes())
    with pytest.raises(DataError, match="not written to the end"):
        Store.open(tmp_path / "draft")


def test_nothing_is_written_over(written: tuple[Path, Array]) -> None:
    with pytest.raises(DataError, match="exists already"):
        write_store(written[0], parts(people(500, seed=0)), SCHEMA)


def test_one_iterator_is_not_enough(tmp_path: Path) -> None:
    once = parts(people(2000, seed=0))()
    with pytest.raises(DataError, match="returns the same blocks each time"):
        write_store(tmp_path / "once", lambda: once, SCHEMA)


def test_a_table_of_one_person_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="3 rows and no two that differ"):
        write_store(tmp_path / "one", parts(np.repeat(people(1, seed=0), 3, axis=0)), SCHEMA)


def test_progress_is_told_to_the_end(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    write_store(
        tmp_path / "told",
        parts(people(2000, seed=0)),
        SCHEMA,
        progress=lambda *what: told.append(what),
    )
    assert list(dict.fromkeys(what for what, _, _ in told)) == [
        "sampling",
        "parting",
        "placing",
        "sorting",
    ]
    assert {what: (done, total) for what, done, total in told}["sorting"] == (2000, 2000)
