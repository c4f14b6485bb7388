"""Writing a promise down: the plan that somebody saw, searched for again and found the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from localface.analyses.alternatives import find_alternatives
from localface.analyses.completing import complete_answers
from localface.analyses.promises import Promises
from localface.analyses.promises.giving import give_promise
from localface.answers.recourse import Recourse
from localface.apps.web.http.errors import RequestRefused
from localface.apps.web.http.log_lines import LOG, describe_error
from localface.apps.web.workers.parsed_request import ParsedRequest, ask_from_body
from localface.errors import DataError, LocalFACEError
from localface.explainer import LocalFACE

_OTHERWISE = (
    "the plan that is to be promised is not what is answered now: ask again, and promise what is "
    "then on the page"
)
_UNWRITABLE = (
    "the promise could not be written down; whoever runs the service finds more in its log"
)


def give_asked_promise(explainer: LocalFACE, parsed: ParsedRequest, folder: str) -> dict[str, Any]:
    """Search again, and write down the answer that has the actions which were seen."""
    answer = _answer_as_seen(parsed)
    promises = _open_promises(folder)
    before = len(promises)
    promise = give_promise(
        parsed.engine,
        answer,
        promises,
        person=parsed.body["reference"],
        ask=ask_from_body({**parsed.body, "kind": "recourse", "n_paths": 1}),
        fingerprint=explainer.fingerprint,
    )
    return {
        "id": promise.id,
        "time": promise.time,
        "already": len(promises) == before,
        "head": promises.head,
    }


def _answer_as_seen(parsed: ParsedRequest) -> Recourse:
    """The answer whose actions were seen: the first, or one of several."""
    seen = parsed.body["plan"]
    for answer in _answers(parsed):
        if answer.found and answer.actions and _is_same_plan(answer, seen):
            return answer
    raise RequestRefused(409, "Otherwise", _OTHERWISE)


def _answers(parsed: ParsedRequest) -> Sequence[Recourse]:
    n_paths = parsed.body["n_paths"]
    if n_paths > 1:
        return list(find_alternatives(parsed.engine, parsed.request, parsed.plan, n_paths))
    ((_, answer),) = parsed.engine.answer([parsed.request], parsed.plan)
    return complete_answers(parsed.engine, parsed.plan, [(parsed.request, answer)])


def _is_same_plan(answer: Recourse, seen: Sequence[Mapping[str, Any]]) -> bool:
    plan = [dict(one.changes) for one in answer.actions]
    return plan == [dict(one) for one in seen]


def _open_promises(folder: str) -> Promises:
    """Open the folder; what is wrong with it is for whoever runs the service."""
    try:
        return Promises.open(Path(folder))
    except (LocalFACEError, OSError) as error:
        LOG.error("promises cannot be written: %s", describe_error(error))
        raise DataError(_UNWRITABLE) from None
