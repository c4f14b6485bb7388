"""Workers that search off the event loop: each a process of its own, or one thread of this one."""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Protocol

from localface.apps.web.http.log_lines import LOG
from localface.apps.web.workers.handlers import RequestHandler, SendReply
from localface.apps.web.workers.processes import (
    CAN_FORK,
    ForkTemplate,
    ModelCannotTravel,
    ProcessStarter,
    SpawnedInterpreters,
    kill_process,
    resident_bytes,
    seconds_without_processor,
)
from localface.apps.web.workers.request_buffer import NumberedRequest, RequestBuffer
from localface.apps.web.workers.serve_connection import BEAT, serve_awaited_requests

ReportBeat = Callable[[], None]
ReportLoss = Callable[[], None]


class SearchWorker(Protocol):
    """Answers requests, any number of them at a time, until it ends."""

    can_be_killed: bool

    def send(self, request: NumberedRequest) -> None:
        """Hand over a request, or withdraw it; never waits."""
        ...

    def start(
        self, send_reply: SendReply, report_beat: ReportBeat, report_loss: ReportLoss
    ) -> None:
        """Begin; the callables are called from a thread of the worker's.

        ``report_beat`` says that it has begun, and from then on that it goes on.
        ``report_loss`` says that it has ended, and no open request will be answered.
        """
        ...

    def kill(self) -> None:
        """End it at once, whatever it is doing."""
        ...

    def stop(self) -> None:
        """End it: it has nothing to do."""
        ...

    def memory(self) -> int:
        """The bytes of memory that are its own; 0 where that is not known."""
        ...

    def seconds_waited(self) -> float:
        """How long others have kept it from a processor so far; 0 where that is not known."""
        ...


class ThreadWorker:
    """Searches in a thread of this process, for a model that cannot leave it."""

    can_be_killed = False

    def __init__(self, handler: RequestHandler) -> None:
        self._handler = handler
        # None in it says that there will be nothing more
        self._requests: SimpleQueue[NumberedRequest | None] = SimpleQueue()

    def send(self, request: NumberedRequest) -> None:
        """Hand over a request, or withdraw it."""
        self._requests.put(request)

    def start(
        self, send_reply: SendReply, report_beat: ReportBeat, report_loss: ReportLoss
    ) -> None:
        """Begin to answer."""
        arguments = (self._handler, RequestBuffer(self._receive_request, report_beat), send_reply)
        threading.Thread(target=serve_awaited_requests, args=arguments, daemon=True).start()

    def kill(self) -> None:
        """A thread cannot be ended: it answers no more once it comes back."""
        self.stop()

    def stop(self) -> None:
        """Answer no more."""
        self._requests.put(None)

    def memory(self) -> int:
        """Not known: it shares the memory of this process."""
        return 0

    def seconds_waited(self) -> float:
        """Not known: a thread has no record of its own."""
        return 0.0

    def _receive_request(self, wait: bool) -> NumberedRequest | None:
        try:
            request = self._requests.get(wait)
        except Empty:
            return None
        if request is None:
            self._requests.put(None)
            raise EOFError
        return request


class ProcessWorker:
    """Searches in a process of its own, which can be killed."""

    can_be_killed = True

    def __init__(self, starter: ProcessStarter, *, low_priority: bool = False) -> None:
        self._starter = starter
        self._low_priority = low_priority
        self._outbox: SimpleQueue[NumberedRequest | None] = SimpleQueue()
        self._number = 0
        self._stopped = False

    def send(self, request: NumberedRequest) -> None:
        """Hand over a request, or withdraw it."""
        self._outbox.put(request)

    def start(
        self, send_reply: SendReply, report_beat: ReportBeat, report_loss: ReportLoss
    ) -> None:
        """Start the process, and a thread for each direction, since a pipe may be full."""

        def run() -> None:
            try:
                connection, self._number = self._starter.start_process(
                    low_priority=self._low_priority
                )
            except (OSError, EOFError, ModelCannotTravel):
                report_loss()
                return
            if self._stopped:
                self.kill()
            threading.Thread(target=self._send_requests, args=(connection,), daemon=True).start()
            self._receive(connection, send_reply, report_beat)
            self._number = 0
            self._outbox.put(None)
            report_loss()

        threading.Thread(target=run, daemon=True).start()

    def kill(self) -> None:
        """End the process at once."""
        self._stopped = True
        if self._number:
            kill_process(self._number)

    def stop(self) -> None:
        """End the process: what it holds is its own, so that nothing is left behind."""
        self.kill()

    def memory(self) -> int:
        """The memory that the process has in use."""
        return resident_bytes(self._number) if self._number else 0

    def seconds_waited(self) -> float:
        """How long the process could have gone on if a processor had been free."""
        return seconds_without_processor(self._number) if self._number else 0.0

    def _send_requests(self, connection: Connection) -> None:
        try:
            while (request := self._outbox.get()) is not None:
                connection.send(request)
        except OSError:  # the thread that reads replies sees that the process ended
            pass

    def _receive(
        self, connection: Connection, send_reply: SendReply, report_beat: ReportBeat
    ) -> None:
        with connection:
            try:
                while True:
                    message = connection.recv()
                    if message == BEAT:
                        report_beat()
                    else:
                        send_reply(*message)
            except (EOFError, OSError):
                pass


