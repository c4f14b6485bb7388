"""Many people in blocks, here and on a real Ray cluster: none lost, twice or different."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from localface import Ask, LocalFACE, Recourse, Search
from localface.apps.batch import Report, Unfinished, Worker, explain_blocks
from localface.apps.batch import serial as here
from localface.apps.batch.blocks import PeopleBlock, Results
from localface.errors import ConstraintError, DataError, InputError, LocalFACEError, ModelError
from worlds import make_explainer, mixed

BLOCK = 4
N = 27
TRAPPED = 13  # the person in whose block something happens: number 3
PATIENCE = 120.0  # seconds after which what is waited for is not going to happen


# a world, and models that behave badly when they meet one person


@dataclass(frozen=True)
class Model:
    """A fitted pipeline; ``trap`` is what happens when the trapped person is first scored."""

    pipeline: Any
    trapped: dict[str, float]
    trap: str = ""
    flag: str = ""

    def __call__(self, frame: Any) -> Any:
        met = np.logical_and.reduce(
            [frame[name] == value for name, value in self.trapped.items()]
        ).any()
        if self.trap and met and not Path(self.flag).exists():
            self.sprung()
        return self.pipeline.predict_proba(frame)[:, 1]

    def sprung(self) -> None:
        if self.trap == "die":
            os._exit(1)
        if self.trap == "fail":
            raise RuntimeError("no licence")
        if self.trap == "interrupt":
            raise KeyboardInterrupt
        Path(self.flag + ".new").write_text(str(os.getpid()), encoding="utf-8")
        Path(self.flag + ".new").rename(self.flag)
        time.sleep(PATIENCE)


@cache
def crowd() -> pd.DataFrame:
    return mixed().people.iloc[:N]


def model(kind: type[Model] = Model, **options: Any) -> Model:
    someone = crowd().iloc[TRAPPED]
    return kind(
        mixed().model, {name: float(someone[name]) for name in ("debt", "income", "age")}, **options
    )


def upside_down(frame: Any) -> Any:
    return 1 - model()(frame)


def explainer_of(scores: Any, **options: Any) -> LocalFACE:
    world = mixed()
    settings = {
        "schema": world.schema,
        "n_neighbors": world.n_neighbors,
        "min_score": world.min_score,
    }
    return make_explainer(scores, world.data, **{**settings, **options})


@cache
def plain() -> LocalFACE:
    return explainer_of(model())


@cache
def expected() -> tuple[Recourse, ...]:
    return tuple(plain().explain_many(crowd(), where=mixed().where, progress=False))


def trapped(trap: str, folder: Path) -> LocalFACE:
    return explainer_of(model(trap=trap, flag=str(folder / "flag")))


def written(people: pd.DataFrame, folder: Path) -> Path:
    """A folder of three uneven files, none of which ends where a block does."""
    folder.mkdir()
    cuts = [0, 7, 9, len(people)]
    for i in range(3):
        table = pa.Table.from_pandas(people.iloc[cuts[i] : cuts[i + 1]], preserve_index=False)
        pq.write_table(table, folder / f"{'abc'[i]}.parquet")
    return folder


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return written(crowd(), tmp_path / "people")


# what is the same


def same(one: Recourse, other: Recourse) -> bool:
    return (
        one.status is other.status
        and one.reason == other.reason
        and one.records.tobytes() == other.records.tobytes()
        and one.rows == other.rows
        and one.scores == other.scores
        and [(act.changes, act.before, act.score, act.follows) for act in one.actions]
        == [(act.changes, act.before, act.score, act.follows) for act in other.actions]
        and np.allclose(one.densities, other.densities, rtol=0, atol=1e-9)
    )


def assert_everyone_once(out: Path) -> None:
    """All ids once, in order, and every answer the one that explain_many gives."""
    answers = pq.read_table(out)
    assert answers["id"].to_pylist() == list(range(len(expected())))
    assert answers["status"].to_pylist() == [one.status.name for one in expected()]
    read = map(Recourse.from_json, answers["answer"].to_pylist())
    assert all(same(one, other) for one, other in zip(read, expected(), strict=True))


def parts(out: Path) -> list[Path]:
    return sorted(out.glob("part-*.parquet"))


def prints(out: Path) -> dict[str, tuple[int, int]]:
    """What would change if a part were written again."""
    return {one.name: (one.stat().st_ino, one.stat().st_mtime_ns) for one in parts(out)}


def run_here(explainer: LocalFACE, people: Any, out: Path, **options: Any) -> Report:
    settings = {"block_size": BLOCK, "ask": Ask(where=mixed().where), "progress": False}
    return here.explain_parquet(explainer, people, out, **{**settings, **options})


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everybody's answers, to be copied."""
    folder = tmp_path_factory.mktemp("finished")
    run_here(plain(), written(crowd(), folder / "people"), folder / "out")
    return folder / "out"


