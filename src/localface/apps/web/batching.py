"""Micro-batches: requests are handed to workers as they come, and join what is being searched there in lock-step."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from localface.apps.web.errors import Refused, Reply, ServiceMetrics, problem
from localface.apps.web.handlers import RequestBody, is_heavy
from localface.apps.web.workers import Worker

_HEAVY = 16  # ordinary requests that one of many searches weighs as much as
_LOST = "the process that was searching has ended, and another takes its place: ask again"


@dataclass(slots=True, eq=False)
class Entry:
    """A request that is being answered: where, and how many clients wait for it."""

    number: int
    key: str
    worker: int
    weight: int
    reply: asyncio.Future[Reply]
    waiting: int = 0


@dataclass(slots=True, eq=False)
class Batcher:
    """Shares requests out among workers, no more than ``most`` at a time; the same request twice is one."""

    workers: Sequence[Worker]
    counts: ServiceMetrics
    most: int
    _entries: dict[int, Entry] = field(default_factory=dict)
    _same: dict[str, Entry] = field(default_factory=dict)
    _number: int = 0

    @property
    def open(self) -> int:
        """How many requests are being answered."""
        return len(self._entries)

    def start(self) -> None:
        """Have every worker begin."""
        loop = asyncio.get_running_loop()

        def soon(function: Callable[..., None]) -> Callable[..., None]:
            """Let a thread of a worker's call something here; a loop that has ended needs no telling."""

            def called(*arguments: Any) -> None:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(function, *arguments)

            return called

        for place, worker in enumerate(self.workers):
            worker.start(soon(self._done), soon(partial(self._lost, place)))

    def stop(self) -> None:
        """End every worker."""
        for worker in self.workers:
            worker.stop()

    async def ask(self, ask: RequestBody) -> Reply:
        """Hand a request on and wait; it is withdrawn once nobody waits for it any more."""
        entry = self._entered(ask)
        entry.waiting += 1
        try:
            return await asyncio.shield(entry.reply)
        finally:
            entry.waiting -= 1
            if not entry.waiting and self._forget(entry):
                self.workers[entry.worker].send((entry.number, None))
                self.counts.dropped += 1

    def _entered(self, ask: RequestBody) -> Entry:
        """Hand a request to the worker with the least to do, unless the same one is being answered already."""
        key = json.dumps(ask, sort_keys=True)
        if key in self._same:
            self.counts.shared += 1
            return self._same[key]
        if self.open >= self.most:
            raise Refused(
                503, "Busy", f"{self.most} requests are being answered: try again in a second"
            )
        weight = _HEAVY if is_heavy(ask) else 1
        self._number += 1
        entry = Entry(
            self._number,
            key,
            self._freest(weight),
            weight,
            asyncio.get_running_loop().create_future(),
        )
        self._entries[entry.number] = self._same[key] = entry
        self.counts.widest = max(self.counts.widest, self.open)
        self.workers[entry.worker].send((entry.number, ask))
        return entry

    def _freest(self, weight: int) -> int:
        """The worker with the least to do; of several, the last alone takes what is heavy."""
        load = [0] * len(self.workers)
        for entry in self._entries.values():
            load[entry.worker] += entry.weight
        last = len(load) - 1
        return last if weight > 1 else min(range(len(load)), key=lambda place: (load[place], place))

    def _done(self, number: int, reply: Reply) -> None:
        entry = self._entries.get(number)
        if entry is not None and self._forget(entry):
            entry.reply.set_result(reply)

    def _lost(self, worker: int) -> None:
        """Tell whoever waited for a worker that has ended."""
        for number in [entry.number for entry in self._entries.values() if entry.worker == worker]:
            self._done(number, problem(503, "ServiceError", _LOST))

    def _forget(self, entry: Entry) -> bool:
        """Take a request off the books; tells whether it was on them."""
        if self._same.get(entry.key) is entry:
            del self._same[entry.key]
        return self._entries.pop(entry.number, None) is not None
