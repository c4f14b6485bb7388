"""The reference of the service, docs/http.md, written from its OpenAPI description."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from localface import LocalFACE
from localface.apps.web.app import openapi_document
from localface.apps.web.service import Service
from localface.cases.moons import two_moons

OPENING = """# HTTP

Every endpoint of the [service](service.md), with what it takes and what it replies, written
from its OpenAPI description (which a running service gives at `/openapi.json`). Bodies and replies
are JSON. Every error is an [ErrorReply](#errorreply).
"""


def http_reference() -> str:
    """Return the page: every endpoint, then every object that is sent or replied."""
    moons = two_moons(200)
    spec = openapi_document(Service(LocalFACE(moons.model, moons.data)))
    objects = spec["components"]["schemas"]
    parts = [OPENING]
    for path, methods in spec["paths"].items():
        for method, call in methods.items():
            parts.append("\n".join(_endpoint_lines(f"{method.upper()} {path}", call)))
    parts.append("## Objects\n")
    for name in sorted(objects):
        parts.append("\n".join([f"### {name}\n", *_field_lines(objects[name]), ""]))
    return "\n".join(parts).rstrip() + "\n"


def _endpoint_lines(title: str, call: dict[str, Any]) -> Iterator[str]:
    """Yield the section of one endpoint."""
    yield f"## `{title}`\n"
    yield f"{call['summary']}.\n" if not call["summary"].endswith("?") else f"{call['summary']}\n"
    parameters = call.get("parameters", [])
    if parameters:
        yield from ("| parameter | type | default | what it is |", "|---|---|---|---|")
        for one in parameters:
            about = {**one["schema"], "description": one.get("description", "")}
            yield _field_line(one["name"], about, required=one["required"])
        yield ""
    if "requestBody" in call:
        yield f"Body: {_type_of(_json_schema(call['requestBody']))}.\n"
    yield from ("| status | when |", "|---|---|")
    for status, reply in call["responses"].items():
        when = reply["description"]
        if status == "200":
            kind = _json_schema(reply)
            when = "plain text" if kind is None else _type_of(kind)
        yield f"| {status} | {when} |"
    yield ""


def _json_schema(message: dict[str, Any]) -> dict[str, Any] | None:
    found: dict[str, Any] | None = message["content"].get("application/json", {}).get("schema")
    return found


def _field_lines(schema: dict[str, Any]) -> Iterator[str]:
    """Yield a table of the fields of an object."""
    required = schema.get("required", [])
    yield from ("| field | type | default | what it is |", "|---|---|---|---|")
    for name, one in schema.get("properties", {}).items():
        yield _field_line(name, one, required=name in required)


def _field_line(name: str, one: dict[str, Any], *, required: bool) -> str:
    default = "" if required or "default" not in one else f"`{json.dumps(one['default'])}`"
    about = one.get("description", "").replace("|", "\\|").replace("\n", " ")
    return f"| `{name}` | {_type_of(one)} | {default} | {about} |"


def _type_of(schema: dict[str, Any] | None) -> str:
    """Say the type of a value in a word or two; null is left out, as optional fields say so."""
    if not schema:
        return "anything"
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "anyOf" in schema:
        kinds = [_type_of(one) for one in schema["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if schema.get("type") == "array":
        return f"list of {_type_of(schema.get('items'))}" if "items" in schema else "list"
    return str(schema.get("type", "anything"))
