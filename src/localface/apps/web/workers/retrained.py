"""A process apart that fits the model again, and then says how likely a retrained one agrees."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from localface.apps.web.http.reply import Reply
from localface.apps.web.workers.parsed_request import RequestBody
from localface.apps.web.workers.search_workers import SearchWorker

_PATIENCE = 2.0  # seconds that a request waits before it is told that models are being fitted


class RetrainedJudge:
    """Asks one worker of its own, which is started with the first question.

    Fitting models again takes far longer than a request may, so that nobody waits for it: until
    it is done, ``answer`` gives None. A worker that ends is not started again.
    """

    def __init__(self, make_worker: Callable[[], SearchWorker]) -> None:
        self._make_worker = make_worker
        self._worker: SearchWorker | None = None
        self._open: dict[int, asyncio.Future[Reply]] = {}
        self._number = 0
        self._has_answered = False
        self.is_lost = False

    async def answer(self, body: RequestBody) -> Reply | None:
        """The reply to a request; None where it is not known yet."""
        if self._worker is None:
            self._start()
        elif not self._has_answered or self.is_lost:
            return None
        reply = self._send(body)
        with suppress(TimeoutError):
            return await asyncio.wait_for(asyncio.shield(reply), _PATIENCE)
        return None

    def stop(self) -> None:
        """End the worker."""
        self.is_lost = True
        if self._worker is not None:
            self._worker.stop()

    def _send(self, body: RequestBody) -> asyncio.Future[Reply]:
        assert self._worker is not None
        self._number += 1
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._open[self._number] = reply
        self._worker.send((self._number, body))
        return reply

    def _start(self) -> None:
        loop = asyncio.get_running_loop()

        def in_loop(function: Callable[..., None]) -> Callable[..., None]:
            def call(*arguments: Any) -> None:
                with suppress(RuntimeError):  # the loop was closed in between
                    loop.call_soon_threadsafe(function, *arguments)

            return call

        self._worker = self._make_worker()
        self._worker.start(in_loop(self._take_reply), lambda: None, in_loop(self._lose))

    def _take_reply(self, number: int, reply: Reply) -> None:
        self._has_answered = True
        waiting = self._open.pop(number, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(reply)

    def _lose(self) -> None:
        self.is_lost = True
        for waiting in self._open.values():
            waiting.cancel()
        self._open.clear()
