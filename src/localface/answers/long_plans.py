"""Warns of a plan that changes more than somebody could follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from localface.answers.wording import format_count, format_percent
from localface.data.schema import Schema

FEW_AT_ONCE = 6
"""Changes that somebody could make at one time: the most that are looked for as few, too."""
FEW_IN_ALL = 12
"""Changes that somebody could make one after the other."""

_NOT_ADVICE = "hardly anybody could follow it, so take it as a sign that the target can be reached"


class _Changes(Protocol):
    @property
    def changes(self) -> Mapping[str, object]: ...


@dataclass(frozen=True, slots=True)
class PlanSize:
    """How many features a plan changes in all and at one time at most; of each, how many changes.

    Features that only ever change together are one change.
    """

    features: int
    at_once: int
    changes: int
    changes_at_once: int

    @classmethod
    def of(cls, schema: Schema, actions: Sequence[_Changes]) -> PlanSize:
        """Measure the actions of an answer."""
        each = [set(action.changes) for action in actions]
        return cls(
            features=len(set().union(*each)),
            at_once=max(map(len, each), default=0),
            changes=_count_changes(schema, set().union(*each)),
            changes_at_once=max((_count_changes(schema, names) for names in each), default=0),
        )

    @property
    def is_long(self) -> bool:
        """Whether it is more than somebody could follow."""
        return self.changes_at_once > FEW_AT_ONCE or self.changes > FEW_IN_ALL

    def is_shorter_than(self, other: PlanSize) -> bool:
        """Whether it takes fewer changes, and no more of them at once."""
        return self.changes < other.changes and self.changes_at_once <= other.changes_at_once

    @property
    def words(self) -> str:
        """How many features change.

        >>> PlanSize(4, 1, 4, 1).words, PlanSize(12, 8, 12, 8).words
        ('4 features, one at a time', '12 features, up to 8 at once')
        """
        many = format_count(self.features, "feature", "features")
        if self.features == 1:
            return many
        if self.at_once == 1:
            return f"{many}, one at a time"
        if self.at_once == self.features:
            return f"{many}, all at once"
        return f"{many}, up to {self.at_once} at once"

    @property
    def linked_words(self) -> str:
        """How many changes they are, where linked features make that fewer than the features.

        >>> PlanSize(5, 3, 3, 1).linked_words, PlanSize(5, 3, 5, 3).linked_words
        (' (3 with linked ones counted as one)', '')
        """
        return linked_ones_as_one(str(self.changes)) if self.changes < self.features else ""


def linked_ones_as_one(count: str) -> str:
    """Say beside a number of features how many they are as max_features= counts them."""
    return f" ({count} with linked ones counted as one)"


def caution_about_long_plan(schema: Schema, size: PlanSize) -> str:
    """Say plainly that a plan changes more than somebody could follow.

    >>> from localface.data.feature import Feature
    >>> schema = Schema([Feature(f"x{i}") for i in range(200)])
    >>> caution_about_long_plan(schema, PlanSize(147, 134, 147, 134))
    'this plan changes 147 of 200 features, 134 of them at once: hardly anybody could follow it, \
so take it as a sign that the target can be reached, not as advice'
    """
    at_once = ""
    if size.at_once == size.features:
        at_once = ", all of them at once"
    elif size.changes_at_once > FEW_AT_ONCE:
        at_once = f", {size.at_once} of them at once"
    many = f"{size.features} of {format_count(len(schema), 'feature', 'features')}"
    return f"this plan changes {many}{at_once}: {_NOT_ADVICE}, not as advice"


def with_shorter_plan(caution: str, min_density: float, shorter: PlanSize | None) -> str:
    """Add what a search with a lower floor has found: a shorter plan, or that there is none.

    >>> with_shorter_plan("it is long", 0.01, PlanSize(4, 1, 4, 1))
    'it is long; with a floor of 1 % (min_density=0.01) it would be 4 features, one at a time'
    >>> with_shorter_plan("it is long", 0.01, None)
    'it is long; a lower floor (min_density=0.01) makes it no shorter'
    """
    if shorter is None:
        return f"{caution}; a lower floor (min_density={min_density:g}) makes it no shorter"
    floor = f"with a floor of {format_percent(min_density)} (min_density={min_density:g})"
    return f"{caution}; {floor} it would be {shorter.words}"


def is_about_long_plan(caution: str) -> bool:
    """Tell whether a caution is the one about a long plan."""
    return _NOT_ADVICE in caution


def _count_changes(schema: Schema, names: Iterable[str]) -> int:
    """How many changes it takes: features that are linked, also through others, are one."""
    left = set(names)
    count = 0
    while left:
        together = {left.pop()}
        grown = True
        while grown:
            linked = [set(one) for one in schema.linked if together & set(one)]
            wider = together.union(*linked)
            grown = wider != together
            together = wider
        left -= together
        count += 1
    return count
