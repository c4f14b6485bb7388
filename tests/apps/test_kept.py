"""What is kept from one start to the next, and when it is worked out anew."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from localface.apps import kept
from localface.apps.kept import cache_folder, kept_or_made


class Maker:
    """Makes a value, and counts how often."""

    def __init__(self, value: object = "worked out") -> None:
        self.value = value
        self.times = 0

    def __call__(self) -> object:
        self.times += 1
        return self.value


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv(kept.FOLDER_VARIABLE, str(tmp_path / "deep" / "down"))
    yield tmp_path / "deep" / "down"
    kept._code_digest.cache_clear()


def test_what_was_made_is_made_once(folder: Path) -> None:
    make = Maker()
    assert [kept_or_made("thing", make, str) for _ in range(3)] == ["worked out"] * 3
    assert make.times == 1
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("harm", ["cut short", "one bit", "emptied", "other words", "no pickle"])
def test_a_damaged_file_is_passed_over_and_mended(folder: Path, harm: str) -> None:
    kept_or_made("thing", Maker(), str)
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    nonsense = b"nonsense"
    harmed = {
        "cut short": whole[:-3],
        "one bit": whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:],
        "emptied": b"",
        "other words": whole[:32] + pickle.dumps("wrong"),
        "no pickle": kept._digest(nonsense) + nonsense,
    }
    path.write_bytes(harmed[harm])

    make = Maker()
    assert kept_or_made("thing", make, str) == "worked out"
    assert make.times == 1
    assert path.read_bytes() == whole


def test_something_of_another_kind_is_made_anew(folder: Path) -> None:
    kept_or_made("thing", Maker(12), int)
    assert kept_or_made("thing", Maker(), str) == "worked out"


def test_other_code_makes_its_own_and_leaves_nothing_old_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_or_made("thing", Maker("old"), str)
    kept_or_made("thing-else", Maker("another"), str)
    monkeypatch.setattr(kept.localface, "__version__", "99.0")
    kept._code_digest.cache_clear()

    assert kept_or_made("thing", Maker("new"), str) == "new"
    names = sorted(path.name.rpartition("-")[0] for path in folder.iterdir())
    assert names == ["thing", "thing-else"]


def test_a_changed_file_of_the_package_counts_as_other_code(tmp_path: Path) -> None:
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "page.js").write_text("shown only")
    source = tmp_path / "search.py"
    source.write_text("a = 1")
    before = list(kept._described_files(tmp_path))
    source.write_text("a = 12")
    after = list(kept._described_files(tmp_path))
    assert len(before) == len(after) == 1
    assert before != after


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of files here")
def test_what_others_could_have_written_is_not_loaded(folder: Path) -> None:
    kept_or_made("thing", Maker(), str)
    (path,) = folder.iterdir()
    for place in (path, folder):
        mode = place.stat().st_mode
        place.chmod(mode | 0o022)
        make = Maker()
        kept_or_made("thing", make, str)
        assert make.times == 1
        place.chmod(mode)


def test_where_nothing_can_be_written_it_is_made_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv(kept.FOLDER_VARIABLE, str(tmp_path / "file"))
    make = Maker()
    for _ in range(2):
        assert kept_or_made("thing", make, str) == "worked out"
    assert make.times == 2


def test_what_cannot_be_pickled_leaves_no_file(folder: Path) -> None:
    function = lambda: None  # noqa: E731
    assert kept_or_made("thing", lambda: function, object) is function
    assert list(folder.iterdir()) == []


def test_an_empty_name_of_the_folder_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kept.FOLDER_VARIABLE, "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() is None
    assert kept_or_made("thing", Maker(), str) == "worked out"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix" or os.uname().sysname != "Linux", reason="of Linux")
def test_by_default_it_is_where_the_user_keeps_such_things(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(kept.FOLDER_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "localface"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "localface"