@dataclass(frozen=True, slots=True, eq=False)
class WorkerPlan:
    """How searches are run: by which workers, and how many of them for each kind of request.

    Parameters
    ----------
    make_worker : makes a worker for ordinary requests
    make_dear_worker : makes one for requests of many searches; None where they share a worker
    size : how many there are of the former
    width : requests that a worker searches at a time, in lock-step
    starter : what starts processes, where there are any
    alone_seconds : for how long a search has its worker to itself, while others wait
    """

    make_worker: Callable[[], SearchWorker]
    make_dear_worker: Callable[[], SearchWorker] | None
    size: int
    width: int
    starter: ProcessStarter | None = None
    alone_seconds: float = 0.0


PROCESS_WIDTH = 4  # a wider lock-step is hardly cheaper, and long searches hold up all of it
_THREAD_WIDTH = 256
_ALONE_SECONDS = 0.25  # more than nearly every search takes


def plan_workers(
    handler: RequestHandler, n: int, template: ForkTemplate | None = None
) -> WorkerPlan:
    """Plan ``n`` processes; one thread where ``n`` is 0 or the model cannot travel.

    ``template`` is one that was started before the model was made, to save time.
    """
    if n == 0 or (n == 1 and not CAN_FORK):
        return _plan_thread(handler)
    try:
        starter = _process_starter(handler, template)
    except ModelCannotTravel as error:
        LOG.warning(
            "the model is called in the service's own process, where nothing can stop it: %s; "
            "a model that is imported from a module of its own gets processes of its own",
            error,
        )
        return _plan_thread(handler)
    return WorkerPlan(
        lambda: ProcessWorker(starter),
        lambda: ProcessWorker(starter, low_priority=True),
        n,
        PROCESS_WIDTH,
        starter,
        _alone_seconds(handler),
    )


def n_cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _plan_thread(handler: RequestHandler) -> WorkerPlan:
    alone = _alone_seconds(handler)
    return WorkerPlan(lambda: ThreadWorker(handler), None, 1, _THREAD_WIDTH, alone_seconds=alone)


def _alone_seconds(handler: RequestHandler) -> float:
    """For how long a search has its worker to itself: it pays to share calls of a model alone.

    Where the model is read directly, a few searches in lock-step take as long as one after the
    other or longer, and each of them is kept waiting by all.
    """
    is_called = "called" in handler.explainer.engine.score.reading.split("; ")
    return 0.0 if is_called else _ALONE_SECONDS


def _process_starter(handler: RequestHandler, template: ForkTemplate | None) -> ProcessStarter:
    """What starts processes that hold a handler; ``ModelCannotTravel`` where none can."""
    try:
        pickled = pickle.dumps(handler)
    except Exception as error:  # whatever a model's own pickling raises
        raise ModelCannotTravel(f"it cannot be pickled ({type(error).__name__})") from None
    if not CAN_FORK:
        return SpawnedInterpreters(pickled)
    if b"__main__" in pickled:
        raise ModelCannotTravel("it is defined in the script or notebook itself")
    template = template or ForkTemplate()
    try:
        template.load(pickled)
    except (ModelCannotTravel, OSError, EOFError) as error:
        template.stop()
        raise ModelCannotTravel("another process cannot load it") from error
    return template
