"""The service under load: one client, then fifty, on the readiness cohort.

    python benchmarks/service.py [--clients 50] [--people 200] [--rounds 3] [--workers N]

Every request is about another person. One client sends them one after the other over one
connection; then many clients share the same requests, each over a connection of its own.
Where the system tells (Linux), the processor time that the service spends on a request is
given too: it does not depend on how busy the machine is otherwise.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from localface.apps.web.workers.search_workers import n_cores


@dataclass(frozen=True, slots=True)
class Run:
    """What some clients measured."""

    seconds: float
    waits: Sequence[float]
    errors: int
    spent: float  # processor seconds of the service; NaN where they are not known

    @property
    def rate(self) -> float:
        return len(self.waits) / self.seconds

    def quantile(self, share: float) -> float:
        return sorted(self.waits)[min(len(self.waits) - 1, int(share * len(self.waits)))]

    def __str__(self) -> str:
        waits = ", ".join(
            f"{word} {1000 * self.quantile(q):.0f}" for word, q in (("p50", 0.5), ("p99", 0.99))
        )
        busy = f"{1000 * self.spent / len(self.waits):.1f} ms of processor each"
        return f"{self.rate:6.1f} requests/s, ms {waits}, {busy}, {self.errors} errors"


async def asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> int:
    """Send one request over a connection that stays open, and read the answer whole."""
    head = "POST /recourse HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()
    answer = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = re.search(r"content-length: (\d+)", answer.lower())
    assert length is not None
    await reader.readexactly(int(length[1]))
    return int(answer.split(" ", 2)[1])


async def client(port: int, bodies: list[bytes], waits: list[float]) -> int:
    """Take requests from the list until none is left; returns how many went wrong."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    errors = 0
    while bodies:
        body = bodies.pop()
        started = time.perf_counter()
        errors += await asked(reader, writer, body) != 200
        waits.append(time.perf_counter() - started)
    writer.close()
    return errors


async def run(service: int, port: int, ids: Sequence[int], clients: int) -> Run:
    """Have so many clients ask about these people."""
    bodies = [json.dumps({"id": id}).encode() for id in ids]
    waits = list[float]()
    started = time.perf_counter()
    before = processor_seconds(service)
    errors = await asyncio.gather(*(client(port, bodies, waits) for _ in range(clients)))
    return Run(
        time.perf_counter() - started, waits, sum(errors), processor_seconds(service) - before
    )


def processor_seconds(service: int) -> float:
    """The processor time of a process so far, and of all that it has started, and these."""
    parents = dict[int, int]()
    spent = dict[int, float]()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(status.parent.name)
        parents[number] = int(words[1])
        spent[number] = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    family = [service]
    for one in family:
        family += [child for child, parent in parents.items() if parent == one]
    return sum(spent.get(one, 0.0) for one in family) or math.nan


def people(port: int, n: int) -> list[int]:
    """People who are not there yet, from all over the list."""
    found: list[int] = []
    while len(found) < n:
        with urlopen(
            f"http://127.0.0.1:{port}/people?limit=500&sort=id&offset={len(found)}"
        ) as answer:
            page = json.load(answer)["people"]
        if not page:
            break
        found += [one["id"] for one in page if not one["reached"]]
    return sorted(set(found))[:n]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int)
    arguments = parser.parse_args()
    extra = [] if arguments.workers is None else ["--workers", str(arguments.workers)]
    command = [sys.executable, "-m", "localface", "serve", "--port", "0", *extra]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        port = int(re.search(r":(\d+)/", service.stdout.readline())[1])  # type: ignore[index]
        try:
            measure(service.pid, port, arguments)
        finally:
            service.terminate()


def measure(service: int, port: int, arguments: argparse.Namespace) -> None:
    ids = people(port, arguments.people)
    ratios = []
    asyncio.run(run(service, port, ids[:20], 4))  # every worker has its model loaded after this
    for number in range(arguments.rounds):
        one = asyncio.run(run(service, port, ids, 1))
        many = asyncio.run(run(service, port, ids, arguments.clients))
        ratios.append(many.rate / one.rate)
        print(
            f"round {number + 1}: {len(ids)} people, {n_cores()} processors, load "
            f"{os.getloadavg()[0]:.1f}"
        )
        print(f"   1 client   {one}")
        print(f"  {arguments.clients:2d} clients  {many}   {ratios[-1]:.1f} times one client")
    print(f"median: {statistics.median(ratios):.1f} times one client")


if __name__ == "__main__":
    main()
