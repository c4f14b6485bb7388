"""Connections to the service: how many there may be, and how long each may be silent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

from localface.apps.web.http.metrics import ServiceMetrics

_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
    b"Content-Length: 0\r\n\r\n"
)
_DESCRIPTORS_SHARE = 0.5  # of the files that this process may open, for connections


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections there may be, and how long they may keep the service waiting.

    Parameters
    ----------
    most : connections at a time; one more takes the place of the one that is silent for longest
    header_seconds : until the first line and the headers of a request are whole
    idle_seconds : between the end of an answer and the next request
    read_seconds : until a client that reads nothing of its answer is given up
    header_bytes : of the first line and the headers of a request
    """

    most: int = 512
    header_seconds: float = 10.0
    idle_seconds: float = 15.0
    read_seconds: float = 30.0
    header_bytes: int = 32 * 1024

    @property
    def most_here(self) -> int:
        """The same, within the files that this process may open."""
        if resource is None:
            return self.most
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft == resource.RLIM_INFINITY:
            return self.most
        return max(1, min(self.most, int(_DESCRIPTORS_SHARE * soft)))


class OpenConnections:
    """The connections of one service; the longest silent one makes way where all are taken."""

    def __init__(self, limits: ConnectionLimits, metrics: ServiceMetrics) -> None:
        self.limits = limits
        self.metrics = metrics
        self._most = limits.most_here
        # in the order in which they fell silent; those that never asked anything make way first
        self._never_asked: dict[BoundedConnection, None] = {}
        self._idle: dict[BoundedConnection, None] = {}
        self._busy: set[BoundedConnection] = set()

    def __len__(self) -> int:
        return len(self._never_asked) + len(self._idle) + len(self._busy)

    def add(self, new: BoundedConnection) -> None:
        """Let a connection in, by ending a silent one where there are too many."""
        if len(self) >= self._most:
            longest = next(iter(self._never_asked or self._idle), None)
            self.metrics.count_closed_connection("refused" if longest is None else "made way")
            if longest is None:
                new.transport.write(_BUSY)
                new.transport.close()
                return
            self.discard(longest)
            longest.transport.abort()
        self._never_asked[new] = None
        self.metrics.set_connections(len(self))

    def mark_busy(self, one: BoundedConnection) -> None:
        """Note that a request is being answered."""
        self.discard(one)
        self._busy.add(one)

    def mark_idle(self, one: BoundedConnection) -> None:
        """Note that a request was answered."""
        if one in self._busy:
            self._busy.remove(one)
            self._idle[one] = None

    def discard(self, old: BoundedConnection) -> None:
        """Forget a connection that has ended."""
        self._never_asked.pop(old, None)
        self._idle.pop(old, None)
        self._busy.discard(old)
        self.metrics.set_connections(len(self))


class BoundedConnection(H11Protocol):
    """A connection that is ended where it keeps the service waiting."""

    all_open: OpenConnections

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a request is being answered."""
        cycle: Any = self.cycle  # none before the first request
        return cycle is not None and not cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; the first request has to come soon."""
        super().connection_made(transport)
        self._end_after(self.all_open.limits.header_seconds, "silent")
        self.all_open.add(self)

    def data_received(self, data: bytes) -> None:
        """Take in data; a request that trickles in has no more time than one that does not."""
        super().data_received(data)
        if self.is_busy:
            self.all_open.mark_busy(self)
            self._forget_deadline()
        elif self._deadline is None:
            self._end_after(self.all_open.limits.header_seconds, "silent")

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self.all_open.mark_idle(self)
        self._forget_deadline()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Give up on a client that does not read, after a while."""
        super().pause_writing()
        self._end_after(self.all_open.limits.read_seconds, "unread")

    def resume_writing(self) -> None:
        """Go on writing."""
        super().resume_writing()
        self._forget_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._forget_deadline()
        self.all_open.discard(self)
        super().connection_lost(exc)

    def _end_after(self, seconds: float, reason: str) -> None:
        self._forget_deadline()
        self._deadline = self.loop.call_later(seconds, self._end, reason)

    def _end(self, reason: str) -> None:
        self._deadline = None
        self.all_open.metrics.count_closed_connection(reason)
        self.transport.abort()

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def bounded_connections(
    limits: ConnectionLimits, metrics: ServiceMetrics
) -> type[BoundedConnection]:
    """The kind of connection that a service of its own has."""
    connections = OpenConnections(limits, metrics)
    return type("BoundedConnections", (BoundedConnection,), {"all_open": connections})
