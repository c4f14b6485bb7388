"""Runs one method on one split of one table, person by person, within a time limit.

A cell is a file with one line a person. A cell that is complete is not run again; one that was
cut short goes on where it stopped. Each cell has a process of its own, so that whatever a method
does to itself it does to nobody else; see ``scheduling``.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from cell_files import Cell, Rules, lines
from methods import METHODS, most_people
from splits import World, world

GIVE_UP = 3  # people in a row, from the first on, at the limit: then the rest are not tried
SETUP = 20  # times the limit that a method may take to get ready
FORMAT = 1


class OutOfTime(BaseException):
    """The limit is over; not an Exception, so that a method's own ``except`` lets it pass."""


_SPLITS: dict[tuple[str, int], World] = {}


def split(name: str, seed: int, rules: Rules) -> World:
    """The split, fitted once and kept."""
    if (name, seed) not in _SPLITS:
        _SPLITS.clear()
        _SPLITS[name, seed] = _kept_split(name, seed, rules)
    return _SPLITS[name, seed]


def _kept_split(name: str, seed: int, rules: Rules) -> World:
    kept = rules.out / "splits" / f"{name}-{seed}-{rules.people}.pickle"
    if kept.exists():
        with kept.open("rb") as file:
            loaded: World = pickle.load(file)  # our own, written a moment ago
            return loaded
    at = world(name, seed, rules.people, folder=rules.data)
    kept.parent.mkdir(parents=True, exist_ok=True)
    half = kept.with_suffix(f".{os.getpid()}")
    half.write_bytes(pickle.dumps(at))
    half.replace(kept)
    return at


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise ``OutOfTime`` after so many seconds of processor time."""

    def stop(*_: Any) -> None:
        raise OutOfTime

    # while it runs, the processor time of the process is only known in ticks
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def run_cell(cell: Cell, rules: Rules) -> None:
    """Ask one method about everyone of one split."""
    path = cell.file(rules.out)
    path.parent.mkdir(parents=True, exist_ok=True)
    done = [line for line in lines(path) if "person" in line]
    path.write_text("".join(json.dumps(line) + "\n" for line in done), encoding="utf-8")
    at = split(cell.world, cell.seed, rules)
    at = replace(at, people=at.people.iloc[: most_people(cell.method, len(at.people))])
    with path.open("a", encoding="utf-8") as file:

        def note(line: dict[str, Any]) -> None:
            file.write(json.dumps(line) + "\n")
            file.flush()

        started = time.thread_time()
        try:
            with limited(SETUP * rules.limit):
                method = METHODS[cell.method].make(at)
        except (Exception, OutOfTime) as error:
            for number in range(len(done), len(at.people)):
                note({"person": number, "found": False, "error": _told(error)})
            note({"done": True, "setup": time.thread_time() - started, "failed": _told(error)})
            return
        setup = max(time.thread_time() - started, getattr(method, "setup", 0.0))
        for line in _answers(cell, at, method, rules, done):
            note(line)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        note({"done": True, "setup": setup, "megabytes": peak, "format": FORMAT})


def _answers(
    cell: Cell, at: World, method: Any, rules: Rules, done: Sequence[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """One line a person: those who are left."""
    if METHODS[cell.method].at_once and not done:
        yield from _together(at, method, rules)
        return
    cut = [line.get("error") == "time limit" for line in done]
    records = at.people.to_dict("records")
    for number in range(len(done), len(records)):
        if len(cut) >= GIVE_UP and all(cut[:GIVE_UP]):
            yield {
                "person": number,
                "found": False,
                "error": f"not tried: the first {GIVE_UP} ran into the limit",
            }
            continue
        line = {"person": number, **_asked(method, records[number], rules.limit)}
        cut.append(line.get("error") == "time limit")
        yield line


def _together(at: World, method: Any, rules: Rules) -> Iterator[dict[str, Any]]:
    """Everyone in one pass, the time shared out evenly."""
    started = time.thread_time()
    before = _counts(method)
    try:
        with limited(rules.limit * len(at.people)):
            proposals = method.explain_many(at.people)
    except (Exception, OutOfTime) as error:
        for number in range(len(at.people)):
            yield {"person": number, "found": False, "error": _told(error)}
        return
    each = (time.thread_time() - started) / len(at.people)
    after = _counts(method)
    for number, proposal in enumerate(proposals):
        line = {"person": number, **_plain(proposal), "seconds": each}
        line |= {key: (after[key] - before[key]) / len(at.people) for key in after}
        yield line


def _asked(method: Any, record: dict[str, Any], limit: float) -> dict[str, Any]:
    """What a method proposes to one person, and what it took."""
    before = _counts(method)
    started = time.thread_time()
    clock = time.perf_counter()
    try:
        with limited(limit):
            proposal = method.explain(record)
    except OutOfTime:
        return {"found": False, "error": "time limit", "seconds": time.thread_time() - started}
    except Exception as error:
        return {"found": False, "error": _told(error), "seconds": time.thread_time() - started}
    spent = {"seconds": time.thread_time() - started, "clock": time.perf_counter() - clock}
    counted = {key: value - before[key] for key, value in _counts(method).items()}
    return {**_plain(proposal), **spent, **counted, **_disclosed(proposal)}


def _plain(proposal: Any) -> dict[str, Any]:
    found = bool(proposal.found) and len(proposal.states) > 1
    return {
        "found": found,
        "states": proposal.states.tolist() if found else None,
        "reason": "" if found else proposal.reason,
        "cost": proposal.cost,
    }


def _counts(method: Any) -> dict[str, int]:
    """How often the model was called so far, where that is counted."""
    task = getattr(method, "task", None) or getattr(method, "_task", None)
    return {} if task is None else {"calls": task.calls.calls, "records": task.calls.records}


def _disclosed(proposal: Any) -> dict[str, Any]:
    answer = getattr(proposal, "answer", None)
    if answer is None:
        return {}
    seen = answer.disclosure
    lasting = None if answer.robustness is None else answer.robustness.lasting
    return {
        "stated": None if lasting is None else lasting.probability,
        "calls": seen.model_calls,
        "records": seen.rows_scored,
        "rows_seen": seen.rows,
        "rows_of": seen.of,
        "status": answer.status.name,
        "entry": answer.entry,
        "proven": answer.proven_within,
        "path_cost": answer.cost if answer.found else None,
    }


def _told(error: BaseException) -> str:
    if isinstance(error, OutOfTime):
        return "time limit"
    text = str(error).splitlines()[0] if str(error) else ""
    return f"{type(error).__name__}: {text}"[:300]
