"""A request to the service, read as the library's own calls read theirs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from localface.analyses.lasting import has_learnt
from localface.analyses.whynot import read_wish
from localface.data.read import read_record
from localface.engine.asking import check_ask
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.explainer import LocalFACE
from localface.options import Ask, AskAlternatives, AskCheck
from localface.search.plan import Plan

RequestBody = Mapping[str, Any]
"""``kind`` and the fields of a request's model, as plain values, with the person's record."""


@dataclass(frozen=True, slots=True, eq=False)
class ParsedRequest:
    """A request that was read: what it asks of which engine, and since when."""

    number: int
    body: RequestBody
    engine: Engine
    request: Request
    plan: Plan
    started: float

    @property
    def milliseconds_since_read(self) -> float:
        """The time since it was read."""
        return round(1000 * (time.perf_counter() - self.started), 3)


def parse_request(
    explainer: LocalFACE, number: int, body: RequestBody, is_awaited: Callable[[int], bool]
) -> ParsedRequest:
    """Read a request; its search stops once nobody waits for it any more."""
    started = time.perf_counter()
    schema = explainer.schema
    ask = ask_from_body(body)
    checked = check_ask(explainer.engine, ask)
    record = read_record(body["person"], schema)
    checked = checked.for_record(record)
    request = replace(
        checked.make_request_from_record(record, checked.engine.form),
        wanted=lambda: is_awaited(number),
    )
    if isinstance(ask, AskCheck):
        request = replace(request, goal=read_wish(ask.wish, record, schema))
    return ParsedRequest(
        number=number,
        body=body,
        engine=_engine_without_learning(checked.engine, request),
        request=request,
        plan=checked.plan,
        started=started,
    )


def _engine_without_learning(engine: Engine, request: Request) -> Engine:
    """The engine, without outcomes where it would fit models again before it answers.

    That takes far longer than somebody waits, and its worker would be taken for hung. It is
    learnt for the service's own target before it begins; for another only where it is asked for.
    """
    if engine.outcomes is None or request.lasting is not None or has_learnt(engine):
        return engine
    return replace(engine, outcomes=None)


def takes_many_searches(body: RequestBody) -> bool:
    """Whether a request takes many searches of its own."""
    if body["kind"] in ("check", "promise"):
        return True
    if needs_no_search(body):
        return False
    wished = body["min_robustness"] is not None or body.get("lasting") is not None
    return bool(body["n_paths"] > 1 or wished or body["best_effort"])


def needs_no_search(body: RequestBody) -> bool:
    """Whether a request only asks for scores, and is answered at once."""
    return body["kind"] in ("effects", "scores", "firmness")


def ask_from_body(body: RequestBody) -> Ask:
    """What a request says, as the library's own calls take it."""
    kind: type[Ask] = Ask
    more: dict[str, Any] = {}
    if body["kind"] == "check":
        kind = AskCheck
        more = {"wish": body["wish"]}
    elif body.get("n_paths", 1) > 1:
        kind = AskAlternatives
        more = {"n": body["n_paths"], "differ": body["differ"]}
    options = {one.name: body[one.name] for one in fields(Ask) if one.name in body}
    return kind(**options, **more)
