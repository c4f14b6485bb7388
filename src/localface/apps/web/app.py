"""The routes of the service: from a request to a reply."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Path, Query, Response
from fastapi.responses import FileResponse, PlainTextResponse
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp

from localface._version import __version__
from localface.apps.web.bodies import people_responses as people_models
from localface.apps.web.bodies import responses as response_models
from localface.apps.web.http.error_handlers import add_error_handlers, response_from_reply
from localface.apps.web.http.errors import RequestRefused
from localface.apps.web.http.guard import RequestGuard
from localface.apps.web.http.metrics import ServiceMetrics
from localface.apps.web.http.reply import Reply, json_bytes
from localface.apps.web.route_parts import error_responses, people_or_404, person_or_404
from localface.apps.web.search_routes import add_search_routes
from localface.apps.web.service import Service
from localface.apps.web.views.map_reply import map_reply
from localface.apps.web.views.people_list import PeopleList
from localface.apps.web.views.schema_reply import schema_reply
from localface.apps.web.workers.dispatch import Dispatcher
from localface.apps.web.workers.retrained import RetrainedJudge
from localface.apps.web.workers.search_workers import SearchWorker, WorkerPlan

MAX_OPEN = 256
"""Requests that are answered at a time; more are refused with 503."""


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
    judge = _make_judge(service, dispatcher.plan)

    @asynccontextmanager
    async def start_and_stop_workers(_: FastAPI) -> AsyncIterator[None]:
        dispatcher.start()
        yield
        dispatcher.stop()
        if judge is not None:
            judge.stop()

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
    _add_constant_routes(app, service, retrained=judge is not None)
    _add_health_route(app, service, dispatcher)
    _add_metrics_route(app, dispatcher.metrics)
    _add_people_routes(app, service.people)
    add_search_routes(app, service, dispatcher, judge)
    _add_page_routes(app)
    return app


def _make_judge(service: Service, plan: WorkerPlan) -> RetrainedJudge | None:
    """What judges by retrained models, where there are outcomes and a process for it."""
    if service.outcomes is None or plan.make_dear_worker is None:
        return None
    return RetrainedJudge(plan.make_dear_worker)


def _add_constant_routes(app: FastAPI, service: Service, *, retrained: bool) -> None:
    """Add what never changes: it is worked out once."""
    plane = map_reply(service.explainer)
    people = service.people
    schema = schema_reply(
        service.explainer,
        title=service.title,
        people=people is not None,
        outcomes=people is not None and people.outcomes is not None,
        plane=plane is not None,
        retrained=retrained,
        promises=service.promises is not None,
        labels=service.labels,
    )
    _add_schema_routes(app, schema)
    _add_map_route(app, plane)


def _add_schema_routes(app: FastAPI, schema: Mapping[str, Any]) -> None:
    whole = Reply(200, json_bytes(schema))

    @app.get(
        "/schema",
        response_model=response_models.SchemaReply,
        responses=error_responses(),
        summary="The features, the target",
    )
    async def get_schema() -> Response:
        return response_from_reply(whole)


def _add_health_route(app: FastAPI, service: Service, dispatcher: Dispatcher) -> None:
    rows = service.explainer.engine.source.n_rows

    @app.get(
        "/health",
        response_model=response_models.HealthReply,
        responses=error_responses(),
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
        responses=error_responses(404),
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
        responses=error_responses(),
        summary="Counts for Prometheus",
    )
    async def get_metrics() -> Response:
        return Response(metrics.prometheus_text(), media_type=ServiceMetrics.content_type)


def _add_people_routes(app: FastAPI, people: PeopleList | None) -> None:
    @app.get(
        "/people",
        response_model=people_models.PeopleReply,
        responses=error_responses(404, 422),
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
        page = people_or_404(people).page(
            offset=offset, limit=limit, search=search, outcome=outcome, sort=sort
        )
        return response_from_reply(Reply(200, json_bytes(page)))

    @app.get(
        "/people/{id}",
        response_model=people_models.PersonReply,
        responses=error_responses(404, 422),
        summary="One of them",
    )
    async def get_person(id: Annotated[int, Path(ge=0, lt=2**63)]) -> Response:
        return response_from_reply(Reply(200, json_bytes(person_or_404(people, id))))


def _add_page_routes(app: FastAPI) -> None:
    static = files("localface.apps.web").joinpath("static")

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> Response:
        return FileResponse(str(static.joinpath("index.html")), media_type="text/html")

    app.mount("/static", StaticFiles(directory=str(static)), name="static")