@pytest.fixture
def out(finished: Path, tmp_path: Path) -> Path:
    """A folder with everybody's answers."""
    return Path(shutil.copytree(finished, tmp_path / "out"))


# on this machine


def test_a_population_gets_the_answers_of_explain_many_and_of_explain(
    people: Path, tmp_path: Path
) -> None:
    report = run_here(plain(), people, tmp_path / "out")

    assert_everyone_once(tmp_path / "out")
    alone = [plain().explain(one, where=mixed().where) for one in crowd().to_dict("records")]
    assert all(same(one, other) for one, other in zip(alone, expected(), strict=True))
    assert (report.people, report.found, report.errors) == (
        N,
        sum(one.found for one in expected()),
        0,
    )
    assert (report.blocks, report.written, len(parts(tmp_path / "out"))) == (7, 7, 7)


def test_a_line_says_in_columns_what_the_answer_says(out: Path) -> None:
    for line, one in zip(pq.read_table(out).to_pylist(), expected(), strict=True):
        assert (line["score_before"], line["score_after"]) == (
            one.scores[0],
            one.with_actions_as_path().scores[-1],
        )
        assert (line["steps"], line["n_actions"]) == (len(one.certificates), len(one.actions))
        assert line["cautions"] == "; ".join(one.cautions)
        assert (line["reason"], line["error"], line["relaxed_to"]) == (
            one.reason,
            None,
            one.relaxed_to,
        )
        assert line["rows_seen"] == one.disclosure.rows
        assert line["cost"] == pytest.approx(one.cost, abs=1e-9)


