"""Dispatching requests to workers: ordinary ones by one lane, those of many searches by another."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from localface.apps.web.http.errors import RequestRefused
from localface.apps.web.http.metrics import ServiceMetrics
from localface.apps.web.http.reply import Reply
from localface.apps.web.workers.breaker import Breaker
from localface.apps.web.workers.lane import GIVEN_UP, Lane
from localface.apps.web.workers.member import WorkerLimits
from localface.apps.web.workers.parsed_request import (
    RequestBody,
    needs_no_search,
    takes_many_searches,
)
from localface.apps.web.workers.pending import PendingRequest
from localface.apps.web.workers.search_workers import WorkerPlan

_CHECK_SECONDS = 0.1
_SHARE_OF_DEAR = 16  # of so many requests that may be open, one may take many searches


@dataclass(slots=True, eq=False)
class Dispatcher:
    """Shares requests out among workers, ``max_open`` at a time; equal ones are searched once."""

    plan: WorkerPlan
    metrics: ServiceMetrics
    max_open: int
    limits: WorkerLimits = field(default_factory=WorkerLimits)
    now: Callable[[], float] = time.monotonic
    lanes: list[Lane] = field(default_factory=list)
    _breaker: Breaker = field(init=False)
    _pending: dict[int, PendingRequest] = field(default_factory=dict)
    _by_key: dict[str, PendingRequest] = field(default_factory=dict)
    _number: int = 0
    _checking: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self._breaker = Breaker(self.now)

    def start(self) -> None:
        """Have the workers begin, and look after them from now on."""
        plan = self.plan
        ordinary = self._make_lane("ordinary", plan.make_worker, plan.size, plan.width)
        ordinary.alone_seconds = plan.alone_seconds
        self.lanes = [ordinary]
        if plan.make_dear_worker is not None:
            dear = self._make_lane("dear", plan.make_dear_worker, max(1, plan.size // 2), 1)
            dear.lazy = True
            dear.max_open = max(2, self.max_open // _SHARE_OF_DEAR)
            self.lanes.append(dear)
        for lane in self.lanes:
            lane.start()
        self._checking = asyncio.get_running_loop().create_task(self._check_again_and_again())

    def stop(self) -> None:
        """End every worker."""
        if self._checking is not None:
            self._checking.cancel()
        for lane in self.lanes:
            lane.stop()

    @property
    def trouble(self) -> str | None:
        """What is wrong with the workers, in a sentence; None where nothing is."""
        if self._breaker.is_open:
            return GIVEN_UP
        for lane in self.lanes:
            if lane.was_whole and lane.n_ready < lane.size:
                return f"{lane.n_ready} of {lane.size} workers answer; others are being replaced"
        return None

    async def answer(self, body: RequestBody) -> Reply:
        """Dispatch a request and wait; it is withdrawn once nobody waits for it any more."""
        pending = self._dispatch(body)
        pending.waiting += 1
        try:
            return await asyncio.shield(pending.reply)
        finally:
            pending.waiting -= 1
            if not pending.waiting and self._remove_if_pending(pending):
                self._lane_of(pending).withdraw(pending)
                self.metrics.count_dropped_request()

    def check(self) -> None:
        """Look after the workers."""
        for lane in self.lanes:
            lane.check()
            self.metrics.set_workers(lane.name, lane.n_ready, lane.n_open)
        self.metrics.set_degraded(self.trouble is not None)

    def _make_lane(self, name: str, make_worker: Any, size: int, width: int) -> Lane:
        loop = asyncio.get_running_loop()

        def call_in_loop(function: Callable[..., None]) -> Callable[..., None]:
            """Let a worker's thread call something here, unless the loop has ended."""

            def call(*arguments: Any) -> None:
                with suppress(RuntimeError):  # the loop was closed in between
                    loop.call_soon_threadsafe(function, *arguments)

            return call

        return Lane(
            name=name,
            make_worker=make_worker,
            size=size,
            width=width,
            max_open=self.max_open,
            breaker=self._breaker,
            metrics=self.metrics,
            resolve=self._resolve_request,
            call_in_loop=call_in_loop,
            limits=self.limits,
        )

    async def _check_again_and_again(self) -> None:
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            self.check()

    def _dispatch(self, body: RequestBody) -> PendingRequest:
        """Put a request into its lane, unless the same is being answered already."""
        key = json.dumps(body, sort_keys=True)
        if key in self._by_key:
            self.metrics.count_shared_request()
            return self._by_key[key]
        if self._breaker.is_open:
            raise RequestRefused(
                503, "ModelError", GIVEN_UP, retry_after=self._breaker.seconds_left
            )
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        number = self._number + 1
        pending = PendingRequest(
            number, key, body, takes_many_searches(body), reply, is_quick=needs_no_search(body)
        )
        self._lane_of(pending).submit(pending)
        self._number = number
        self._pending[number] = pending
        self._by_key[key] = pending
        self.metrics.set_open_requests(len(self._pending))
        return pending

    def _lane_of(self, pending: PendingRequest) -> Lane:
        return self.lanes[-1] if pending.is_dear else self.lanes[0]

    def _resolve_request(self, pending: PendingRequest, reply: Reply) -> None:
        if self._remove_if_pending(pending) and not pending.reply.done():
            pending.reply.set_result(reply)

    def _remove_if_pending(self, pending: PendingRequest) -> bool:
        """Forget a request; tells whether it was still pending."""
        if self._by_key.get(pending.key) is pending:
            del self._by_key[pending.key]
        removed = self._pending.pop(pending.number, None)
        self.metrics.set_open_requests(len(self._pending))
        return removed is not None
