"""A folder of promises: append-only, tamper-evident, safe for two writers and against kills."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localface import Ask, LocalFACE, Promises, Recourse
from localface.analyses.promises.ledger import FILE
from localface.errors import DamagedFile, InputError
from worlds import WORLDS, make_explainer

PEOPLE = 8


@cache
def explainer() -> LocalFACE:
    world = WORLDS["mixed"]()
    return make_explainer(world.model, world.data, schema=world.schema, n_neighbors=15)


@cache
def answers() -> tuple[Recourse, ...]:
    people = WORLDS["mixed"]().people.iloc[:PEOPLE]
    return tuple(one for one in explainer().explain_many(people, progress=False) if one.found)


def filled(folder: Path) -> Promises:
    promises = Promises.open(folder)
    for number, answer in enumerate(answers()):
        explainer().promise(answer, to=promises, person=number)
    return promises


def test_a_promise_comes_back_as_the_answer_that_was_given(tmp_path: Path) -> None:
    given = filled(tmp_path / "promises")

    read = Promises.open(tmp_path / "promises", create=False)

    assert [one.recourse for one in read] == list(answers())
    assert [one.person for one in read] == [str(n) for n in range(len(answers()))]
    assert read.head == given.head == read[-1].digest
    assert read[0].record["debt"] == answers()[0].records[0][read[0].recourse.schema.index("debt")]
    assert read[0].fingerprint == explainer().fingerprint
    assert read[0].fingerprint.versions["localface"]
    assert "promises" in repr(read)


def test_the_same_promise_twice_is_one(tmp_path: Path) -> None:
    promises = filled(tmp_path)
    head = promises.head

    again = explainer().promise(answers()[0], to=tmp_path, person=0)

    assert again.id == promises[0].id
    assert promises.verify() == head
    assert explainer().promise(answers()[0], to=promises, person="somebody else").id != again.id


def test_an_answer_asked_again_is_the_same_promise(tmp_path: Path) -> None:
    promises = filled(tmp_path)
    person = WORLDS["mixed"]().people.iloc[:PEOPLE]
    first = [one for one in explainer().explain_many(person, progress=False) if one.found]

    again = [explainer().promise(one, to=promises, person=n) for n, one in enumerate(first)]

    assert len(promises) == len(answers())
    assert [one.id for one in again] == [one.id for one in promises]


def test_two_that_have_it_open_write_behind_each_other(tmp_path: Path) -> None:
    one = Promises.open(tmp_path)
    other = Promises.open(tmp_path)

    for number, answer in enumerate(answers()):
        (one if number % 2 else other).add(answer, person=number)
    one.add(answers()[0], person=0)

    assert len(Promises.open(tmp_path)) == len(answers())


def test_what_was_changed_is_refused_and_named(tmp_path: Path) -> None:
    filled(tmp_path)
    path = tmp_path / FILE
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"person":"2"', b'"person":"3"'))

    with pytest.raises(DamagedFile, match="entry 3 was changed; put back a copy"):
        Promises.open(tmp_path)


def test_what_is_cut_off_at_the_end_is_only_noticed_against_a_kept_head(tmp_path: Path) -> None:
    promises = filled(tmp_path)
    head = promises.head
    path = tmp_path / FILE
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]))

    assert len(Promises.open(tmp_path)) == len(answers()) - 2
    with pytest.raises(DamagedFile, match="which was kept as its head: entries were removed"):
        Promises.open(tmp_path, head=head)
    with pytest.raises(DamagedFile, match="it ends before entry"):
        promises.add(answers()[0], person="late")


def test_an_earlier_head_is_still_there_when_more_has_been_added(tmp_path: Path) -> None:
    promises = Promises.open(tmp_path)
    promises.add(answers()[0])
    head = promises.head
    promises.add(answers()[1])

    assert promises.verify(head) == promises.head != head


def test_a_promise_that_was_closed_no_longer_stands(tmp_path: Path) -> None:
    promises = filled(tmp_path)

    promises.close(promises[1], "replaced")
    promises.close(promises[1].id, "twice")

    read = Promises.open(tmp_path)
    assert len(read) == len(answers())
    assert [one.id for one in read.active] == [one.id for one in read if one.id != read[1].id]
    assert read.closed[read[1].id].why == "replaced"
    with pytest.raises(InputError, match="there is no promise 'nobody'"):
        read.close("nobody", "")


def test_what_promises_nothing_is_refused(tmp_path: Path) -> None:
    world = WORLDS["mixed"]()
    fixed = [name for name in world.data.columns if name != "age"]
    refused = explainer().explain(world.people.iloc[0], fixed=fixed)
    assert not refused.found

    with pytest.raises(InputError, match="this answer promises nothing, as"):
        Promises.open(tmp_path).add(refused)


def test_the_answer_of_another_explainer_is_refused(tmp_path: Path) -> None:
    world = WORLDS["mixed"]()
    other = make_explainer(
        lambda frame: 0.3 * world.model.predict_proba(frame)[:, 1],
        world.data,
        schema=world.schema,
        n_neighbors=15,
        min_score=0.1,
    )
    with pytest.raises(InputError, match=r"this recourse is for 7 features and class 1"):
        other.promise(answers()[0], to=tmp_path)
    label = make_explainer(WrongModel(world.model), world.data, schema=world.schema, n_neighbors=15)
    with pytest.raises(InputError, match=r"ends at a score of 0.5\d, and the explainer's model"):
        label.promise(answers()[0], to=tmp_path)


class WrongModel:
    """The model with its scores turned round."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.classes_ = model.classes_

    def predict_proba(self, frame: Any) -> Any:
        return self.model.predict_proba(frame)[:, ::-1]


