"""Runs all cells that are not complete, each in a process of its own.

The methods of one split are forked from a process that has it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path

from tqdm import tqdm

from cell_files import Cell, Rules, complete
from methods import METHODS, learnt, missing
from running import SETUP, run_cell, split
from splits import STORED


def run_all(cells: Sequence[Cell], rules: Rules, *, jobs: int) -> None:
    """Run what is not complete, one process a split, some at a time, with a progress bar."""
    left: dict[tuple[int, str], list[str]] = {}
    methods = list(dict.fromkeys(cell.method for cell in cells))
    for cell in cells:
        if missing(cell.method) is not None:
            _close(cell, rules, missing=missing(cell.method))
        elif not complete(cell, rules):
            left.setdefault((cell.seed, cell.world), []).append(cell.method)
    done = len(cells) - sum(map(len, left.values()))
    with (
        ThreadPoolExecutor(jobs) as pool,
        tqdm(total=len(cells), initial=done, unit=" cells") as bar,
    ):
        running = {
            pool.submit(_spawned, [name, str(seed), *some], methods, rules): some
            for (seed, name), some in left.items()
        }
        for one in as_completed(running):
            one.result()
            bar.update(len(running[one]))


def _spawned(left: Sequence[str], methods: Sequence[str], rules: Rules) -> None:
    """A process for one split: its table, its seed and the methods that are left to run."""
    command = [sys.executable, str(Path(__file__).parent), "--split", *left, "--methods", *methods]
    command += ["--people", str(rules.people), "--limit", str(rules.limit), "--out", str(rules.out)]
    command += [] if rules.data is None else ["--data", str(rules.data)]
    quiet = {
        **os.environ,
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONWARNINGS": "ignore",
    }
    ended = subprocess.run(command, env=quiet, capture_output=True, text=True, check=False)
    if ended.returncode:
        what = " ".join(left[:2])
        raise RuntimeError(f"{what} could not be run and judged: {_last(ended.stderr)}")


def run_split(name: str, seed: int, methods: Sequence[str], rules: Rules) -> None:
    """Run the cells of one split, each in a fork; one that dies or hangs says so in its file."""
    at = split(name, seed, rules)
    if any(METHODS[method].outcomes for method in methods):
        with suppress(Exception):  # each of them tries for itself then, and says why not
            learnt(at)
    for method in methods:
        cell = Cell(name, seed, method)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                run_cell(cell, rules)
                code = 0
            finally:
                os._exit(code)
        _awaited(child, cell, rules)


def _awaited(child: int, cell: Cell, rules: Rules) -> None:
    """Wait for a cell at most four times what its limits add up to, and five minutes."""
    most = 4 * rules.limit * (rules.people + SETUP) + 300
    ends = time.monotonic() + most
    while time.monotonic() < ends:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            if status:
                _close(
                    cell,
                    rules,
                    crashed=f"the process ended with {os.waitstatus_to_exitcode(status)}",
                )
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    _close(cell, rules, crashed=f"stopped after {most:.0f} s by the clock")


def _close(cell: Cell, rules: Rules, **why: str | None) -> None:
    path = cell.file(rules.out)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"done": True, **why}) + "\n")


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1][:300]


def missing_worlds(names: Sequence[str], rules: Rules) -> dict[str, str]:
    """Tables that cannot be had here, and why."""
    return {
        name: "needs --data FOLDER"
        for name in names
        if name in STORED and (rules.data is None or not (rules.data / name).exists())
    }
