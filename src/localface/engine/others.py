"""Other people: the changes of a plan are made to them as well, to count whom they help.

They make the same change from about where the person makes it: one from a little more, another
from a little less. A notch that a model has learnt from few rows at just these values helps few of
them, though it may help everybody at the very same values.
"""

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
_NEAR = 0.5  # ordinary differences around a person's values within which others make a change
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
        self._drawn: _Sample | None = None

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
        sample = self._sample()
        shifts = sample.shifts(own, end, (end != own) & ~question.discrete)
        keeps = np.ones(len(shifts), dtype=bool)
        for state in states:
            keeps &= question.keeps_relations(np.where(end != own, state + shifts, sample.points))
        everyone = np.concatenate([own + shifts[keeps], end + shifts[keeps], states])
        before, after, made = np.split(
            meter.decode(everyone, donors), [int(keeps.sum()), 2 * int(keeps.sum())]
        )
        changed = np.stack([np.where(_differs(made[0], one), after, before) for one in made])
        composed = np.where(_differs(made[0], made[1]), changed, sample.records[keeps])
        return ChangedOthers(columns, np.concatenate([made[:, None, :], composed], axis=1))

    def _sample(self) -> _Sample:
        """The others, read once."""
        if self._drawn is None:
            self._drawn = _Sample.of(self._holder)
        return self._drawn


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """Rows to which changes are made, and how far from the person's values each makes them."""

    records: Array
    points: Array
    parts: Array  # of the furthest shift, of each row in each column, from -1 to 1

    @classmethod
    def of(cls, holder: RowHolder) -> _Sample:
        everyone = list_all_rows(holder)
        generator = np.random.default_rng(_SEED)
        drawn = generator.choice(len(everyone), min(N_OTHERS, len(everyone)), replace=False)
        ids = everyone[np.sort(drawn)]
        points = holder.points(ids)
        return cls(holder.records(ids), points, generator.uniform(-1.0, 1.0, points.shape))

    def shifts(self, own: Array, end: Array, columns: Mask) -> Array:
        """How far from a person's values, before and after, each row makes the person's change.

        As far as the change goes, and at least half an ordinary difference, but not beyond what
        somebody here has.
        """
        furthest = np.maximum(np.abs(end - own), _NEAR)
        low = np.minimum(self.points.min(axis=0) - np.minimum(own, end), 0.0)
        high = np.maximum(self.points.max(axis=0) - np.maximum(own, end), 0.0)
        return np.where(columns, np.clip(self.parts * furthest, low, high), 0.0)


def helped_by_each(others: Sequence[ChangedOthers], scores: Array) -> list[OthersHelped]:
    """Tell how many others are helped by the changes of each end, given all scores in turn."""
    parts = np.split(scores, np.cumsum([len(one) for one in others])[:-1])
    return [one.helped(part) for one, part in zip(others, parts, strict=True)]


def _differs(first: Array, second: Array) -> Mask:
    """Which values of two records are not the same."""
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    return np.asarray(~same)


def _share_that_rises(before: Array, after: Array) -> tuple[float, int]:
    """The share of others whose score changes for whom it rises, and how many these are.

    Nothing can be told, and the share is 1, where they are few, and where it does not rise for the
    person, who comes first: such a change is made to keep to common states, not for the model.
    """
    moved = int((before != after)[1:].sum())
    if moved < _ENOUGH or after[0] <= before[0]:
        return 1.0, moved
    return float((after > before)[1:].sum() / moved), moved
