"""A population on two cores: does it complete, resume after a kill, with flat memory?

    python benchmarks/population.py [--people 100000] [--kill] [--out FOLDER]

The generated readiness cohort (13,943 rows, 22 features, a forest of 100 trees), as many
generated people who are not ready by the model, and a Ray cluster of two workers on this
machine. With --kill one worker is killed after a tenth of the people, and the whole run
after a third; then it is started again.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from localface import Ask
from localface.cases.readiness import synthetic
from shapes import shape

PAGE = os.sysconf("SC_PAGE_SIZE") / 2**20
WORKER = "_Hand"  # how Ray names the processes of our workers


def write_people(folder: Path, n: int, model) -> None:
    """Draw people until there are n whom the model does not call ready, in files of 10,000."""
    folder.mkdir(parents=True)
    seed = 1
    written = 0
    while written < n:
        drawn = synthetic(seed=seed).frame()
        refused = drawn[model.predict_proba(drawn)[:, 1] < 0.75].iloc[: min(10_000, n - written)]
        ids = np.arange(written, written + len(refused))
        table = pa.Table.from_pandas(refused.assign(who=ids), preserve_index=False)
        pq.write_table(table, folder / f"people-{seed:04d}.parquet")
        seed = seed + 1
        written = written + len(refused)


def run(folder: Path, *, block_size: int, actions: bool) -> None:
    """Fit, and explain everyone in the folder."""
    from localface.apps.batch.ray import explain_parquet

    explainer = shape("readiness", 1).explainer().prescore()
    report = explain_parquet(
        explainer,
        folder / "people",
        folder / "answers",
        id_column="who",
        ask=Ask(actions=actions),
        block_size=block_size,
        workers=2,
        address="local",
    )
    print(f"  {report}")


def workers_of(parent: int) -> dict[int, float]:
    """The worker processes below a process, each with the MB that are its own."""
    parents = {}
    names = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal():
                parents[int(entry.name)] = int(
                    (entry / "stat").read_text().rpartition(")")[2].split()[1]
                )
                names[int(entry.name)] = (entry / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
    return {
        pid: own_memory(pid)
        for pid, name in names.items()
        if WORKER in name and parent in above(pid, parents)
    }


def above(pid: int, parents: dict[int, int]) -> Iterator[int]:
    while pid in parents:
        pid = parents[pid]
        yield pid


def own_memory(pid: int) -> float:
    """Resident MB that are shared with nobody: the object store is left out."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0.0
    return (int(resident) - int(shared)) * PAGE


def watched(
    folder: Path, asked: argparse.Namespace, *, kills: bool
) -> list[tuple[float, int, list[float]]]:
    """Start a run and watch it: seconds, parts, memory; kill a worker, then the run, if wanted."""
    command = [
        sys.executable,
        __file__,
        "--run",
        str(folder),
        "--block-size",
        str(asked.block_size),
    ]
    command += ["--path-only"] if asked.path_only else []
    total = -(-asked.people // asked.block_size)
    seen = []
    killed = False
    started = time.monotonic()
    with subprocess.Popen(command, start_new_session=True) as process:
        while process.poll() is None:
            time.sleep(asked.every)
            workers = workers_of(process.pid)
            parts = len(list((folder / "answers").glob("part-*.parquet")))
            if len(workers) == 2:
                seen.append((time.monotonic() - started, parts, sorted(workers.values())))
            if kills and not killed and workers and parts >= total / 10:
                os.kill(next(iter(workers)), signal.SIGKILL)
                killed = True
                print(f"  killed a worker after {parts} parts")
            if kills and killed and parts >= total / 3:
                process.kill()
                print(f"  killed the run after {parts} parts")
                break
    if not kills and process.returncode:
        raise SystemExit(process.returncode)
    return seen


def show(seen: list[tuple[float, int, list[float]]], asked: argparse.Namespace) -> None:
    """Print people and memory over time, in ten lines."""
    print(f"  {'seconds':>10}{'people':>10}{'MB of each worker':>24}")
    for spent, parts, memory in seen[:: max(1, len(seen) // 10)]:
        people = min(parts * asked.block_size, asked.people)
        print(f"  {spent:10.0f}{people:10,}{'':>6}{'  '.join(f'{one:8.0f}' for one in memory)}")
    half = seen[len(seen) // 2 :]
    if len(half) > 1:
        print(
            f"  largest worker, second half: {max(half[0][2]):.0f} MB at first, "
            f"{max(half[-1][2]):.0f} MB at last"
        )
        first = half[0]
        last = half[-1]
        rate = (last[1] - first[1]) * asked.block_size / max(last[0] - first[0], 1e-9)
        print(f"  {rate:,.0f} people a second, second half")


def check(folder: Path, n: int) -> None:
    """Everyone is there, and nobody twice."""
    answers = pq.read_table(folder / "answers", columns=["id", "status"])
    ids = np.sort(answers["id"].to_numpy())
    parts = list((folder / "answers").glob("part-*.parquet"))
    size = sum(part.stat().st_size for part in parts) / 2**20
    statuses = ", ".join(
        f"{one['counts']:,} {one['values']}" for one in answers["status"].value_counts().to_pylist()
    )
    print(f"  {len(parts)} parts, {size:.0f} MB; {statuses}")
    print(f"  everyone once: {np.array_equal(ids, np.arange(n))}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--block-size", type=int, default=1000)
    parser.add_argument("--path-only", action="store_true", help="without actions")
    parser.add_argument(
        "--kill", action="store_true", help="kill a worker, then the whole run, then start again"
    )
    parser.add_argument(
        "--every", type=float, default=2.0, help="seconds between two looks at the workers"
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="where to keep people and answers; a folder that is removed if not given",
    )
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.run:
        run(asked.run, block_size=asked.block_size, actions=not asked.path_only)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.out or Path(temporary)
        model = shape("readiness", 1).model
        if not (folder / "people").exists():
            write_people(folder / "people", asked.people, model)
        print(f"{asked.people:,} people in blocks of {asked.block_size:,}, two workers")
        if asked.kill:
            watched(folder, asked, kills=True)
        started = time.monotonic()
        seen = watched(folder, asked, kills=False)
        print(
            f"  {time.monotonic() - started:.0f} s{' after the kill' if asked.kill else ''}, with "
            "fitting and starting"
        )
        show(seen, asked)
        check(folder, asked.people)


if __name__ == "__main__":
    main()
