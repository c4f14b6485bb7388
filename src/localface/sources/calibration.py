"""How many cells must be scanned, found by comparing with an exact scan of all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.geometry.bounds import Bounds
from localface.sources.partition import Partition, cut_into_slices
from localface.types import NO_ROWS, Array, Floats, Ids, Mask

_QUESTIONS = 200  # questions tried, one half of them in a box
_K = 50
_RECALL = 0.999
_ROWS_AT_ONCE = 1 << 13  # rows compared with all questions at once
_FEW_VALUES = 10  # values up to which a column is taken for one that a person cannot change


@dataclass(frozen=True, slots=True)
class Calibration:
    """How many cells a question scans, and the share of the exact answer that this finds."""

    n_probe: int
    recall: float


def calibrate_n_probe(
    partition: Partition, near: Floats, sample: Array, *, n_probe: int | None = None
) -> Calibration:
    """Find the fewest cells that hold 99.9 % of the 50 nearest rows, in a box or without one."""
    people = sample[-_QUESTIONS:]
    n_values = np.array([len(np.unique(column)) for column in sample.T])
    boxes = [
        _usual_box(n_values, person) if i % 2 else Bounds.unlimited(len(n_values))
        for i, person in enumerate(people)
    ]
    neighbours = _exact_neighbours(near, people, boxes)
    ranks = [
        _probe_ranks(partition, *asked) for asked in zip(people, boxes, neighbours, strict=True)
    ]
    halves = [np.sort(np.concatenate([NO_ROWS, *part])) for part in (ranks[::2], ranks[1::2])]
    if n_probe is None:
        n_probe = 1 + max(_rank_for_recall(half) for half in halves)
    recall = min(_share_below(half, n_probe) for half in halves)
    return Calibration(min(n_probe, len(partition)), recall)


def _rank_for_recall(ranks: Ids) -> int:
    """Return the rank that all but one in a thousand neighbours reach."""
    return int(ranks[int(np.ceil(_RECALL * len(ranks))) - 1]) if len(ranks) else 0


def _share_below(ranks: Ids, n_probe: int) -> float:
    return float((ranks < n_probe).mean()) if len(ranks) else 1.0


def _usual_box(n_values: Ids, person: Array) -> Bounds:
    """Return a box of the usual kind, given how many values each column has.

    One column of few values is fixed, two of many values may move by an ordinary difference.
    """
    box = Bounds.unlimited(len(n_values))
    fixed = np.flatnonzero((n_values > 1) & (n_values <= _FEW_VALUES))[-1:]
    loose = np.argsort(-n_values, kind="stable")[:2]
    for columns, margin in ((loose, 1.0), (fixed, 0.0)):
        box.lower[columns] = person[columns] - margin
        box.upper[columns] = person[columns] + margin
    return box


def _probe_ranks(partition: Partition, person: Array, bounds: Bounds, ids: Ids) -> Ids:
    """Return the probe rank of each neighbour's cell; 0 is scanned first."""
    order = partition.cells_by_distance(person, bounds)
    rank = np.full(len(partition), len(partition), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return np.asarray(rank[np.searchsorted(partition.starts, ids, side="right") - 1])


def _exact_neighbours(near: Floats, people: Array, boxes: list[Bounds]) -> list[Ids]:
    """Return the nearest allowed rows of each person by a scan of all rows.

    The person is a row as well, the nearest, and is left out.
    """
    questions = np.column_stack([-people, np.ones(len(people))]).astype(np.float32)
    ids = [NO_ROWS] * len(people)
    roughs = [np.zeros(0, dtype=np.float32)] * len(people)
    edges = np.full(len(people), np.inf, dtype=np.float32)
    for block in cut_into_slices(len(near), _ROWS_AT_ONCE):
        rows = near[block]
        rough = questions @ rows.T
        below = rough < edges[:, None]
        for i in np.flatnonzero(below.any(axis=1)):
            found = np.flatnonzero(below[i])
            found = found[_rows_inside(rows, found, boxes[i])]
            ids[i] = np.append(ids[i], found + block.start)
            roughs[i] = np.append(roughs[i], rough[i, found])
            if len(ids[i]) > _K + 1:
                kept = np.argpartition(roughs[i], _K)[: _K + 1]
                ids[i] = ids[i][kept]
                roughs[i] = roughs[i][kept]
                edges[i] = roughs[i].max()
    return [
        one[np.argsort(rough, kind="stable")[1:]] for one, rough in zip(ids, roughs, strict=True)
    ]


def _rows_inside(rows: Floats, chosen: Ids, bounds: Bounds) -> Mask:
    inside = np.ones(len(chosen), dtype=bool)
    for column in np.flatnonzero((bounds.lower > -np.inf) | (bounds.upper < np.inf)):
        values = rows[chosen, column]
        inside &= values >= np.float32(bounds.lower[column])
        inside &= values <= np.float32(bounds.upper[column])
    return inside
