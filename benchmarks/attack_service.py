"""The service under attack: broken models, silent connections, dear requests among ordinary ones.

    python benchmarks/attack_service.py [--only faults|connections|mixed] [--seconds 60]

Everything runs on loopback and ends by itself, in about five minutes; each line of the report
tells a figure with the bar it is held to, and the exit code is 1 where one is missed. What is
promised, and to whom, is in docs/reliability.md.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attack_models import AGES
from service import people

_HERE = Path(__file__).parent
_PERSON = {"age": 40, "debt": 7.0, "income": 24.0}


@dataclass(slots=True)
class Report:
    """Figures beside their bars."""

    missed: int = 0

    def line(self, what: str, figure: float, bar: float, unit: str = "s") -> None:
        held = figure <= bar
        self.missed += not held
        word = "held" if held else "MISSED"
        print(f"  {what:58s} {figure:10.3f} {unit:3s} (at most {bar:g}) {word}", flush=True)


@dataclass(slots=True)
class Attacked:
    """A service in a process of its own, with its log."""

    pid: int
    port: int
    log: Path

    def memory(self) -> float:
        """Megabytes of the service and all processes it has started, shared pages shared out."""
        return sum(_proportional_bytes(one) for one in _family(self.pid)) / 2**20


@dataclass(slots=True)
class Answers:
    """What clients got: status, when asked and how long it took."""

    found: list[tuple[int, float, float]] = field(default_factory=list)

    def waits(self, status: int = 200) -> list[float]:
        return [wait for code, _, wait in self.found if code == status]

    def quantile(self, share: float) -> float:
        waits = sorted(self.waits())
        return waits[min(len(waits) - 1, int(share * len(waits)))] if waits else math.inf

    def count_others(self, *expected: int) -> int:
        return sum(code not in expected for code, _, _ in self.found)


@contextlib.contextmanager
def served(command: Sequence[str]) -> Iterator[Attacked]:
    """Start a service, and end it."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with (
            log.open("w") as errors,
            subprocess.Popen(
                [sys.executable, *command],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=_HERE,
            ) as process,
        ):
            try:
                assert process.stdout is not None
                port = re.search(r":(\d+)/", process.stdout.readline())
                assert port, log.read_text()
                yield Attacked(process.pid, int(port[1]), log)
            finally:
                process.terminate()