@pytest.mark.parametrize("block_size", [7, 500])
def test_the_size_of_a_block_changes_no_answer(
    block_size: int, people: Path, tmp_path: Path
) -> None:
    run_here(plain(), people, tmp_path / "out", block_size=block_size)

    assert_everyone_once(tmp_path / "out")
    assert len(parts(tmp_path / "out")) == -(-N // block_size)


def test_one_file_or_a_dataset_will_do_as_well(people: Path, tmp_path: Path) -> None:
    pq.write_table(pq.read_table(people), tmp_path / "all.parquet", row_group_size=11)

    run_here(plain(), tmp_path / "all.parquet", tmp_path / "from a file")
    run_here(plain(), ds.dataset(pq.read_table(people)), tmp_path / "from memory")

    assert_everyone_once(tmp_path / "from a file")
    assert_everyone_once(tmp_path / "from memory")


def test_people_keep_the_ids_that_they_came_with(tmp_path: Path) -> None:
    names = [f"p{i:03d}" for i in range(N)]
    folder = written(crowd().assign(who=names, more=1.5), tmp_path / "people")

    run_here(plain(), folder, tmp_path / "out", id_column="who")

    assert pq.read_table(tmp_path / "out")["id"].to_pylist() == names


def test_a_record_that_cannot_be_read_is_told_of_and_keeps_nobody_else_from_an_answer(
    tmp_path: Path,
) -> None:
    broken = crowd().astype({"income": float}).copy()
    broken.loc[[4, 21], "income"] = np.nan
    broken.loc[22, "home"] = "castle"

    report = run_here(plain(), written(broken, tmp_path / "people"), tmp_path / "out")

    lines = pq.read_table(tmp_path / "out").to_pylist()
    assert [line["id"] for line in lines] == list(range(N))
    assert [line["id"] for line in lines if line["status"] == "ERROR"] == [4, 21, 22]
    assert lines[4]["error"].startswith("DataError: this person has no value of income (missing)")
    assert "castle" in lines[22]["error"]
    assert lines[4]["answer"] is None
    fine = [line for line in lines if line["status"] != "ERROR"]
    assert all(same(Recourse.from_json(line["answer"]), expected()[line["id"]]) for line in fine)
    assert (report.people, report.errors) == (N, 3)


def test_a_person_on_whom_the_model_fails_is_told_of(people: Path, tmp_path: Path) -> None:
    report = run_here(trapped("fail", tmp_path), people, tmp_path / "out")

    lines = pq.read_table(tmp_path / "out").to_pylist()
    assert [line["id"] for line in lines if line["status"] == "ERROR"] == [TRAPPED]
    assert "no licence" in lines[TRAPPED]["error"]
    assert report.errors == 1


def test_a_model_that_fails_on_everyone_is_no_answer_about_anyone(tmp_path: Path) -> None:
    def comes_and_goes(frame: Any) -> Any:
        if (tmp_path / "down").exists():
            raise RuntimeError("no connection")
        return model()(frame)

    worker = Worker(explainer_of(comes_and_goes))
    (tmp_path / "down").touch()
    with pytest.raises(ModelError, match="no connection"):
        worker(pa.Table.from_pandas(crowd()[:3], preserve_index=False))


def test_a_worker_is_a_function_of_its_block() -> None:
    block = pa.Table.from_pandas(crowd().iloc[20:26], preserve_index=False)
    worker = Worker(plain(), ask=Ask(where=mixed().where))

    first, again = worker(block), pickle.loads(pickle.dumps(worker))(block)

    assert first["id"].to_pylist() == [0, 1, 2, 3, 4, 5]
    assert first.drop(["answer"]).equals(again.drop(["answer"]))
    assert len(worker(block.slice(0, 0))) == 0
    assert worker(block.slice(0, 0)).schema.names == first.schema.names


def test_a_block_of_which_an_engine_says_nothing_is_not_taken_for_done(
    people: Path, tmp_path: Path
) -> None:
    def forgetful(worker: Worker, blocks: Iterator[PeopleBlock]) -> Results:
        yield from (part for part in here.run_blocks(worker, blocks) if part.number != 2)

    worker = Worker(plain(), ask=Ask(where=mixed().where))
    with pytest.raises(
        Unfinished, match=r"1 of 7 blocks could not be done: block 2 \(people 8 to 11\)"
    ):
        explain_blocks(
            forgetful, worker, people, tmp_path / "out", block_size=BLOCK, progress=False
        )

    assert run_here(plain(), people, tmp_path / "out").written == 1
    assert_everyone_once(tmp_path / "out")


# misuse, refused before anything is done


def test_a_column_that_is_missing_is_named_before_anything_is_written(tmp_path: Path) -> None:
    folder = written(crowd().rename(columns={"income": "incme"}), tmp_path / "people")

    with pytest.raises(DataError, match=r"lack 'income' \(did you mean 'incme'\?\)"):
        run_here(plain(), folder, tmp_path / "out")
    with pytest.raises(DataError, match=r"lack .*'who'"):
        run_here(plain(), folder, tmp_path / "out", id_column="who")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["a file", "packed", "a folder"])
def test_people_in_csv_will_do_as_well(kind: str, tmp_path: Path) -> None:
    source = tmp_path / {"a file": "all.csv", "packed": "all.csv.gz", "a folder": "people"}[kind]
    if kind == "a folder":
        source.mkdir()
        for name, some in (("a.csv", crowd()[:7]), ("b.csv", crowd()[7:9]), ("c.csv", crowd()[9:])):
            some.to_csv(source / name, index=False)
    else:
        crowd().to_csv(source, index=False)

    report = run_here(plain(), source, tmp_path / "out")
    again = run_here(plain(), source, tmp_path / "out")

    assert_everyone_once(tmp_path / "out")
    assert (report.written, again.written, again.kept) == (7, 0, 7)
    crowd()[1:].to_csv(source / "a.csv" if kind == "a folder" else source, index=False)
    with pytest.raises(InputError, match="the answers of another run, which differs in n_people"):
        run_here(plain(), source, tmp_path / "out")


