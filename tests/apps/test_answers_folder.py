"""The folder of answers: damaged, full, held by another run; what is done is kept."""

from __future__ import annotations

import errno
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localface.apps.batch import answers_folder
from localface.apps.batch.answers_folder import (
    FINISHED,
    MANIFEST,
    AnswersFolder,
    PeopleCounts,
    open_answers_folder,
)
from localface.data import whole_files
from localface.errors import InputError

RUN: dict[str, Any] = {"format": "localface/parts", "version": 2, "n_people": 30, "where": [1.5]}
COUNTS = {number: PeopleCounts(10, number, 0) for number in range(3)}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    with open_answers_folder(tmp_path / "out", RUN) as folder:
        for number, counts in COUNTS.items():
            folder.write_part(number, f"answers of block {number}".encode() * 9, counts)
    return tmp_path / "out"


def finished(out: Path) -> dict[int, PeopleCounts]:
    with open_answers_folder(out, RUN) as folder:
        return folder.counts_of_finished_blocks(3)


def test_what_was_written_is_finished(out: Path) -> None:
    assert finished(out) == COUNTS


def test_no_bit_of_the_list_changes_what_is_told_of_a_block(out: Path) -> None:
    data = (out / FINISHED).read_bytes()
    for place in range(len(data)):
        for bit in (0, 3, 6):
            flipped = bytearray(data)
            flipped[place] ^= 1 << bit
            (out / FINISHED).write_bytes(flipped)
            found = AnswersFolder(out).counts_of_finished_blocks(3)
            assert found.items() <= COUNTS.items()


@pytest.mark.parametrize(
    "line",
    [
        '{"block": [1], "digest": "", "people": 1, "found": 1, "errors": 0}',
        '{"block": 1e400, "digest": "", "people": 1, "found": 1, "errors": 0}',
        '{"block": 99, "digest": "", "people": "many", "found": null, "errors": 0}',
        "[" * 100_000,
        "null",
        "\x00\xff",
    ],
)
def test_a_line_that_is_none_is_passed_over(out: Path, line: str) -> None:
    with (out / FINISHED).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}")
    assert finished(out) == COUNTS


def test_a_block_that_the_run_does_not_have_is_not_counted(out: Path) -> None:
    with open_answers_folder(out, RUN) as folder:
        folder.write_part(7, b"another", PeopleCounts(10, 0, 0))
    assert finished(out) == COUNTS


def test_every_bit_of_the_manifest_counts_or_does_no_harm(out: Path) -> None:
    data = (out / MANIFEST).read_bytes()
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= 1 << (place % 8)
        (out / MANIFEST).write_bytes(flipped)
        try:
            assert finished(out) == COUNTS
        except InputError as error:
            said = str(error)
            assert "is damaged: name another folder" in said or "another run" in said


def test_a_manifest_of_an_earlier_version_is_another_run(out: Path) -> None:
    (out / MANIFEST).write_text(json.dumps({**RUN, "version": 1}), encoding="utf-8")
    with pytest.raises(InputError, match=r"another run, which differs in version \(1 there"):
        finished(out)


def test_a_second_run_at_the_same_time_is_refused(out: Path) -> None:
    pytest.importorskip("fcntl", reason="folders cannot be held here")
    with (
        open_answers_folder(out, RUN),
        pytest.raises(InputError, match=r"another run is writing .* wait until it has ended"),
    ):
        finished(out)
    assert finished(out) == COUNTS


def test_a_full_disk_keeps_what_is_done(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_answers_folder(out, RUN) as folder:
        monkeypatch.setattr(whole_files.os, "fsync", full)
        with pytest.raises(InputError, match=r"block 2 .* no space left .* the same call again"):
            folder.write_part(2, b"other answers", PeopleCounts(10, 9, 0))
        monkeypatch.undo()
    assert finished(out) == COUNTS
    assert not list(out.glob(".*"))


def test_a_folder_within_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match=r"cannot be written to: not a directory .* name a folder"),
        open_answers_folder(tmp_path / "file" / "out", RUN),
    ):
        pass


@pytest.mark.parametrize("at", range(6))
def test_a_kill_at_any_call_of_the_system_leaves_whole_blocks(
    out: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Every call that writes is the last one in turn; nothing is tidied up, as after a kill."""
    calls = iter(range(99))

    class Killed(BaseException):
        pass

    def dying(real: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            if next(calls) >= at:
                raise Killed
            return real(*arguments, **options)

        return call

    with open_answers_folder(out, RUN) as folder:
        monkeypatch.setattr(answers_folder.os, "fsync", dying(answers_folder.os.fsync))
        monkeypatch.setattr(Path, "replace", dying(Path.replace))
        monkeypatch.setattr(Path, "unlink", dying(Path.unlink))
        with suppress(Killed):
            folder.write_part(1, b"new answers", PeopleCounts(10, 5, 5))
        monkeypatch.undo()
    found = finished(out)
    assert found.pop(1, COUNTS[1]) in (COUNTS[1], PeopleCounts(10, 5, 5))
    assert found == {0: COUNTS[0], 2: COUNTS[2]}
    assert not list(out.glob(".*"))


def test_half_a_list_is_half_of_what_is_done(out: Path) -> None:
    data = (out / FINISHED).read_bytes()
    for size in np.linspace(0, len(data), 50).astype(int):
        (out / FINISHED).write_bytes(data[:size])
        assert finished(out).items() <= COUNTS.items()
