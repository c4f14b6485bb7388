"""Files under attack: damaged, cut, edited, on a full disk, with writers killed at any moment.

    python benchmarks/attack_files.py [--only damage|kills|full] [--damages 1000] [--kills 50]
                                      [--seconds 100] [--seed 0]

A store, the answers of a batch run and promises are written once, and attacked. Whatever
is done to them, the right answer or a sentence that names the file may come, nothing else.
Each line of the report tells a figure with the bar it is held to, and the exit code is 1 where
one is missed. ``--seconds`` ends each part early, and the report says how far it came.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import attack_promises
from localface import Ask, Feature, LocalFACE, Promises, Schema
from localface.apps.batch.serial import explain_parquet
from localface.data.whole_files import with_checksum
from localface.errors import LocalFACEError
from localface.geometry.bounds import Bounds
from localface.sources.protocol import Nearest
from localface.sources.store import Store, write_store
from localface.types import NO_ROWS

_FORGED = "forged"
_HUNG = 60.0  # seconds after which something hangs
_SCHEMA = Schema(
    [Feature("debt"), Feature("income"), Feature("late", kind="integer"), Feature("age")]
)
Array = Any


class Hung(BaseException):
    """What was tried did not end."""


@dataclass(slots=True)
class Tally:
    """What became of each attack, and what went wrong, in words."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def note(self, what: str, outcome: str, detail: str = "") -> None:
        if outcome == "WRONG ANSWER" and _FORGED in what:
            outcome = "forged"  # by somebody who works out the checksum again: no damage
        self.counts[outcome] += 1
        if outcome not in ("refused", "harmless", "finished", "told", "forged"):
            self.wrong.append(f"{what}: {outcome} {detail}")

    def line(self, what: str, seconds: float) -> None:
        told = ", ".join(f"{n:,} {outcome}" for outcome, n in sorted(self.counts.items()))
        word = "MISSED" if self.wrong else "held"
        n = self.counts.total()
        print(f"  {what}: {n:,} in {seconds:.0f} s: {told} (at most 0 else) {word}", flush=True)
        for one in self.wrong[:10]:
            print(f"    {one}", flush=True)


