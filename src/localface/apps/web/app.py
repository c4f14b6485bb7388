"""The routes: each takes a request apart, hands it on, and sends what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, PlainTextResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from localface._version import __version__
from localface.apps.web import models, replies
from localface.apps.web.batching import Batcher
from localface.apps.web.errors import (
    Refused,
    Reply,
    ServiceMetrics,
    body_of,
    problem,
    sentence_of,
    told,
)
from localface.apps.web.limits import App, Limits, RequestGuard
from localface.apps.web.people import People
from localface.apps.web.schema_reply import described, mapped
from localface.apps.web.view import Labels
from localface.apps.web.workers import Worker
from localface.errors import DataError
from localface.explainer import LocalFACE

MOST_OPEN = 256
"""Requests that are answered at a time; more are told to come again."""

_NO_PEOPLE = "the list of people is switched off here: send a person's record instead"
_WORDS = {
    400: "what came is no request",
    401: "a token is needed",
    404: "there is no such thing here",
    405: "this is asked for in another way",
    408: "the request took too long to arrive",
    413: "the request is too large",
    415: "the request is not JSON",
    421: "this host name is not answered to",
    422: "the request cannot be used; the message says why",
    500: "the service failed",
    502: "the model failed, or returned what is no score",
    503: "too many requests are waiting; Retry-After says when to come again",
    504: "the time limit ran out",
}


@dataclass(frozen=True, slots=True, eq=False)
class Service:
    """What is served: an explainer, the people who may be picked, and the words around them."""

    explainer: LocalFACE
    people: People | None = None
    title: str = "Recourse"
    words: Labels = field(default_factory=Labels)
    limits: Limits = field(default_factory=Limits)
    workers: int = 1
    token: str | None = None
    loopback: bool = True


def app_of(service: Service, workers: Sequence[Worker]) -> App:
    """The whole application, behind its door."""
    batcher = Batcher(workers, ServiceMetrics(), MOST_OPEN)
    app = _routes(service, batcher)
    return RequestGuard(
        app, service.limits, batcher.counts, token=service.token, loopback=service.loopback
    )


def description(service: Service) -> dict[str, Any]:
    """What the service says of itself at ``/openapi.json``."""
    return _routes(service, Batcher((), ServiceMetrics(), MOST_OPEN)).openapi()


def _routes(service: Service, batcher: Batcher) -> FastAPI:
    @asynccontextmanager
    async def alive(_: FastAPI) -> AsyncIterator[None]:
        batcher.start()
        yield
        batcher.stop()

    app = FastAPI(
        title="localface",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=alive,
        description="Sequential algorithmic recourse over HTTP. Decision support: correlational, not advice.",
    )
    _add_errors(app)
    _add_facts(app, service, batcher)
    _add_people(app, service.people)
    _add_asking(app, service, batcher)
    _add_page(app)
    return app


def _responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the description."""
    every = sorted({401, 421, 500, *statuses})
    return {
        status: {"model": replies.ErrorReply, "description": _WORDS[status]} for status in every
    }


def _add_facts(app: FastAPI, service: Service, batcher: Batcher) -> None:
    plane, people = mapped(service.explainer), service.people
    known = {
        "people": people is not None,
        "outcomes": people is not None and people.outcomes is not None,
    }
    facts = described(
        service.explainer,
        title=service.title,
        plane=plane is not None,
        words=service.words,
        **known,
    )
    schema, ground = (
        Reply(200, body_of(facts)),
        None if plane is None else Reply(200, body_of(plane)),
    )
    health = Reply(200, body_of({"status": "ok", "rows": facts["rows"], "version": __version__}))

    @app.get(
        "/schema",
        response_model=replies.SchemaReply,
        responses=_responses(),
        summary="The features, the target",
    )
    async def get_schema() -> Response:
        return _sent(schema)

    @app.get(
        "/health",
        response_model=replies.HealthReply,
        responses=_responses(),
        summary="That the service lives",
    )
    async def get_health() -> Response:
        return _sent(health)

    @app.get(
        "/map",
        response_model=replies.MapReply,
        responses=_responses(404),
        summary="The plane, where there is one",
    )
    async def get_map() -> Response:
        if ground is None:
            raise Refused(
                404, "NotFound", "there is a map only where two numeric features are all there is"
            )
        return _sent(ground)

    @app.get(
        "/metrics",
        response_class=PlainTextResponse,
        responses=_responses(),
        summary="Counts for Prometheus",
    )
    async def get_metrics() -> Response:
        text = batcher.counts.text(open_=batcher.open)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


