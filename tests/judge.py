"""An independent judge of recourse: plain NumPy, none of the code under test.

It encodes records by itself, works out how common states are on a fine grid along every step
(``judged_density``), and searches by brute force over all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.ndimage import map_coordinates, spline_filter
from scipy.sparse.csgraph import dijkstra

from judged_density import PlainCommonStates, PlainKernels, PlainSpace
from localface import LocalFACE, Recourse, Schema

Array = np.ndarray[Any, Any]

GRID = 401
CLOSER = 41  # places between two of the grid, around the lowest


@dataclass(frozen=True)
class Judge:
    """The rows, how common they are, and the floor, all worked out again.

    ``codes`` are the distinct rows as numbers in the user's units, ``rows`` the same as points.
    """

    schema: Schema
    space: PlainSpace
    codes: Array
    rows: Array
    density: PlainKernels | PlainCommonStates
    floor: float
    levels: Array
    asker: Array | None = None

    @classmethod
    def of(cls, explainer: LocalFACE, data: Any, answer: Recourse) -> Judge:
        codes = codes_of(data, explainer.schema)
        return cls.of_codes(explainer.engine, codes, answer.min_density).asked_by(answer)

    def asked_by(self, answer: Recourse) -> Judge:
        """The same judge of somebody's answer: their own row does not vouch for their states."""
        return replace(self, asker=self.space.points(np.array(answer.records[:1]))[0])

    @classmethod
    def of_codes(cls, engine: Any, codes: Array, min_density: float) -> Judge:
        """Take rows whose categories are numbers already."""
        schema = engine.schema
        space = PlainSpace.of(engine.space)
        codes = np.unique(np.where(np.isnan(codes), np.inf, codes) + 0.0, axis=0)
        codes[np.isinf(codes)] = np.nan
        rows = space.points(codes)
        fitted = engine.density
        density: PlainKernels | PlainCommonStates
        if hasattr(fitted, "pairs"):
            density = PlainCommonStates.of(fitted, space, rows)
        elif hasattr(fitted, "bandwidth"):
            density = PlainKernels.of(fitted, rows)
        else:
            raise TypeError(f"{type(fitted).__name__} is nothing that the judge knows")
        levels = np.sort(density.row_values())
        return cls(
            schema, space, codes, rows, density, float(np.quantile(levels, min_density)), levels
        )

    @property
    def h(self) -> float:
        density = self.density
        return density.kernels.h if isinstance(density, PlainCommonStates) else density.h

    @property
    def discrete(self) -> Array:
        return self.space.discrete

    def points(self, path: Any) -> Array:
        return self.space.points(codes_of(path, self.schema))

    def at_ends(self, start: Array, end: Array) -> Array:
        """Which rows do not vouch for a step: those at an end, else that of the person who asks."""
        there = (self.rows == start).all(axis=1) | (self.rows == end).all(axis=1)
        if there.any() or self.asker is None:
            return there
        return (self.rows == self.asker).all(axis=1)

    def lowest(self, start: Array, end: Array, n: int = GRID) -> float:
        """The lowest value along a step, the rows at its ends left out."""
        left_out = self.at_ends(start, end)
        if (start == end).all():
            here = start[None, :]
            joint = float(self.density.joint_values(here, start, left_out)[0])
        else:
            here = self.between(start, end, self._parts_for_pairs(start, end, n))
            joint = self._lowest_joint(start, end, left_out, n)
        return min(joint, self.density.lowest_pair_value(here, start, left_out))

    def _lowest_joint(self, start: Array, end: Array, left_out: Array, n: int) -> float:
        """On a fine grid, on both sides of the flip, and twice finer around the lowest place."""
        flip = [np.nextafter(0.5, 0.0), 0.5]
        parts = np.unique(np.concatenate([np.linspace(0, 1, n), flip]))
        for _ in range(3):
            places = self.between(start, end, parts)
            values = self.density.joint_values(places, start, left_out)
            least = int(values.argmin())
            around = parts[[max(least - 1, 0), min(least + 1, len(parts) - 1)]]
            parts = np.unique(np.append(np.linspace(*around, CLOSER), parts[least]))
        return float(values.min())

    def _parts_for_pairs(self, start: Array, end: Array, n: int) -> Array:
        """The ends, the grid, and the middle between any two bin edges that are crossed.

        A cell counts where a step is in it for some length. What lies on an edge is in neither:
        two features that cross theirs at once would meet there in a cell that neither is in.
        """
        crossings = np.concatenate([[0.0], self.density.crossings(start, end), [1.0]])
        middles = (crossings[:-1] + np.diff(crossings) / 2)[np.diff(crossings) > 1e-11]
        grid = np.linspace(0, 1, n)[1:-1]
        clear = np.abs(grid[:, None] - crossings).min(axis=1) > 1e-9
        return np.concatenate([[0.0], grid[clear], middles, [1.0]])

    def mean(self, start: Array, end: Array, n: int = 4000) -> float:
        """The mean along a step, at the middles of many equal parts."""
        parts = (np.arange(n) + 0.5) / n
        left_out = self.at_ends(start, end)
        return self.density.mean(self.between(start, end, parts), start, end, left_out)

    def places(self, start: Array, end: Array, n: int) -> Array:
        return self.between(start, end, np.linspace(0, 1, n))

    def between(self, start: Array, end: Array, parts: Array) -> Array:
        """Places along a step; discrete columns flip in the middle."""
        t = parts[:, None]
        straight = np.where(t == 1, end, start + t * (end - start))
        return np.where(self.discrete, np.where(t < 0.5, start, end), straight)

    def share(self, level: float) -> float:
        return float((self.levels <= level + 1e-9).mean())


