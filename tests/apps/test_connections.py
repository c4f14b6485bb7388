"""Connections that keep the service waiting are ended; the log is short and holds no records."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from localface import LocalFACE, Search
from localface.apps.web.http.connections import ConnectionLimits
from localface.apps.web.http.log_lines import JsonLines, QuietFilter, describe_error
from localface.apps.web.service import Service
from localface.apps.web.serving import Serving
from localface.cases.moons import two_moons

LIMITS = ConnectionLimits(most=8, header_seconds=0.5, idle_seconds=0.5, read_seconds=1.0)
HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def running() -> Iterator[Serving]:
    moons = two_moons(100)
    explainer = LocalFACE(moons.model, moons.data, search=Search(n_neighbors=10))
    with Serving(Service(explainer, connection_limits=LIMITS, workers=0)).start() as served:
        yield served


def connected(running: Serving) -> socket.socket:
    return socket.create_connection(("127.0.0.1", running.port), timeout=20)


def was_ended(one: socket.socket) -> bool:
    """Whether the service ends a connection; waits for it as long as the socket does."""
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("sent", [b"", b"GET /hea", HEAD])
def test_a_connection_that_never_asks_is_ended(running: Serving, sent: bytes) -> None:
    with connected(running) as silent:
        silent.sendall(sent)
        assert was_ended(silent)


def test_a_request_that_trickles_in_has_no_more_time_than_others(running: Serving) -> None:
    pause = threading.Event()
    with connected(running) as slow:
        slow.sendall(HEAD)
        for _ in range(200):
            try:
                slow.sendall(b"X-More: 1\r\n")
            except OSError:
                return
            pause.wait(0.1)
    raise AssertionError("it went on for 20 seconds")


def test_an_answered_connection_stays_open_for_the_next_request_and_not_for_ever(
    running: Serving,
) -> None:
    with connected(running) as kept:
        for _ in range(2):
            kept.sendall(HEAD + b"\r\n")
            answer = b""
            while b"}" not in answer:
                answer += kept.recv(4096)
            assert answer.startswith(b"HTTP/1.1 200")
        kept.sendall(b"GET")
        assert was_ended(kept)


def test_silent_connections_make_way_for_those_who_ask(running: Serving) -> None:
    silent = [connected(running) for _ in range(30)]
    try:
        answer = httpx.get(f"{running.url}health")
        assert answer.status_code == 200
        counts = httpx.get(f"{running.url}metrics").text
    finally:
        for one in silent:
            one.close()
    assert 'connections_closed_total{reason="made way"}' in counts


def test_headers_without_end_are_refused(running: Serving) -> None:
    with connected(running) as endless:
        endless.sendall(HEAD + b"X: " + b"x" * 40_000)
        assert endless.recv(4096).startswith(b"HTTP/1.1 400")


def test_no_more_connections_than_files_that_may_be_opened() -> None:
    assert ConnectionLimits(most=10**9).most_here < 10**9 or ConnectionLimits().most_here == 512


def line(message: str, *arguments: Any, error: BaseException | None = None) -> logging.LogRecord:
    told = None if error is None else (type(error), error, error.__traceback__)
    return logging.LogRecord("x", logging.ERROR, "f.py", 1, message, arguments, told)


def test_a_flood_of_lines_is_held_back_and_counted() -> None:
    time = [0.0]
    quiet = QuietFilter(most=2, seconds=10, now=lambda: time[0])
    passed = [quiet.filter(line("failed on %s", i)) for i in range(50)]
    assert passed == [True] * 2 + [False] * 48
    assert quiet.filter(line("something else"))
    time[0] = 11.0
    late = line("failed on %s", 51)
    assert quiet.filter(late)
    assert json.loads(JsonLines().format(late))["held_back"] == 48


def test_an_error_is_logged_by_its_type_and_place_without_what_it_says() -> None:
    with pytest.raises(ValueError, match="Smith") as raised:
        raise ValueError("Smith, aged 47")
    found = line("failed", error=raised.value)
    QuietFilter().filter(found)
    text = JsonLines().format(found)
    assert "Smith" not in text + describe_error(raised.value)
    assert "ValueError at test_connections.py:" in json.loads(text)["error"]


def test_what_runs_is_finished_when_the_service_is_stopped() -> None:
    entered, go_on = threading.Event(), threading.Event()
    moons = two_moons(100)

    def slow(points: Any) -> Any:
        entered.set()
        assert go_on.wait(30)
        return moons.model(points)

    go_on.set()
    explainer = LocalFACE(slow, moons.data, search=Search(n_neighbors=10)).prescore()
    running = Serving(Service(explainer, workers=1)).start()  # a closure stays in a thread
    go_on.clear()
    entered.clear()
    answers: list[int] = []
    body = {"person": {"x0": -0.95, "x1": 0.35}}

    def ask() -> None:
        answers.append(httpx.post(f"{running.url}recourse", json=body, timeout=30).status_code)

    asking = threading.Thread(target=ask)
    asking.start()
    assert entered.wait(30)
    stopping = threading.Thread(target=running.stop)
    stopping.start()
    stopping.join(timeout=0.5)
    assert stopping.is_alive()  # it waits for the answer
    go_on.set()
    asking.join(timeout=30)
    stopping.join(timeout=30)
    assert answers == [200]