def _add_people(app: FastAPI, people: People | None) -> None:
    @app.get(
        "/people",
        response_model=replies.PeopleReply,
        responses=_responses(404, 422),
        summary="Who may be picked",
    )
    def get_people(  # not async, so off the event loop: a search looks through everyone
        offset: Annotated[int, Query(ge=0, lt=2**63)] = 0,
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
        search: Annotated[
            str, Query(max_length=200, description="words that all fit: a number, age>70, tube")
        ] = "",
        outcome: Annotated[str, Query(max_length=40, description="such as false negative")] = "",
        sort: Literal["score", "-score", "id"] = "id",
    ) -> Response:
        page = _listed(people).page(
            offset=offset, limit=limit, search=search, outcome=outcome, sort=sort
        )
        return _sent(Reply(200, body_of(page)))

    @app.get(
        "/people/{id}",
        response_model=replies.PersonReply,
        responses=_responses(404, 422),
        summary="One of them",
    )
    async def get_person(id: Annotated[int, Path(ge=0, lt=2**63)]) -> Response:
        return _sent(Reply(200, body_of({"id": id, "record": _record(people, id)})))


def _add_asking(app: FastAPI, service: Service, batcher: Batcher) -> None:
    errors = _responses(400, 404, 408, 413, 415, 422, 502, 503, 504)
    errors[503]["headers"] = {
        "Retry-After": {"description": "seconds", "schema": {"type": "integer"}}
    }

    async def answered(request: Request, ask: models.WhoAsks, kind: str) -> Response:
        plain = {**ask.model_dump(), "kind": kind}
        if plain.pop("id") is not None:
            plain["person"] = _record(service.people, ask.id or 0)
        return _sent(await _waited(request, batcher.ask(plain), service.limits.seconds))

    @app.post(
        "/recourse",
        response_model=replies.RecourseReply,
        responses=errors,
        summary="What would have to change",
    )
    async def post_recourse(request: Request, ask: models.RecourseAsk) -> Response:
        return await answered(request, ask, "recourse")

    @app.post(
        "/check", response_model=replies.CheckReply, responses=errors, summary="Why not this?"
    )
    async def post_check(request: Request, ask: models.CheckAsk) -> Response:
        return await answered(request, ask, "check")


def _add_page(app: FastAPI) -> None:
    static = files("localface.apps.web").joinpath("static")

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> Response:
        return FileResponse(str(static.joinpath("index.html")), media_type="text/html")

    app.mount("/static", StaticFiles(directory=str(static)), name="static")


def _add_errors(app: FastAPI) -> None:
    """Send every error in the one form that errors have."""

    async def library(_: Request, error: Exception) -> Response:
        return _sent(told(error))

    async def routing(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        words = {
            404: "there is no such page here",
            405: "this page is asked for with another method",
        }
        reply = problem(
            error.status_code, "RequestError", words.get(error.status_code, str(error.detail))
        )
        return _sent(reply, dict(error.headers or {}))

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return _sent(problem(422, "RequestError", *sentence_of(error.errors())))

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, routing)
    for kind in (Refused, DataError, Exception):
        app.add_exception_handler(kind, library)


def _listed(people: People | None) -> People:
    if people is None:
        raise Refused(404, "NotFound", _NO_PEOPLE)
    return people


def _record(people: People | None, id: int) -> dict[str, Any]:
    try:
        return _listed(people).record(id)
    except DataError as error:
        raise Refused(404, "NotFound", str(error)) from None


async def _waited(request: Request, asking: Coroutine[Any, Any, Reply], seconds: float) -> Reply:
    """Wait for a reply no longer than the limit, nor than the client does."""
    answer, gone = asyncio.ensure_future(asking), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({answer, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        if gone.done():
            return Reply(499, b"")
        raise Refused(
            504,
            "TimeLimit",
            f"no answer within {seconds:g} seconds: narrow what may change, or try again",
        )
    finally:
        for task in (answer, gone):
            task.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _sent(reply: Reply, headers: dict[str, str] | None = None) -> Response:
    extra = {"Retry-After": "1"} if reply.status == 503 else {}
    return Response(reply.body, reply.status, {**(headers or {}), **extra}, "application/json")
