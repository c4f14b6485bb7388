"""Counts what one search is shown, and keeps it to the budget of rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from localface.answers.disclosure import Disclosure
from localface.engine.account import Account
from localface.engine.job import Decode
from localface.sources.protocol import Neighbors
from localface.types import Array, Ids, Mask


@dataclass(slots=True, eq=False)
class Meter:
    """Counts what one search is shown, on the account of the call that it is part of.

    ``max_rows`` is how many rows that account may hold: a row that another search of the same
    call has revealed costs nothing.
    """

    decode: Decode
    min_score: float
    max_rows: int | None = None
    account: Account = field(default_factory=Account)
    own: Account = field(default_factory=Account)
    asker: Array | None = None  # the point of the person whom the search is about

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
        rows = ids.tolist()
        keep = np.ones(len(rows), dtype=bool)
        if self.max_rows is not None:
            fresh = [row not in self.account.rows for row in rows]
            keep = np.cumsum(fresh, dtype=np.int64) <= self.max_rows - len(self.account.rows)
            rows = ids[keep].tolist()
        self.account.rows.update(rows)
        self.own.rows.update(rows)
        return keep

    def count_question(self, kind: str, seconds: float) -> None:
        """Note a question that was answered, and the time that it took."""
        self.own.questions += 1
        self.own.seconds[kind] = self.own.seconds.get(kind, 0.0) + seconds

    def count_scored_records(self, n: int) -> None:
        """Note how many records the model was called with in one call; none is no call."""
        self.own.rows_scored += n
        self.own.model_calls += n > 0

    def close(self, of: int) -> Disclosure:
        """Add what the search took to the account; return what it alone was shown."""
        self.account.add(self.own)
        return self.own.make_disclosure(of)
