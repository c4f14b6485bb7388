"""What is let in: hosts, tokens, bodies of a bounded size and depth; and what every answer carries along."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any, NoReturn
from urllib.parse import parse_qs

from localface.apps.web.errors import Refused, ServiceMetrics, told

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "localface_token"
_ASKING = ("/recourse", "/check")  # the routes that take a body; no other reads one
_SLOWEST = 10.0  # seconds that a body may take to arrive
_THROWN_AWAY = 16 * 2**20  # bytes of a body that is too large that are still read
_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone: an address of loopback, or its name."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may ask for."""

    body: int = 256 * 1024
    depth: int = 16
    seconds: float = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class RequestGuard:
    """Stands before the routes: refuses what may not come in, and puts headers on what goes out."""

    app: App
    limits: Limits
    counts: ServiceMetrics
    token: str | None = None
    loopback: bool = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def out(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_headers(message["headers"], scope["path"])
            await send(message)

        try:
            if not await self._entered(scope, out):
                receive = await self._vetted(scope, receive)
                await self.app(scope, receive, out)
        except Refused as error:
            await _refuse(error, out)
        finally:
            self.counts.note(_route(scope), status, time.perf_counter() - started)

    async def _entered(self, scope: Scope, send: Send) -> bool:
        """Check host and token; tells whether that was all, as for an address that brings the token along."""
        headers = _headers(scope)
        if self.loopback and not is_loopback(_host(headers.get("host", ""))):
            raise Refused(
                421,
                "HostError",
                "this service answers to 127.0.0.1 and localhost only, by these names",
            )
        if self.token is None:
            return False
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and self._is_token(given):
            cookie = f"{COOKIE}={given}; HttpOnly; SameSite=Strict; Path=/".encode("latin-1")
            await _send(send, 303, [(b"location", b"./"), (b"set-cookie", cookie)])
            return True
        jar = SimpleCookie(headers.get("cookie", ""))
        words = headers.get("authorization", "").partition(" ")
        bearer = words[2].strip() if words[0].lower() == "bearer" else ""
        if not (self._is_token(bearer) or (COOKIE in jar and self._is_token(jar[COOKIE].value))):
            raise Refused(
                401,
                "TokenError",
                "a token is needed: open /?token=... once, or send Authorization: Bearer ...",
            )
        return False

    def _is_token(self, given: str) -> bool:
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())

    async def _vetted(self, scope: Scope, receive: Receive) -> Receive:
        """Read a body that is JSON, no larger, slower or deeper than allowed, and pass it on whole."""
        if scope["method"] != "POST" or scope["path"] not in _ASKING:
            return receive
        headers = _headers(scope)
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(
                415, "RequestError", "a request is JSON: send Content-Type: application/json"
            )
        try:
            body = await asyncio.wait_for(self._body(receive), _SLOWEST)
        except TimeoutError:
            raise Refused(
                408, "RequestError", f"the request did not arrive within {_SLOWEST:g} seconds"
            ) from None
        vet(body, self.limits.depth)
        return _replayed(body, receive)

    async def _body(self, receive: Receive) -> bytes:
        """Read a body; of one that is too large the rest is thrown away, so that its sender reads the answer."""
        parts: list[bytes] = []
        size, more = 0, True
        while more and size <= _THROWN_AWAY:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refused(400, "RequestError", "the request ended before its body was whole")
            part = message.get("body", b"")
            size, more = size + len(part), message.get("more_body", False)
            parts = [*parts, part] if size <= self.limits.body else []
        if size > self.limits.body:
            most = self.limits.body // 1024
            raise Refused(413, "RequestError", f"the request is larger than {most} KiB: send less")
        return b"".join(parts)


def vet(body: bytes, depth: int) -> None:
    """Refuse what is not JSON as the standard has it, says something twice, or is nested too deeply."""
    if _nested(body) > depth:
        raise Refused(
            400, "RequestError", f"the request is nested more than {depth} deep: send it flatter"
        )
    try:
        json.loads(
            body.decode("utf-8"),
            parse_constant=_no_constant,
            object_pairs_hook=_once,
            parse_float=_finite,
        )
    except UnicodeDecodeError:
        raise Refused(400, "RequestError", "the request is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise Refused(400, "RequestError", f"the request is not JSON: {error}") from None


def _nested(body: bytes) -> int:
    """How deep brackets go, those in text too: an upper bound that takes no recursion."""
    deep = deepest = 0
    for byte in body.translate(None, _NO_BRACKETS):
        if byte in b"[{":
            deep += 1
            deepest = max(deepest, deep)
        elif byte in b"]}":
            deep -= 1
    return deepest


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:20]} is too large for a number")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice[:60]!r} is said more than once")
    return found


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A receive that gives the body once, then waits for the client to go as before."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _headers(scope: Scope) -> dict[str, str]:
    return {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
    }


def _host(host: str) -> str:
    """A host without its port."""
    name, _, port = host.rpartition(":")
    return (name if port.isdecimal() and name else host).lower()


def _route(scope: Scope) -> str:
    """The route that was asked for, never what a client made up."""
    route = scope.get("route")
    path = getattr(route, "path", None)
    return path if isinstance(path, str) else "other"


def _with_headers(headers: Any, path: str) -> list[tuple[bytes, bytes]]:
    kept = [pair for pair in headers if pair[0].lower() not in {name for name, _ in _HEADERS}]
    cached = b"no-cache" if path == "/" or path.startswith("/static/") else b"no-store"
    if not any(name.lower() == b"cache-control" for name, _ in kept):
        kept.append((b"cache-control", cached))
    return [*kept, *_HEADERS]


async def _refuse(error: Refused, send: Send) -> None:
    reply = told(error)
    extra = [(b"www-authenticate", b"Bearer")] if reply.status == 401 else []
    extra += [(b"connection", b"close")] if reply.status in (408, 413) else []
    await _send(send, reply.status, [(b"content-type", b"application/json"), *extra], reply.body)


async def _send(
    send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes = b""
) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})
