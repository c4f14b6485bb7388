"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from localface import Feature, Schema
from localface.data import whole_files
from localface.data.whole_files import (
    explain_os_errors,
    has_right_checksum,
    hold_folder,
    with_checksum,
    write_whole,
)
from localface.errors import InputError


def test_a_write_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = Schema([Feature("age")])
    schema.save(tmp_path / "schema.toml")

    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(whole_files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        Schema([Feature("other")]).save(tmp_path / "schema.toml")
    monkeypatch.undo()
    assert Schema.load(tmp_path / "schema.toml").names == ("age",)
    assert [one.name for one in tmp_path.iterdir()] == ["schema.toml"]


def test_what_a_link_points_to_is_replaced_and_not_the_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_what_is_no_file_is_written_to_as_it_is() -> None:
    write_whole(Path(os.devnull), b"gone")
    assert not Path(os.devnull).is_file()


def test_a_refusal_of_the_system_names_the_file_and_what_to_do(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"cannot be written: no such file .*answer\.json'\); see"),
        explain_os_errors("the answer cannot be written"),
    ):
        write_whole(tmp_path / "nowhere" / "answer.json", "{}")


def test_a_checksum_is_of_values_and_not_of_how_they_are_set() -> None:
    document = with_checksum({"b": [1, 2.5, None], "a": {"x": "ü"}})
    assert has_right_checksum(dict(sorted(document.items())))
    assert not has_right_checksum({**document, "b": [1, 2.5, 0]})
    assert not has_right_checksum({**document, "more": 1})
    assert not has_right_checksum({"a": 1})


def test_a_folder_is_held_by_one(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="folders cannot be held here")
    with hold_folder(tmp_path) as first, hold_folder(tmp_path) as second:
        assert (first, second) == (True, False)
    with hold_folder(tmp_path) as again:
        assert again
