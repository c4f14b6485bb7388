"""Dispatching requests to workers: each joins the searches that its worker has under way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from localface.apps.web.http.errors import RequestRefused
from localface.apps.web.http.metrics import ServiceMetrics
from localface.apps.web.http.reply import Reply, error_reply
from localface.apps.web.workers.parsed_request import RequestBody, takes_many_searches
from localface.apps.web.workers.search_workers import SearchWorker

_WEIGHT_OF_MANY = 16  # ordinary requests that one of many searches weighs as much as
_LOST = "the process that was searching has ended, and another takes its place: ask again"


@dataclass(slots=True, eq=False)
class PendingRequest:
    """A request that is being answered: by which worker, and how many clients wait for it."""

    number: int
    key: str
    worker: int
    weight: int
    reply: asyncio.Future[Reply]
    waiting: int = 0


@dataclass(slots=True, eq=False)
class Dispatcher:
    """Shares requests out among workers, ``max_open`` at a time; equal ones are searched once."""

    workers: Sequence[SearchWorker]
    metrics: ServiceMetrics
    max_open: int
    _pending: dict[int, PendingRequest] = field(default_factory=dict)
    _by_key: dict[str, PendingRequest] = field(default_factory=dict)
    _number: int = 0

    def start(self) -> None:
        """Have every worker begin."""
        loop = asyncio.get_running_loop()

        def make_call_in_loop(function: Callable[..., None]) -> Callable[..., None]:
            """Let a worker's thread call something here, unless the loop has ended."""

            def call(*arguments: Any) -> None:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(function, *arguments)

            return call

        for index, worker in enumerate(self.workers):
            worker.start(
                make_call_in_loop(self._resolve_request),
                make_call_in_loop(partial(self._answer_for_lost_worker, index)),
            )

    def stop(self) -> None:
        """End every worker."""
        for worker in self.workers:
            worker.stop()

    async def answer(self, body: RequestBody) -> Reply:
        """Dispatch a request and wait; it is withdrawn once nobody waits for it any more."""
        pending = self._dispatch(body)
        pending.waiting += 1
        try:
            return await asyncio.shield(pending.reply)
        finally:
            pending.waiting -= 1
            if not pending.waiting and self._remove_if_pending(pending):
                self.workers[pending.worker].send((pending.number, None))
                self.metrics.count_dropped_request()

    def _dispatch(self, body: RequestBody) -> PendingRequest:
        """Hand a request to the least busy worker, unless the same is being answered already."""
        key = json.dumps(body, sort_keys=True)
        if key in self._by_key:
            self.metrics.count_shared_request()
            return self._by_key[key]
        if len(self._pending) >= self.max_open:
            message = f"{self.max_open} requests are being answered: try again in a second"
            raise RequestRefused(503, "Busy", message)
        weight = _WEIGHT_OF_MANY if takes_many_searches(body) else 1
        self._number += 1
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        pending = PendingRequest(self._number, key, self._least_busy_worker(weight), weight, reply)
        self._pending[pending.number] = pending
        self._by_key[key] = pending
        self.metrics.set_open_requests(len(self._pending))
        self.workers[pending.worker].send((pending.number, body))
        return pending

    def _least_busy_worker(self, weight: int) -> int:
        """The worker with the least to do; of several, the last alone takes what is heavy."""
        load = [0] * len(self.workers)
        for pending in self._pending.values():
            load[pending.worker] += pending.weight
        if weight > 1:
            return len(load) - 1
        return min(range(len(load)), key=lambda worker: (load[worker], worker))

    def _resolve_request(self, number: int, reply: Reply) -> None:
        pending = self._pending.get(number)
        if pending is not None and self._remove_if_pending(pending):
            pending.reply.set_result(reply)

    def _answer_for_lost_worker(self, worker: int) -> None:
        """Answer everyone who waited for a worker that has ended."""
        lost = [one.number for one in self._pending.values() if one.worker == worker]
        for number in lost:
            self._resolve_request(number, error_reply(503, "ServiceError", _LOST))

    def _remove_if_pending(self, pending: PendingRequest) -> bool:
        """Forget a request; tells whether it was still pending."""
        if self._by_key.get(pending.key) is pending:
            del self._by_key[pending.key]
        removed = self._pending.pop(pending.number, None)
        self.metrics.set_open_requests(len(self._pending))
        return removed is not None
