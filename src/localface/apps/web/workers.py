"""Where searches run, off the event loop: a thread of this process, or processes of their own."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Protocol

from localface.apps.web.errors import LOG
from localface.apps.web.handlers import Answerer, Deliver, RequestBody
from localface.apps.web.reply import Reply

Message = tuple[int, RequestBody | None]
"""A request with its number; without a request: that number is no longer wanted."""
Lost = Callable[[], None]
_OFTEN = 0.002  # seconds between looks into the mail while searches are under way
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class Worker(Protocol):
    """Answers requests, any number of them at a time."""

    def send(self, message: Message) -> None:
        """Hand over a request, or withdraw it; never waits."""
        ...

    def start(self, deliver: Deliver, lost: Lost) -> None:
        """Begin; replies are delivered from a thread of the worker's, and ``lost`` says that none of them will come."""
        ...

    def stop(self) -> None:
        """End what was started."""
        ...


class Mail:
    """An inbox on top of a way to receive messages."""

    def __init__(self, receive: Callable[[bool], Message | None]) -> None:
        self._receive = (
            receive  # with True it waits; an EOFError says that there will be nothing more
        )
        self._arrived: deque[tuple[int, RequestBody]] = deque()
        self._open: set[int] = set()
        self._looked = 0.0

    def wait(self) -> bool:
        """Wait until there is something to do; False when there will be nothing more."""
        try:
            while not self._arrived:
                self._note(self._receive(True))
        except (EOFError, OSError):
            return False
        return True

    def next(self) -> tuple[int, RequestBody] | None:
        """The next request, if one is there."""
        self._look()
        while self._arrived:
            number, ask = self._arrived.popleft()
            if number in self._open:
                return number, ask
        return None

    def wanted(self, number: int) -> bool:
        """Whether anybody waits for an answer."""
        self._look()
        return number in self._open

    def close(self, number: int) -> None:
        """Note that a request was answered."""
        self._open.discard(number)

    def _look(self) -> None:
        """Take in what has come; not at every call, as searches ask in every round and looking takes its time."""
        if (now := time.monotonic()) < self._looked + _OFTEN:
            return
        self._looked = now
        with suppress(EOFError, OSError):
            while (message := self._receive(False)) is not None:
                self._note(message)

    def _note(self, message: Message | None) -> None:
        if message is None:
            return
        number, ask = message
        if ask is None:
            self._open.discard(number)
        else:
            self._open.add(number)
            self._arrived.append((number, ask))


class Here:
    """Searches in a thread of this process."""

    def __init__(self, answerer: Answerer) -> None:
        self._answerer = answerer
        self._messages: SimpleQueue[Message | None] = (
            SimpleQueue()
        )  # None: there will be nothing more

    def send(self, message: Message) -> None:
        """Hand over a request, or withdraw it."""
        self._messages.put(message)

    def start(self, deliver: Deliver, lost: Lost) -> None:
        """Begin to answer."""
        mail = Mail(self._received)
        work = threading.Thread(
            target=_answering, args=(self._answerer, mail, deliver), daemon=True
        )
        work.start()

    def stop(self) -> None:
        """Answer no more."""
        self._messages.put(None)

    def _received(self, block: bool) -> Message | None:
        try:
            message = self._messages.get(block)
        except Empty:
            return None
        if message is None:
            self._messages.put(None)
            raise EOFError
        return message


class Apart:
    """Searches in a process of its own, which is started anew should it end.

    It is spawned, not forked: threads that a model has started (OpenMP, ONNX) do not
    survive a fork. The answerer travels there once, as a pickle.
    """

    def __init__(self, answerer: bytes) -> None:
        self._answerer = answerer
        self._stopped = False
        self._outbox: SimpleQueue[Message | None] = SimpleQueue()
        self._spawn()

    def send(self, message: Message) -> None:
        """Hand over a request, or withdraw it."""
        self._outbox.put(message)

    def start(self, deliver: Deliver, lost: Lost) -> None:
        """Begin to hand over and to deliver: a thread for each, since a pipe may be full."""
        threading.Thread(target=self._sending, daemon=True).start()
        threading.Thread(target=self._delivering, args=(deliver, lost), daemon=True).start()

    def stop(self) -> None:
        """End the process."""
        self._stopped = True
        self._outbox.put(None)
        self._process.terminate()
        self._process.join(timeout=2)

    def _sending(self) -> None:
        while (message := self._outbox.get()) is not None:
            with suppress(OSError):  # whoever reads the replies sees that the process has ended
                self._connection.send(message)

    def _delivering(self, deliver: Deliver, lost: Lost) -> None:
        while not self._stopped:
            try:
                deliver(*self._connection.recv())
            except (EOFError, OSError):
                if not self._stopped:
                    LOG.error("a process that was searching has ended; another takes its place")
                    self._connection.close()
                    self._spawn()
                    lost()

    def _spawn(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, self._answerer), daemon=True)
        with _one_thread_each():
            self._process.start()
        theirs.close()


def workers_of(answerer: Answerer, n: int) -> list[Worker]:
    """So many workers; one of them needs no process of its own, and a model that cannot travel allows no more."""
    if n <= 1:
        return [Here(answerer)]
    try:
        packed = pickle.dumps(answerer)
    except Exception as error:  # whatever a model's own pickling raises
        LOG.warning("one worker only: the model cannot be sent to another process (%s)", error)
        return [Here(answerer)]
    return [Apart(packed) for _ in range(n)]


def cores() -> int:
    """How many processors there are for us."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _answering(answerer: Answerer, mail: Mail, deliver: Deliver) -> None:
    def delivered(number: int, reply: Reply) -> None:
        if mail.wanted(number):
            deliver(number, reply)
        mail.close(number)

    answerer.serve(mail, delivered)


def _work(connection: Connection, packed: bytes) -> None:
    """Answer what comes through a pipe until its other end closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started us

    def received(block: bool) -> Message | None:
        message: Message | None = connection.recv() if block or connection.poll() else None
        return message

    answerer = pickle.loads(packed)
    gc.freeze()  # what came lives as long as we do, and need not be looked through again and again
    with suppress(OSError):
        _answering(answerer, Mail(received), lambda number, reply: connection.send((number, reply)))


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let what is started now use one thread for linear algebra: the processes share the processors."""
    added = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
