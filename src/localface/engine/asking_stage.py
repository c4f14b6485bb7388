"""Names the stage of a search that asks a question."""

from __future__ import annotations

from typing import Any

from localface.search.questions import Questions

_STAGES = "localface.search.stages."


def asking_stage(asks: Questions[Any]) -> str:
    """Return the stage that a suspended search is in, such as ``"explore"``.

    Stages delegate with ``yield from``, so that the generators which are under way form a
    chain; the first of them that is a stage's own gives its name. A question that no stage
    asks, as that for the person's own score, is the search's own: it goes by its function's name.
    """
    one: Any = asks
    while one is not None:
        frame = getattr(one, "gi_frame", None)
        module = "" if frame is None else str(frame.f_globals.get("__name__", ""))
        if module.startswith(_STAGES):
            return module.removeprefix(_STAGES)
        one = getattr(one, "gi_yieldfrom", None)
    return getattr(asks, "__name__", type(asks).__name__)
