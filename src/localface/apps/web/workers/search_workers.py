"""Workers that search off the event loop: a thread of this process, or other processes."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Protocol

from localface.apps.web.http.errors import LOG
from localface.apps.web.http.reply import Reply
from localface.apps.web.workers.handlers import RequestHandler, SendReply
from localface.apps.web.workers.request_buffer import NumberedRequest, RequestBuffer

ReportLoss = Callable[[], None]
_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class SearchWorker(Protocol):
    """Answers requests, any number of them at a time."""

    def send(self, request: NumberedRequest) -> None:
        """Hand over a request, or withdraw it; never waits."""
        ...

    def start(self, send_reply: SendReply, report_loss: ReportLoss) -> None:
        """Begin; both callables are called from a thread of the worker's.

        ``report_loss`` says that no open request will be answered any more.
        """
        ...

    def stop(self) -> None:
        """End what was started."""
        ...


class ThreadWorker:
    """Searches in a thread of this process."""

    def __init__(self, handler: RequestHandler) -> None:
        self._handler = handler
        # None in it says that there will be nothing more
        self._requests: SimpleQueue[NumberedRequest | None] = SimpleQueue()

    def send(self, request: NumberedRequest) -> None:
        """Hand over a request, or withdraw it."""
        self._requests.put(request)

    def start(self, send_reply: SendReply, report_loss: ReportLoss) -> None:
        """Begin to answer."""
        arguments = (self._handler, RequestBuffer(self._receive_request), send_reply)
        threading.Thread(target=_serve_awaited_requests, args=arguments, daemon=True).start()

    def stop(self) -> None:
        """Answer no more."""
        self._requests.put(None)

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
    """Searches in a process of its own, which is started anew should it end.

    It is spawned, not forked: threads that a model has started (OpenMP, ONNX) do not
    survive a fork. The handler travels there once, as a pickle.
    """

    def __init__(self, pickled_handler: bytes) -> None:
        self._pickled_handler = pickled_handler
        self._stopped = False
        self._outbox: SimpleQueue[NumberedRequest | None] = SimpleQueue()
        self._spawn_process()

    def send(self, request: NumberedRequest) -> None:
        """Hand over a request, or withdraw it."""
        self._outbox.put(request)

    def start(self, send_reply: SendReply, report_loss: ReportLoss) -> None:
        """Begin to hand over requests and replies: a thread for each, since a pipe may be full."""
        arguments = (send_reply, report_loss)
        threading.Thread(target=self._send_requests, daemon=True).start()
        threading.Thread(target=self._receive_replies, args=arguments, daemon=True).start()

    def stop(self) -> None:
        """End the process."""
        self._stopped = True
        self._outbox.put(None)
        self._process.terminate()
        self._process.join(timeout=2)

    def _send_requests(self) -> None:
        while (request := self._outbox.get()) is not None:
            with suppress(OSError):  # the thread that reads replies sees that the process ended
                self._connection.send(request)

    def _receive_replies(self, send_reply: SendReply, report_loss: ReportLoss) -> None:
        while not self._stopped:
            try:
                send_reply(*self._connection.recv())
            except (EOFError, OSError):
                if not self._stopped:
                    LOG.error("a process that was searching has ended; another takes its place")
                    self._connection.close()
                    self._spawn_process()
                    report_loss()

    def _spawn_process(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        arguments = (theirs, self._pickled_handler)
        self._process = context.Process(target=_serve_pipe, args=arguments, daemon=True)
        with _limit_to_one_thread_each():
            self._process.start()
        theirs.close()


def make_workers(handler: RequestHandler, n: int) -> list[SearchWorker]:
    """Make ``n`` workers: processes, or one thread where ``n`` is 1 or the model cannot travel."""
    if n <= 1:
        return [ThreadWorker(handler)]
    try:
        pickled = pickle.dumps(handler)
    except Exception as error:  # whatever a model's own pickling raises
        LOG.warning("one worker only: the model cannot be sent to another process (%s)", error)
        return [ThreadWorker(handler)]
    return [ProcessWorker(pickled) for _ in range(n)]


def n_cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _serve_awaited_requests(
    handler: RequestHandler, requests: RequestBuffer, send_reply: SendReply
) -> None:
    """Answer requests, and send the replies that are still waited for."""

    def send_if_awaited(number: int, reply: Reply) -> None:
        if requests.is_awaited(number):
            send_reply(number, reply)
        requests.mark_answered(number)

    handler.serve(requests, send_if_awaited)


def _serve_pipe(connection: Connection, pickled_handler: bytes) -> None:
    """Answer what comes through a pipe until its other end closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one

    def receive(wait: bool) -> NumberedRequest | None:
        request: NumberedRequest | None = None
        if wait or connection.poll():
            request = connection.recv()
        return request

    def send_reply(number: int, reply: Reply) -> None:
        connection.send((number, reply))

    handler = pickle.loads(pickled_handler)
    gc.freeze()  # the handler stays, and need not be looked through again and again
    with suppress(OSError):
        _serve_awaited_requests(handler, RequestBuffer(receive), send_reply)


@contextmanager
def _limit_to_one_thread_each() -> Iterator[None]:
    """Let processes started now use one thread each for linear algebra: they share the cores."""
    added = [name for name in _THREAD_VARIABLES if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
