"""Answers what is asked of the service, all searches in lock-step, as bytes that are ready to send."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

from localface.analyses.alternatives import find_alternatives
from localface.analyses.robustness import explain_robustly
from localface.analyses.trace import trace_search
from localface.analyses.whynot import check_wish, explain_refusals, read_wish
from localface.answers.recourse import Recourse
from localface.apps.web.errors import LOG, reply_to_error
from localface.apps.web.map_reply import is_plane
from localface.apps.web.reply import Reply, json_bytes
from localface.apps.web.view import Labels, check_of, together_of, view_of
from localface.data.read import read_record
from localface.data.schema import Schema
from localface.engine.asking import check_ask
from localface.engine.engine import Engine
from localface.engine.requests import Request
from localface.errors import DataError, InputError, listed, near_miss
from localface.explainer import LocalFACE
from localface.options import Ask, AskAlternatives, AskCheck
from localface.search.plan import Plan

RequestBody = Mapping[str, Any]
"""A request as plain values: ``kind`` and the fields of its model, with the person's record in place of a number."""
Deliver = Callable[[int, Reply], None]


class Inbox(Protocol):
    """Where requests come from, each with a number, and where it is told which of them are still wanted."""

    def wait(self) -> bool:
        """Wait until there is something to do; False when there will be nothing more."""
        ...

    def next(self) -> tuple[int, RequestBody] | None:
        """The next request, if one is there."""
        ...

    def wanted(self, number: int) -> bool:
        """Whether anybody waits for an answer."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """A request that was read: what it asks of which desk, and since when."""

    number: int
    ask: RequestBody
    engine: Engine
    request: Request
    plan: Plan
    started: float


@dataclass(frozen=True, slots=True, eq=False)
class Answerer:
    """Answers requests: those for one way each go through the driver together, the others one by one."""

    explainer: LocalFACE
    words: Labels = field(default_factory=Labels)

    def serve(self, inbox: Inbox, deliver: Deliver) -> None:
        """Answer what comes in until the inbox closes; new requests join those that are being searched."""
        while inbox.wait():
            arrivals = Arrivals(self, inbox, deliver)
            try:
                for place, answer in self.explainer.engine.tried_together(arrivals):
                    ticket = arrivals.open.pop(place)
                    deliver(ticket.number, self.closed(ticket, answer))
            except Exception:  # no InputError, so it is not known whose it is: each is tried alone
                LOG.exception("searches failed together, and are tried one by one")
                for ticket in arrivals.open.values():
                    deliver(ticket.number, self.alone(ticket))

    def read(self, number: int, ask: RequestBody, inbox: Inbox) -> Ticket:
        """Write down what someone asks, as ``LocalFACE.explain`` and ``check`` do."""
        started = time.perf_counter()
        schema = self.explainer.schema
        _check_known(ask["person"], schema)
        said = _ask_of(ask)
        asked = check_ask(self.explainer.engine, said)
        record = read_record(ask["person"], schema)
        request = replace(
            asked.request_of(record, asked.engine.form), wanted=lambda: inbox.wanted(number)
        )
        if isinstance(said, AskCheck):
            request = replace(request, goal=read_wish(said.wish, record, schema))
        return Ticket(number, ask, asked.engine, request, asked.plan, started)

    def closed(self, ticket: Ticket, answer: Recourse | InputError) -> Reply:
        """Write the reply to someone who wanted one way."""
        try:
            if isinstance(answer, InputError):
                return self.refused(answer)
            (answer,) = explain_refusals(ticket.engine, ticket.plan, [(ticket.request, answer)])
            stages = staged(self.explainer, ticket) if ticket.ask["stages"] else None
            view = view_of(answer, self.words)
            return _reply({"view": view, "stages": stages}, answer.to_json(), ticket.started)
        except Exception as error:
            return self.refused(error)

    def alone(self, ticket: Ticket) -> Reply:
        """Answer one request by itself: a wish to look at, several ways, or what failed together with others."""
        engine, request, plan = ticket.engine, ticket.request, ticket.plan
        try:
            if ticket.ask["kind"] == "check":
                found = check_of(check_wish(engine, plan, request), self.words)
                return Reply(200, json_bytes({**found, "milliseconds": _since(ticket.started)}))
            if ticket.ask["min_robustness"] is not None:
                robust = explain_robustly(engine, request, plan, ticket.ask["min_robustness"])
                return self.closed(ticket, robust)
            if ticket.ask["n_paths"] == 1:
                ((_, answer),) = engine.tried([request], plan)
                return self.closed(ticket, answer)
            ways = find_alternatives(engine, request, plan, ticket.ask["n_paths"])
            views = [view_of(one, self.words) for one in ways]
            parts = {"view": views[0], "alternatives": views[1:], "together": together_of(ways)}
            return _reply(parts, ways.to_json(), ticket.started)
        except Exception as error:
            return self.refused(error)

    def refused(self, error: Exception) -> Reply:
        """Say why there is no answer."""
        return reply_to_error(error, self.explainer.schema.names)


class Arrivals(Iterator[tuple[Engine, Request, Plan]]):
    """Requests for the driver as they come in; those that are not for it are answered on the way."""

    def __init__(self, answerer: Answerer, inbox: Inbox, deliver: Deliver) -> None:
        self._answerer, self._inbox, self._deliver = answerer, inbox, deliver
        self._place = 0
        self.open: dict[int, Ticket] = {}

    def __next__(self) -> tuple[Engine, Request, Plan]:
        while (arrived := self._inbox.next()) is not None:
            number, ask = arrived
            try:
                ticket = self._answerer.read(number, ask, self._inbox)
            except Exception as error:
                self._deliver(number, self._answerer.refused(error))
                continue
            if is_heavy(ask):
                self._deliver(number, self._answerer.alone(ticket))
                if self.open:  # those under way have a round before the next of these
                    break
                continue
            self.open[self._place] = ticket
            self._place += 1
            return ticket.engine, ticket.request, ticket.plan
        raise StopIteration


def _check_known(person: Mapping[str, Any], schema: Schema) -> None:
    """Refuse a record that names what is no feature: the library would leave it out, a page must not."""
    for name in person:
        if name not in schema.names:
            near = near_miss(name, schema.names)
            raise DataError(
                f"the person has {name!r}, which is no feature{near}: there are {listed(schema.names)}"
            )


def _ask_of(message: RequestBody) -> Ask:
    """What a request says, as the library's own calls take it."""
    kind: type[Ask] = Ask
    extra: dict[str, Any] = {}
    if message["kind"] == "check":
        kind = AskCheck
        extra = {"wish": message["wish"]}
    elif message["n_paths"] > 1:
        kind = AskAlternatives
        extra = {"n": message["n_paths"]}
    said = {one.name: message[one.name] for one in fields(Ask) if one.name in message}
    return kind(**said, **extra)


