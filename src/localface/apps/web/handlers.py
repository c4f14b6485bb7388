"""Answers what is asked of the service, all searches in lock-step, as bytes that are ready to send."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from localface.analyses.alternatives import avoiding, checked_weights, find_alternatives
from localface.analyses.trace import told as story_of
from localface.analyses.whynot import check, opened, wish_of
from localface.answers.recourse import Recourse
from localface.apps.web.errors import LOG, Reply, body_of, told
from localface.apps.web.view import Labels, check_of, together_of, view_of
from localface.data.read import read_person
from localface.data.schema import Schema
from localface.engine.engine import Engine, Request
from localface.errors import DataError, InputError, listed, near_miss
from localface.explainer import LocalFACE
from localface.search.plan import Plan

Ask = Mapping[str, Any]
"""A request as plain values: ``kind`` and the fields of its model, with the person's record in place of a number."""
Deliver = Callable[[int, Reply], None]


class Inbox(Protocol):
    """Where requests come from, each with a number, and where it is told which of them are still wanted."""

    def wait(self) -> bool:
        """Wait until there is something to do; False when there will be nothing more."""
        ...

    def next(self) -> tuple[int, Ask] | None:
        """The next request, if one is there."""
        ...

    def wanted(self, number: int) -> bool:
        """Whether anybody waits for an answer."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """A request that was read: what it asks of which desk, and since when."""

    number: int
    ask: Ask
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
                for place, answer in self.explainer._engine.tried_together(arrivals):
                    ticket = arrivals.open.pop(place)
                    deliver(ticket.number, self.closed(ticket, answer))
            except Exception:  # no InputError, so it is not known whose it is: each is tried alone
                LOG.exception("searches failed together, and are tried one by one")
                for ticket in arrivals.open.values():
                    deliver(ticket.number, self.alone(ticket))

    def read(self, number: int, ask: Ask, inbox: Inbox) -> Ticket:
        """Write down what someone asks, as ``LocalFACE.explain`` and ``check`` do."""
        schema, started = self.explainer.schema, time.perf_counter()
        engine = self.explainer._engine.at(
            min_score=ask["min_score"], min_density=ask["min_density"]
        )
        _check_known(ask["person"], schema)
        record = read_person(ask["person"], schema)
        where = avoiding(schema, ask["where"], ask.get("avoid", ()))
        request = replace(
            engine.request(record, engine.form, where),
            goal=wish_of(ask["wish"], record, schema) if ask["kind"] == "check" else None,
            relax=ask.get("relax", False),
            weights=checked_weights(schema, ask.get("weights")),
            wanted=lambda: inbox.wanted(number),
        )
        plan = replace(
            engine.plan, actions=ask.get("actions", True), max_changes=ask.get("max_changes", 1)
        )
        return Ticket(number, ask, engine, request, plan, started)

    def closed(self, ticket: Ticket, answer: Recourse | InputError) -> Reply:
        """Write the reply to someone who wanted one way."""
        try:
            if isinstance(answer, InputError):
                return self.refused(answer)
            (answer,) = opened(ticket.engine, ticket.plan, [(ticket.request, answer)])
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
                found = check_of(check(engine, plan, request), self.words)
                return Reply(200, body_of({**found, "milliseconds": _since(ticket.started)}))
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
        return told(error, self.explainer.schema.names)


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


def is_heavy(ask: Ask) -> bool:
    """Whether a request takes many searches of its own."""
    return bool(ask["kind"] == "check" or ask["n_paths"] > 1)


def staged(explainer: LocalFACE, ticket: Ticket) -> dict[str, Any] | None:
    """What each stage saw, in the user's units; only on a plane."""
    if not is_plane(explainer) or explainer.options.strategy != "guided":
        return None
    watched = copy(explainer)
    watched._engine = ticket.engine
    where = avoiding(explainer.schema, ticket.ask["where"], ticket.ask["avoid"])
    story = story_of(watched, ticket.ask["person"], where=where)
    in_units = explainer._engine.space.records
    return {
        "explore": in_units(story.explored).tolist(),
        "trail": in_units(story.trail).tolist(),
        "exploit": in_units(story.exploited).tolist(),
        "enhance": story.recourse.records.tolist(),
    }


def is_plane(explainer: LocalFACE) -> bool:
    """Whether a map can be drawn: two features, both numbers."""
    return len(explainer.schema) == 2 and all(
        one.kind in ("numeric", "integer") for one in explainer.schema
    )


def _reply(parts: Mapping[str, Any], document: str, started: float) -> Reply:
    """Put a reply together; the document is JSON already."""
    whole = {
        "alternatives": [],
        "together": None,
        "stages": None,
        **parts,
        "milliseconds": _since(started),
    }
    return Reply(200, body_of(whole)[:-1] + b',"document":' + document.encode() + b"}")


def _since(started: float) -> float:
    return round(1000 * (time.perf_counter() - started), 3)