def test_people_in_json_and_an_id_of_their_own(tmp_path: Path) -> None:
    some = crowd()[:3].assign(client=["C1", "C2", "C3"])
    some.to_json(tmp_path / "people.json", orient="records")

    options = {"id_column": "client", "ask": Ask()}
    run_here(plain(), tmp_path / "people.json", tmp_path / "out", **options)

    assert pq.read_table(tmp_path / "out")["id"].to_pylist() == ["C1", "C2", "C3"]


def test_a_folder_of_more_than_one_kind_of_file_is_refused(people: Path, tmp_path: Path) -> None:
    crowd().to_csv(people / "d.csv", index=False)

    with pytest.raises(DataError, match=r"holds 'd.csv' and 'a.parquet': put people into a folder"):
        run_here(plain(), people, tmp_path / "out")


def test_one_column_of_two_kinds_in_two_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "people").mkdir()
    crowd().to_csv(tmp_path / "people" / "a.csv", index=False)
    crowd().assign(age="old").to_csv(tmp_path / "people" / "b.csv", index=False)

    with pytest.raises(DataError, match=r"the people's files do not go together.*age"):
        run_here(plain(), tmp_path / "people", tmp_path / "out")


def test_a_constraint_on_nothing_is_refused_once_and_not_person_by_person(
    people: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConstraintError, match="did you mean 'married'"):
        run_here(plain(), people, tmp_path / "out", ask=Ask(where={"maried": "never"}))


def test_what_holds_nobody_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "words.parquet").write_text("words", encoding="utf-8")

    with pytest.raises(InputError, match=r"no file or folder .*did you mean 'empty'"):
        run_here(plain(), tmp_path / "emty", tmp_path / "out")
    with pytest.raises(DataError, match="nobody in"):
        run_here(plain(), tmp_path / "empty", tmp_path / "out")
    with pytest.raises(DataError, match=r"cannot be read as parquet \(of other .*'.csv', "):
        run_here(plain(), tmp_path / "words.parquet", tmp_path / "out")


def test_a_report_counts_one_as_one(tmp_path: Path) -> None:
    one = Report(blocks=1, out=tmp_path, people=1, found=1, written=1)

    assert str(one) == f"1 person, 1 found: 1 block in {tmp_path}"


def test_sizes_that_are_none_are_refused(people: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="block_size=0"):
        run_here(plain(), people, tmp_path / "out", block_size=0)