def _records(n: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    income = rng.gamma(6.0, 5.0, n)
    return np.column_stack(
        [rng.gamma(2.0, 4.0, n), income, rng.poisson(1.2, n), rng.integers(18, 80, n)]
    ).astype(float)


def _score(frame: Any) -> Array:
    table = np.asarray(frame, dtype=float)
    return 1 / (1 + np.exp(-(0.15 * table[:, 1] - 0.3 * table[:, 0] - 0.4 * table[:, 2])))


def _blocks(records: Array, size: int = 700) -> Callable[[], Iterator[Array]]:
    return lambda: (records[first : first + size] for first in range(0, len(records), size))


@dataclass(frozen=True, slots=True)
class World:
    """A store, people to explain, and what comes out of both where nothing is done to them."""

    folder: Path
    records: Array
    explainer: LocalFACE
    asked: list[Nearest]

    @classmethod
    def make(cls, folder: Path, n: int = 9000) -> World:
        records = _records(n, 0)
        store = write_store(folder / "store", _blocks(records), _SCHEMA)
        points = store.space.points(_records(8, 1))
        free = Bounds.unlimited(store.space.width)
        asked = [Nearest(point, 20, free, NO_ROWS) for point in points]
        frame = pd.DataFrame(_records(400, 2), columns=list(_SCHEMA.names))
        explainer = LocalFACE(_score, frame, schema=_SCHEMA, groups=range(len(frame)))
        pd.DataFrame(_records(16, 3), columns=list(_SCHEMA.names)).to_parquet(
            folder / "people.parquet"
        )
        return cls(folder, records, explainer, asked)

    def open_and_ask(self) -> Any:
        """All that can be had out of the store."""
        store = Store.open(self.folder / "store")
        source = store.as_source()
        found = [(one.ids.tobytes(), one.distances.tobytes()) for one in source.nearest(self.asked)]
        ids = np.arange(source.n_distinct)
        told = store.schema.to_dict(), store.n_rows
        return found, source.records(ids).tobytes(), source.row_numbers(ids).tobytes(), told

    def run_batch(self, out: Path) -> Any:
        """Explain everybody, and return the report and the parts."""
        report = explain_parquet(
            self.explainer,
            self.folder / "people.parquet",
            out,
            block_size=4,
            progress=False,
            ask=Ask(actions=False),
        )
        return report.people, report.found, report.errors, self.parts(out)

    def promise(self, folder: Path) -> Promises:
        """Promise some people what they are answered."""
        people = pd.read_parquet(self.folder / "people.parquet")
        answers = attack_promises.some_answers(self.explainer, people)
        return attack_promises.fill(self.explainer, answers, folder)

    @staticmethod
    def parts(out: Path) -> dict[str, list[Any]]:
        """The answers, without what they took: that depends on what was asked before."""
        found = {}
        for path in sorted(out.glob("part-*.parquet")):
            answers = pd.read_parquet(path)
            plain = [json.loads(one) for one in answers.pop("answer")]
            for one in plain:
                for name in ("seconds", "model_calls", "rows_scored"):
                    one["disclosure"].pop(name, None)
            found[path.name] = [answers.to_json(), plain]
        return found


@contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise Hung

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# damage


def _damage(data: bytes, rng: np.random.Generator) -> tuple[str, bytes]:
    """Damage what a file holds, in one of many ways."""
    kind = str(rng.choice(["flip", "flip", "cut", "zero", "noise", "longer", "swap", "empty"]))
    size = len(data)
    at = int(rng.integers(size))
    upto = min(size, at + int(rng.integers(1, max(2, size // 3))))
    changed = bytearray(data)
    if kind == "flip":
        changed[at] ^= 1 << int(rng.integers(8))
    elif kind == "cut":
        del changed[at:]
    elif kind == "zero":
        changed[at:upto] = bytes(upto - at)
    elif kind == "noise":
        changed[at:upto] = rng.bytes(upto - at)
    elif kind == "longer":
        changed += rng.bytes(upto - at)
    elif kind == "swap":
        changed = changed[at:] + changed[:at]
    else:
        changed.clear()
    return f"{kind} at {at}", bytes(changed)


_ODD: list[Any] = [
    None, True, -1, 0, 1, 2**31, 2**63, 10**400, 1e308, -0.5, float("nan"), "", "3", "x" * 9999,
    [], [[]], {}, {"a": {}}, [None] * 50,
]  # fmt: skip


def _edit(data: bytes, rng: np.random.Generator) -> tuple[str, bytes]:
    """Change a field of a JSON object, at times with the right checksum beside it."""
    plain = json.loads(data)
    inside = plain
    path = []
    while True:
        keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        key = keys[int(rng.integers(len(keys)))]
        path.append(str(key))
        if not (isinstance(inside[key], dict | list) and inside[key]) or rng.random() < 0.4:
            break
        inside = inside[key]
    kind = rng.choice(["value", "gone", "twice"])
    odd = _ODD[int(rng.integers(len(_ODD)))]
    if kind == "gone" and isinstance(inside, dict):
        del inside[key]
    elif kind == "twice" and isinstance(inside, list):
        inside.append(inside[key])
    else:
        inside[key] = odd
    what = f"{kind} {'.'.join(path)} = {odd!r:.30}"
    if rng.random() < 0.5:
        plain.pop("checksum", None)
        plain = with_checksum(plain)
        what = f"{_FORGED} {what}"
    return what, json.dumps(plain).encode()


def _outcome(tried: Callable[[], Any], expected: Any) -> tuple[str, str]:
    """What comes of an attack."""
    try:
        with _deadline(_HUNG):
            return ("harmless", "") if tried() == expected else ("WRONG ANSWER", "")
    except LocalFACEError as error:
        said = str(error)
        return ("refused", "") if ":" in said and len(said) < 2000 else ("NO SENTENCE", said)
    except Hung:
        return "HUNG", ""
    except Exception:
        return "TRACEBACK", traceback.format_exc(limit=-2)


def attack_store_files(world: World, n: int, seconds: float, seed: int) -> Tally:
    """Damage one file of a store after the other."""
    rng = np.random.default_rng(seed)
    expected = world.open_and_ask()
    tally = Tally()
    until = time.monotonic() + seconds
    names = ["about.json", "about.json", "cells.npz", "near", "records", "rows"]
    while tally.counts.total() < n and time.monotonic() < until:
        path = world.folder / "store" / str(rng.choice(names))
        data = path.read_bytes()
        edited = path.name == "about.json" and rng.random() < 0.6
        what, damaged = (_edit if edited else _damage)(data, rng)
        path.write_bytes(damaged)
        tally.note(f"{path.name}: {what}", *_outcome(world.open_and_ask, expected))
        path.write_bytes(data)
    return tally


def attack_batch_files(world: World, n: int, seconds: float, seed: int) -> Tally:
    """Damage one file of a finished batch run, and run it again."""
    rng = np.random.default_rng(seed)
    out = world.folder / "answers"
    expected = world.run_batch(out)
    kept = {path.name: path.read_bytes() for path in out.iterdir()}
    tally = Tally()
    until = time.monotonic() + seconds
    while tally.counts.total() < n and time.monotonic() < until:
        name = str(rng.choice(sorted(kept)))
        edited = name == "_manifest.json" and rng.random() < 0.6
        what, damaged = (_edit if edited else _damage)(kept[name], rng)
        (out / name).write_bytes(damaged)
        tally.note(f"{name}: {what}", *_outcome(lambda: world.run_batch(out), expected))
        for path in out.iterdir():
            if path.name not in kept:
                path.unlink()
        for other, data in kept.items():
            (out / other).write_bytes(data)
    shutil.rmtree(out)
    return tally


def attack_promise_files(world: World, n: int, seconds: float, seed: int) -> Tally:
    """Damage or forge a file of promises, whose head was kept; forgers may know the digests."""
    rng = np.random.default_rng(seed)
    folder = world.folder / "promises"
    promises = world.promise(folder)
    promises.close(promises[0], "kept")
    head = promises.head
    path = folder / attack_promises.FILE
    data = path.read_bytes()
    expected = attack_promises.read_all(world.explainer, folder, head)
    tally = Tally()
    until = time.monotonic() + seconds
    while tally.counts.total() < n and time.monotonic() < until:
        forged = rng.random() < 0.5
        if forged:
            what, damaged = attack_promises.forge(data, rng, _edit)
            what = f"{_FORGED} {what}"
        else:
            what, damaged = _damage(data, rng)
        path.write_bytes(damaged)
        kept = None if forged and rng.random() < 0.5 else head
        tally.note(
            f"{path.name}: {what}",
            *_outcome(
                lambda kept=kept: attack_promises.read_all(world.explainer, folder, kept), expected
            ),
        )
    shutil.rmtree(folder)
    return tally


# kills, and a full disk


def _in_child(work: Callable[[], Any], *, kill_after: float | None = None, limit: int = 0) -> int:
    """Do something in a process of its own, killed after a while; its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if limit:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            work()
            code = 0
        except LocalFACEError:
            code = 3
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _usual_seconds(work: Callable[[], Any]) -> float:
    begin = time.monotonic()
    _in_child(work)
    return time.monotonic() - begin


def kill_store_writers(world: World, n: int, seconds: float, seed: int) -> Tally:
    """Kill writers of a store; the next one finishes, with the same store."""
    rng = np.random.default_rng(seed)
    expected = Store.open(world.folder / "store").checksum
    folder = world.folder / "killed" / "store"

    def work() -> None:
        write_store(folder, _blocks(world.records), _SCHEMA)

    usual = _usual_seconds(work)
    shutil.rmtree(folder)
    tally = Tally()
    until = time.monotonic() + seconds
    while tally.counts.total() < n and time.monotonic() < until:
        wait = float(rng.uniform(0, 1.15 * usual))
        code = _in_child(work, kill_after=wait)
        if folder.exists() and Store.open(folder).checksum != expected:
            tally.note(f"killed after {wait:.3f} s", "HALF A STORE")
        elif code not in (-signal.SIGKILL, 0):
            tally.note(f"killed after {wait:.3f} s", "FAILED", str(code))
        else:
            tally.note("", "finished")
        shutil.rmtree(folder, ignore_errors=True)
        if tally.counts.total() % 20 == 0 or tally.counts.total() == n:
            _check_restart_of_store(world, folder, tally, expected)
    return tally


def _check_restart_of_store(world: World, folder: Path, tally: Tally, expected: str) -> None:
    again = write_store(folder, _blocks(world.records), _SCHEMA)
    again.verify()
    left = [one.name for one in folder.parent.iterdir() if one.name != "store"]
    old = [one for one in left if any((folder.parent / one).iterdir())]
    if again.checksum != expected or old:
        tally.wrong.append(f"after a restart: {old} is left, checksum {again.checksum}")
    shutil.rmtree(folder)


def kill_batches(world: World, n: int, seconds: float, seed: int) -> Tally:
    """Kill batch runs again and again until one finishes; its answers are the undisturbed ones."""
    rng = np.random.default_rng(seed)
    expected = world.run_batch(world.folder / "undisturbed")
    out = world.folder / "killed-answers"
    usual = _usual_seconds(lambda: world.run_batch(out))
    shutil.rmtree(out)
    tally = Tally()
    until = time.monotonic() + seconds
    while tally.counts.total() < n and time.monotonic() < until:
        wait = float(rng.uniform(0, 0.9 * usual))
        code = _in_child(lambda: world.run_batch(out), kill_after=wait)
        if code not in (-signal.SIGKILL, 0):
            tally.note(f"killed after {wait:.3f} s", "FAILED", str(code))
        else:
            tally.note("", "finished")
        done = world.parts(out) if out.exists() else {}
        if any(expected[-1][name] != answers for name, answers in done.items()):
            tally.wrong.append(f"killed after {wait:.3f} s: a part is not what it should be")
        if len(done) == len(expected[-1]) or tally.counts.total() == n:
            if world.run_batch(out) != expected or list(out.glob(".*")):
                tally.wrong.append("after a restart: other answers, or something is left")
            shutil.rmtree(out)
    return tally


def kill_promise_writers(world: World, n: int, seconds: float, seed: int) -> Tally:
    """Kill writers of promises: nothing is lost, nothing doubled."""
    people = pd.read_parquet(world.folder / "people.parquet")
    answers = attack_promises.some_answers(world.explainer, people)
    done, _, wrong = attack_promises.kill_writers(
        answers, world.folder / "killed-promises", kills=n, seed=seed, seconds=seconds
    )
    tally = Tally(wrong=wrong)
    tally.counts["finished"] = done
    return tally


def fill_disks(world: World, n: int, seed: int) -> Tally:
    """Let files grow to some size only: that is told, nothing is half written, and it goes on."""
    rng = np.random.default_rng(seed)
    expected = Store.open(world.folder / "store").checksum
    batch = world.run_batch(world.folder / "full-answers")
    shutil.rmtree(world.folder / "full-answers")
    folder = world.folder / "full" / "store"
    out = world.folder / "full-answers"
    whole_promises = len(world.promise(world.folder / "whole-promises"))
    promises = world.folder / "full-promises"
    tally = Tally()
    for _ in range(n):
        limit = int(10 ** rng.uniform(0, 5.8))
        code = _in_child(lambda: world.promise(promises), limit=limit)
        fine = code in (0, 3) and len(world.promise(promises)) == whole_promises
        tally.note(f"promises of {limit}", "told" if fine else "FAILED", str(code))
        shutil.rmtree(promises)
        code = _in_child(lambda: write_store(folder, _blocks(world.records), _SCHEMA), limit=limit)
        whole = code == 0 and Store.open(folder).checksum == expected
        nothing = code == 3 and not any(folder.parent.iterdir())
        tally.note(f"store of {limit}", "told" if whole or nothing else "FAILED", str(code))
        shutil.rmtree(folder, ignore_errors=True)
        code = _in_child(lambda: world.run_batch(out), limit=limit)
        fine = code in (0, 3) and world.run_batch(out) == batch
        tally.note(f"batch of {limit}", "told" if fine else "FAILED", str(code))
        shutil.rmtree(out, ignore_errors=True)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["damage", "kills", "full"])
    parser.add_argument("--damages", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=100.0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    share = asked.seconds / (1 if asked.only else 2)
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        world = World.make(Path(folder))
        parts: dict[str, tuple[str, Callable[[], Tally]]] = {
            "damaged files of a store": (
                "damage",
                lambda: attack_store_files(world, asked.damages, share * 0.4, asked.seed),
            ),
            "damaged files of a batch": (
                "damage",
                lambda: attack_batch_files(world, asked.damages // 4, share * 0.3, asked.seed),
            ),
            "damaged files of promises": (
                "damage",
                lambda: attack_promise_files(world, asked.damages, share * 0.3, asked.seed),
            ),
            "writers of a store killed": (
                "kills",
                lambda: kill_store_writers(world, asked.kills, share / 3, asked.seed),
            ),
            "batch runs killed": (
                "kills",
                lambda: kill_batches(world, asked.kills, share / 3, asked.seed),
            ),
            "writers of promises killed": (
                "kills",
                lambda: kill_promise_writers(world, asked.kills, share / 3, asked.seed),
            ),
            "full disks": ("full", lambda: fill_disks(world, 8, asked.seed)),
        }
        print("files under attack", flush=True)
        for what, (kind, attack) in parts.items():
            if asked.only in (None, kind):
                begin = time.monotonic()
                tally = attack()
                tally.line(what, time.monotonic() - begin)
                missed |= bool(tally.wrong)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
