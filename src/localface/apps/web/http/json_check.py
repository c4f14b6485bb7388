"""Checks of a request's body before anything else reads it: strict JSON of a bounded depth."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from localface.apps.web.http.errors import RequestRefused

_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")


def check_json(body: bytes, max_depth: int) -> None:
    """Refuse what is not JSON as the standard has it, repeats a key, or is nested too deeply."""
    if _nesting_depth(body) > max_depth:
        message = f"the request is nested more than {max_depth} deep: send it flatter"
        raise RequestRefused(400, "RequestError", message)
    try:
        json.loads(
            body.decode("utf-8"),
            parse_constant=_refuse_nan_or_infinity,
            object_pairs_hook=_dict_without_repeated_keys,
            parse_float=_parse_finite_number,
        )
    except UnicodeDecodeError:
        raise RequestRefused(400, "RequestError", "the request is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        message = f"the request is not JSON: {error}"
        raise RequestRefused(400, "RequestError", message) from None


def _nesting_depth(body: bytes) -> int:
    """How deep brackets go, those in text too: an upper bound that takes no recursion."""
    depth = 0
    deepest = 0
    for byte in body.translate(None, _NO_BRACKETS):
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest


def _refuse_nan_or_infinity(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _parse_finite_number(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:20]} is too large for a number")
    return value


def _dict_without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{repeated[:60]!r} is said more than once")
    return found