async def ask(port: int, path: str, body: Any = None) -> int:
    """Ask over a connection of its own; returns the status, 0 where there is no answer."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return 0
    try:
        text = b"" if body is None else json.dumps(body).encode()
        verb = "GET" if body is None else "POST"
        head = f"{verb} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
        writer.write(head.encode() + text)
        answer = await asyncio.wait_for(reader.read(-1), 60)
        return int(answer.split(b" ", 2)[1]) if answer else 0
    except (OSError, TimeoutError):
        return 0
    finally:
        writer.close()


async def ask_on(port: int, bodies: Iterator[tuple[str, Any]], until: float, into: Answers) -> None:
    """Ask one after the other until a time."""
    for path, body in bodies:
        if time.monotonic() > until:
            return
        started = time.monotonic()
        status = await ask(port, path, body)
        into.found.append((status, started, time.monotonic() - started))
        if status in (0, 503):
            await asyncio.sleep(0.2)


def ordinary_bodies(first: int) -> Iterator[tuple[str, Any]]:
    """Questions about one person after the other."""
    for i in range(first, 10**9):
        yield "/recourse", {"person": {**_PERSON, "income": round(18 + 0.01 * (i % 997), 2)}}


async def attack_by_model(service: Attacked, fault: str, report: Report) -> None:
    """Send records that break the model among ordinary ones."""
    await ask_as_crowd(service.port, 10)
    await asyncio.sleep(8)
    before = service.memory()
    crowd = asyncio.create_task(ask_as_crowd(service.port, 12))
    await asyncio.sleep(1)
    bad = {**_PERSON, "age": AGES[fault]}
    bodies = [("/recourse", {"person": {**bad, "debt": 6.0 + i / 10}}) for i in range(3)]
    attacks = asyncio.gather(*(ask(service.port, *body) for body in bodies))
    healthy_after = await seconds_until_healthy(service.port, 10)
    others = await crowd
    codes = await attacks
    report.line(f"{fault}: longest wait of other people", max(others.waits()), 2.0)
    report.line(f"{fault}: answers to others that are not 200", others.count_others(200), 0, "")
    report.line(f"{fault}: healthy again after", healthy_after, 5.0)
    await asyncio.sleep(8)
    growth = service.memory() / before
    report.line(f"{fault}: memory afterwards, of what it was", growth, 1.1, "x")
    print(f"  {fault}: those who broke it were told {sorted(codes)}")


async def ask_as_crowd(port: int, seconds: float) -> Answers:
    """Have four clients ask about other people for a while."""
    answers = Answers()
    until = time.monotonic() + seconds
    clients = [ask_on(port, ordinary_bodies(200 * i), until, answers) for i in range(4)]
    await asyncio.gather(*clients)
    return answers


async def seconds_until_healthy(port: int, seconds: float) -> float:
    """After how long health has last said that something is wrong, watched for so long."""
    started = time.monotonic()
    last_bad = started
    while time.monotonic() - started < seconds:
        if not await is_healthy(port):
            last_bad = time.monotonic()
        await asyncio.sleep(0.05)
    return last_bad - started


async def is_healthy(port: int) -> bool:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    answer = await reader.read(-1)
    writer.close()
    return b'"status":"ok"' in answer


async def hold_connections(port: int, n: int, until: float) -> None:
    """Keep so many connections that are silent or send half a request; lost ones come again."""

    async def hold(number: int) -> None:
        sent = [b"", b"GET /sch", b"POST /recourse HTTP/1.1\r\nHost: localhost\r\n"][number % 3]
        while time.monotonic() < until:
            with contextlib.suppress(OSError, TimeoutError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(sent)
                left = max(0.1, until - time.monotonic())
                await asyncio.wait_for(reader.read(1), left)
                writer.close()
            await asyncio.sleep(1 + number % 40 / 10)

    await asyncio.gather(*(hold(number) for number in range(n)))


def hold(port: int, seconds: float) -> None:
    """Hold connections, in a process of its own so that nobody is measured beside it."""
    asyncio.run(hold_connections(port, 2000, time.monotonic() + seconds))


async def attack_by_connections(service: Attacked, seconds: float, report: Report) -> None:
    """Open 2,000 connections that say nothing, or half of something."""
    calm = Answers()
    await ask_on(service.port, ordinary_bodies(0), time.monotonic() + 5, calm)
    until = time.monotonic() + seconds
    health, ordinary = Answers(), Answers()
    hold = f"import attack_service; attack_service.hold({service.port}, {seconds})"
    holding = await asyncio.create_subprocess_exec(sys.executable, "-c", hold, cwd=_HERE)
    await asyncio.sleep(1)

    def healths() -> Iterator[tuple[str, Any]]:
        while True:
            yield "/health", None

    async def watch() -> None:
        while time.monotonic() < until:
            await ask_on(service.port, iter([next(healths())]), until, health)
            await asyncio.sleep(0.1)

    await asyncio.gather(watch(), ask_on(service.port, ordinary_bodies(500), until, ordinary))
    await holding.wait()
    report.line("2,000 connections: health, 99 of 100 within", health.quantile(0.99), 0.1)
    report.line("2,000 connections: health, half within", health.quantile(0.5), 0.1)
    slower = ordinary.quantile(0.5) / calm.quantile(0.5)
    report.line("2,000 connections: ordinary answers, times as slow", slower, 2.0, "x")
    failed = health.count_others(200) + ordinary.count_others(200)
    report.line("2,000 connections: answers that are not 200", failed, 0, "")
    report.line("2,000 connections: log", service.log.stat().st_size / 2**20, 1.0, "MB")


def listed_bodies(ids: Sequence[int], first: int, **more: Any) -> Iterator[tuple[str, Any]]:
    for i in range(first, 10**9):
        yield "/recourse", {"id": ids[i % len(ids)], **more}


async def attack_by_dear_requests(service: Attacked, seconds: float, report: Report) -> None:
    """Mix requests of many searches among ordinary ones: 50 clients, a tenth of them dear."""
    ids = people(service.port, 300)
    alone, mixed, dear = Answers(), Answers(), Answers()
    await asyncio.gather(*(ask(service.port, "/recourse", {"id": id}) for id in ids[:20]))

    async def crowd(n_dear: int, into: Answers) -> None:
        until = time.monotonic() + seconds
        ordinary = [listed_bodies(ids, 7 * i) for i in range(45)]
        heavy = [listed_bodies(ids, 11 * i, n_paths=4) for i in range(n_dear)]
        await asyncio.gather(
            *(ask_on(service.port, one, until, into) for one in ordinary),
            *(ask_on(service.port, one, until, dear) for one in heavy),
        )

    await crowd(0, alone)
    await crowd(5, mixed)
    median = statistics.median(alone.waits())
    print(f"  45 ordinary clients alone: half within {median:.2f} s, {len(alone.waits())} answers")
    print(f"  with 5 dear clients: {len(mixed.waits())} answers, {len(dear.waits())} dear ones")
    share = mixed.quantile(0.99) / median
    report.line("50 clients mixed: ordinary p99, of the median alone", share, 5.0, "x")
    wrong = sum(one.count_others(200, 503) for one in (alone, mixed, dear))
    report.line("50 clients mixed: answers neither 200 nor 503", wrong, 0, "")


def _family(pid: int) -> list[int]:
    """A process and all that it has started, and these."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def _proportional_bytes(pid: int) -> float:
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        return sum(1024 * float(kb) for kb in re.findall(r"^Pss: +(\d+)", text, re.MULTILINE))
    return 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["faults", "connections", "mixed"])
    parser.add_argument("--seconds", type=float, default=60.0, help="of silent connections")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    arguments = parser.parse_args()
    report = Report()
    wanted = [arguments.only] if arguments.only else ["faults", "connections", "mixed"]
    faulty = "from attack_models import serve_faulty_model; serve_faulty_model({})"
    for workers in arguments.workers if "faults" in wanted else []:
        for fault in AGES:
            print(f"{workers} workers, a model that breaks: {fault}")
            with served(["-c", faulty.format(workers)]) as service:
                asyncio.run(attack_by_model(service, fault, report))
    if "connections" in wanted:
        print("silent and half-sent connections")
        with served(["-c", faulty.format(2)]) as service:
            asyncio.run(attack_by_connections(service, arguments.seconds, report))
    if "mixed" in wanted:
        print("dear requests among ordinary ones, readiness cohort")
        with served(["-m", "localface", "serve", "--port", "0"]) as service:
            asyncio.run(attack_by_dear_requests(service, 30.0, report))
    print("all bars held" if not report.missed else f"{report.missed} bars missed")
    return int(report.missed > 0)


if __name__ == "__main__":
    sys.exit(main())
