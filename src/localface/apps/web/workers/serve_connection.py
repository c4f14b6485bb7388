"""What a worker process does: it answers what comes through a connection."""

from __future__ import annotations

import pickle
import signal
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from localface.apps.web.http.reply import Reply
from localface.apps.web.workers.request_buffer import NumberedRequest, RequestBuffer

BEAT = (0, None)
"""What a worker sends between rounds: that it goes on. No request has the number 0."""


def serve_connection(connection: Connection, handler: Any) -> None:
    """Answer what comes through a connection until its other end closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one

    def receive(wait: bool) -> NumberedRequest | None:
        request: NumberedRequest | None = None
        if wait or connection.poll():
            request = connection.recv()
        return request

    def send_reply(number: int, reply: Reply) -> None:
        connection.send((number, reply))

    with suppress(OSError):
        requests = RequestBuffer(receive, lambda: connection.send(BEAT))
        serve_awaited_requests(handler, requests, send_reply)


def serve_pickled(connection: Connection, pickled_handler: bytes) -> None:
    """Load a handler and have it answer, in a process that was started for it."""
    serve_connection(connection, pickle.loads(pickled_handler))


def serve_awaited_requests(handler: Any, requests: RequestBuffer, send_reply: Any) -> None:
    """Answer requests, and send the replies that are still waited for."""

    def send_if_awaited(number: int, reply: Reply) -> None:
        if requests.is_awaited(number):
            send_reply(number, reply)
        requests.mark_answered(number)

    handler.serve(requests, send_if_awaited)
