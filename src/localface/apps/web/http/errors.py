"""Errors as the service sends them, without paths or tracebacks."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from localface.apps.web.http.log_lines import LOG, describe_error
from localface.apps.web.http.reply import Reply, error_reply
from localface.errors import DensityError, InputError, LocalFACEError, ModelError

_BY_FEATURE = ("person", "wish", "where", "weights")  # fields of a request that name features


class RequestRefused(LocalFACEError):
    """A request that is not let through, with the HTTP status that says why."""

    def __init__(self, status: int, kind: str, message: str, *, retry_after: int = 1) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.retry_after = retry_after


def reply_to_error(error: Exception, names: Collection[str] = ()) -> Reply:
    """Turn an exception into a reply; the library's words where the client was mistaken."""
    if isinstance(error, RequestRefused):
        return error_reply(error.status, error.kind, str(error), retry_after=error.retry_after)
    if isinstance(error, ModelError | DensityError):
        return _reply_to_failure(error)
    if isinstance(error, InputError):
        known = error.feature in names
        about = (error.feature, error.suggestion) if known else (None, None)
        return error_reply(422, type(error).__name__, str(error), *about)
    LOG.error("a request failed: %s", describe_error(error))
    message = "the service failed on this request; its log has more"
    return error_reply(500, "ServiceError", message)


def _reply_to_failure(error: ModelError | DensityError) -> Reply:
    """A model or density failed: what it raised may hold a path, and stays in the log."""
    LOG.warning("no score or density: %s", describe_error(error.__cause__ or error))
    message = str(error)
    if error.__cause__ is not None:
        failed = "model" if isinstance(error, ModelError) else "density"
        message = (
            f"the {failed} failed on this record ({type(error.__cause__).__name__}); "
            "the log of the service has more"
        )
    return error_reply(502, type(error).__name__, message)


def validation_message(mistakes: Iterable[Any]) -> tuple[str, str | None]:
    """What a request model refused in one sentence, with the first feature it is about."""
    sentences = []
    feature = None
    for mistake in mistakes:
        path = [str(part) for part in mistake["loc"] if part not in ("body", "query", "path")]
        words = str(mistake["msg"]).removeprefix("Value error, ")
        if path:
            words = f"{'.'.join(path[:2])}: {words[:1].lower()}{words[1:]}"
        sentences.append(words)
        if feature is None and len(path) > 1 and path[0] in _BY_FEATURE:
            feature = path[1]
    return "; ".join(dict.fromkeys(sentences)), feature