def test_what_was_asked_comes_back_as_it_was(tmp_path: Path) -> None:
    ask = Ask(where={"age": 5, "income": (20_000, 60_000), "home": ["own", "rent"]}, avoid=["debt"])

    Promises.open(tmp_path).add(answers()[0], ask=ask)

    (read,) = Promises.open(tmp_path)
    assert read.ask.where == {
        "age": 5,
        "income": {"bounds": [20_000, 60_000]},
        "home": ["own", "rent"],
    }
    assert list(read.ask.avoid) == ["debt"]


def test_folders_of_other_things_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "one.txt").write_text("dear")

    with pytest.raises(InputError, match="holds other things already"):
        Promises.open(tmp_path / "letters")
    with pytest.raises(InputError, match="is a file: name the folder"):
        Promises.open(tmp_path / "letters" / "one.txt")
    with pytest.raises(InputError, match="there are no promises in"):
        Promises.open(tmp_path / "nothing", create=False)


def test_a_later_version_says_that_it_is_one(tmp_path: Path) -> None:
    from localface.data.chained_lines import ChainedFile

    start = {"id": "start", "time": "", "format": "localface/promises", "made_with": "9"}
    ChainedFile(tmp_path / FILE).start({**start, "version": 2})

    with pytest.raises(InputError, match="these promises have version 2; this localface reads 1"):
        Promises.open(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("person", 3), ("answer", []), ("fingerprint", {}), ("asked", None), ("more", 1)],
)
def test_an_entry_of_another_kind_with_right_digests_is_named(
    tmp_path: Path, name: str, value: object
) -> None:
    from localface.data.chained_lines import ChainedFile

    filled(tmp_path / "right")
    plain = json.loads((tmp_path / "right" / FILE).read_bytes().splitlines()[1])
    forged = Promises.open(tmp_path / "forged")
    file = ChainedFile(tmp_path / "forged" / FILE)
    (start,) = file.read_after(None)
    for key in ("digest", "before", "number"):
        del plain[key]
    file.append([{**plain, name: value}], start)

    with pytest.raises(DamagedFile, match="entry 1 is none of ours"):
        list(Promises.open(forged.path))


def test_an_answer_that_cannot_be_read_is_named_by_its_entry(tmp_path: Path) -> None:
    promise = filled(tmp_path)[2]

    spoilt = replace(promise, answer={**promise.answer, "status": "x" * 9999})

    with pytest.raises(
        DamagedFile, match=r"^the answer of entry 3 of the promises cannot .{,330}$"
    ):
        _ = spoilt.recourse


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # it is forked with threads
def test_writers_that_are_killed_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    filled(tmp_path / "first")  # what it needs is worked out and imported before the first fork
    rng = np.random.default_rng(0)
    told = tmp_path / "told"
    told.touch()
    folder = tmp_path / "promises"
    for _ in range(20):
        enough = told.stat().st_size + int(rng.integers(0, 4))
        child = os.fork()
        if child == 0:
            _promise_until_killed(folder, told)
        while told.stat().st_size < enough and os.waitpid(child, os.WNOHANG) == (0, 0):
            time.sleep(0.001)
        time.sleep(float(rng.uniform(0.0, 0.01)))
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL

    there = [one.person for one in Promises.open(folder)]
    assert len(set(there)) == len(there)
    assert set(told.read_text().split()) <= set(there)
    assert len(there) > 5


def _promise_until_killed(folder: Path, told: Path) -> None:
    """Promise on behind the last that was told, once more what was written and not told."""
    try:
        promises = Promises.open(folder)
        with told.open("a") as file:
            for number in range(told.read_text().count("\n"), 10_000):
                promises.add(answers()[number % len(answers())], person=f"p{number}")
                file.write(f"p{number}\n")
                file.flush()
    finally:
        os._exit(1)
