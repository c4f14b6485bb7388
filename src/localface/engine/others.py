"""Other people: the changes of a plan are made to them as well, to count whom they help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localface.engine.meter import Meter
from localface.search.questions import HelpOthers, OthersHelped
from localface.sources.holder import RowHolder, list_all_rows
from localface.types import Array, Mask

N_OTHERS = 100
"""Rows to which changes are made, the same for everyone who asks."""
_SEED = 271  # what they are drawn with
_ENOUGH = 20  # of them whose score has to change for a share to mean anything


@dataclass(frozen=True, slots=True, eq=False)
class ChangedOthers:
    """Records of others with the changes of one end, a block of them for each of its states.

    ``columns`` are those of each change. The first state makes none of them, the second all, and
    those that follow all but one. The first of each block is the person.
    """

    columns: Mask
    records: Array  # (states, people, features)

    def __len__(self) -> int:
        return len(self.flat_records)

    @property
    def flat_records(self) -> Array:
        """All records, block after block."""
        return self.records.reshape(-1, self.records.shape[-1])

    def unknown(self) -> OthersHelped:
        """What is told where nothing is known."""
        n = len(self.columns)
        return OthersHelped(self.columns, np.ones(n), np.zeros(n, dtype=np.int64), 1.0, 0)

    def helped(self, scores: Array) -> OthersHelped:
        """Hold the scores of the records against each other."""
        blocks = scores.reshape(self.records.shape[:2])
        whole = _share_that_rises(blocks[0], blocks[1])
        each = [_share_that_rises(without, blocks[1]) for without in blocks[2:]] or [whole]
        return OthersHelped(
            self.columns,
            np.array([share for share, _ in each]),
            np.array([n for _, n in each]),
            *whole,
        )


class Others:
    """A fixed sample of rows; what they would score with a person's changes is counted only."""

    def __init__(self, holder: RowHolder) -> None:
        self._holder = holder
        self._records: Array | None = None
        self._points: Array | None = None

    def compose(self, meter: Meter, question: HelpOthers) -> list[ChangedOthers]:
        """Make the changes of each end of a question to others."""
        donors = self._holder.records(question.donors)
        return [self._compose_end(meter, question, end, donors) for end in question.ends]

    def _compose_end(
        self, meter: Meter, question: HelpOthers, end: Array, donors: Array
    ) -> ChangedOthers:
        """Give others what the person has before, after, and without one change after the other.

        Who would break a relation between features on the way is left out.
        """
        own = question.point
        groups = np.unique(question.group_of[end != own])
        columns = (groups[:, None] == question.group_of) & (end != own)
        states = [own, end]
        if len(groups) > 1:
            states += [np.where(one, own, end) for one in columns]
        made = meter.decode(np.stack(states), donors)
        records, points = self._sample()
        changed = ~((made[0] == made[1]) | (np.isnan(made[0]) & np.isnan(made[1])))
        composed = np.where(changed, made[:, None, :], records)
        keeps = np.ones(len(records), dtype=bool)
        for state in states:
            keeps &= question.keeps_relations(np.where(end != own, state, points))
        everyone = np.concatenate([made[:, None, :], composed[:, keeps]], axis=1)
        return ChangedOthers(columns, everyone)

    def _sample(self) -> tuple[Array, Array]:
        """The records and the points of the others, read once."""
        if self._records is None or self._points is None:
            everyone = list_all_rows(self._holder)
            few = min(N_OTHERS, len(everyone))
            drawn = np.random.default_rng(_SEED).choice(len(everyone), few, replace=False)
            ids = everyone[np.sort(drawn)]
            self._records = self._holder.records(ids)
            self._points = self._holder.points(ids)
        return self._records, self._points


def helped_by_each(others: Sequence[ChangedOthers], scores: Array) -> list[OthersHelped]:
    """Tell how many others are helped by the changes of each end, given all scores in turn."""
    parts = np.split(scores, np.cumsum([len(one) for one in others])[:-1])
    return [one.helped(part) for one, part in zip(others, parts, strict=True)]


def _share_that_rises(before: Array, after: Array) -> tuple[float, int]:
    """The share of others whose score changes for whom it rises, and how many these are.

    Nothing can be told, and the share is 1, where they are few, and where it does not rise for the
    person, who comes first: such a change is made to keep to common states, not for the model.
    """
    moved = int((before != after)[1:].sum())
    if moved < _ENOUGH or after[0] <= before[0]:
        return 1.0, moved
    return float((after > before)[1:].sum() / moved), moved
