"""What each stage of a search saw, for a page that draws it on a map."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from localface.analyses.trace import trace_search
from localface.apps.web.views.map_reply import is_plane
from localface.apps.web.workers.parsed_request import ParsedRequest
from localface.explainer import LocalFACE


def stages_reply(explainer: LocalFACE, parsed: ParsedRequest) -> dict[str, Any] | None:
    """The rows that each stage saw, in the user's units; None where there is no plane.

    None too where no time is left: it takes a search, on the clock and the account of the answer.
    """
    if not is_plane(explainer) or explainer.options.strategy != "guided":
        return None
    if parsed.request.clock.is_up:
        return None
    request = replace(parsed.request, goal=None, relax=False, weights={}, wanted=None)
    found = trace_search(parsed.engine, request, parsed.plan)
    in_units = explainer.engine.space.records
    return {
        "explore": in_units(found.explored).tolist(),
        "trail": in_units(found.trail).tolist(),
        "actions": in_units(found.for_actions).tolist(),
        "exploit": in_units(found.exploited).tolist(),
        "enhance": found.recourse.records.tolist(),
    }
