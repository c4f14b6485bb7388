"""Handling requests: searches of many clients advance in lock-step."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from localface.analyses.alternatives import (
    Alternatives,
    find_alternatives,
    find_alternatives_by_values,
)
from localface.analyses.completing import complete_answers
from localface.analyses.robustness import explain_robustly
from localface.analyses.whynot import check_wish
from localface.answers.recourse import Recourse
from localface.apps.web.http.errors import reply_to_error
from localface.apps.web.http.log_lines import LOG, describe_error
from localface.apps.web.http.reply import Reply, json_bytes
from localface.apps.web.views.effects import effects_view, what_if_view
from localface.apps.web.views.firmness import deviations_view, retrained_view
from localface.apps.web.views.labels import Labels
from localface.apps.web.views.together_view import alternatives_view
from localface.apps.web.views.view import answer_view, check_view
from localface.apps.web.workers.parsed_request import (
    ParsedRequest,
    needs_no_search,
    parse_request,
    takes_many_searches,
)
from localface.apps.web.workers.promising import give_asked_promise
from localface.apps.web.workers.request_buffer import RequestBuffer
from localface.apps.web.workers.stages_reply import stages_reply
from localface.engine.engine import Engine
from localface.engine.outcomes import Outcomes
from localface.engine.requests import Request
from localface.errors import InputError
from localface.explainer import LocalFACE
from localface.search.plan import Plan

SendReply = Callable[[int, Reply], None]
"""Sends the reply to the request with a number."""
_NICENESS = 15  # of a process that fits models again: whoever answers people comes first


@dataclass(frozen=True, slots=True, eq=False)
class RequestHandler:
    """Answers requests: those for one path go through the driver together, others one by one."""

    explainer: LocalFACE
    labels: Labels = field(default_factory=Labels)
    outcomes: Outcomes | None = None  # what the model is fitted on again, apart from any search
    promises: str | None = None  # the folder in which promises are written down

    def serve(self, requests: RequestBuffer, send: SendReply) -> None:
        """Answer requests until there will be no more; new ones join those under way."""
        while requests.wait_for_request():
            incoming = IncomingSearches(self, requests, send)
            try:
                for index, answer in self.explainer.engine.answer_together(incoming):
                    parsed = incoming.open.pop(index)
                    send(parsed.number, self.reply_with_one_answer(parsed, answer))
            except Exception as error:  # it is not known whose it is: each is tried alone
                LOG.error("searches are tried one by one: %s", describe_error(error))
                for parsed in incoming.open.values():
                    send(parsed.number, self.answer_alone(parsed))

    def reply_with_one_answer(self, parsed: ParsedRequest, answer: Recourse | InputError) -> Reply:
        """Write the reply to a request for one path."""
        try:
            if isinstance(answer, InputError):
                return self.reply_to_error(answer)
            (answer,) = complete_answers(parsed.engine, parsed.plan, [(parsed.request, answer)])
            stages = None
            if parsed.body["stages"]:
                stages = stages_reply(self.explainer, parsed)
                answer = parsed.engine.with_all_revealed(parsed.request, answer)
            parts = {"view": answer_view(answer, self.labels), "stages": stages}
            return _recourse_reply(parsed, answer, parts)
        except Exception as error:
            return self.reply_to_error(error)

    def answer_alone(self, parsed: ParsedRequest) -> Reply:
        """Answer one request by itself, whatever it asks for."""
        try:
            if parsed.body["kind"] == "check":
                return self._check_reply(parsed)
            if parsed.body["kind"] == "promise":
                return self._promise_reply(parsed)
            if needs_no_search(parsed.body):
                return self._scores_reply(parsed)
            if parsed.body["n_paths"] > 1:
                return self._alternatives_reply(parsed)
            return self.reply_with_one_answer(parsed, _search_one_path(parsed))
        except Exception as error:
            return self.reply_to_error(error)

    def reply_to_error(self, error: Exception) -> Reply:
        """Say why there is no answer."""
        return reply_to_error(error, self.explainer.schema.names)

    def _check_reply(self, parsed: ParsedRequest) -> Reply:
        found = check_view(check_wish(parsed.engine, parsed.plan, parsed.request), self.labels)
        return Reply(200, json_bytes({**found, "milliseconds": parsed.milliseconds_since_read}))

    def _promise_reply(self, parsed: ParsedRequest) -> Reply:
        assert self.promises is not None, "the route is there only with a folder"
        found = give_asked_promise(self.explainer, parsed, self.promises)
        return Reply(200, json_bytes({**found, "milliseconds": parsed.milliseconds_since_read}))

    def _scores_reply(self, parsed: ParsedRequest) -> Reply:
        record = parsed.request.record
        if parsed.body["kind"] == "firmness":
            found = self._firmness(parsed)
        elif parsed.body["kind"] == "scores":
            found = what_if_view(parsed.engine, record, parsed.body["changes"])
        else:
            found = effects_view(self.explainer, parsed.engine, record, self.labels)
        return Reply(200, json_bytes({**found, "milliseconds": parsed.milliseconds_since_read}))

    def _firmness(self, parsed: ParsedRequest) -> dict[str, Any]:
        record = parsed.request.record
        plans = parsed.body["plans"]
        if not parsed.body["retrained"]:
            return {**deviations_view(parsed.engine, record, plans), "learning": False}
        if hasattr(os, "nice"):
            os.nice(max(0, _NICENESS - os.nice(0)))
        engine = replace(parsed.engine, outcomes=self.outcomes)
        return {**retrained_view(engine, record, plans), "learning": False}

    def _alternatives_reply(self, parsed: ParsedRequest) -> Reply:
        by_features = parsed.body["differ"] == "features"
        find = find_alternatives if by_features else find_alternatives_by_values
        ways = find(parsed.engine, parsed.request, parsed.plan, parsed.body["n_paths"])
        first, *others = [answer_view(one, self.labels) for one in ways]
        parts = {"view": first, "alternatives": others, "together": alternatives_view(ways)}
        return _recourse_reply(parsed, ways, parts)


class IncomingSearches(Iterator[tuple[Engine, Request, Plan]]):
    """Searches for the driver as requests come in; others are answered on the way."""

    def __init__(self, handler: RequestHandler, requests: RequestBuffer, send: SendReply) -> None:
        self._handler = handler
        self._requests = requests
        self._send = send
        self._index = 0
        self.open: dict[int, ParsedRequest] = {}

    def __next__(self) -> tuple[Engine, Request, Plan]:
        while (arrived := self._requests.next_awaited_request()) is not None:
            number, body = arrived
            try:
                parsed = parse_request(
                    self._handler.explainer, number, body, self._requests.is_awaited
                )
            except Exception as error:
                self._send(number, self._handler.reply_to_error(error))
                continue
            driver = self._handler.explainer.engine.driver
            alone = takes_many_searches(body) or needs_no_search(body)
            if alone or parsed.engine.driver is not driver:
                self._send(number, self._handler.answer_alone(parsed))
                if self.open:  # those under way have a round before the next of these
                    break
                continue
            self.open[self._index] = parsed
            self._index += 1
            return parsed.engine, parsed.request, parsed.plan
        raise StopIteration


def _search_one_path(parsed: ParsedRequest) -> Recourse | InputError:
    """Search by itself for a request for one path."""
    min_robustness = parsed.body["min_robustness"]
    if min_robustness is not None:
        return explain_robustly(parsed.engine, parsed.request, parsed.plan, min_robustness)
    ((_, answer),) = parsed.engine.answer_or_error([parsed.request], parsed.plan)
    return answer


def _recourse_reply(
    parsed: ParsedRequest, answer: Recourse | Alternatives, parts: Mapping[str, Any]
) -> Reply:
    """Put a reply together: the parts that are shown, and the document, which is JSON already."""
    whole = {
        "cautions": list(answer.cautions),
        "alternatives": [],
        "together": None,
        "stages": None,
        **parts,
        "milliseconds": parsed.milliseconds_since_read,
    }
    document = answer.to_json().encode()
    return Reply(200, json_bytes(whole)[:-1] + b',"document":' + document + b"}")
