"""The dispatcher: who gets which request, and what becomes of it, with scripted workers."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from localface.apps.web.http.errors import RequestRefused
from localface.apps.web.http.metrics import ServiceMetrics
from localface.apps.web.http.reply import Reply
from localface.apps.web.workers.dispatch import Dispatcher
from localface.apps.web.workers.handlers import SendReply
from localface.apps.web.workers.request_buffer import NumberedRequest
from localface.apps.web.workers.search_workers import ReportLoss

SEARCH = {"kind": "recourse", "n_paths": 1, "min_robustness": None, "best_effort": False}
FOUND = Reply(200, b"{}")


class Scripted:
    """A worker that keeps what it is sent, and answers when the test says so."""

    def __init__(self) -> None:
        self.sent: list[NumberedRequest] = []

    def send(self, request: NumberedRequest) -> None:
        self.sent.append(request)

    def start(self, send_reply: SendReply, report_loss: ReportLoss) -> None:
        self.reply, self.lose = send_reply, report_loss

    def stop(self) -> None:
        pass


def search(number: int, **more: Any) -> dict[str, Any]:
    return {**SEARCH, "person": number, **more}


def played(script: Any, *, workers: int = 1, max_open: int = 10) -> None:
    """Run a scripted scene with a dispatcher that has begun."""

    async def scene() -> None:
        hands = [Scripted() for _ in range(workers)]
        dispatcher = Dispatcher(hands, ServiceMetrics(), max_open)
        dispatcher.start()
        await script(dispatcher, hands)

    asyncio.run(scene())


async def begun(asking: Coroutine[Any, Any, Reply]) -> asyncio.Task[Reply]:
    """Start to wait for an answer, and come back once the request is dispatched."""
    task = asyncio.create_task(asking)
    await asyncio.sleep(0)
    return task


def test_an_answer_goes_to_the_client_who_asked() -> None:
    async def script(dispatcher: Dispatcher, workers: list[Scripted]) -> None:
        first = await begun(dispatcher.answer(search(1)))
        second = await begun(dispatcher.answer(search(2)))
        workers[0].reply(2, FOUND)
        assert await second == FOUND
        assert not first.done()
        workers[0].reply(1, Reply(404, b""))
        assert (await first).status == 404

    played(script)


def test_equal_requests_are_searched_once_and_answered_both() -> None:
    async def script(dispatcher: Dispatcher, workers: list[Scripted]) -> None:
        both = [await begun(dispatcher.answer(search(1))) for _ in range(2)]
        assert len(workers[0].sent) == 1
        workers[0].reply(1, FOUND)
        assert await asyncio.gather(*both) == [FOUND, FOUND]

    played(script)


def test_a_request_is_withdrawn_once_its_last_client_is_gone() -> None:
    async def script(dispatcher: Dispatcher, workers: list[Scripted]) -> None:
        one = await begun(dispatcher.answer(search(1)))
        other = await begun(dispatcher.answer(search(1)))
        one.cancel()
        await asyncio.gather(one, return_exceptions=True)
        assert len(workers[0].sent) == 1
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)
        assert workers[0].sent[-1] == (1, None)

    played(script)


def test_the_least_busy_worker_is_chosen_and_the_last_takes_many_searches() -> None:
    async def script(dispatcher: Dispatcher, workers: list[Scripted]) -> None:
        tasks = [
            await begun(dispatcher.answer(body))
            for body in (search(1, n_paths=3), search(2), search(3), search(4))
        ]
        assert [len(one.sent) for one in workers] == [3, 1]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    played(script, workers=2)


def test_more_than_may_be_open_are_refused() -> None:
    async def script(dispatcher: Dispatcher, workers: list[Scripted]) -> None:
        open_one = await begun(dispatcher.answer(search(1)))
        with pytest.raises(RequestRefused) as refused:
            await dispatcher.answer(search(2))
        assert refused.value.status == 503
        workers[0].reply(1, FOUND)
        await open_one

    played(script, max_open=1)


def test_a_lost_worker_is_told_to_those_who_waited_for_it_alone() -> None:
    async def script(dispatcher: Dispatcher, workers: list[Scripted]) -> None:
        lost = await begun(dispatcher.answer(search(1)))
        kept = await begun(dispatcher.answer(search(2)))
        workers[0].lose()
        assert (await lost).status == 503
        assert not kept.done()
        workers[1].reply(2, FOUND)
        assert await kept == FOUND

    played(script, workers=2)
