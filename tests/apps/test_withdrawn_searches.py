"""A search that nobody waits for any more ends within a round, whatever it was asked for."""

from __future__ import annotations

from typing import Any

import pytest

from localface import LocalFACE, Search
from localface.apps.web.bodies.requests import CheckAsk, RecourseAsk
from localface.apps.web.http.reply import Reply
from localface.apps.web.workers.handlers import RequestHandler
from localface.apps.web.workers.request_buffer import NumberedRequest, RequestBuffer
from localface.apps.web.workers.serve_connection import serve_awaited_requests
from localface.cases.moons import two_moons

PERSON = {"x0": -0.95, "x1": 0.35}
ASKED = {
    "one path": RecourseAsk(person=PERSON),
    "several ways": RecourseAsk(person=PERSON, n_paths=3, differ="values"),
    "robust": RecourseAsk(person=PERSON, min_robustness=0.9),
    "a wish": CheckAsk(person=PERSON, wish={"x0": 1.5}),
}


class Line:
    """Sends one request, and withdraws it after it was looked for so many times."""

    def __init__(self, body: dict[str, Any], withdrawn_after: int) -> None:
        self.requests: list[NumberedRequest] = [(1, body)]
        self.withdrawn_after = withdrawn_after
        self.looks = 0

    def __call__(self, wait: bool) -> NumberedRequest | None:
        if self.requests:
            return self.requests.pop()
        if wait:
            raise EOFError
        self.looks += 1
        return (1, None) if self.looks == self.withdrawn_after else None


@pytest.mark.parametrize("asked", ASKED)
def test_a_withdrawn_request_stops_within_a_round_and_sends_nothing(
    asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localface.apps.web.workers.request_buffer._POLL_SECONDS", -1.0)
    moons = two_moons(200)
    explainer = LocalFACE(moons.model, moons.data, search=Search(n_neighbors=10)).prescore()
    ask = ASKED[asked]
    body = {**ask.model_dump(exclude={"id"}), "kind": "check" if "wish" in asked else "recourse"}

    def looks_and_replies(withdrawn_after: int) -> tuple[int, list[Reply]]:
        line = Line(body, withdrawn_after)
        replies: list[Reply] = []
        serve_awaited_requests(
            RequestHandler(explainer), RequestBuffer(line), lambda _, reply: replies.append(reply)
        )
        return line.looks, replies

    looks, replies = looks_and_replies(withdrawn_after=10**9)
    assert [one.status for one in replies] == [200]
    stopped_after, nothing = looks_and_replies(withdrawn_after=4)
    assert nothing == []
    assert looks > 4 + 8
    assert stopped_after <= 4 + 8
