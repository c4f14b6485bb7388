"""The buffer of requests: what is still waited for comes out, what is withdrawn does not."""

from __future__ import annotations

from collections import deque

import pytest

from localface.apps.web.workers.request_buffer import NumberedRequest, RequestBuffer


class Line:
    """A scripted way to receive: requests in order, then the end."""

    def __init__(self, *requests: NumberedRequest) -> None:
        self.requests = deque(requests)

    def __call__(self, wait: bool) -> NumberedRequest | None:
        if self.requests:
            return self.requests.popleft()
        if wait:
            raise EOFError
        return None


@pytest.fixture(autouse=True)
def always_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localface.apps.web.workers.request_buffer._POLL_SECONDS", -1.0)


def test_requests_come_out_in_the_order_they_came_in() -> None:
    buffer = RequestBuffer(Line((1, {"a": 1}), (2, {"b": 2})))
    assert buffer.wait_for_request()
    assert [
        buffer.next_awaited_request(),
        buffer.next_awaited_request(),
        buffer.next_awaited_request(),
    ] == [(1, {"a": 1}), (2, {"b": 2}), None]


def test_a_request_that_is_withdrawn_before_its_turn_never_comes_out() -> None:
    buffer = RequestBuffer(Line((1, {}), (2, {}), (1, None)))
    assert buffer.wait_for_request()
    assert buffer.next_awaited_request() == (2, {})
    assert buffer.next_awaited_request() is None


def test_a_request_that_is_withdrawn_while_it_is_searched_is_no_longer_awaited() -> None:
    line = Line((1, {}))
    buffer = RequestBuffer(line)
    assert buffer.wait_for_request()
    assert buffer.next_awaited_request() == (1, {})
    assert buffer.is_awaited(1)

    line.requests.append((1, None))

    assert not buffer.is_awaited(1)


def test_a_request_that_was_answered_is_no_longer_awaited() -> None:
    buffer = RequestBuffer(Line((1, {})))
    buffer.wait_for_request()
    buffer.next_awaited_request()
    buffer.mark_answered(1)
    assert not buffer.is_awaited(1)


def test_waiting_ends_when_there_will_be_nothing_more() -> None:
    assert not RequestBuffer(Line()).wait_for_request()
