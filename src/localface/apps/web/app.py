"""The routes of the service: from a request to a reply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.responses import FileResponse, PlainTextResponse
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp

from localface._version import __version__
from localface.apps.web.bodies import people_responses as people_models
from localface.apps.web.bodies import requests as request_models
from localface.apps.web.bodies import responses as response_models
from localface.apps.web.bodies import score_responses as score_models
from localface.apps.web.http.connections import ConnectionLimits
from localface.apps.web.http.error_handlers import add_error_handlers, response_from_reply
from localface.apps.web.http.errors import RequestRefused
from localface.apps.web.http.guard import RequestGuard, RequestLimits
from localface.apps.web.http.metrics import ServiceMetrics
from localface.apps.web.http.reply import Reply, json_bytes
from localface.apps.web.views.map_reply import map_reply
from localface.apps.web.views.people_list import PeopleList
from localface.apps.web.views.schema_reply import schema_reply
from localface.apps.web.views.view import Labels
from localface.apps.web.workers.dispatch import Dispatcher
from localface.apps.web.workers.member import WorkerLimits
from localface.apps.web.workers.search_workers import SearchWorker, WorkerPlan
from localface.errors import DataError
from localface.explainer import LocalFACE

MAX_OPEN = 256
"""Requests that are answered at a time; more are refused with 503."""

_NO_PEOPLE = "the list of people is switched off here: send a person's record instead"
_DESCRIPTIONS = {
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
    """What is served: an explainer, the people who may be picked, and how they are shown."""

    explainer: LocalFACE
    people: PeopleList | None = None
    title: str = "Recourse"
    labels: Labels = field(default_factory=Labels)
    limits: RequestLimits = field(default_factory=RequestLimits)
    connection_limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    worker_limits: WorkerLimits = field(default_factory=WorkerLimits)
    workers: int = 1
    token: str | None = None
    loopback: bool = True


def make_app(service: Service, plan: WorkerPlan, metrics: ServiceMetrics) -> ASGIApp:
    """The whole application, behind its guard."""
    dispatcher = Dispatcher(plan, metrics, MAX_OPEN, service.worker_limits)
    app = _make_routed_app(service, dispatcher)
    return RequestGuard(
        app, service.limits, dispatcher.metrics, token=service.token, loopback=service.loopback
    )


def openapi_document(service: Service) -> dict[str, Any]:
    """What the service says of itself at ``/openapi.json``."""
    nobody = WorkerPlan(_no_worker, None, 0, 1)
    return _make_routed_app(service, Dispatcher(nobody, ServiceMetrics(), MAX_OPEN)).openapi()


def _no_worker() -> SearchWorker:
    raise NotImplementedError("a service that only describes itself searches nothing")


def _make_routed_app(service: Service, dispatcher: Dispatcher) -> FastAPI:
    @asynccontextmanager
    async def start_and_stop_workers(_: FastAPI) -> AsyncIterator[None]:
        dispatcher.start()
        yield
        dispatcher.stop()

    app = FastAPI(
        title="localface",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=start_and_stop_workers,
        description=(
            "Sequential algorithmic recourse over HTTP. "
            "Decision support: correlational, not advice."
        ),
    )
    add_error_handlers(app)
    _add_constant_routes(app, service)
    _add_health_route(app, service, dispatcher)
    _add_metrics_route(app, dispatcher.metrics)
    _add_people_routes(app, service.people)
    _add_search_routes(app, service, dispatcher)
    _add_page_routes(app)
    return app


def _error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the OpenAPI description."""
    every = sorted({401, 421, 500, *statuses})
    return {
        status: {"model": response_models.ErrorReply, "description": _DESCRIPTIONS[status]}
        for status in every
    }


def _add_constant_routes(app: FastAPI, service: Service) -> None:
    """Add what never changes: it is worked out once."""
    plane = map_reply(service.explainer)
    people = service.people
    schema = schema_reply(
        service.explainer,
        title=service.title,
        people=people is not None,
        outcomes=people is not None and people.outcomes is not None,
        plane=plane is not None,
        labels=service.labels,
    )
    _add_schema_routes(app, schema)
    _add_map_route(app, plane)


def _add_schema_routes(app: FastAPI, schema: Mapping[str, Any]) -> None:
    whole = Reply(200, json_bytes(schema))

    @app.get(
        "/schema",
        response_model=response_models.SchemaReply,
        responses=_error_responses(),
        summary="The features, the target",
    )
    async def get_schema() -> Response:
        return response_from_reply(whole)


def _add_health_route(app: FastAPI, service: Service, dispatcher: Dispatcher) -> None:
    rows = service.explainer.engine.source.n_rows

    @app.get(
        "/health",
        response_model=response_models.HealthReply,
        responses=_error_responses(),
        summary="That the service lives, and whether all of its workers do",
    )
    async def get_health() -> Response:
        trouble = dispatcher.trouble
        status = "ok" if trouble is None else "degraded"
        state = {"status": status, "reason": trouble, "rows": rows, "version": __version__}
        return response_from_reply(Reply(200, json_bytes(state)))


