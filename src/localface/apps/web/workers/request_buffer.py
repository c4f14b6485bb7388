"""A buffer of incoming requests that knows which of them are still waited for."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from localface.apps.web.workers.parsed_request import RequestBody

NumberedRequest = tuple[int, RequestBody | None]
"""A request with its number; without a body: nobody waits for that number any more."""
ReceiveRequest = Callable[[bool], NumberedRequest | None]
"""Receives a request; with True it waits for one. ``EOFError`` says that there will be no more."""
_POLL_SECONDS = 0.002  # between looks for new requests while searches are under way
_BEAT_SECONDS = 0.1  # between signs of life while searches are under way


class RequestBuffer:
    """Takes in requests as they come, and forgets those that are withdrawn.

    ``beat`` is called now and then between rounds, and before it waits: a model that hangs
    is known by the silence.
    """

    def __init__(self, receive: ReceiveRequest, beat: Callable[[], None] = lambda: None) -> None:
        self._receive = receive
        self._beat = beat
        self._beat_at = 0.0
        self._arrived: deque[tuple[int, RequestBody]] = deque()
        self._awaited: set[int] = set()
        self._polled_at = 0.0

    def wait_for_request(self) -> bool:
        """Wait until there is something to do; False when there will be nothing more."""
        try:
            self._beat()
            while not self._arrived:
                self._add_or_withdraw(self._receive(True))
        except (EOFError, OSError):
            return False
        return True

    def next_awaited_request(self) -> tuple[int, RequestBody] | None:
        """The next request that somebody waits for, if one is there."""
        self._take_in_new_requests()
        while self._arrived:
            number, body = self._arrived.popleft()
            if number in self._awaited:
                return number, body
        return None

    def is_awaited(self, number: int) -> bool:
        """Whether anybody waits for an answer."""
        self._take_in_new_requests()
        return number in self._awaited

    def mark_answered(self, number: int) -> None:
        """Note that a request was answered."""
        self._awaited.discard(number)

    def _take_in_new_requests(self) -> None:
        """Take in what has come; not at every call, as searches ask in every round."""
        now = time.monotonic()
        if now < self._polled_at + _POLL_SECONDS:
            return
        self._polled_at = now
        if now > self._beat_at + _BEAT_SECONDS:
            self._beat_at = now
            self._beat()
        with suppress(EOFError, OSError):
            while (request := self._receive(False)) is not None:
                self._add_or_withdraw(request)

    def _add_or_withdraw(self, request: NumberedRequest | None) -> None:
        if request is None:
            return
        number, body = request
        if body is None:
            self._awaited.discard(number)
        else:
            self._awaited.add(number)
            self._arrived.append((number, body))
