"""The model's scores of rows, kept by row id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from localface.sources.protocol import Source
from localface.types import NO_ROWS, Array, Ids

BLOCK_ROWS = 2**16  # rows read or scored at a time where a whole table is


class ScoreFunction(Protocol):
    """What the driver asks of a model."""

    def exact_scores(self, records: Array) -> Array:
        """Return one score a record to the last digit, higher is nearer to the target."""
        ...

    def round_scores(self, scores: Array, min_score: float) -> Array:
        """Round scores, but never across a threshold."""
        ...


class ScoreCache:
    """Scores of rows, to the last digit; whatever is unknown is asked in one call.

    Exact scores serve every threshold, so that searches for different target scores share them.
    """

    def __init__(self, score: Callable[[Array], Array], source: Source) -> None:
        self._score = score
        self._source = source
        self._scores = np.zeros(0)
        self._is_known = np.zeros(0, dtype=bool)

    def unscored_rows(self, ids: Ids) -> Ids:
        """Return those of some rows that have not been scored, each once."""
        self._make_room_for(ids)
        known = self._is_known[ids]
        return NO_ROWS if known.all() else np.unique(ids[~known])

    def score_rows_and_states(self, rows: Ids, states: Sequence[Array] = ()) -> Array:
        """Score unknown rows together with records that are no rows; returns the latter's scores.

        It takes one call. Only where there are very many rows are they scored some at a time.
        """
        while len(rows) > BLOCK_ROWS:
            self.score_rows_and_states(rows[:BLOCK_ROWS])
            rows = rows[BLOCK_ROWS:]
        if not len(rows) and not len(states):
            return np.zeros(0)
        batch = [self._source.records(rows), *states] if len(rows) else list(states)
        scores = self._score(batch[0] if len(batch) == 1 else np.concatenate(batch))
        if not self._is_known.flags.writeable:  # it came from another process, which keeps its own
            self._scores = self._scores.copy()
            self._is_known = self._is_known.copy()
        self._scores[rows] = scores[: len(rows)]
        self._is_known[rows] = True
        return scores[len(rows) :]

    def scores_of_rows(self, ids: Ids) -> Array:
        """Return the scores of rows."""
        fresh = self.unscored_rows(ids)
        if len(fresh):
            self.score_rows_and_states(fresh)
        return np.asarray(self._scores[ids])

    def _make_room_for(self, ids: Ids) -> None:
        size = 1 + int(ids.max(initial=-1))
        if size > len(self._is_known):
            more = max(size, 2 * len(self._is_known)) - len(self._is_known)
            self._scores = np.concatenate([self._scores, np.zeros(more)])
            self._is_known = np.concatenate([self._is_known, np.zeros(more, dtype=bool)])
