"""Promises under attack: writers killed at any moment, damaged and forged files, full disks."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from localface import LocalFACE, Promises, Recourse

FILE = "promises.jsonl"
_AT_ONCE = 2  # writers
_FOLDER_OF = 100  # kills after which a new folder is begun, so that beginnings are killed as well
_LIVES = 2.0  # times as long as it takes to begin and to promise a little, at most
Array = Any


def some_answers(explainer: LocalFACE, people: Any) -> list[Recourse]:
    """Answers that can be promised."""
    return [one for one in explainer.explain_many(people, progress=False) if one.found]


def fill(explainer: LocalFACE, answers: list[Recourse], folder: Path) -> Promises:
    """A folder of promises."""
    promises = Promises.open(folder)
    for number, answer in enumerate(answers):
        explainer.promise(answer, to=promises, person=number)
    return promises


def read_all(explainer: LocalFACE, folder: Path, head: str | None) -> Any:
    """All that can be had out of a folder of promises."""
    promises = Promises.open(folder, create=False, head=head)
    given = [(one.id, one.person, one.time, one.recourse.to_json()) for one in promises]
    closed = dict(promises.closed)
    found = explainer.recheck(promises, repairs="none", show_progress=False)
    return given, closed, [(one.status, one.measured) for one in found]


# damage


def forge(data: bytes, rng: np.random.Generator, edit: Callable[..., Any]) -> tuple[str, bytes]:
    """Edit one entry and give it, and at times all behind it, the right digests."""
    lines = data.splitlines()
    at = int(rng.integers(len(lines)))
    what, changed = edit(lines[at], rng)
    plain = json.loads(changed)
    rest = [plain, *(json.loads(line) for line in lines[at + 1 :])]
    chained = rng.random() < 0.7
    written = lines[:at]
    before = json.loads(written[-1])["digest"] if written else "0" * 64
    for number, entry in enumerate(rest):
        if not chained and number:
            written.append(lines[at + number])
            continue
        written.append(_line(entry, before))
        before = json.loads(written[-1])["digest"]
    return f"entry {at}: {what}", b"\n".join(written) + b"\n"


def _line(entry: dict[str, Any], before: str) -> bytes:
    """An entry as a line with the right digests, as far as it is one at all."""
    others = {
        name: value
        for name, value in entry.items()
        if name not in ("digest", "before", "number", "id", "checksum")
    }
    head = {"before": before, "number": entry.get("number"), "id": entry.get("id")}
    body = json.dumps({**head, **others}, separators=(",", ":"))[1:-1].encode()
    return b'{"digest":"' + hashlib.sha256(body).hexdigest().encode() + b'",' + body + b"}"


# kills


def kill_writers(
    answers: list[Recourse],
    folder: Path,
    *,
    kills: int,
    seed: int,
    seconds: float = float("inf"),
) -> tuple[int, int, list[str]]:
    """Kill writers, two at a time; returns kills, promises written, and what is wrong.

    A writer tells of a promise in a file of its own once ``add`` has returned, and the next one
    goes on behind the last that was told: what was written and not told is added once more.
    Whatever is told must be there, once, and every chain must be whole.
    """
    rng = np.random.default_rng(seed)
    longest = _LIVES * _usual_seconds(answers, folder)
    until = time.monotonic() + seconds
    done = written = 0
    wrong: list[str] = []
    while done < kills and not wrong and time.monotonic() < until:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        here = min(_FOLDER_OF, kills - done)
        killed = 0
        while killed < here and not wrong and time.monotonic() < until:
            lives = rng.uniform(0, longest, min(_AT_ONCE, here - killed)).tolist()
            codes = _kill_some(answers, folder, lives)
            killed += len(codes)
            wrong += [f"a writer ended by itself ({code})" for code in codes if code != -9]
        done += killed
        found, faults = _faults(folder)
        written += found
        wrong += [f"after {done} kills: {one}" for one in faults]
    return done, written, wrong


def _usual_seconds(answers: list[Recourse], folder: Path) -> float:
    """How long it takes to open a folder and to promise a few; what it needs is then imported."""
    for _ in range(2):
        shutil.rmtree(folder, ignore_errors=True)
        begun = time.monotonic()
        promises = Promises.open(folder)
        for answer in answers[:4]:
            promises.add(answer)
    return time.monotonic() - begun


def _kill_some(answers: list[Recourse], folder: Path, lives: list[float]) -> list[int]:
    """Start writers, let them live for a moment, and kill them; how each ended."""
    children = []
    for name, _ in zip("ab", lives, strict=False):
        child = os.fork()
        if child == 0:
            _write_until_killed(answers, folder, name)
        children.append(child)
    begun = time.monotonic()
    for life, child in sorted(zip(lives, children, strict=True)):
        time.sleep(max(0.0, life - (time.monotonic() - begun)))
        os.kill(child, signal.SIGKILL)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def _write_until_killed(answers: list[Recourse], folder: Path, name: str) -> None:
    code = 1
    try:
        told = folder / f"told-{name}"
        promises = Promises.open(folder / "promises")
        with told.open("ab") as file:
            for number in range(told.read_bytes().count(b"\n"), 10**6):
                promises.add(answers[number % len(answers)], person=f"{name}{number}")
                file.write(f"{name}{number}\n".encode())
                file.flush()
        code = 0
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(code)


def _faults(folder: Path) -> tuple[int, list[str]]:
    """How many promises there are, and what is lost, doubled or damaged."""
    try:
        promises = Promises.open(folder / "promises")
        there = [str(one.person) for one in promises]
    except Exception as error:
        return 0, [f"{type(error).__name__}: {error}"]
    told = [line for path in folder.glob("told-*") for line in path.read_text().split("\n")[:-1]]
    lost = sorted(set(told) - set(there))
    doubled = len(there) - len(set(there))
    left = [one.name for one in (folder / "promises").iterdir() if one.name != FILE]
    faults = [f"lost {lost[:3]}"] if lost else []
    faults += [f"{doubled} doubled"] if doubled else []
    faults += [f"{left} is left"] if left else []
    return len(there), faults
