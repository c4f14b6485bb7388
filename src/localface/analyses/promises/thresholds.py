"""Which threshold would keep the promises that a model breaks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from localface.analyses.promises.verdict import PromiseStatus, RecheckedPromise
from localface.answers.target import Target


@dataclass(frozen=True, slots=True)
class KeepingThreshold:
    """The threshold that would keep the broken promises of one target.

    ``scores`` are those at the ends of the broken plans, the nearest to the target first;
    ``before`` the threshold that they were promised, None where they were promised several.
    """

    target: Target
    scores: tuple[float, ...]
    before: float | None

    def keeping(self, share: float = 1.0) -> float:
        """The round threshold nearest to the present one that keeps a share of them."""
        needed = max(1, math.ceil(share * len(self.scores) - 1e-9))
        return self.target.threshold_below(self.scores[needed - 1])

    def kept_by(self, threshold: float) -> int:
        """How many of them a threshold would keep."""
        held = replace(self.target, min_score=threshold)
        return sum(held.is_reached_by(score) for score in self.scores)

    @property
    def sentence(self) -> str:
        """What the owner of the model may do, for people."""
        verb = "raising" if self.target.at_most else "lowering"
        whole = self.keeping()
        from_now = "" if self.before is None else f" from {self.before:g}"
        keeps = "it" if len(self.scores) == 1 else f"all {len(self.scores):,}"
        text = f"{verb} the threshold for them{from_now} to {whole:g} would keep {keeps}"
        half = self.keeping(0.5)
        if half != whole:
            text += f"; to {half:g}, {self.kept_by(half):,} of them"
        return text


def keeping_thresholds(found: Iterable[RecheckedPromise]) -> list[KeepingThreshold]:
    """The threshold that would keep what is broken, for each target; ranges have none."""
    groups: dict[tuple[object, ...], list[RecheckedPromise]] = {}
    for one in found:
        target = one.promise.recourse.target
        if one.status is PromiseStatus.BROKEN and target.max_score is None:
            groups.setdefault((target.label, target.at_most, target.kind), []).append(one)
    return [_threshold_of(group) for group in groups.values()]


def _threshold_of(broken: Sequence[RecheckedPromise]) -> KeepingThreshold:
    target = broken[0].promise.recourse.target
    scores = [one.measured.score for one in broken if one.measured is not None]
    promised = {one.promise.recourse.target.min_score for one in broken}
    return KeepingThreshold(
        target,
        tuple(sorted(scores, reverse=not target.at_most)),
        promised.pop() if len(promised) == 1 else None,
    )
