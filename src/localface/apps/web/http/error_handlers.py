"""Replies as the routes send them; every error in the one form that errors have."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from localface.apps.web.http.errors import RequestRefused, reply_to_error, validation_message
from localface.apps.web.http.reply import Reply, error_reply
from localface.errors import DataError


def add_error_handlers(app: FastAPI) -> None:
    """Send every error in the one form that errors have."""

    async def reply_to_any_error(_: Request, error: Exception) -> Response:
        return response_from_reply(reply_to_error(error))

    async def reply_to_http_error(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        messages = {
            404: "there is no such page here",
            405: "this page is asked for with another method",
        }
        message = messages.get(error.status_code, str(error.detail))
        reply = error_reply(error.status_code, "RequestError", message)
        return response_from_reply(reply, dict(error.headers or {}))

    async def reply_to_invalid_request(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return response_from_reply(
            error_reply(422, "RequestError", *validation_message(error.errors()))
        )

    app.add_exception_handler(RequestValidationError, reply_to_invalid_request)
    app.add_exception_handler(HTTPException, reply_to_http_error)
    for kind in (RequestRefused, DataError, Exception):
        app.add_exception_handler(kind, reply_to_any_error)


def response_from_reply(reply: Reply, headers: Mapping[str, str] | None = None) -> Response:
    """A reply as an HTTP response."""
    headers = dict(headers or {})
    if reply.status == 503:
        headers["Retry-After"] = str(reply.retry_after)
    return Response(reply.body, reply.status, headers, "application/json")
