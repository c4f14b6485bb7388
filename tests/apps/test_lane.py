"""A lane: workers that end, hang or grow are replaced, and only who is at fault is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from localface.apps.web.http.errors import RequestRefused
from localface.apps.web.http.metrics import ServiceMetrics
from localface.apps.web.http.reply import Reply
from localface.apps.web.workers.breaker import Breaker
from localface.apps.web.workers.lane import Lane
from localface.apps.web.workers.member import WorkerLimits
from localface.apps.web.workers.pending import PendingRequest
from localface.apps.web.workers.request_buffer import NumberedRequest

FOUND = Reply(200, b"{}")
NOBODY: Any = None  # waits for the replies here: the scene takes them
LIMITS = WorkerLimits(
    silent_seconds=1.0, hung_seconds=10.0, idle_seconds=3.0, grown_bytes=100, grown_share=0.1
)


class Scripted:
    """A worker that keeps what it is sent, and does what the test says."""

    can_be_killed = True

    def __init__(self) -> None:
        self.sent: list[NumberedRequest] = []
        self.killed = False
        self.bytes = 1000
        self.waited = 0.0

    def start(self, reply: Any, beat: Any, lose: Any) -> None:
        self.reply, self.beat, self.lose = reply, beat, lose

    def send(self, request: NumberedRequest) -> None:
        self.sent.append(request)

    def kill(self) -> None:
        self.killed = True

    def stop(self) -> None:
        self.killed = True

    def memory(self) -> int:
        return self.bytes

    def seconds_waited(self) -> float:
        return self.waited

    @property
    def numbers(self) -> list[int]:
        return [number for number, body in self.sent if body is not None]


class Scene:
    """A lane with scripted workers and a clock that goes when the test says so."""

    def __init__(self, **options: Any) -> None:
        self.time = 100.0
        self.workers: list[Scripted] = []
        self.replies: dict[int, Reply] = {}
        self.lane = Lane(
            name="ordinary",
            make_worker=self.make_worker,
            breaker=Breaker(lambda: self.time),
            metrics=ServiceMetrics(),
            resolve=lambda pending, reply: self.replies.update({pending.number: reply}),
            call_in_loop=lambda function: function,
            limits=LIMITS,
            **{"size": 1, "width": 4, "max_open": 20, **options},
        )
        self.lane.start()
        self.wake()

    def make_worker(self) -> Scripted:
        self.workers.append(Scripted())
        return self.workers[-1]

    def wake(self) -> None:
        """Every worker that is still there gives a sign of life, the first time it has begun."""
        for one in self.there:
            one.beat()

    @property
    def there(self) -> list[Scripted]:
        return [one for one in self.workers if not one.killed]

    def ask(self, *numbers: int) -> list[PendingRequest]:
        asked = [PendingRequest(n, str(n), {"n": n}, False, NOBODY) for n in numbers]
        for one in asked:
            self.lane.submit(one)
        return asked

    def after(self, seconds: float, *, but: Callable[[Scripted], bool] = lambda one: False) -> None:
        """Let time pass in small steps; those that are not silent give signs of life."""
        for _ in range(round(seconds / 0.2)):
            self.time += 0.2
            for one in self.there:
                if not but(one):
                    one.beat()
            self.lane.check()


def error(reply: Reply) -> str:
    return str(json.loads(reply.body)["error"]["message"])


def test_who_was_with_a_request_that_hangs_is_answered_and_only_it_is_refused() -> None:
    scene = Scene()
    scene.ask(1, 2, 3)  # the model hangs on the second
    hangs = lambda worker: 2 in worker.numbers  # noqa: E731

    scene.after(1.4, but=hangs)
    first, *others = scene.workers
    assert first.killed
    assert len(others) == 4  # one in its place, and one for each suspect
    assert all(len(one.numbers) <= 1 for one in others)
    for worker in scene.there:
        for number in worker.numbers:
            if number != 2:
                worker.reply(number, FOUND)
    assert scene.replies == {1: FOUND, 3: FOUND}

    scene.ask(4)  # others go on while it is given its time
    (answers,) = [one for one in scene.there if 4 in one.numbers]
    answers.reply(4, FOUND)
    assert scene.replies[4] == FOUND
    scene.after(15, but=hangs)
    assert scene.replies[2].status == 502
    assert "did not come back" in error(scene.replies[2])
    assert len(scene.there) == 1


def test_who_is_handed_to_a_worker_that_has_ended_as_well_is_tried_once_more() -> None:
    scene = Scene(size=2)
    scene.ask(1)
    first = next(one for one in scene.workers if 1 in one.numbers)
    first.lose()
    second = next(one for one in scene.there if 1 in one.numbers)

    second.lose()  # it had ended before the request came: no sign of life since
    scene.wake()
    third = next(one for one in scene.there if 1 in one.numbers)
    assert scene.replies == {}
    third.reply(1, FOUND)
    assert scene.replies == {1: FOUND}


def test_a_request_that_ends_every_worker_at_once_is_refused_with_the_third() -> None:
    scene = Scene(size=2)
    scene.ask(1)
    for _ in range(3):
        next(one for one in scene.there if 1 in one.numbers).lose()
        scene.wake()

    assert scene.replies[1].status == 502
    assert "ended" in error(scene.replies[1])


def test_after_a_loss_no_two_requests_share_a_worker_for_a_while() -> None:
    scene = Scene()
    scene.ask(1, 2, 3, 4, 5)  # the last waits: a worker takes four
    scene.workers[0].lose()
    scene.ask(6)
    scene.wake()
    assert sorted(one.numbers for one in scene.there) == [[1], [2], [3], [4], [5]]
    for one in scene.there:
        one.reply(one.numbers[0], FOUND)
    assert [6] in [one.numbers[1:] for one in scene.there]
    scene.after(20)
    (left,) = scene.there
    scene.ask(7, 8)
    assert left.numbers[-2:] == [7, 8]


def test_a_slow_model_is_waited_for_and_teaches_patience() -> None:
    scene = Scene()
    scene.ask(1)
    scene.after(1.4, but=lambda one: bool(one.numbers))
    scene.after(3.0, but=lambda one: bool(one.numbers))
    (slow,) = [one for one in scene.there if one.numbers]
    slow.beat()
    slow.reply(1, FOUND)
    scene.ask(2)
    scene.after(4.0, but=lambda one: bool(one.numbers))
    (slow,) = [one for one in scene.there if 2 in one.numbers]
    slow.reply(2, FOUND)
    assert [reply.status for reply in scene.replies.values()] == [200, 200]


def test_a_request_with_a_worker_to_itself_is_waited_for_and_begun_only_once() -> None:
    scene = Scene()
    scene.ask(1)
    scene.after(5.0, but=lambda one: 1 in one.numbers)
    assert not scene.workers[0].killed
    scene.ask(2)  # another worker is there for others
    assert scene.workers[1].numbers == [2]
    scene.workers[0].reply(1, FOUND)
    scene.workers[1].reply(2, FOUND)
    assert scene.replies == {1: FOUND, 2: FOUND}

    scene.ask(3)
    scene.after(12.0, but=lambda one: 3 in one.numbers)
    assert scene.replies[3].status == 502  # after its ten seconds, not after twenty
    assert sum(3 in one.numbers for one in scene.workers) == 1


def test_a_worker_that_others_keep_from_a_processor_is_not_taken_for_hung() -> None:
    scene = Scene()
    scene.ask(1, 2)
    for _ in range(20):  # four seconds, of which it gets a tenth
        scene.workers[0].waited += 0.18
        scene.after(0.2, but=lambda one: True)
    assert not scene.workers[0].killed
    scene.after(1.4, but=lambda one: True)  # now it has a processor, and is silent
    assert scene.workers[0].killed


def test_a_worker_that_ends_is_replaced_and_its_requests_are_tried_once_more() -> None:
    scene = Scene()
    scene.ask(1, 2)
    scene.workers[0].lose()
    scene.wake()
    assert sorted(number for one in scene.workers[1:] for number in one.numbers) == [1, 2]
    assert all(len(one.numbers) <= 1 for one in scene.workers[1:])  # each by itself
    for one in scene.workers[1:]:
        if one.numbers == [1]:
            one.lose()
        elif one.numbers == [2]:
            one.reply(2, FOUND)
    assert scene.replies[2] == FOUND
    assert scene.replies[1].status == 502
    assert "ended the process" in error(scene.replies[1])


def test_a_model_that_fails_again_and_again_is_given_up_for_a_while() -> None:
    scene = Scene()
    numbers = iter(range(1, 100))
    while not scene.lane.breaker.is_open:
        scene.ask(next(numbers))
        for _ in range(2):
            scene.after(0.2)
            for one in [one for one in scene.there if one.numbers]:
                one.lose()
    assert len(scene.replies) == 5
    scene.lane.check()
    scene.time += 1000
    scene.lane.check()
    scene.wake()
    assert not scene.lane.breaker.is_open
    scene.ask(50)
    (answers,) = [one for one in scene.there if 50 in one.numbers]
    answers.reply(50, FOUND)
    assert scene.replies[50] == FOUND
    assert scene.lane.breaker.strikes == 0


def test_those_who_wait_are_told_when_the_model_is_given_up() -> None:
    scene = Scene(width=1)
    scene.ask(1, 2)
    for _ in range(5):
        scene.lane.breaker.count_failure()
    scene.lane.check()
    assert scene.replies[2].status == 503
    assert scene.replies[2].retry_after > 1


def test_a_worker_that_cannot_begin_is_tried_again_after_longer_and_longer_pauses() -> None:
    scene = Scene()
    scene.workers[0].lose()
    for _ in range(50):  # ten seconds in which none begins
        scene.time += 0.2
        scene.lane.check()
        for one in scene.there:
            one.lose()
            one.killed = True
    assert 2 < len(scene.workers) < 12


def test_a_worker_that_has_grown_finishes_what_it_has_and_is_replaced() -> None:
    scene = Scene()
    scene.after(0.2)
    scene.ask(1)
    grown = scene.workers[0]
    grown.bytes = 1150
    scene.after(0.2)
    assert not grown.killed
    assert len(scene.workers) == 2
    scene.wake()
    scene.ask(2)
    assert scene.workers[1].numbers == [2]
    grown.reply(1, FOUND)
    assert grown.killed
    assert scene.replies == {1: FOUND}


def test_a_worker_that_takes_all_memory_is_ended_at_once() -> None:
    scene = Scene()
    scene.after(0.2)
    scene.ask(1)
    scene.workers[0].bytes = 9000
    scene.after(0.2)
    assert scene.workers[0].killed
    assert not scene.replies  # it is tried once more


def test_more_than_may_be_open_are_refused_with_the_time_to_come_again() -> None:
    scene = Scene(max_open=2)
    scene.ask(1, 2)
    with pytest.raises(RequestRefused) as refused:
        scene.ask(3)
    assert refused.value.status == 503
    assert refused.value.retry_after >= 1


def test_who_would_have_to_wait_too_long_is_refused_with_the_time_it_takes() -> None:
    scene = Scene(width=1)
    scene.ask(1)
    for number in range(1, 30):  # each takes five seconds
        scene.after(5.0)
        scene.workers[0].reply(number, FOUND)
        scene.ask(number + 1)
    scene.ask(100, 101, 102)
    with pytest.raises(RequestRefused) as refused:
        scene.ask(103)
    assert refused.value.status == 503
    assert 10 < refused.value.retry_after < 20


def test_a_request_that_is_withdrawn_while_the_model_hangs_on_it_costs_others_a_moment() -> None:
    scene = Scene()
    (gone,) = scene.ask(1)
    scene.lane.withdraw(gone)
    assert scene.workers[0].sent[-1] == (1, None)
    assert not scene.lane._begun  # nothing of it is kept
    scene.after(1.4, but=lambda one: 1 in one.numbers)
    assert scene.workers[0].killed
    scene.ask(2)
    assert scene.workers[1].numbers == [2]


def test_what_cannot_be_killed_is_waited_for() -> None:
    scene = Scene()
    scene.workers[0].can_be_killed = False
    scene.ask(1)
    scene.after(60, but=lambda one: True)
    assert len(scene.workers) == 1
    assert scene.lane.n_ready == 0
    scene.workers[0].reply(1, FOUND)
    scene.wake()
    assert scene.lane.n_ready == 1


class TestAlone:
    """A search has its worker to itself for a while: few together are no quicker than in turn."""

    def test_others_wait_until_it_is_done(self) -> None:
        scene = Scene(alone_seconds=0.5)
        scene.ask(1, 2, 3)
        (worker,) = scene.there
        assert worker.numbers == [1]
        worker.reply(1, FOUND)
        assert worker.numbers == [1, 2]
        worker.reply(2, FOUND)
        assert worker.numbers == [1, 2, 3]

    def test_others_join_one_that_takes_long_but_each_has_its_while(self) -> None:
        scene = Scene(alone_seconds=0.5)
        scene.ask(1, 2, 3)
        (worker,) = scene.there
        scene.after(0.4)
        assert worker.numbers == [1]
        scene.after(0.2)
        assert worker.numbers == [1, 2]
        scene.after(0.2)
        assert worker.numbers == [1, 2]
        scene.after(0.4)
        assert worker.numbers == [1, 2, 3]

    def test_every_worker_has_one_before_any_has_two(self) -> None:
        scene = Scene(alone_seconds=0.5, size=2)
        scene.ask(1, 2, 3)
        assert [one.numbers for one in scene.there] == [[1], [2]]

    def test_what_takes_no_search_goes_past_those_that_wait(self) -> None:
        scene = Scene(alone_seconds=0.5)
        scene.ask(1, 2)
        scene.lane.submit(PendingRequest(3, "3", {"n": 3}, False, NOBODY, is_quick=True))
        (worker,) = scene.there
        assert worker.numbers == [1, 3]
        worker.reply(1, FOUND)
        worker.reply(3, FOUND)
        assert worker.numbers == [1, 3, 2]

    def test_no_worker_holds_more_than_it_may_whatever_is_quick(self) -> None:
        scene = Scene(alone_seconds=0.5, width=2)
        scene.ask(1)
        for number in (2, 3):
            quick = PendingRequest(number, str(number), {"n": number}, False, NOBODY, is_quick=True)
            scene.lane.submit(quick)
        (worker,) = scene.there
        assert worker.numbers == [1, 2]

    def test_who_has_to_wait_too_long_in_turn_is_told_so(self) -> None:
        scene = Scene(alone_seconds=10.0, max_open=1000)
        scene.lane._mean_seconds = 2.0  # of one search; four at a time would take as long
        scene.ask(*range(1, 8))
        with pytest.raises(RequestRefused) as refused:
            scene.ask(8)
        assert refused.value.status == 503
