"""The routes that take a search, or a call of the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel

from localface.answers.robustness import Robustness
from localface.apps.web.bodies import requests as request_models
from localface.apps.web.bodies import responses as response_models
from localface.apps.web.bodies import score_responses as score_models
from localface.apps.web.http.error_handlers import response_from_reply
from localface.apps.web.http.errors import RequestRefused
from localface.apps.web.http.reply import Reply, json_bytes
from localface.apps.web.route_parts import error_responses, record_or_404, reply_in_time
from localface.apps.web.service import Service
from localface.apps.web.views.robustness_view import robustness_parts
from localface.apps.web.workers.dispatch import Dispatcher
from localface.apps.web.workers.retrained import RetrainedJudge

Answer = Callable[[Request, request_models.WhoAsks, str], Awaitable[Response]]
Errors = dict[int | str, dict[str, Any]]
_NO_PROMISES = "no promises are kept here: start the service with --promises FOLDER"
_NO_REFITS = "nothing is fitted again here: what became of people is not known"


def add_search_routes(
    app: FastAPI, service: Service, dispatcher: Dispatcher, judge: RetrainedJudge | None
) -> None:
    """Add what takes a search, or a call of the model."""
    errors = error_responses(400, 404, 408, 413, 415, 422, 502, 503, 504)
    errors[503]["headers"] = {
        "Retry-After": {"description": "seconds", "schema": {"type": "integer"}}
    }

    async def answer(request: Request, ask: request_models.WhoAsks, kind: str) -> Response:
        answering = dispatcher.answer(_plain_body(service, ask, kind))
        return response_from_reply(await reply_in_time(request, answering, service.limits.seconds))

    _add_answer_routes(app, errors, answer)
    _add_firmness_route(app, errors, service, answer, judge)
    _add_promise_route(app, service, answer)


def _add_answer_routes(app: FastAPI, errors: Errors, answer: Answer) -> None:
    """Add the routes that hand a request over to workers as it comes."""

    def post(path: str, reply: type[BaseModel], summary: str) -> Callable[..., Any]:
        return app.post(path, response_model=reply, responses=errors, summary=summary)

    @post("/recourse", response_models.RecourseReply, "What would have to change")
    async def post_recourse(request: Request, ask: request_models.RecourseAsk) -> Response:
        return await answer(request, ask, "recourse")

    @post("/check", response_models.CheckReply, "Why not this?")
    async def post_check(request: Request, ask: request_models.CheckAsk) -> Response:
        return await answer(request, ask, "check")

    @post("/effects", score_models.EffectsReply, "What speaks for and against somebody today")
    async def post_effects(request: Request, ask: request_models.EffectsAsk) -> Response:
        return await answer(request, ask, "effects")

    @post("/scores", score_models.ScoresReply, "What if: the score with some values changed")
    async def post_scores(request: Request, ask: request_models.ScoresAsk) -> Response:
        return await answer(request, ask, "scores")


def _add_firmness_route(
    app: FastAPI, errors: Errors, service: Service, answer: Answer, judge: RetrainedJudge | None
) -> None:
    @app.post(
        "/firmness",
        response_model=score_models.FirmnessReply,
        responses=errors,
        summary="How firm plans are: small deviations, or retrained models",
    )
    async def post_firmness(request: Request, ask: request_models.FirmnessAsk) -> Response:
        if not ask.retrained:
            return await answer(request, ask, "firmness")
        if judge is None:
            raise RequestRefused(404, "NotFound", _NO_REFITS)
        reply = await judge.answer(_plain_body(service, ask, "firmness"))
        return response_from_reply(reply or _nothing_known(len(ask.plans), judge))


def _add_promise_route(app: FastAPI, service: Service, answer: Answer) -> None:
    @app.post(
        "/promises",
        response_model=score_models.PromiseReply,
        responses=error_responses(400, 404, 408, 409, 413, 415, 422, 502, 503, 504),
        summary="Write a plan down as a promise",
    )
    async def post_promise(request: Request, ask: request_models.PromiseAsk) -> Response:
        if service.promises is None:
            raise RequestRefused(404, "NotFound", _NO_PROMISES)
        return await answer(request, ask, "promise")


def _plain_body(service: Service, ask: request_models.WhoAsks, kind: str) -> dict[str, Any]:
    """A request as workers take it: plain values, and the person's record."""
    plain = {**ask.model_dump(), "kind": kind}
    if plain.pop("id") is not None:
        plain["person"] = record_or_404(service.people, ask.id or 0)
    return plain


def _nothing_known(n_plans: int, judge: RetrainedJudge) -> Reply:
    """What is said of plans while models are being fitted again, or where that has failed."""
    nothing = {**robustness_parts(Robustness()), "actions": []}
    reply = {"plans": [nothing] * n_plans, "learning": not judge.is_lost, "milliseconds": 0.0}
    return Reply(200, json_bytes(reply))
