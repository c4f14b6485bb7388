"""Lines that vouch for each other: what is changed, taken out or moved is named."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from localface.data.chained_lines import ChainedFile, ChainedLine
from localface.errors import DamagedFile, InputError


def written(folder: Path, n: int = 5) -> ChainedFile:
    file = ChainedFile(folder / "lines.jsonl")
    file.start({"id": "start"})
    for k in range(1, n):
        with file.held():
            file.append([{"id": f"entry-{k}", "said": f"word {k}"}], lines_of(file)[-1])
    return file


def lines_of(file: ChainedFile) -> list[ChainedLine]:
    return list(file.read_after(None))


def test_lines_come_back_in_order_with_what_they_say(tmp_path: Path) -> None:
    file = written(tmp_path)

    lines = lines_of(file)

    assert [line.number for line in lines] == [0, 1, 2, 3, 4]
    assert file.read_line(lines[3])["said"] == "word 3"
    assert list(file.read_after(lines[3])) == lines[4:]


def test_any_tool_can_work_a_digest_out_again(tmp_path: Path) -> None:
    raw = written(tmp_path).path.read_text().splitlines()

    for before, line in zip([None, *raw], raw, strict=False):
        plain = json.loads(line)
        rest = line[len('{"digest":"') + 64 + len('",') : -1]
        assert hashlib.sha256(rest.encode()).hexdigest() == plain["digest"]
        assert plain["before"] == ("0" * 64 if before is None else json.loads(before)["digest"])


def test_what_was_changed_is_named(tmp_path: Path) -> None:
    file = written(tmp_path)
    file.path.write_bytes(file.path.read_bytes().replace(b"word 2", b"word 9"))

    with pytest.raises(DamagedFile, match=r"lines.jsonl' is not what was written: entry 2 was"):
        lines_of(file)


def test_what_was_changed_with_a_right_digest_is_named_by_the_line_behind(tmp_path: Path) -> None:
    file = written(tmp_path)
    raw = file.path.read_bytes().splitlines()
    rest = raw[2].replace(b"word 2", b"word 9")[len('{"digest":"') + 64 + len('",') : -1]
    raw[2] = b'{"digest":"' + hashlib.sha256(rest).hexdigest().encode() + b'",' + rest + b"}"
    file.path.write_bytes(b"\n".join([*raw, b""]))

    with pytest.raises(DamagedFile, match="entry 2 was changed: the next one was written behind"):
        lines_of(file)


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ([0, 1, 3, 4], "entry 2 was removed, or is elsewhere: entry 3 follows"),
        ([0, 1, 3, 2, 4], "entry 2 was removed, or is elsewhere: entry 3 follows"),
        ([0, 1, 2, 2, 3, 4], "entry 2 is where entry 3 was"),
        ([1, 2, 3, 4], "entry 0 was removed"),
    ],
)
def test_what_was_taken_out_moved_or_doubled_is_named(
    tmp_path: Path, order: list[int], said: str
) -> None:
    file = written(tmp_path)
    raw = file.path.read_bytes().splitlines(keepends=True)
    file.path.write_bytes(b"".join(raw[k] for k in order))

    with pytest.raises(DamagedFile, match=said):
        lines_of(file)


def test_every_single_changed_byte_is_noticed(tmp_path: Path) -> None:
    file = written(tmp_path, 3)
    data = file.path.read_bytes()
    whole = lines_of(file)

    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1
        file.path.write_bytes(bytes(changed))
        try:
            found = lines_of(file)
        except DamagedFile:
            continue
        # the last line break may go: then the last line was never finished
        assert at == len(data) - 1
        assert found == whole[:-1]


def test_a_line_that_was_never_finished_is_passed_over_and_written_over(tmp_path: Path) -> None:
    file = written(tmp_path)
    whole = lines_of(file)
    with file.path.open("ab") as stream:
        stream.write(b'{"digest":"12' + 5000 * b"3")

    assert lines_of(file) == whole
    file.append([{"id": "entry-5", "said": "word 5"}], whole[-1])
    assert [line.number for line in lines_of(file)] == [0, 1, 2, 3, 4, 5]
    assert file.path.read_bytes().endswith(b'word 5"}\n')


def test_nothing_is_written_over_a_whole_line_that_was_not_read(tmp_path: Path) -> None:
    file = written(tmp_path)
    data = file.path.read_bytes()

    with pytest.raises(InputError, match="another process has just written"):
        file.append([{"id": "entry-9"}], lines_of(file)[2])

    assert file.path.read_bytes() == data


def test_a_file_that_shrank_since_is_damaged(tmp_path: Path) -> None:
    file = written(tmp_path)
    lines = lines_of(file)
    file.path.write_bytes(file.path.read_bytes()[: lines[2].start])

    with pytest.raises(DamagedFile, match="it ends before entry 4"):
        list(file.read_after(lines[-1]))