def test_a_folder_with_other_things_in_it_is_left_alone(people: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds other things"):
        run_here(plain(), people, people)
    with pytest.raises(InputError, match="is a file"):
        run_here(plain(), people, people / "a.parquet")


# restarts


def test_what_is_done_is_not_done_again(people: Path, out: Path) -> None:
    before = prints(out)
    (out / "part-00003.parquet").unlink()

    report = run_here(explainer_of(model()), people, out)

    after = prints(out)
    assert report.written == 1
    assert {name for name in before if before[name] != after[name]} == {"part-00003.parquet"}
    assert_everyone_once(out)
    assert str(report).startswith(f"{N} people, {report.found} found: 7 blocks (6 from before) in ")


def spoilt(kind: str, part: Path, other: Path) -> None:
    data = part.read_bytes()
    half = len(data) // 2
    if kind == "truncated":
        part.write_bytes(data[:half])
    elif kind == "empty":
        part.write_bytes(b"")
    elif kind == "flipped":
        part.write_bytes(data[:half] + bytes([data[half] ^ 255]) + data[half + 1 :])
    elif kind == "of another run":
        part.write_bytes(other.read_bytes())
    else:
        part.write_bytes((part.parent / "part-00005.parquet").read_bytes())


@pytest.mark.parametrize(
    "kind", ["truncated", "empty", "flipped", "of another run", "of another block"]
)
def test_a_part_that_is_not_what_was_written_is_done_again(
    kind: str, people: Path, out: Path, tmp_path: Path
) -> None:
    if kind == "of another run":
        run_here(plain(), people, tmp_path / "other", ask=Ask(actions=False))
    before = prints(out)
    spoilt(kind, out / "part-00004.parquet", tmp_path / "other" / "part-00004.parquet")

    report = run_here(plain(), people, out)

    after = prints(out)
    assert report.written == 1
    assert {name for name in before if before[name] != after[name]} == {"part-00004.parquet"}
    assert_everyone_once(out)


OTHER_RUNS: dict[str, tuple[Callable[[], LocalFACE], dict[str, Any], str]] = {
    "options": (
        plain,
        {"ask": Ask(where=mixed().where, relax=True)},
        r"options\.relax \(False there, True here\)",
    ),
    "constraints": (plain, {"ask": Ask(where={"married": "never", "age": 2})}, r"options\.where"),
    "blocks": (plain, {"block_size": 3}, r"block_size \(4 there, 3 here\)"),
    "model": (lambda: explainer_of(upside_down), {}, r"explainer\.model"),
    "settings": (
        lambda: explainer_of(model(), n_neighbors=20),
        {},
        r"explainer\.settings\.n_neighbors",
    ),
}


@pytest.mark.parametrize("what", OTHER_RUNS)
def test_a_folder_of_another_run_is_refused_and_left_alone(
    what: str, people: Path, out: Path
) -> None:
    explainer, options, said = OTHER_RUNS[what]
    before = prints(out)

    with pytest.raises(InputError, match=f"another run, which differs in {said}"):
        run_here(explainer(), people, out, **options)

    assert prints(out) == before


def test_other_people_or_other_data_are_another_run(
    people: Path, out: Path, tmp_path: Path
) -> None:
    others = written(crowd().assign(age=crowd()["age"].to_numpy()[::-1]), tmp_path / "others")
    world = mixed()
    smaller = LocalFACE(
        model(),
        world.data[1:],
        schema=world.schema,
        min_score=world.min_score,
        search=Search(n_neighbors=world.n_neighbors),
    )

    with pytest.raises(InputError, match="differs in people:"):
        run_here(plain(), others, out)
    with pytest.raises(InputError, match=r"explainer\.data"):
        run_here(smaller, people, out)


def test_an_explainer_that_was_used_in_between_goes_on(people: Path, out: Path) -> None:
    used = explainer_of(model()).prescore()
    used.explain_many(crowd()[:3], progress=False)

    assert run_here(used, people, out).written == 0


def test_an_interrupt_keeps_what_is_done_and_says_how_to_go_on(
    people: Path, tmp_path: Path
) -> None:
    explainer = trapped("interrupt", tmp_path)

    with pytest.raises(
        KeyboardInterrupt,
        match=r"the same call again goes on: 12 people, \d+ found: 3 of 7 blocks in",
    ):
        run_here(explainer, people, tmp_path / "out")

    assert len(parts(tmp_path / "out")) == 3
    before = prints(tmp_path / "out")
    (tmp_path / "flag").touch()
    assert run_here(explainer, people, tmp_path / "out").written == 4
    assert before.items() <= prints(tmp_path / "out").items()
    assert_everyone_once(tmp_path / "out")


def test_what_was_being_written_when_the_power_went_is_swept_up(people: Path, out: Path) -> None:
    (out / "part-00002.parquet").rename(out / ".part-00002.parquet.1.tmp")

    run_here(plain(), people, out)

    names = sorted(one.name for one in out.iterdir())
    assert names == [
        "_finished.jsonl",
        "_manifest.json",
        *(f"part-{i:05d}.parquet" for i in range(7)),
    ]
    assert json.loads((out / "_manifest.json").read_text(encoding="utf-8"))["n_people"] == N


# on a cluster

ray = pytest.importorskip("ray", reason='Ray is not installed: pip install "localface[cluster]"')
from localface.apps.batch import ray as cluster_engine  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A Ray cluster with room for two workers; its address."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv(
            "PYTHONPATH", os.pathsep.join(filter(None, sys.path))
        )  # for workers of a run that is not ours
        ray.cloudpickle.register_pickle_by_value(
            sys.modules[__name__]
        )  # workers need not import the tests
        ray.init(
            address="local",
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="error",
            object_store_memory=100 * 2**20,
        )
        yield ray.get_runtime_context().gcs_address
        ray.shutdown()


