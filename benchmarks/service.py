"""The service on the readiness cohort: how soon it answers, and under load.

    python benchmarks/service.py [--starts 3] [--clients 50] [--people 200] [--rounds 3]

First the time from the command to the first answer, once as on a machine on which it was never
started, and then with what that start has kept. Then the load. Every request is about another
person. One client sends them one after the other over one connection; then many clients share the
same requests, each over a connection of its own. Where the system tells (Linux), the processor time
that the service spends is given too: it depends less on how busy the machine is otherwise.
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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
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
    processor = ProcessorTime(service)
    started = time.perf_counter()
    before = processor.seconds()
    looking = asyncio.ensure_future(processor.look_now_and_then())
    errors = await asyncio.gather(*(client(port, bodies, waits) for _ in range(clients)))
    looking.cancel()
    seconds = time.perf_counter() - started
    return Run(seconds, waits, sum(errors), processor.seconds() - before)


@dataclass(slots=True)
class ProcessorTime:
    """The processor time of a process, of all that it has started, and these.

    A worker that was replaced is counted too, as long as somebody looks now and then.
    """

    service: int
    spent: dict[int, float] = field(default_factory=dict)

    def seconds(self) -> float:
        """Seconds so far; NaN where the system does not tell."""
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
        family = [self.service]
        for one in family:
            family += [child for child, parent in parents.items() if parent == one]
        self.spent.update({one: spent[one] for one in family if one in spent})
        return sum(self.spent.values()) or math.nan

    async def look_now_and_then(self) -> None:
        """Look until it is cancelled."""
        while True:
            self.seconds()
            await asyncio.sleep(0.25)


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


@contextmanager
def serving(*options: str, cache: str) -> Iterator[tuple[int, int]]:
    """A service with what it keeps in a folder: the numbers of its process and its port."""
    command = [sys.executable, "-m", "localface", "serve", "--port", "0", *options]
    environment = {**os.environ, "LOCALFACE_CACHE": cache}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as service:
        assert service.stdout is not None
        port = re.search(r":(\d+)/", service.stdout.readline())
        assert port is not None
        try:
            yield service.pid, int(port[1])
        finally:
            service.terminate()


def measure_start(cache: str) -> str:
    """How long it takes from the command to the first answer."""
    started = time.perf_counter()
    with serving(cache=cache) as (service, port):
        ready = time.perf_counter() - started
        asyncio.run(run(service, port, people(port, 1), 1))
        answered = time.perf_counter() - started
        spent = ProcessorTime(service).seconds()
    return f"address {ready:.2f} s, first answer {answered:.2f} s, {spent:.2f} s of processor"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int)
    arguments = parser.parse_args()
    extra = [] if arguments.workers is None else ["--workers", str(arguments.workers)]
    with TemporaryDirectory() as cache:
        for number in range(arguments.starts):
            with TemporaryDirectory() as empty:
                print(f"start {number + 1}, nothing kept: {measure_start(empty)}")
                print(f"start {number + 1}, again:        {measure_start(empty)}")
        if arguments.rounds:
            with serving(*extra, cache=cache) as (service, port):
                measure_load(service, port, arguments)


def measure_load(service: int, port: int, arguments: argparse.Namespace) -> None:
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
