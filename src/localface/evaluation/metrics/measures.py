"""All measures of one proposal, as one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from localface.evaluation.metrics.violations import Violations

_NAN = float("nan")
_NOTHING_BROKEN = Violations()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """All that is measured of one proposal to one person; NaN where it does not apply.

    Distances and lengths are in points: standard deviations wherever the rows are, except
    ``l1_mad`` and ``l1_range``; densities are shares of held-out people whose own density is
    lower.
    """

    found: bool
    valid: bool = False
    violations: Violations = _NOTHING_BROKEN
    score: float = _NAN
    steps: float = _NAN
    l0: float = _NAN
    l1: float = _NAN
    l2: float = _NAN
    l1_mad: float = _NAN
    l1_range: float = _NAN
    sparsity: float = _NAN
    sparsity_most: float = _NAN
    redundancy: float = _NAN
    ynn: float = _NAN
    knn_distance: float = _NAN
    lof: float = _NAN
    density: float = _NAN
    likeness: float = _NAN
    length: float = _NAN
    detour: float = _NAN
    over_optimum: float = _NAN
    lowest_density: float = _NAN
    mean_density: float = _NAN
    lowest_log: float = _NAN
    mean_log: float = _NAN
    traversable_heldout: float = _NAN
    traversable: float = _NAN
    traversable_personal: float = _NAN
    fewest_people: float = _NAN
    mean_people: float = _NAN
    monotone: float = _NAN
    deepest_fall: float = _NAN

    @property
    def sound(self) -> bool:
        """Found, valid by a fresh call, no constraint broken at any state, every step traversable.

        A rule that was not judged (``traversable`` is NaN though there are steps) does not count
        as kept.
        """
        return self._keeps_constraints and (self.steps == 0 or self.traversable == 1.0)

    @property
    def sound_personal(self) -> bool:
        """The same, with a personal floor for people who start below it."""
        return self._keeps_constraints and (self.steps == 0 or self.traversable_personal == 1.0)

    @property
    def _keeps_constraints(self) -> bool:
        return self.found and self.valid and not self.violations.total

    def to_dict(self) -> dict[str, float]:
        """Every measure by name as a number; violations one by one and as ``violations``."""
        plain = {
            one.name: getattr(self, one.name) for one in fields(self) if one.name != "violations"
        }
        broken = {f"violations_{kind}": count for kind, count in self.violations._asdict().items()}
        every = {
            **plain,
            "sound": self.sound,
            "sound_personal": self.sound_personal,
            "violations": self.violations.total,
            **broken,
        }
        return {name: float(value) for name, value in every.items()}


def averages(measures: Sequence[Measures]) -> dict[str, float]:
    """The mean of each measure over the people it applies to.

    ``found``, ``valid`` and both kinds of ``sound`` are shares of everybody. Violations are means
    over those who got a proposal.
    """
    rows = [one.to_dict() for one in measures]
    if not rows:
        return {}
    means = {}
    for name in rows[0]:
        of_everybody = name in ("found", "valid", "sound", "sound_personal")
        values = np.array(
            [
                row[name]
                for row, one in zip(rows, measures, strict=True)
                if of_everybody or one.found
            ]
        )
        known = values[~np.isnan(values)]
        means[name] = float(known.mean()) if len(known) else _NAN
    return means