def run_there(explainer: LocalFACE, people: Any, out: Path, **options: Any) -> Report:
    settings = {
        "block_size": BLOCK,
        "ask": Ask(where=mixed().where),
        "progress": False,
        "workers": 2,
    }
    return cluster_engine.explain_parquet(explainer, people, out, **{**settings, **options})


def awaited(happened: Callable[[], Any], patience: float = PATIENCE) -> bool:
    until = time.monotonic() + patience
    while not happened():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has fetched yet counts."""
    try:
        return (
            "Z"
            in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        )
    except (FileNotFoundError, ProcessLookupError):
        return True


@contextmanager
def when_held(folder: Path, deed: Callable[[int], None]) -> Iterator[None]:
    """Do something with the worker that is held up in the trapped person's block."""
    flag = folder / "flag"
    thread = Thread(
        target=lambda: awaited(flag.exists) and deed(int(flag.read_text(encoding="utf-8")))
    )
    thread.start()
    yield
    thread.join()
    assert flag.exists()


def test_ray_gives_the_answers_of_explain_many(cluster: str, people: Path, tmp_path: Path) -> None:
    report = run_there(plain(), people, tmp_path / "out", workers=1)

    assert_everyone_once(tmp_path / "out")
    assert (report.people, report.blocks, report.written) == (N, 7, 7)


def test_a_worker_is_killed_in_mid_run_and_nothing_is_lost_nor_done_twice(
    cluster: str, people: Path, tmp_path: Path
) -> None:
    with when_held(tmp_path, lambda pid: os.kill(pid, signal.SIGKILL)):
        report = run_there(trapped("hold", tmp_path), people, tmp_path / "out")

    assert gone(int((tmp_path / "flag").read_text(encoding="utf-8")))
    assert (report.people, report.blocks, report.written) == (N, 7, 7)
    assert_everyone_once(tmp_path / "out")


RUN = """
import sys
from pathlib import Path
from test_batch import run_there, trapped
folder = Path(sys.argv[1])
run_there(trapped("hold", folder), folder / "people", folder / "out", address=sys.argv[2])
"""


def test_the_whole_run_is_killed_and_the_next_one_goes_on(
    cluster: str, people: Path, tmp_path: Path
) -> None:
    out, flag = tmp_path / "out", tmp_path / "flag"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-c", RUN, str(tmp_path), cluster], env=environment
    ) as run:
        begun = awaited(lambda: (flag.exists() and len(parts(out)) >= 2) or run.poll() is not None)
        run.kill()
    assert begun
    assert flag.exists()
    before = prints(out)
    assert 2 <= len(before) <= 6

    report = run_there(trapped("hold", tmp_path), people, out, workers=1)

    assert report.written == 7 - len(before)
    assert before.items() <= prints(out).items()
    assert_everyone_once(out)


def test_a_block_that_kills_its_workers_is_named_and_the_others_are_done(
    cluster: str, people: Path, tmp_path: Path
) -> None:
    explainer = trapped("die", tmp_path)

    with pytest.raises(
        Unfinished, match=r"1 of 7 blocks .* block 3 \(people 12 to 15\): 3 workers died"
    ) as caught:
        run_there(explainer, people, tmp_path / "out", workers=1)

    report = caught.value.report
    assert [one.number for one in report.failures] == [3]
    assert report.written == 6
    assert "part-00003.parquet" not in prints(tmp_path / "out")
    assert pickle.loads(pickle.dumps(caught.value)).report == report

    (tmp_path / "flag").touch()  # what was wrong is mended
    assert run_here(explainer, people, tmp_path / "out").written == 1
    assert_everyone_once(tmp_path / "out")


def test_an_interrupt_stops_the_workers_and_keeps_what_is_done(
    cluster: str, people: Path, tmp_path: Path
) -> None:
    explainer, out = trapped("hold", tmp_path), tmp_path / "out"
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever other tests have made of it

    def interrupt(pid: int) -> None:
        awaited(
            lambda: len(parts(out)) >= 2, patience=10
        )  # the only worker is held: more may never come
        os.kill(os.getpid(), signal.SIGINT)

    with (
        when_held(tmp_path, interrupt),
        pytest.raises(
            KeyboardInterrupt, match="what is done is kept, and the same call again goes on"
        ),
    ):
        run_there(explainer, people, out, workers=1)

    assert awaited(lambda: gone(int((tmp_path / "flag").read_text(encoding="utf-8"))))
    before = prints(out)
    assert run_here(explainer, people, out).written == 7 - len(before) > 0
    assert before.items() <= prints(out).items()
    assert_everyone_once(out)