def is_heavy(ask: RequestBody) -> bool:
    """Whether a request takes many searches of its own."""
    if ask["kind"] == "check":
        return True
    return bool(ask["n_paths"] > 1 or ask["min_robustness"] is not None)


def staged(explainer: LocalFACE, ticket: Ticket) -> dict[str, Any] | None:
    """What each stage saw, in the user's units; only on a plane."""
    if not is_plane(explainer) or explainer.options.strategy != "guided":
        return None
    request = replace(ticket.request, goal=None, relax=False, weights={}, wanted=None)
    story = trace_search(ticket.engine, request)
    in_units = explainer.engine.space.records
    return {
        "explore": in_units(story.explored).tolist(),
        "trail": in_units(story.trail).tolist(),
        "exploit": in_units(story.exploited).tolist(),
        "enhance": story.recourse.records.tolist(),
    }


def _reply(parts: Mapping[str, Any], document: str, started: float) -> Reply:
    """Put a reply together; the document is JSON already."""
    whole = {
        "alternatives": [],
        "together": None,
        "stages": None,
        **parts,
        "milliseconds": _since(started),
    }
    return Reply(200, json_bytes(whole)[:-1] + b',"document":' + document.encode() + b"}")


def _since(started: float) -> float:
    return round(1000 * (time.perf_counter() - started), 3)
