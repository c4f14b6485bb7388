"""One thing that a person is to do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from localface.answers.certificate import Certificate
from localface.answers.move_evidence import MoveEvidence


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do: what changes, from what to what, and where it leads.

    ``changes`` and ``before`` map features to values in the user's units; several features
    change where they only work together. ``follows`` holds the indices in
    ``Recourse.actions`` of earlier actions that must come first, ``density`` the share of
    people whose state is less common than the one this leads to, ``evidence``, where there
    is longitudinal data, how many people really made such a move. ``effort`` is how far the
    changes go, in standard deviations, those of several features added up; where that is not
    told, as far as the step is long.
    """

    changes: Mapping[str, object]
    before: Mapping[str, object]
    score: float
    density: float
    certificate: Certificate
    follows: tuple[int, ...] = ()
    evidence: MoveEvidence | None = None
    effort: float = math.nan

    def __post_init__(self) -> None:
        for name in ("changes", "before"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        if math.isnan(self.effort):
            object.__setattr__(self, "effort", self.certificate.length)

    def __reduce__(self) -> tuple[Any, ...]:
        pieces = {one.name: getattr(self, one.name) for one in fields(self)}
        pieces |= {"changes": dict(self.changes), "before": dict(self.before)}
        return _unpickle_action, (pieces,)

    @property
    def together(self) -> bool:
        """Whether several features must change at once."""
        return len(self.changes) > 1


def _unpickle_action(pieces: dict[str, Any]) -> Action:
    """Rebuild after pickling: a read-only mapping cannot be pickled itself."""
    return Action(**pieces)
