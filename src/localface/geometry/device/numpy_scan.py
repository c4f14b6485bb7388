"""All rows held against questions by NumPy: slow, plain, and what the GPU is tested against."""

from __future__ import annotations

import numpy as np

from localface.geometry.device.scan import BALLS, COUNTS, KernelSamples, NearQuestions
from localface.types import Array, Ids

SLACK = 1e-6
"""Share by which squared distances may be off, and more: what is in single precision is."""


class NumpyScan:
    """Rows in memory; see ``RowScan``."""

    def __init__(self, rows: Array, groups: Ids | None = None) -> None:
        self._rows = np.ascontiguousarray(rows)
        self._groups = groups

    def kernel_sums(self, samples: KernelSamples, bandwidth: float) -> tuple[Array, Array]:
        """Sum one sample after the other; see ``RowScan``."""
        totals = np.empty(len(samples.legs))
        tilted = np.empty(len(samples.legs))
        factor = -0.5 / bandwidth**2
        for i, (leg, offset) in enumerate(zip(samples.legs, samples.offsets, strict=True)):
            away = self._rows - samples.starts[leg]
            foot = away @ samples.directions[leg]
            squared = (away * away).sum(axis=1)
            if samples.mode == COUNTS:
                weights = (squared <= offset * offset).astype(np.float64)
            elif samples.mode == BALLS:
                weights = np.exp(np.maximum(np.sqrt(squared) - offset, 0.0) ** 2 * factor)
            else:
                weights = np.exp((squared - 2 * foot * offset + offset * offset) * factor)
            weights[samples.own[leg][samples.own[leg] >= 0]] = 0.0
            weights[squared < samples.nearest] = 0.0
            if samples.groups is not None and self._groups is not None:
                weights[self._groups == samples.groups[leg]] = 0.0
            totals[i] = weights.sum()
            tilted[i] = weights @ foot
        return totals, tilted

    def near_rows(self, asked: NearQuestions) -> tuple[Ids, Ids]:
        """Look at one question after the other; see ``RowScan``."""
        found = [self._near_one(asked, i) for i in range(len(asked))]
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *found])
        return rows, np.array([len(one) for one in found], dtype=np.int64)

    def _near_one(self, asked: NearQuestions, i: int) -> Ids:
        squared = self._squared_distances(asked, i)
        order = np.argsort(squared, kind="stable")
        order = order[squared[order] < np.inf]
        edge = float(asked.radii[i]) ** 2
        count = int(asked.counts[i])
        if len(order) > count > 0:
            edge = min(edge, float(squared[order[count - 1]]))
        return np.asarray(order[squared[order] <= edge * (1 + SLACK)])

    def _squared_distances(self, asked: NearQuestions, i: int) -> Array:
        values = self._rows
        outside = (values < asked.allowed_lower[i]) | (values > asked.allowed_upper[i])
        if asked.cuts[i]:
            taken = np.clip(values, asked.lower[i], asked.upper[i])
            cut = (taken != values) & (asked.decides[i] > 0)
            for group in np.unique(asked.group[i][asked.group[i] >= 0]):
                columns = asked.group[i] == group
                stays = cut[:, columns].any(axis=1)
                taken[np.ix_(stays, columns)] = asked.kept[i][columns]
            values = taken
        away = values - asked.points[i]
        return np.where(outside.any(axis=1), np.inf, (away * away).sum(axis=1))