def codes_of(data: Any, schema: Schema) -> Array:
    """Records as numbers: values of numbers, places in the list of categories."""
    if isinstance(data, pd.DataFrame):
        frame = data[list(schema.names)]
    else:
        frame = pd.DataFrame(np.asarray(data), columns=list(schema.names))
    columns = []
    for feature in schema:
        values = frame[feature.name]
        if feature.categories is None:
            columns.append(values.to_numpy(float))
        else:
            known = {label: float(i) for i, label in enumerate(feature.categories)}
            columns.append(np.array([np.nan if v != v or v is None else known[v] for v in values]))
    return np.column_stack(columns)


def _from_the_middle(samples: int) -> Array:
    """Parts of a step from 0 to 1, those first where steps between crowds are emptiest."""
    parts = np.linspace(0, 1, samples)
    return parts[np.argsort(np.abs(parts - 0.5), kind="stable")]


class Plane:
    """Brute force over all rows of a plane: every traversable step, and the best of all paths.

    The full kernel density comes from a spline through its exact values on a fine grid, in the
    space where kernels are round; the kernels of a step's own ends are taken out exactly. Pairs
    are looked up in every part of a step between two bin edges.
    """

    def __init__(self, judge: Judge, is_target: Array) -> None:
        self.judge = judge
        density = judge.density
        self.kernels = density.kernels if isinstance(density, PlainCommonStates) else density
        self.pair_levels = None
        if isinstance(density, PlainCommonStates) and density.pairs:
            self.pair_levels = self._levels_of_cells(density)
        rows, h = self.kernels.rows, self.kernels.h
        self._origin, self._grid_step = rows.min(axis=0) - 1, h / 12
        axes = [
            np.arange(a, b, self._grid_step)
            for a, b in zip(self._origin, rows.max(axis=0) + 1, strict=True)
        ]
        across = [
            np.exp(-((axis[:, None] - rows[:, i]) ** 2) / (2 * h * h))
            for i, axis in enumerate(axes)
        ]
        self._spline = spline_filter(across[0] @ across[1].T, mode="nearest")
        first, second = np.triu_indices(len(rows), 1)
        lengths = self._traversable(judge.rows[first], judge.rows[second], own_start=True)
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
        """The length of each step, infinite where it is not traversable.

        What falls below the floor anywhere is looked at no further.
        """
        lengths = np.full(len(starts), np.inf)
        left = np.arange(len(starts))
        for t in _from_the_middle(samples):
            logs = self._log_kernels(starts[left], ends[left], t, own_start=own_start)
            left = left[logs >= self.judge.floor - 1e-5]
        if self.pair_levels is not None:
            pairs = self._lowest_pairs(starts[left], ends[left], own_start=own_start)
            left = left[pairs >= self.judge.floor - 1e-5]
        lengths[left] = np.sqrt(((ends[left] - starts[left]) ** 2).sum(axis=1))
        return lengths

    def _log_kernels(self, starts: Array, ends: Array, t: float, *, own_start: bool) -> Array:
        """The log-density at one part of each step, without the kernels of its own ends."""
        h = self.kernels.h
        first = starts @ self.kernels.matrix
        last = ends @ self.kernels.matrix
        apart = np.sqrt(((last - first) ** 2).sum(axis=1))
        places = first + t * (last - first)
        own = np.exp(-(((1 - t) * apart) ** 2) / (2 * h * h))
        if own_start:
            own = own + np.exp(-((t * apart) ** 2) / (2 * h * h))
        on_grid = (places - self._origin).T / self._grid_step
        found = map_coordinates(self._spline, on_grid, mode="nearest", prefilter=False) - own
        return np.asarray(np.log(np.maximum(found, 1e-300)) + self.kernels.constant)

    def _levels_of_cells(self, density: PlainCommonStates) -> Array:
        """What each cell of the one table stands for, without 0, 1 and 2 rows in it."""
        (pair,) = density.pairs
        weight = float(np.mean(pair.weights))
        found = np.empty((3, *pair.counts.shape))
        for n, i, k in np.ndindex(*found.shape):
            (ratio,) = pair.log_ratios(np.array([[i, k]]), np.array([n]))
            found[n, i, k] = density.on_common_scale(np.array([ratio, weight * ratio]))
        return found

    def _lowest_pairs(self, starts: Array, ends: Array, *, own_start: bool) -> Array:
        """The lowest that the pair of both columns stands for along steps."""
        edges = self.judge.density.edges
        moved = ends - starts
        with np.errstate(divide="ignore", invalid="ignore"):
            crossings = [(edge - starts[:, j]) / moved[:, j] for j in range(2) for edge in edges[j]]
        parts = np.clip(np.nan_to_num(np.array(crossings), nan=0.0), 0, 1)
        parts = np.sort(np.vstack([np.zeros(len(starts)), parts, np.ones(len(starts))]), axis=0)
        middles = [np.zeros(len(starts)), *((parts[:-1] + parts[1:]) / 2), np.ones(len(starts))]
        widths = [np.ones(len(starts)), *np.diff(parts, axis=0), np.ones(len(starts))]
        own = [self._cells(ends), *([self._cells(starts)] if own_start else [])]
        lowest = np.full(len(starts), np.inf)
        for t, wide in zip(middles, widths, strict=True):
            at = np.where((t == 1)[:, None], ends, starts + t[:, None] * moved)
            cells = self._cells(at)
            left_out = sum((cells == one).all(axis=0).astype(int) for one in own)
            found = self.pair_levels[left_out, cells[0], cells[1]]
            lowest = np.where(wide > 1e-11, np.minimum(lowest, found), lowest)
        return lowest

    def _cells(self, points: Array) -> Array:
        edges = self.judge.density.edges
        return np.stack([np.searchsorted(edges[j], points[:, j], "right") for j in range(2)])
