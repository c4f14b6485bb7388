"""A running service: its socket, its server, its address."""

from __future__ import annotations

import asyncio
import re
import secrets
import socket
import threading
from dataclasses import replace
from html import escape
from types import TracebackType
from typing import Any

import uvicorn

from localface.analyses.lasting import learnt_lasting
from localface.apps.web.app import make_app
from localface.apps.web.http.connections import bounded_connections
from localface.apps.web.http.hosts import is_loopback
from localface.apps.web.http.metrics import ServiceMetrics
from localface.apps.web.service import Service
from localface.apps.web.views.people_list import PeopleList
from localface.apps.web.workers.handlers import RequestHandler
from localface.apps.web.workers.processes import ForkTemplate
from localface.apps.web.workers.search_workers import plan_workers
from localface.errors import InputError
from localface.explainer import LocalFACE

_TOKEN = re.compile(r"[A-Za-z0-9._~-]{8,}")
_STARTING = 60.0  # seconds that a service may take to answer
_STOPPING = 30  # seconds that requests under way have when it is stopped
_ACCEPTED_AT_A_TIME = 64  # connections between which others are served
_WAITING_TO_BE_ACCEPTED = 1024  # connections that the system keeps until then


class _Server(uvicorn.Server):
    """A server before which more connections may wait than it accepts at a time."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        for one in sockets or []:
            one.listen(_WAITING_TO_BE_ACCEPTED)


class Serving:
    """A service that is running; ``stop()`` ends it, and so does leaving a ``with`` block."""

    def __init__(
        self,
        service: Service,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        template: ForkTemplate | None = None,
    ) -> None:
        self.token = _token_for(service.token, host)
        self._service = replace(service, token=self.token, loopback=is_loopback(host))
        self._socket = _bind_socket(host, port)
        self.host = host
        self.port = int(self._socket.getsockname()[1])
        learnt_lasting(service.explainer.engine)  # not while somebody waits, nor in each worker
        handler = RequestHandler(
            service.explainer, service.labels, service.outcomes, service.promises
        )
        self._plan = plan_workers(handler, service.workers, template)
        self._server = self._make_server()
        self._thread: threading.Thread | None = None

    def _make_server(self) -> _Server:
        metrics = ServiceMetrics()
        connections = self._service.connection_limits
        config = uvicorn.Config(
            make_app(self._service, self._plan, metrics),
            http=bounded_connections(connections, metrics),
            h11_max_incomplete_event_size=connections.header_bytes,
            timeout_keep_alive=connections.idle_seconds,  # type: ignore[arg-type]
            backlog=_ACCEPTED_AT_A_TIME,
            log_config=None,
            access_log=False,
            lifespan="on",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=_STOPPING,
            proxy_headers=False,
        )
        return _Server(config)

    @property
    def url(self) -> str:
        """Where to look; with the token, where one is needed."""
        host = f"[{self.host.strip('[]')}]" if ":" in self.host else self.host
        address = f"http://{host}:{self.port}/"
        return address if self.token is None else f"{address}?token={self.token}"

    def start(self) -> Serving:
        """Serve from a thread, and come back once it answers."""
        self._thread = threading.Thread(target=self.run, name="localface-serve", daemon=True)
        self._thread.start()
        waited = threading.Event()
        for _ in range(int(_STARTING / 0.02)):
            if self._server.started or not self._thread.is_alive():
                break
            waited.wait(0.02)
        if not self._server.started:
            raise InputError(f"the service at {self.host} port {self.port} did not start")
        return self

    def run(self) -> None:
        """Serve until it is stopped, be it by Ctrl-C."""
        asyncio.run(self._server.serve(sockets=[self._socket]))

    def stop(self) -> None:
        """End the service."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(timeout=_STOPPING + 10)
        if self._plan.starter is not None:
            self._plan.starter.stop()
        self._socket.close()

    @property
    def running(self) -> bool:
        """Whether it answers."""
        return bool(self._server.started and not self._server.should_exit)

    def __enter__(self) -> Serving:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Serving: {self.url}{'' if self.running else ', stopped'}>"

    def _repr_html_(self) -> str:
        if not self.running:
            return "<p>localface: stopped</p>"
        url = escape(self.url)
        return f'<p>localface: <a href="{url}" target="_blank" rel="noopener">{url}</a></p>'


def make_serving(
    explainer: LocalFACE,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    people: Any = True,
    **options: Any,
) -> Serving:
    """Put an explainer behind a service.

    ``people`` is a table of people to pick, or whether the explainer's own rows are listed.
    """
    explainer.prescore()  # a count of all rows is one call of the model: not while someone waits
    own_rows = isinstance(people, bool)
    listing = None
    if people is not False:
        listing = PeopleList.of(explainer, None if own_rows else people)
    return Serving(Service(explainer, people=listing, **options), host=host, port=port)


def _token_for(token: str | None, host: str) -> str | None:
    """The token that a service asks for: the given one, or a new one where others may reach it."""
    if token is not None and not _TOKEN.fullmatch(token):
        raise InputError(
            "a token is at least 8 letters, digits, '-', '_', '.' or '~', with nothing in between"
        )
    if token is None and not is_loopback(host):
        return secrets.token_urlsafe(24)
    return token


def _bind_socket(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        made = socket.create_server((host.strip("[]"), port), family=family, backlog=512)
        # inherited by every connection: else a browser waits 40 ms between header and body
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot serve at {host} port {port}: {reason}; try --port 0 for any that is free"
        ) from None