def test_what_is_wrong_on_the_cluster_is_told_as_it_is_told_here(
    cluster: str, people: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="workers=0"):
        run_there(plain(), people, tmp_path / "out", workers=0)
    with pytest.raises(DataError, match="lack 'who'"):
        run_there(plain(), people, tmp_path / "out", id_column="who")


@dataclass(frozen=True)
class Homesick(Model):
    """A model that cannot be had anywhere but in the process where it was made."""

    home: int = 0

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["home"] != os.getpid():
            raise RuntimeError("no licence on this machine")
        self.__dict__.update(state)


def test_workers_that_cannot_be_made_end_the_run_with_the_reason(
    cluster: str, people: Path, tmp_path: Path
) -> None:
    with pytest.raises(LocalFACEError, match="no worker can be started") as caught:
        run_there(
            explainer_of(model(Homesick, home=os.getpid())), people, tmp_path / "out", workers=1
        )

    assert "no licence on this machine" in str(caught.value)


def test_a_model_that_cannot_travel_is_refused_with_the_reason(
    cluster: str, people: Path, tmp_path: Path
) -> None:
    lock = Lock()

    def jealous(frame: Any) -> Any:
        with lock:
            return model()(frame)

    with pytest.raises(
        ModelError, match=r"cannot be sent to the cluster \(.*lock.*\): the model has to be one"
    ):
        run_there(explainer_of(jealous), people, tmp_path / "out")


@pytest.mark.filterwarnings(
    "ignore:.* is deprecated::ray.data.context"
)  # Ray warns itself of its own settings
def test_a_ray_dataset_is_answered_person_by_person(cluster: str) -> None:
    ray.data.DataContext.get_current().enable_progress_bars = False
    table = pa.Table.from_pandas(crowd().assign(who=range(N)), preserve_index=False)

    answers = cluster_engine.explain_dataset(
        plain(),
        ray.data.from_arrow(table),
        block_size=9,
        workers=1,
        ask=Ask(where=mixed().where),
        id_column="who",
    )

    lines = sorted(answers.take_all(), key=lambda line: line["id"])
    assert [line["id"] for line in lines] == list(range(N))
    assert all(
        same(Recourse.from_json(line["answer"]), other)
        for line, other in zip(lines, expected(), strict=True)
    )


@pytest.mark.parametrize("options", [{}, {"density": "knn"}, {"edges": "cover"}], ids=str)
def test_an_explainer_out_of_the_object_store_answers_the_same(
    cluster: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "localface.density.fit._RANKED_ON", 200
    )  # so that some levels are worked out on the way
    own = explainer_of(model(), **options)
    shared = ray.get(ray.put(own))  # its arrays are read-only

    answers = shared.explain_many(crowd()[:12], where=mixed().where, progress=False)

    theirs = own.explain_many(crowd()[:12], where=mixed().where, progress=False)
    assert all(same(one, other) for one, other in zip(answers, theirs, strict=True))


def copied_and_shared(rows: int) -> tuple[int, int]:
    """Bytes of an explainer that each worker copies, and that those of a machine share."""
    world, buffers = mixed(), list[pickle.PickleBuffer]()
    explainer = LocalFACE(
        model(),
        world.data[:rows],
        schema=world.schema,
        search=Search(n_neighbors=world.n_neighbors),
    )
    copied = ray.cloudpickle.dumps(Worker(explainer), protocol=5, buffer_callback=buffers.append)
    return len(copied), sum(buffer.raw().nbytes for buffer in buffers)


def test_the_rows_are_shared_on_a_machine_and_not_copied_for_each_worker() -> None:
    copied, shared = copied_and_shared(450)
    copied_more, shared_more = copied_and_shared(900)

    assert copied_more - copied < 1000
    assert shared_more - shared > 450 * len(mixed().data.columns) * 8
