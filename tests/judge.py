"""An independent judge of recourse: plain NumPy, none of the code under test.

It encodes records by itself, sums the full kernel density on a fine grid along every
step, and searches by brute force over all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.interpolate import RectBivariateSpline
from scipy.sparse.csgraph import dijkstra

from localface import LocalFACE, Recourse, Schema

Array = np.ndarray[Any, Any]

GRID = 401


@dataclass(frozen=True)
class Judge:
    """The rows as points, the bandwidth and the floor, all worked out again."""

    schema: Schema
    scales: Array
    rows: Array
    discrete: Array
    h: float
    floor: float
    levels: Array

    @classmethod
    def of(cls, explainer: LocalFACE, data: Any, answer: Recourse) -> Judge:
        schema, scales = explainer.schema, np.array(answer.scales)
        rows = np.unique(encode(frame_of(data, schema), schema, scales), axis=0)
        h = explainer.density.bandwidth
        n = len(rows)
        levels = np.sort(
            [log_density(rows[[i]], np.delete(rows, i, axis=0), h, n)[0] for i in range(n)]
        )
        discrete = np.concatenate([[f.discrete] * width_of(f) for f in schema])
        return cls(
            schema,
            scales,
            rows,
            discrete,
            h,
            float(np.quantile(levels, answer.min_density)),
            levels,
        )

    def points(self, path: Any) -> Array:
        return encode(frame_of(path, self.schema), self.schema, self.scales)

    def lowest(self, start: Array, end: Array, n: int = GRID) -> float:
        """The lowest log-density on a fine grid along a step, its own ends left out."""
        own = (self.rows == start).all(axis=1) | (self.rows == end).all(axis=1)
        return float(
            log_density(self.places(start, end, n), self.rows[~own], self.h, len(self.rows)).min()
        )

    def mean(self, start: Array, end: Array, n: int = 4001) -> float:
        own = (self.rows == start).all(axis=1) | (self.rows == end).all(axis=1)
        logs = log_density(self.places(start, end, n), self.rows[~own], self.h, len(self.rows))
        return float(logs.max() + np.log(np.exp(logs - logs.max()).mean()))

    def places(self, start: Array, end: Array, n: int) -> Array:
        """Places along a step; discrete columns flip in the middle."""
        t = np.linspace(0, 1, n)[:, None]
        straight = start + t * (end - start)
        return np.where(self.discrete, np.where(t < 0.5, start, end), straight)

    def share(self, level: float) -> float:
        return float((self.levels <= level + 1e-9).mean())


def frame_of(data: Any, schema: Schema) -> pd.DataFrame:
    if isinstance(data, pd.DataFrame):
        return data[list(schema.names)]
    return pd.DataFrame(np.asarray(data), columns=list(schema.names))


def width_of(feature: Any) -> int:
    return len(feature.categories) if feature.kind == "categorical" else 1


def encode(frame: pd.DataFrame, schema: Schema, scales: Array) -> Array:
    columns = []
    for feature, scale in zip(schema, scales, strict=True):
        values = frame[feature.name]
        if feature.kind == "categorical":
            for category in feature.categories:
                columns.append((values == category).to_numpy(float) / np.sqrt(2) / scale)
        elif feature.categories is not None:
            columns.append(
                np.array([feature.categories.index(v) for v in values], dtype=float) / scale
            )
        else:
            columns.append(values.to_numpy(float) / scale)
    return np.column_stack(columns)


def log_density(places: Array, rows: Array, h: float, n: int) -> Array:
    squares = (places**2).sum(axis=1)[:, None] + (rows**2).sum(axis=1) - 2 * places @ rows.T
    logs = -squares / (2 * h * h)
    top = logs.max(axis=1)
    total = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
    return total - np.log(n) - places.shape[1] / 2 * np.log(2 * np.pi * h * h)


class Plane:
    """Brute force over all rows of a plane: every traversable step, and the best of all paths.

    The full density comes from a spline through its exact values on a fine grid; the
    kernels of a step's own ends are taken out exactly.
    """

    def __init__(self, judge: Judge, is_target: Array) -> None:
        self.judge = judge
        rows, h = judge.rows, judge.h
        axes = [
            np.arange(a, b, h / 12)
            for a, b in zip(rows.min(axis=0) - 1, rows.max(axis=0) + 1, strict=True)
        ]
        across = [
            np.exp(-((axis[:, None] - rows[:, i]) ** 2) / (2 * h * h))
            for i, axis in enumerate(axes)
        ]
        self._spline = RectBivariateSpline(axes[0], axes[1], across[0] @ across[1].T)
        first, second = np.triu_indices(len(rows), 1)
        lengths = self._traversable(rows[first], rows[second], own_start=True)
        steps = np.zeros((len(rows), len(rows)))
        steps[first, second] = np.where(
            np.isfinite(lengths), lengths, 0.0
        )  # csgraph reads 0 as no step
        self._to_go = dijkstra(
            steps, directed=False, indices=np.flatnonzero(is_target), min_only=True
        )

    def optimum(self, start: Array) -> float:
        """The length of the shortest strict path to any target; infinite without one."""
        rows = self.judge.rows
        lengths = self._traversable(
            np.repeat(start[None, :], len(rows), axis=0), rows, own_start=False
        )
        return float((lengths + self._to_go).min())

    def _traversable(
        self, starts: Array, ends: Array, *, own_start: bool, samples: int = 41
    ) -> Array:
        """The length of each step, infinite where it is not traversable."""
        h, n = self.judge.h, len(self.judge.rows)
        apart = np.sqrt(((ends - starts) ** 2).sum(axis=1))
        lowest = np.full(len(starts), np.inf)
        for t in np.linspace(0, 1, samples):
            places = starts + t * (ends - starts)
            own = np.exp(-(((1 - t) * apart) ** 2) / (2 * h * h))
            if own_start:
                own = own + np.exp(-((t * apart) ** 2) / (2 * h * h))
            lowest = np.minimum(lowest, self._spline.ev(places[:, 0], places[:, 1]) - own)
        logs = np.log(np.maximum(lowest, 1e-300)) - np.log(n) - np.log(2 * np.pi * h * h)
        return np.where(logs >= self.judge.floor - 1e-5, apart, np.inf)
