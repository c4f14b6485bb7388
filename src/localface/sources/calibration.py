"""How many cells must be looked at: found by comparing with an exact scan of all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.geometry.bounds import Bounds
from localface.sources.partition import Floats, Partition, blocks
from localface.types import NO_ROWS, Array, Ids

_ASKED = 200  # questions tried, one half of them in a box
_K = 50
_RECALL = 0.999
_BLOCK = 1 << 13  # rows compared with all questions at once
_FEW = 10  # values up to which a column is taken for one that a person cannot change


@dataclass(frozen=True, slots=True)
class Calibration:
    """How many cells a question looks at, and how much of the exact answer that finds."""

    n_probe: int
    recall: float


def calibrated(
    partition: Partition, near: Floats, sample: Array, *, n_probe: int | None = None
) -> Calibration:
    """Find the fewest cells that hold 99.9 % of the 50 nearest rows, with a box and without."""
    people = sample[-_ASKED:]
    values = np.array([len(np.unique(column)) for column in sample.T])
    boxes = [
        _box(values, person) if i % 2 else Bounds.unlimited(len(values))
        for i, person in enumerate(people)
    ]
    truth = _exact(near, people, boxes)
    ranks = [_ranks(partition, *asked) for asked in zip(people, boxes, truth, strict=True)]
    halves = [np.sort(np.concatenate([NO_ROWS, *part])) for part in (ranks[::2], ranks[1::2])]
    if n_probe is None:
        n_probe = 1 + max(_quantile(half) for half in halves)
    recall = min(float((half < n_probe).mean()) if len(half) else 1.0 for half in halves)
    return Calibration(min(n_probe, len(partition)), recall)


def _quantile(ranks: Ids) -> int:
    """The rank that all but one in a thousand neighbours reach."""
    return int(ranks[int(np.ceil(_RECALL * len(ranks))) - 1]) if len(ranks) else 0


def _box(values: Ids, person: Array) -> Bounds:
    """A box of the usual kind: one column of few values held, two of many values within an ordinary difference."""
    free = Bounds.unlimited(len(values))
    held = np.flatnonzero((values > 1) & (values <= _FEW))[-1:]
    loose = np.argsort(-values, kind="stable")[:2]
    for columns, margin in ((loose, 1.0), (held, 0.0)):
        free.lower[columns], free.upper[columns] = (
            person[columns] - margin,
            person[columns] + margin,
        )
    return free


def _ranks(partition: Partition, person: Array, bounds: Bounds, ids: Ids) -> Ids:
    """As the how-manieth cell the cell of each neighbour is looked at."""
    order = partition.order(person, bounds)
    rank = np.full(len(partition), len(partition), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return np.asarray(rank[np.searchsorted(partition.starts, ids, side="right") - 1])


def _exact(near: Floats, people: Array, boxes: list[Bounds]) -> list[Ids]:
    """The nearest allowed rows of each person, who is a row and does not count, by a scan of all rows."""
    asked = np.column_stack([-people, np.ones(len(people))]).astype(np.float32)
    ids = [NO_ROWS] * len(people)
    roughs = [np.zeros(0, dtype=np.float32)] * len(people)
    edges = np.full(len(people), np.inf, dtype=np.float32)
    for block in blocks(len(near), _BLOCK):
        rows = near[block]
        rough = asked @ rows.T
        below = rough < edges[:, None]
        for i in np.flatnonzero(below.any(axis=1)):
            places = np.flatnonzero(below[i])
            places = places[_inside(rows, places, boxes[i])]
            ids[i] = np.append(ids[i], places + block.start)
            roughs[i] = np.append(roughs[i], rough[i, places])
            if len(ids[i]) > _K + 1:
                kept = np.argpartition(roughs[i], _K)[: _K + 1]
                ids[i], roughs[i] = ids[i][kept], roughs[i][kept]
                edges[i] = roughs[i].max()
    return [
        one[np.argsort(rough, kind="stable")[1:]] for one, rough in zip(ids, roughs, strict=True)
    ]


def _inside(
    rows: Floats, places: Ids, bounds: Bounds
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    inside = np.ones(len(places), dtype=bool)
    for column in np.flatnonzero((bounds.lower > -np.inf) | (bounds.upper < np.inf)):
        values = rows[places, column]
        inside &= (values >= np.float32(bounds.lower[column])) & (
            values <= np.float32(bounds.upper[column])
        )
    return inside
