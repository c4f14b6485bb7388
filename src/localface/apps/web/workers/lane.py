"""A lane: a queue of requests of one kind with the workers that answer them.

A worker that ends is replaced, and so is one that falls silent: a model that hangs cannot be
told from the requests that it hangs on, so each of them is tried once more by itself, and one
that has a worker to itself is waited for. Who then loses a worker has itself to blame, and is
refused. For a while after a loss, new requests are kept apart as well: where one breaks the
model, others often come with it. Time without a processor is not silence: a machine that is busy
would otherwise be given the same work again and again.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from localface.apps.web.http.errors import RequestRefused
from localface.apps.web.http.log_lines import LOG
from localface.apps.web.http.metrics import ServiceMetrics
from localface.apps.web.http.reply import Reply, error_reply
from localface.apps.web.workers.breaker import Breaker
from localface.apps.web.workers.member import Member, WorkerLimits
from localface.apps.web.workers.pending import PendingRequest
from localface.apps.web.workers.search_workers import SearchWorker

Resolve = Callable[[PendingRequest, Reply], None]
CallInLoop = Callable[[Callable[..., None]], Callable[..., None]]
Loss = Literal["ended", "hung", "memory"]
_AT_FAULT: dict[Loss, str] = {
    "ended": "the model ended the process that called it on this record",
    "hung": "the model did not come back on this record",
    "memory": "the model took too much memory on this record",
}
GIVEN_UP = (
    "the model has failed again and again, each time with the process that called it: "
    "it is tried again in a while; the log of the service has more"
)
_MIN_APART = 4  # requests that are tried apart at a time: forks are cheap
_APART_SECONDS = 5.0  # after a loss in which no two requests share a worker
_LONGEST_PAUSE = 5.0  # seconds between attempts to start a worker


@dataclass(slots=True, eq=False)
class Lane:
    """Answers requests of one kind by ``size`` workers, ``width`` at a time each.

    ``call_in_loop`` lets a worker's thread call something here; ``resolve`` takes replies.
    ``lazy`` workers are started with the first request. For ``alone_seconds`` a search has its
    worker to itself; others wait, and join it only where it takes longer.
    """

    name: str
    make_worker: Callable[[], SearchWorker]
    size: int
    width: int
    max_open: int
    breaker: Breaker
    metrics: ServiceMetrics
    resolve: Resolve
    call_in_loop: CallInLoop
    limits: WorkerLimits
    lazy: bool = False
    alone_seconds: float = 0.0
    was_whole: bool = False  # all of its workers have answered at a time
    members: list[Member] = field(default_factory=list)
    _waiting: deque[PendingRequest] = field(default_factory=deque)
    _suspects: deque[PendingRequest] = field(default_factory=deque)
    _patience: float = 0.0
    _mean_seconds: float = 0.1
    _failed_starts: int = 0
    _apart_until: float = 0.0
    _next_start: float = 0.0
    _begun: dict[int, float] = field(default_factory=dict)

    @property
    def now(self) -> float:
        """The time, by the clock that everything here goes by."""
        return self.breaker.now()

    @property
    def _max_apart(self) -> int:
        """How many workers more there may be than usual, to try suspects in."""
        return max(_MIN_APART, self.size)

    @property
    def _keeps_apart(self) -> bool:
        """Whether no two requests share a worker now."""
        return self.now < self._apart_until and not self.breaker.is_open

    @property
    def n_ready(self) -> int:
        """Workers that answer."""
        return sum(one.is_ready and not one.is_silent for one in self.members)

    @property
    def n_open(self) -> int:
        """Requests that wait or are searched."""
        held = sum(len(one.open) for one in self.members)
        return len(self._waiting) + len(self._suspects) + held

    def start(self) -> None:
        """Start the workers."""
        self._patience = self.limits.silent_seconds
        if not self.lazy:
            self._keep_size()

    def stop(self) -> None:
        """End the workers."""
        members, self.members = self.members, []
        for one in members:
            one.worker.stop()

    def submit(self, pending: PendingRequest) -> None:
        """Take a request, or refuse it where too many are here."""
        wait = self._seconds_to_wait()
        if self.n_open >= self.max_open or (self._waiting and wait > self.limits.queue_seconds):
            raise RequestRefused(
                503,
                "Busy",
                f"{self.n_open} requests of this kind are being answered: try again later",
                retry_after=min(60, max(1, math.ceil(wait))),
            )
        self._waiting.append(pending)
        self.lazy = False
        self._keep_size()
        self._hand_out()

    def withdraw(self, pending: PendingRequest) -> None:
        """Forget a request; who searches for it stops within a round."""
        self._begun.pop(pending.number, None)
        for queue in (self._waiting, self._suspects):
            if pending in queue:
                queue.remove(pending)
        for one in self.members:
            if one.open.pop(pending.number, None) is not None:
                one.worker.send((pending.number, None))
                one.has_withdrawn = True
        self._hand_out()

    def check(self) -> None:
        """Look after the workers; to be called every now and then."""
        for one in list(self.members):
            one.allow_for_waiting(self.now)
            silent = self.now - one.heard
            if not one.is_ready and silent > self.limits.start_seconds:
                self._lose(one, "hung")
            elif one.is_ready and one.is_busy and silent > self._patience:
                self._deal_with_silence(one, silent)
            elif one.is_ready and not one.is_leaving and one.has_grown(self.limits, self.now):
                self._replace_grown(one)
        if self.breaker.is_open:
            self._refuse_those_who_wait()
        self._keep_size()
        self._hand_out()

    def _refuse_those_who_wait(self) -> None:
        """Tell those who wait that the model is given up for now."""
        reply = error_reply(503, "ModelError", GIVEN_UP, retry_after=self.breaker.seconds_left)
        waiting = [*self._suspects, *self._waiting]
        self._suspects.clear()
        self._waiting.clear()
        for pending in waiting:
            self.resolve(pending, reply)

    def _deal_with_silence(self, member: Member, silent: float) -> None:
        """End a worker that is silent; a request that has it to itself is given more time."""
        member.is_silent = True
        if not member.worker.can_be_killed:
            return
        if len(member.open) == 1 and not member.has_withdrawn:
            (alone,) = member.open.values()
            alone.is_suspect = True  # nobody else waits for this worker, nor can be at fault
        has_time = silent <= self.limits.hung_seconds and not self._must_make_room(member)
        if not (member.holds_suspect and has_time):
            self._lose(member, "hung")

    def _must_make_room(self, member: Member) -> bool:
        """Whether suspects wait, and all workers for them are silent, this one for longest."""
        silent = [one for one in self.members if one.is_silent]
        enough = len(silent) < self._max_apart or not self._suspects
        return not enough and member is min(silent, key=lambda one: one.heard)

    def _is_given_up(self, member: Member) -> bool:
        """Whether nobody else is sent to a worker: it is silent, and will be ended."""
        return member.is_silent and member.worker.can_be_killed

    def _replace_grown(self, member: Member) -> None:
        """Have another worker take over; what is under way is finished, unless it takes it all."""
        grown = member.worker.memory() - member.first_memory
        if grown > 4 * self.limits.grown_bytes:
            self._lose(member, "memory")
            return
        self.metrics.count_lost_worker("memory")
        member.is_leaving = True
        self._let_go_if_done(member)

    def _lose(self, member: Member, loss: Loss) -> None:
        """Do without a worker that is no good any more."""
        self.members.remove(member)
        member.worker.kill()
        self.metrics.count_lost_worker(loss)
        LOG.error("a worker was lost and is replaced: lane=%s reason=%s", self.name, loss)
        if member.is_ready and loss != "memory":
            self._apart_until = self.now + _APART_SECONDS
        if not member.is_ready:
            self._failed_starts += 1
            pause = min(_LONGEST_PAUSE, 0.1 * 2**self._failed_starts)
            self._next_start = self.now + pause
            self.breaker.count_failure()
        for pending in member.open.values():
            begun = self._begun.pop(pending.number, self.now)
            unheard = loss == "ended" and member.heard <= begun
            if pending.is_suspect and not self._spare(pending, unheard=unheard):
                self.breaker.count_failure()
                words = f"{_AT_FAULT[loss]}; the log of the service has more"
                self.resolve(pending, error_reply(502, "ModelError", words))
            else:
                pending.is_suspect = True
                self._suspects.append(pending)
        self._keep_size()
        self._hand_out()

    def _spare(self, pending: PendingRequest, *, unheard: bool) -> bool:
        """Whether a suspect is tried again: once, where its worker may have ended before it came.

        Two workers that end at the same time would else put the blame on whoever was handed from
        the one to the other.
        """
        spared = unheard and not pending.was_spared
        pending.was_spared = pending.was_spared or spared
        return spared

    def _keep_size(self) -> None:
        """Start and let go workers: one more for each that is silent, and for each suspect."""
        if self.lazy or self.now < self._next_start or self.breaker.is_open:
            return
        staying = [one for one in self.members if not one.is_leaving]
        apart = sum(one.holds_suspect or self._is_given_up(one) for one in staying)
        unplaced = len(self._suspects) + (len(self._waiting) if self._keeps_apart else 0)
        wanted = self.size + min(apart + unplaced, self._max_apart)
        for _ in range(wanted - len(staying)):
            self._start_worker()
        idle = [one for one in staying if one.is_idle(self.limits, self.now)]
        for one in idle[: max(0, len(staying) - wanted)]:
            one.is_leaving = True
            self._let_go_if_done(one)

    def _start_worker(self) -> None:
        member = Member(self.make_worker(), self.now, self.now)
        self.members.append(member)
        member.worker.start(
            self.call_in_loop(partial(self._take_reply, member)),
            self.call_in_loop(partial(self._hear, member)),
            self.call_in_loop(partial(self._notice_end, member)),
        )

    def _hand_out(self) -> None:
        """Hand requests to workers that have room: first those that get one to themselves."""
        while self._suspects:
            empty = [one for one in self.members if one.has_room(1) and not one.has_withdrawn]
            if not empty:
                break
            self._hand_over(self._suspects.popleft(), empty[0])
        width = 1 if self._keeps_apart else self.width
        for pending in [one for one in self._waiting if one.is_quick]:
            free = [one for one in self.members if one.has_room(width)]
            if not free:
                break
            self._waiting.remove(pending)
            self._hand_over(pending, min(free, key=_n_open))
        while self._waiting:
            free = [one for one in self.members if one.has_room(width) and self._may_be_joined(one)]
            if not free:
                break
            self._hand_over(self._waiting.popleft(), min(free, key=_n_open))

    def _may_be_joined(self, member: Member) -> bool:
        """Whether a search may join those of a worker: they have had it to themselves."""
        latest = self.now - self.alone_seconds
        return all(self._begun.get(number, latest) <= latest for number in member.open)

    def _hand_over(self, pending: PendingRequest, member: Member) -> None:
        if not member.is_busy:
            member.heard = self.now
        member.used = self.now
        member.open[pending.number] = pending
        self._begun[pending.number] = self.now
        member.worker.send((pending.number, pending.body))

    def _hear(self, member: Member, *_: Any) -> None:
        """Note a sign of life; who came back after a silence teaches patience."""
        if member not in self.members:
            return
        if member.is_silent:
            self._patience = max(self._patience, 2 * (self.now - member.heard))
        if not member.is_ready:
            self._failed_starts = 0
            self._next_start = 0.0
        member.heard = self.now
        member.is_ready = True
        member.is_silent = False
        member.has_withdrawn = False
        self.was_whole = self.was_whole or self.n_ready >= self.size
        self._hand_out()

    def _take_reply(self, member: Member, number: int, reply: Reply) -> None:
        member.heard = self.now
        member.used = self.now
        pending = member.open.pop(number, None)
        begun = self._begun.pop(number, self.now)
        self._mean_seconds += 0.1 * (self.now - begun - self._mean_seconds)
        if pending is not None and member in self.members:
            self.breaker.count_success()
            self.resolve(pending, reply)
        self._let_go_if_done(member)
        self._hand_out()

    def _notice_end(self, member: Member) -> None:
        if member in self.members:
            self._lose(member, "ended")

    def _let_go_if_done(self, member: Member) -> None:
        if member.is_leaving and not member.open and member in self.members:
            self.members.remove(member)
            member.worker.stop()

    def _seconds_to_wait(self) -> float:
        """About how long it takes until one more is begun."""
        width = self.width if self._mean_seconds > self.alone_seconds else 1
        return self._mean_seconds * len(self._waiting) / (self.size * width)


def _n_open(member: Member) -> int:
    return len(member.open)
