"""The account of one search: what it was shown, against its budget of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from localface.answers.disclosure import Disclosure
from localface.engine.job import Decode
from localface.sources.protocol import Neighbors
from localface.types import Ids, Mask


@dataclass(slots=True, eq=False)
class Meter:
    """Counts what one search is shown: what one search was shown, against its budget."""

    decode: Decode
    min_score: float
    max_rows: int | None
    rows: set[int] = field(default_factory=set)
    questions: int = 0
    model_calls: int = 0
    rows_scored: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def spend_budget_on_neighbors(self, found: Neighbors) -> Neighbors:
        """Count the rows of an answer; withhold, furthest first, what the budget does not cover."""
        keep = self.spend_budget_on_rows(found.ids)
        if keep.all():
            return found
        moved = None if found.moved is None else found.moved[keep]
        return Neighbors(
            found.ids[keep], found.points[keep], found.distances[keep], cut=True, moved=moved
        )

    def spend_budget_on_rows(self, ids: Ids) -> Mask:
        """Count rows, the nearest first; tell which of them the budget covers."""
        fresh = [row not in self.rows for row in ids.tolist()]
        left = len(fresh) if self.max_rows is None else self.max_rows - len(self.rows)
        keep = np.cumsum(fresh) <= left if fresh else np.zeros(0, dtype=bool)
        self.rows.update(ids[keep].tolist())
        return keep

    def count_question(self, kind: str, seconds: float) -> None:
        """Note a question that was answered, and the time that it took."""
        self.questions += 1
        self.seconds[kind] = self.seconds.get(kind, 0.0) + seconds

    def count_scored_records(self, n: int) -> None:
        """Note how many records the model was called with in one call; none is no call."""
        self.rows_scored += n
        self.model_calls += n > 0

    def make_disclosure(self, of: int) -> Disclosure:
        """Close the account, for a table of ``of`` rows."""
        return Disclosure(
            rows=len(self.rows),
            of=of,
            questions=self.questions,
            model_calls=self.model_calls,
            rows_scored=self.rows_scored,
            seconds=dict(self.seconds),
        )


def sum_disclosures(accounts: Sequence[Disclosure]) -> Disclosure:
    """Add up what several searches for one person were shown.

    A row that two of them saw counts twice, but never more rows than there are.
    """
    seconds: dict[str, float] = {}
    for name, spent in [item for one in accounts for item in one.seconds.items()]:
        seconds[name] = seconds.get(name, 0.0) + spent
    return Disclosure(
        rows=min(accounts[0].of, sum(one.rows for one in accounts)),
        of=accounts[0].of,
        questions=sum(one.questions for one in accounts),
        model_calls=sum(one.model_calls for one in accounts),
        rows_scored=sum(one.rows_scored for one in accounts),
        seconds=seconds,
    )