def _add_map_route(app: FastAPI, plane: Mapping[str, Any] | None) -> None:
    whole = None if plane is None else Reply(200, json_bytes(plane))

    @app.get(
        "/map",
        response_model=response_models.MapReply,
        responses=_error_responses(404),
        summary="The plane, where there is one",
    )
    async def get_map() -> Response:
        if whole is None:
            raise RequestRefused(
                404, "NotFound", "there is a map only where two numeric features are all there is"
            )
        return response_from_reply(whole)


def _add_metrics_route(app: FastAPI, metrics: ServiceMetrics) -> None:
    @app.get(
        "/metrics",
        response_class=PlainTextResponse,
        responses=_error_responses(),
        summary="Counts for Prometheus",
    )
    async def get_metrics() -> Response:
        return Response(metrics.prometheus_text(), media_type=ServiceMetrics.content_type)


def _add_people_routes(app: FastAPI, people: PeopleList | None) -> None:
    @app.get(
        "/people",
        response_model=people_models.PeopleReply,
        responses=_error_responses(404, 422),
        summary="Who may be picked",
    )
    def get_people(  # not async, so off the event loop: a search looks through everyone
        offset: Annotated[int, Query(ge=0, lt=2**63)] = 0,
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
        search: Annotated[
            str,
            Query(
                max_length=200,
                description="what all fits: a number, age > 70, score 0.4 to 0.5, tube",
            ),
        ] = "",
        outcome: Annotated[str, Query(max_length=40, description="such as false negative")] = "",
        sort: Literal["score", "-score", "id", "borderline"] = "id",
    ) -> Response:
        page = _people_or_404(people).page(
            offset=offset, limit=limit, search=search, outcome=outcome, sort=sort
        )
        return response_from_reply(Reply(200, json_bytes(page)))

    @app.get(
        "/people/{id}",
        response_model=people_models.PersonReply,
        responses=_error_responses(404, 422),
        summary="One of them",
    )
    async def get_person(id: Annotated[int, Path(ge=0, lt=2**63)]) -> Response:
        return response_from_reply(Reply(200, json_bytes(_person_or_404(people, id))))


def _add_search_routes(app: FastAPI, service: Service, dispatcher: Dispatcher) -> None:
    errors = _error_responses(400, 404, 408, 413, 415, 422, 502, 503, 504)
    errors[503]["headers"] = {
        "Retry-After": {"description": "seconds", "schema": {"type": "integer"}}
    }

    async def answer(request: Request, ask: request_models.WhoAsks, kind: str) -> Response:
        plain = {**ask.model_dump(), "kind": kind}
        if plain.pop("id") is not None:
            plain["person"] = _record_or_404(service.people, ask.id or 0)
        return response_from_reply(
            await _reply_in_time(request, dispatcher.answer(plain), service.limits.seconds)
        )

    @app.post(
        "/recourse",
        response_model=response_models.RecourseReply,
        responses=errors,
        summary="What would have to change",
    )
    async def post_recourse(request: Request, ask: request_models.RecourseAsk) -> Response:
        return await answer(request, ask, "recourse")

    @app.post(
        "/check",
        response_model=response_models.CheckReply,
        responses=errors,
        summary="Why not this?",
    )
    async def post_check(request: Request, ask: request_models.CheckAsk) -> Response:
        return await answer(request, ask, "check")

    @app.post(
        "/effects",
        response_model=score_models.EffectsReply,
        responses=errors,
        summary="What speaks for and against somebody today",
    )
    async def post_effects(request: Request, ask: request_models.EffectsAsk) -> Response:
        return await answer(request, ask, "effects")

    @app.post(
        "/scores",
        response_model=score_models.ScoresReply,
        responses=errors,
        summary="What if: the score with some values changed",
    )
    async def post_scores(request: Request, ask: request_models.ScoresAsk) -> Response:
        return await answer(request, ask, "scores")


def _add_page_routes(app: FastAPI) -> None:
    static = files("localface.apps.web").joinpath("static")

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> Response:
        return FileResponse(str(static.joinpath("index.html")), media_type="text/html")

    app.mount("/static", StaticFiles(directory=str(static)), name="static")


def _people_or_404(people: PeopleList | None) -> PeopleList:
    if people is None:
        raise RequestRefused(404, "NotFound", _NO_PEOPLE)
    return people


def _record_or_404(people: PeopleList | None, id: int) -> dict[str, Any]:
    with _unknown_is_404():
        return _people_or_404(people).record(id)


def _person_or_404(people: PeopleList | None, id: int) -> dict[str, Any]:
    with _unknown_is_404():
        return _people_or_404(people).person(id)


@contextmanager
def _unknown_is_404() -> Iterator[None]:
    try:
        yield
    except DataError as error:
        raise RequestRefused(404, "NotFound", str(error)) from None


async def _reply_in_time(
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
