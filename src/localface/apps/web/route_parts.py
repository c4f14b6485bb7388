"""What the routes of the service share: their errors, people by number, and replies in time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from fastapi import Request

from localface.apps.web.bodies import responses as response_models
from localface.apps.web.http.errors import RequestRefused
from localface.apps.web.http.reply import Reply
from localface.apps.web.views.people_list import PeopleList
from localface.errors import DataError

_NO_PEOPLE = "the list of people is switched off here: send a person's record instead"
_DESCRIPTIONS = {
    400: "what came is no request",
    401: "a token is needed",
    404: "there is no such thing here",
    405: "this is asked for in another way",
    408: "the request took too long to arrive",
    409: "the answer is no longer what it was; ask again",
    413: "the request is too large",
    415: "the request is not JSON",
    421: "this host name is not answered to",
    422: "the request cannot be used; the message says why",
    500: "the service failed",
    502: "the model failed, or returned what is no score",
    503: "too many requests are waiting; Retry-After says when to come again",
    504: "the time limit ran out",
}


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the OpenAPI description."""
    every = sorted({401, 421, 500, *statuses})
    return {
        status: {"model": response_models.ErrorReply, "description": _DESCRIPTIONS[status]}
        for status in every
    }


def people_or_404(people: PeopleList | None) -> PeopleList:
    """The list of people, where there is one."""
    if people is None:
        raise RequestRefused(404, "NotFound", _NO_PEOPLE)
    return people


def record_or_404(people: PeopleList | None, id: int) -> dict[str, Any]:
    """Someone's record by number."""
    with _unknown_is_404():
        return people_or_404(people).record(id)


def person_or_404(people: PeopleList | None, id: int) -> dict[str, Any]:
    """Someone's record and score by number."""
    with _unknown_is_404():
        return people_or_404(people).person(id)


@contextmanager
def _unknown_is_404() -> Iterator[None]:
    try:
        yield
    except DataError as error:
        raise RequestRefused(404, "NotFound", str(error)) from None


async def reply_in_time(
    request: Request, answering: Coroutine[Any, Any, Reply], seconds: float
) -> Reply:
    """Wait for a reply no longer than the limit, nor than the client does."""
    answer = asyncio.ensure_future(answering)
    gone = asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait({answer, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        if gone.done():
            return Reply(499, b"")
        raise RequestRefused(
            504,
            "TimeLimit",
            f"no answer within {seconds:g} seconds: narrow what may change, or try again",
        )
    finally:
        for task in (answer, gone):
            task.cancel()


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
