"""The guard before the routes, which every request and every answer passes."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Iterable
from dataclasses import dataclass
from http.cookies import SimpleCookie
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from localface.apps.web.http.errors import RequestRefused, reply_to_error
from localface.apps.web.http.hosts import host_without_port, is_loopback
from localface.apps.web.http.json_check import check_json
from localface.apps.web.http.metrics import ServiceMetrics

COOKIE = "localface_token"
_ROUTES_WITH_BODY = ("/recourse", "/check", "/effects", "/scores")  # no other reads one
_MAX_BODY_SECONDS = 10.0  # that a body may take to arrive
_MAX_DISCARDED = 16 * 2**20  # bytes of a body that is too large that are still read
_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """How much one request may ask for: bytes and nesting of its body, seconds until the answer."""

    body: int = 256 * 1024
    depth: int = 16
    seconds: float = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class RequestGuard:
    """Refuses what may not come in, puts headers on what goes out, and counts both."""

    app: ASGIApp
    limits: RequestLimits
    metrics: ServiceMetrics
    token: str | None = None
    loopback: bool = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_security_headers(message["headers"], scope["path"])
            await send(message)

        try:
            await self._answer_or_refuse(scope, receive, send_with_headers)
        except RequestRefused as error:
            await _send_refusal(error, send_with_headers)
        finally:
            self.metrics.count_answered_request(
                _route_or_other(scope), status, time.perf_counter() - started
            )

    async def _answer_or_refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _decode_headers(scope)
        self._check_host(headers)
        if self._url_has_token(scope):
            await self._redirect_with_cookie(send)
            return
        self._check_token(headers)
        await self.app(scope, await self._receive_of_checked_body(scope, headers, receive), send)

    def _check_host(self, headers: dict[str, str]) -> None:
        """Refuse other names, so that no other site can have its name point at this machine."""
        if self.loopback and not is_loopback(host_without_port(headers.get("host", ""))):
            message = "this service answers to 127.0.0.1 and localhost only, by these names"
            raise RequestRefused(421, "HostError", message)

    def _url_has_token(self, scope: Scope) -> bool:
        """Whether the address itself brings the token along, as the one that is printed does."""
        if self.token is None or scope["path"] != "/":
            return False
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        return self._matches_token(query.get("token", [""])[0])

    async def _redirect_with_cookie(self, send: Send) -> None:
        cookie = f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/".encode("latin-1")
        await _send_response(send, 303, [(b"location", b"./"), (b"set-cookie", cookie)])

    def _check_token(self, headers: dict[str, str]) -> None:
        if self.token is None:
            return
        cookies = SimpleCookie(headers.get("cookie", ""))
        if COOKIE in cookies and self._matches_token(cookies[COOKIE].value):
            return
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._matches_token(credentials.strip()):
            return
        message = "a token is needed: open /?token=... once, or send Authorization: Bearer ..."
        raise RequestRefused(401, "TokenError", message)

    def _matches_token(self, given: str) -> bool:
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())

    async def _receive_of_checked_body(
        self, scope: Scope, headers: dict[str, str], receive: Receive
    ) -> Receive:
        """Read a body that is JSON within the limits, and pass it on whole."""
        if scope["method"] != "POST" or scope["path"] not in _ROUTES_WITH_BODY:
            return receive
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            message = "a request is JSON: send Content-Type: application/json"
            raise RequestRefused(415, "RequestError", message)
        try:
            body = await asyncio.wait_for(self._read_body(receive), _MAX_BODY_SECONDS)
        except TimeoutError:
            message = f"the request did not arrive within {_MAX_BODY_SECONDS:g} seconds"
            raise RequestRefused(408, "RequestError", message) from None
        check_json(body, self.limits.depth)
        return _make_receive_again(body, receive)

    async def _read_body(self, receive: Receive) -> bytes:
        """Read a body; one that is too large is discarded, so that its sender reads the answer."""
        parts: list[bytes] = []
        size = 0
        more = True
        while more and size <= _MAX_DISCARDED:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RequestRefused(
                    400, "RequestError", "the request ended before its body was whole"
                )
            part = message.get("body", b"")
            size += len(part)
            more = message.get("more_body", False)
            parts = [*parts, part] if size <= self.limits.body else []
        if size > self.limits.body:
            message_too_large = (
                f"the request is larger than {self.limits.body // 1024} KiB: send less"
            )
            raise RequestRefused(413, "RequestError", message_too_large)
        return b"".join(parts)


def _make_receive_again(body: bytes, receive: Receive) -> Receive:
    """A receive that gives the body once, then waits for the client to go as before."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def _decode_headers(scope: Scope) -> dict[str, str]:
    return {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
    }


def _route_or_other(scope: Scope) -> str:
    """The route that was asked for, never what a client made up."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else "other"


def _with_security_headers(
    headers: Iterable[tuple[bytes, bytes]], path: str
) -> list[tuple[bytes, bytes]]:
    ours = {name for name, _ in _HEADERS}
    kept = [(name, value) for name, value in headers if name.lower() not in ours]
    if not any(name.lower() == b"cache-control" for name, _ in kept):
        is_page = path == "/" or path.startswith("/static/")
        kept.append((b"cache-control", b"no-cache" if is_page else b"no-store"))
    return [*kept, *_HEADERS]


async def _send_refusal(error: RequestRefused, send: Send) -> None:
    reply = reply_to_error(error)
    headers = [(b"content-type", b"application/json")]
    if reply.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if reply.status in (408, 413):
        headers.append((b"connection", b"close"))
    await _send_response(send, reply.status, headers, reply.body)


async def _send_response(
    send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes = b""
) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})
