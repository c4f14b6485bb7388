"""A store that was damaged, cut, edited, or written by two at once: refused by name, or whole."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_store import SCHEMA, parts, people, questions

from localface import LocalFACE
from localface.data.whole_files import with_checksum
from localface.errors import DamagedFile, DataError, InputError, LocalFACEError
from localface.sources import store_files
from localface.sources.cells import Cells
from localface.sources.store import Store, write_store
from localface.sources.store_checks import ROWS_OF_BLOCK

N = 3 * ROWS_OF_BLOCK


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stores") / "people"
    write_store(folder, parts(people(N, seed=0)), SCHEMA)
    return folder


@pytest.fixture
def copied(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "copy"))


def answers(source: Cells) -> list[Any]:
    """What a search could see: ids, distances, records, row numbers."""
    asked = questions(Store.open(source._rows.folder).space, people(12, seed=7), 20)
    found = source.nearest(asked)
    everything = np.arange(source.n_distinct)
    return [
        [(one.ids.tolist(), one.distances.tolist()) for one in found],
        source.records(everything).tobytes(),
        source.row_numbers(everything).tobytes(),
    ]


def open_and_ask(folder: Path) -> list[Any]:
    return answers(Store.open(folder).as_source())


def flip(path: Path, place: int, bit: int = 0) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1 << bit
    path.write_bytes(data)


def test_a_quarter_of_a_file_that_was_zeroed_is_noticed_at_opening(copied: Path) -> None:
    for name in ("near", "records", "rows"):
        kept = (copied / name).read_bytes()
        (copied / name).write_bytes(bytes(len(kept) // 4) + kept[len(kept) // 4 :])
        with pytest.raises(DamagedFile, match=rf"{name}' is damaged: .* copy the store again"):
            Store.open(copied).as_source()
        (copied / name).write_bytes(kept)


@pytest.mark.parametrize("name", ["near", "records", "rows"])
def test_one_bit_is_noticed_when_its_block_is_first_read(copied: Path, name: str) -> None:
    size = (copied / name).stat().st_size
    for place in np.linspace(0, size - 1, 7).astype(int):
        flip(copied / name, int(place))
        with pytest.raises(DamagedFile, match=f"{name}' is damaged"):
            open_and_ask(copied)
        with pytest.raises(DamagedFile, match=f"{name}' is damaged"):
            Store.open(copied).verify()
        flip(copied / name, int(place))
    Store.open(copied).verify()


def test_what_is_whole_is_verified_and_read_once(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from localface.sources import store_checks

    source = Store.open(copied).as_source()
    first = answers(source)
    monkeypatch.setattr(store_checks, "_sum_of_rows", lambda rows: pytest.fail("read again"))
    assert answers(source) == first


def test_opening_reads_a_sample_and_not_every_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from localface.sources import store, store_checks

    monkeypatch.setattr(store, "_ROWS_CHECKED", 3)
    write_store(tmp_path / "long", parts(people(20 * ROWS_OF_BLOCK, seed=0), 50_000), SCHEMA)
    seen = []
    real = store_checks._sum_of_rows
    monkeypatch.setattr(store_checks, "_sum_of_rows", lambda rows: seen.append(1) or real(rows))
    Store.open(tmp_path / "long").as_source()
    assert len(seen) == 3 * 3


@pytest.mark.parametrize("name", ["about.json", "cells.npz"])
def test_small_files_are_checked_whole_at_opening(copied: Path, name: str) -> None:
    size = (copied / name).stat().st_size
    before = open_and_ask(copied)
    for place in np.linspace(0, size - 1, 40).astype(int):
        flip(copied / name, int(place), int(place) % 7)
        with suppress(DamagedFile, DataError):  # a space more or less does no harm
            assert open_and_ask(copied) == before
        flip(copied / name, int(place), int(place) % 7)


EDITS: dict[str, Callable[[dict[str, Any]], object]] = {
    "n_rows as text": lambda about: about.update(n_rows="5000"),
    "fewer rows than distinct": lambda about: about.update(n_rows=2),
    "n_distinct of nothing": lambda about: about.update(n_distinct=0),
    "more n_distinct": lambda about: about.update(n_distinct=about["n_distinct"] + 1, n_rows=10**9),
    "n_probe of nothing": lambda about: about.update(n_probe=0),
    "n_probe below": lambda about: about.update(n_probe=-5),
    "n_probe gone": lambda about: about.pop("n_probe"),
    "recall of two": lambda about: about.update(recall=2.0),
    "recall of null": lambda about: about.update(recall=None),
    "sizes as a list": lambda about: about.update(sizes=[1, 2]),
    "sizes of nothing": lambda about: about.update(sizes={}),
    "sizes elsewhere": lambda about: about["sizes"].update({"../../etc/passwd": 5}),
    "schema of nothing": lambda about: about.update(schema={}),
    "schema as text": lambda about: about.update(schema="all"),
    "one feature less": lambda about: about["schema"]["features"].pop(),
    "absences of nobody": lambda about: about.update(absences=[[None]]),
    "absences as text": lambda about: about.update(absences=["ab"]),
    "a field more": lambda about: about.update(more=1),
    "no checksum of cells": lambda about: about.pop("parts_checksum"),
    "version as text": lambda about: about.update({"localface store": "3"}),
    "version of true": lambda about: about.update({"localface store": True}),
    "version of much": lambda about: about.update({"localface store": 10**400}),
}


@pytest.mark.parametrize("what", EDITS)
@pytest.mark.parametrize("forged", [False, True])
def test_an_edited_field_is_refused_with_a_sentence(copied: Path, what: str, forged: bool) -> None:
    about = json.loads((copied / "about.json").read_text())
    EDITS[what](about)
    if forged:
        about.pop("checksum")
        about = with_checksum(about)
    (copied / "about.json").write_text(json.dumps(about))
    with pytest.raises(LocalFACEError, match="write it again"):
        Store.open(copied).as_source()


def test_what_is_nested_without_end_is_no_store(copied: Path) -> None:
    (copied / "about.json").write_text("[" * 200_000)
    with pytest.raises(DataError, match="is no store"):
        Store.open(copied)


def test_a_file_that_is_gone_is_named(copied: Path) -> None:
    for name in ("near", "records", "rows", "cells.npz"):
        (copied / name).rename(copied / "away")
        with pytest.raises(DamagedFile, match=f"{name}' has 0 bytes"):
            Store.open(copied)
        (copied / "away").rename(copied / name)


def test_another_store_under_the_same_name_is_refused_where_a_copy_arrives(copied: Path) -> None:
    make, arguments = Store.open(copied).as_source().__reduce__()
    shutil.rmtree(copied)
    write_store(copied, parts(people(N + 100, seed=0)), SCHEMA)
    with pytest.raises(DataError, match="another store than the one that was opened first"):
        make(*arguments)


def test_a_search_that_meets_damage_is_stopped_and_no_person_is_blamed(tmp_path: Path) -> None:
    """In a batch, an answer that blames the person would be kept, and never asked again."""
    write_store(tmp_path / "store", parts(people(500, seed=0)), SCHEMA)
    explainer = LocalFACE(
        lambda table: np.asarray(table)[:, 0].astype(float) / 200, Store.open(tmp_path / "store")
    )
    source = explainer.engine.source
    source._rows.checks._sums["near"][0] ^= 1  # what a disk that goes bad comes to
    source._rows.checks._pending["near"][:] = True
    source._rows.checks._n_pending["near"] = 1
    own = {"weight": 72.0, "height": 170.0, "visits": 1, "smokes": 0, "ward": "a", "stay": 2.0}
    someone = [own, {**own, "ward": "b"}]
    with pytest.raises(DamagedFile, match="near' is damaged"):
        explainer.explain_many(someone, on_error="record", progress=False)


def test_a_full_disk_is_told_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store_files.os, "posix_fallocate", full)
    with pytest.raises(InputError, match=r"cannot be written: no space left .* make room"):
        write_store(tmp_path / "never", parts(people(500, seed=0)), SCHEMA)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LocalFACEError, match="cannot be written"):
        write_store(tmp_path / "file" / "store", parts(people(500, seed=0)), SCHEMA)


def test_the_second_of_two_writers_is_told_and_the_first_store_stays(tmp_path: Path) -> None:
    begun: list[int] = []

    def blocks() -> Any:
        if not begun:
            begun.append(1)
            write_store(tmp_path / "store", parts(people(500, seed=1)), SCHEMA)
        return iter([people(500, seed=0)])

    with pytest.raises(DataError, match="exists already"):
        write_store(tmp_path / "store", blocks, SCHEMA)
    assert [one.name for one in tmp_path.iterdir()] == ["store"]
    assert Store.open(tmp_path / "store").n_rows == 500


def write_slowly(folder: Path) -> None:
    def blocks() -> Any:
        for block in parts(people(3000, seed=0))():
            time.sleep(0.02)
            yield block

    write_store(folder, blocks, SCHEMA)


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="processes cannot be forked here"
)
def test_a_writer_that_is_killed_leaves_no_store_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    expected = write_store(tmp_path / "undisturbed", parts(people(3000, seed=0)), SCHEMA)
    context = multiprocessing.get_context("fork")
    for wait in (0.03, 0.1, 0.2, 0.3):
        writer = context.Process(target=write_slowly, args=(tmp_path / "store",))
        writer.start()
        time.sleep(wait)
        if writer.pid is not None:
            os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        shutil.rmtree(tmp_path / "store", ignore_errors=True)
    store = write_store(tmp_path / "store", parts(people(3000, seed=0)), SCHEMA)
    assert {one.name for one in tmp_path.iterdir()} == {"undisturbed", "store"}
    assert store.checksum == expected.checksum


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="processes cannot be forked here"
)
def test_a_draft_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writer = context.Process(target=write_slowly, args=(tmp_path / "store",))
    writer.start()
    until = time.monotonic() + 30
    while not any(one.name.startswith("store.draft") for one in tmp_path.iterdir()):
        assert time.monotonic() < until
        time.sleep(0.005)
    time.sleep(0.05)
    with pytest.raises(DataError, match="no two that differ"):  # after it has looked around
        write_store(tmp_path / "store", parts(people(1, seed=0)), SCHEMA)
    writer.join()
    assert writer.exitcode == 0
    assert Store.open(tmp_path / "store").n_rows == 3000
