"""A reply of the service: a status with a body that is ready to send."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP status and the bytes of a JSON document; with 503, when to come again."""

    status: int
    body: bytes
    retry_after: int = 1  # seconds


def json_bytes(content: object) -> bytes:
    """Write JSON without spaces; NaN and infinity raise, as JSON has no word for them."""
    return json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def error_reply(
    status: int,
    kind: str,
    message: str,
    feature: str | None = None,
    suggestion: object = None,
    *,
    retry_after: int = 1,
) -> Reply:
    """An error in the one form that all errors of the service have."""
    error = {"type": kind, "message": message, "feature": feature, "suggestion": suggestion}
    return Reply(status, json_bytes({"error": error}), retry_after)
