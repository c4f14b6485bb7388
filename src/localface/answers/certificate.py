"""What is known of the density along one step."""

from __future__ import annotations

from dataclasses import dataclass

from localface.answers.wording import (
    SAMPLED,
    format_distinct_percents,
    format_more_unusual_than,
    format_number,
    format_share_of_people,
)
from localface.data.row_words import PEOPLE, RowWords
from localface.density.protocol import FLOOR_TOLERANCE


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is known of one step: how common the states are along all of it.

    ``length`` is counted in standard deviations. ``lowest`` is the share of people
    whose state is less common than the least common state of the step (for the rule
    ``average``: than its mean), ``floor`` the share that was asked for. ``certified``
    tells a proof from samples.
    """

    rule: str
    length: float
    lowest: float
    floor: float
    entry: bool = False
    certified: bool = True
    people: int | None = None
    radius: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the step keeps the floor; an entry step need not, and says so by ``entry``."""
        return self.lowest >= self.floor - FLOOR_TOLERANCE

    @property
    def sentence(self) -> str:
        """What the certificate says, for people."""
        return self.sentence_about(PEOPLE)

    def sentence_about(self, rows: RowWords) -> str:
        """What the certificate says, in the words for what rows are."""
        return self._claim_about(rows) + ("" if self.certified else SAMPLED)

    def _claim_about(self, rows: RowWords) -> str:
        if self.entry:
            rare = format_more_unusual_than(self.lowest, rows)
            return f"entry: this first step passes through states {rare}"
        if not self.holds:
            return self._breach_about(rows)
        if self.rule == "cover" and self.people is not None and self.radius is not None:
            radius = format_number(self.radius)
            unit = "standard deviation" if self.radius == 1 else "standard deviations"
            near = f"within {radius} {unit} of every state on this step"
            return f"there are at least {rows.count(self.people)} {near}"
        if self.lowest <= 0:
            return f"this step passes through states {format_more_unusual_than(0.0, rows)}"
        common = format_share_of_people(self.lowest, rows)
        if self.rule == "average":
            return f"this step passes on average through states as common as {common}"
        return f"every state on this step is at least as common as {common}"

    def _breach_about(self, rows: RowWords) -> str:
        floor, _ = format_distinct_percents(self.floor, self.lowest)
        mean = "on average " if self.rule == "average" else ""
        crosses = f"passes through states {format_more_unusual_than(self.lowest, rows)}"
        return f"below the floor of {floor}: this step {mean}{crosses}"
