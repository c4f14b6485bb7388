"""What a recheck found of one promise, as a value that prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from localface.analyses.promises.promise import Promise
from localface.analyses.promises.standing import FeatureProgress
from localface.answers.changes import FeatureChange
from localface.answers.json_text import load_json
from localface.answers.recourse import Recourse
from localface.answers.wording import format_percent, join_words, to_one_line


class PromiseStatus(Enum):
    """What has become of a promise; the value is the sentence that people read."""

    ARRIVED = "the person has arrived: the model accepts them as they are now"
    HOLDS = "the promise holds: what is left of the plan leads to the target through common states"
    OFF_GROUND = (
        "the end of the plan still reaches the target, "
        "but what is left of the way passes through states that are now too unusual"
    )
    BROKEN = "the promise is broken: the end of the plan no longer reaches the target"
    NOT_RECHECKED = "the promise cannot be rechecked with this model and data"

    @property
    def word(self) -> str:
        """The status in a word or two, for one-line reprs."""
        return self.name.lower().replace("_", " ")


class WayOn(Enum):
    """What is cheapest from where a person stands; the value is the sentence that people read."""

    NOTHING = "nothing is left to do"
    FINISH = "finish the plan: no new one that was found costs less"
    NEW_PLAN = "a new plan from where the person is now"
    NONE = "no plan was found from where the person is now"
    NOT_SOUGHT = "no new plan was looked for"


@dataclass(frozen=True, slots=True)
class Measured:
    """What model and density say of a promise: scores are the model's own, densities shares.

    ``score_now`` is that of the person's present record, ``score_promised`` that of the end as it
    was promised, ``score`` that of the state that finishing the plan leads to, and ``reached``
    whether each is enough; ``lowest`` is the least common state on what is left of the way.
    """

    score_now: float
    score_promised: float
    score: float
    reached: tuple[bool, bool, bool]
    density: float
    lowest: float
    on_ground: bool
    cost: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class RecheckedPromise:
    """One promise under the model and the data of today.

    ``progress`` tells how far each feature of the plan has come, ``left`` what is left of it, the
    largest change first. ``measured`` is None where the promise could not be rechecked, and
    ``reason`` says why. ``fresh`` is the answer that the person would get if they asked today,
    from where they stand; None where it was not looked for. ``has_progress`` tells that their
    present record is known, ``changed`` whether model, data and schema are others than then.
    """

    promise: Promise
    status: PromiseStatus
    measured: Measured | None = None
    progress: tuple[FeatureProgress, ...] = ()
    left: tuple[FeatureChange, ...] = ()
    fresh: Recourse | None = None
    has_progress: bool = False
    reason: str = ""
    changed: Mapping[str, bool | None] = field(default_factory=dict)

    @property
    def valid(self) -> bool:
        """Whether finishing the plan reaches the target."""
        return self.measured is not None and self.measured.reached[2]

    @property
    def valid_as_promised(self) -> bool:
        """Whether the end as it was promised reaches the target, whatever has happened since."""
        return self.measured is not None and self.measured.reached[1]

    @property
    def on_ground(self) -> bool:
        """Whether what is left of the way, and its end, are on common ground."""
        return self.measured is not None and self.measured.on_ground

    @property
    def done(self) -> float | None:
        """The share of the plan that is done, feature by feature; None where nothing was to do."""
        shares = [one.share for one in self.progress]
        return sum(shares) / len(shares) if shares else None

    @property
    def way(self) -> WayOn:
        """What is cheapest from here: to finish the plan, a new one, or nothing."""
        if self.status is PromiseStatus.ARRIVED:
            return WayOn.NOTHING
        left = self._cost_of_finishing
        new = self._cost_of_new_plan
        if new is not None and (left is None or new < left):
            return WayOn.NEW_PLAN
        if left is not None:
            return WayOn.FINISH
        return WayOn.NOT_SOUGHT if self.fresh is None else WayOn.NONE

    @property
    def repair(self) -> Recourse | None:
        """The new plan, where it is the cheapest way on."""
        return self.fresh if self.way is WayOn.NEW_PLAN else None

    @property
    def cost(self) -> float | None:
        """What the cheapest way on costs, in standard deviations; None where there is none."""
        costs = {
            WayOn.NOTHING: 0.0,
            WayOn.FINISH: self._cost_of_finishing,
            WayOn.NEW_PLAN: self._cost_of_new_plan,
        }
        return costs.get(self.way)

    @property
    def _cost_of_finishing(self) -> float | None:
        """What is left of the plan, where it still may be followed."""
        if self.status is not PromiseStatus.HOLDS or self.measured is None:
            return None
        return self.measured.cost

    @property
    def _cost_of_new_plan(self) -> float | None:
        return self.fresh.effort if self.fresh is not None and self.fresh.found else None

    def __repr__(self) -> str:
        whose = "" if self.promise.person is None else f" to {to_one_line(self.promise.person)}"
        parts = [f"<Promise {self.promise.id[:8]}{whose}: {self.status.word}"]
        if self.measured is not None:
            target = self.promise.recourse.target
            parts.append(f"score {target.format_score(self.measured.score)} at its end")
        if self.has_progress and self.done is not None:
            parts.append(f"{format_percent(self.done)} done")
        return f"{', '.join(parts)}>"

    def __str__(self) -> str:
        lines = [repr(self), f"  {self.status.value}"]
        if self.reason:
            lines.append(f"  {self.reason}")
        if self.measured is not None:
            lines.append(f"  wanted: {self.promise.recourse.target.sentence}; {self._scores_text}")
        if self.has_progress:
            lines += [f"  {one}" for one in self.progress]
        if self.left and self.status is not PromiseStatus.ARRIVED:
            changes = [f"{to_one_line(one.label)} {one.values_text}" for one in self.left]
            lines.append(f"  left of the plan: {join_words(changes)}")
        cost = "" if not self.cost else f" ({self.cost:.2g} standard deviations)"
        lines.append(f"  {self.way.value}{cost}")
        if self.repair is not None:
            lines += [f"  {line}" for line in str(self.repair).splitlines()]
        return "\n".join(lines)

    @property
    def _scores_text(self) -> str:
        assert self.measured is not None
        written = self.promise.recourse.target.format_score
        return (
            f"score now {written(self.measured.score_now)}, "
            f"at the end of the plan {written(self.measured.score)}"
        )

    def to_plain(self) -> dict[str, Any]:
        """Return all of it as values that JSON can hold."""
        measured = self.measured and {
            "score_now": self.measured.score_now,
            "score_as_promised": self.measured.score_promised,
            "score": self.measured.score,
            "density": self.measured.density,
            "lowest": self.measured.lowest,
            "cost_left": self.measured.cost,
        }
        return {
            "id": self.promise.id,
            "digest": self.promise.digest,
            "time": self.promise.time,
            "person": self.promise.person,
            "status": self.status.name,
            "sentence": self.status.value,
            "reason": self.reason,
            "target": self.promise.recourse.target.sentence,
            "valid": self.valid,
            "valid_as_promised": self.valid_as_promised,
            "on_ground": self.on_ground,
            "measured": measured,
            "has_progress": self.has_progress,
            "done": self.done,
            "progress": [_plain_progress(one) for one in self.progress],
            "left": {one.name: [_plain(one.before), _plain(one.after)] for one in self.left},
            "way": self.way.name,
            "cost": self.cost,
            "changed": dict(self.changed),
            "repair": None if self.repair is None else load_json(self.repair.to_json()),
        }


def _plain_progress(one: FeatureProgress) -> dict[str, Any]:
    values = {"before": one.before, "promised": one.promised, "now": one.now}
    told = {name: _plain(one.feature.value(code)) for name, code in values.items()}
    return {"feature": one.feature.name, **told, "share": one.share}


def _plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
