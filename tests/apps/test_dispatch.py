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
from localface.apps.web.workers.search_workers import ReportBeat, ReportLoss, WorkerPlan

SEARCH = {"kind": "recourse", "n_paths": 1, "min_robustness": None, "best_effort": False}
FOUND = Reply(200, b"{}")


class Scripted:
    """A worker that keeps what it is sent, and answers when the test says so."""

    can_be_killed = True

    def __init__(self) -> None:
        self.sent: list[NumberedRequest] = []

    def send(self, request: NumberedRequest) -> None:
        self.sent.append(request)

    def start(
        self, send_reply: SendReply, report_beat: ReportBeat, report_loss: ReportLoss
    ) -> None:
        self.reply, self.lose = send_reply, report_loss
        report_beat()

    def stop(self) -> None:
        pass

    def kill(self) -> None:
        pass

    def memory(self) -> int:
        return 0


def search(number: int, **more: Any) -> dict[str, Any]:
    return {**SEARCH, "person": number, **more}


def played(script: Any, *, workers: int = 1, max_open: int = 10, alone: float = 0.0) -> None:
    """Run a scripted scene with a dispatcher that has begun."""

    async def scene() -> None:
        hands: list[Scripted] = []

        def hire() -> Scripted:
            hands.append(Scripted())
            return hands[-1]

        plan = WorkerPlan(hire, hire, workers, 4, alone_seconds=alone)
        dispatcher = Dispatcher(plan, ServiceMetrics(), max_open)
        dispatcher.start()
        await asyncio.sleep(0)
        await script(dispatcher, hands)
        dispatcher.stop()

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


def test_a_search_waits_its_turn_and_what_takes_none_does_not() -> None:
    async def script(dispatcher: Dispatcher, workers: list[Scripted]) -> None:
        asked = [search(1), search(2), search(3, kind="scores")]
        tasks = [await begun(dispatcher.answer(one)) for one in asked]
        assert [number for number, _ in workers[0].sent] == [1, 3]
        for number in (1, 3, 2):
            workers[0].reply(number, FOUND)
            await asyncio.sleep(0)
        assert await asyncio.gather(*tasks) == [FOUND] * 3

    played(script, alone=5.0)


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


def test_the_least_busy_worker_is_chosen_and_none_of_them_takes_many_searches() -> None:
    async def script(dispatcher: Dispatcher, workers: list[Scripted]) -> None:
        tasks = [
            await begun(dispatcher.answer(body))
            for body in (search(1, n_paths=3), search(2), search(3), search(4, min_robustness=0.9))
        ]
        await asyncio.sleep(0)
        assert [[number for number, _ in one.sent] for one in workers] == [[2], [3], [1]]
        workers[2].reply(1, FOUND)
        assert await tasks[0] == FOUND
        assert [number for number, _ in workers[2].sent] == [1, 4]  # one after the other
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


def test_requests_of_many_searches_have_a_queue_of_their_own_which_is_shorter() -> None:
    async def script(dispatcher: Dispatcher, workers: list[Scripted]) -> None:
        dear = [await begun(dispatcher.answer(search(n, n_paths=2))) for n in range(2)]
        with pytest.raises(RequestRefused) as refused:
            await dispatcher.answer(search(9, n_paths=2))
        assert refused.value.status == 503
        ordinary = await begun(dispatcher.answer(search(10)))
        workers[0].reply(workers[0].sent[0][0], FOUND)
        assert await ordinary == FOUND
        for task in dear:
            task.cancel()
        await asyncio.gather(*dear, return_exceptions=True)

    played(script)


def test_a_lost_worker_is_replaced_its_requests_are_tried_again_and_health_tells() -> None:
    async def script(dispatcher: Dispatcher, workers: list[Scripted]) -> None:
        lost = await begun(dispatcher.answer(search(1)))
        kept = await begun(dispatcher.answer(search(2)))
        assert dispatcher.trouble is None
        workers[0].lose()
        await asyncio.sleep(0)
        assert "1 of 2 workers" in str(dispatcher.trouble)
        await asyncio.sleep(0.01)
        assert dispatcher.trouble is None
        workers[1].reply(2, FOUND)
        assert await kept == FOUND
        (again,) = [one for one in workers[2:] if one.sent]
        again.reply(1, FOUND)
        assert await lost == FOUND

    played(script, workers=2)


def test_a_model_that_was_given_up_is_told_with_the_time_to_come_again() -> None:
    async def script(dispatcher: Dispatcher, workers: list[Scripted]) -> None:
        for _ in range(5):
            dispatcher.lanes[0].breaker.count_failure()
        with pytest.raises(RequestRefused, match="failed again and again") as refused:
            await dispatcher.answer(search(1))
        assert refused.value.status == 503
        assert refused.value.retry_after > 1
        assert "again and again" in str(dispatcher.trouble)

    played(script)
