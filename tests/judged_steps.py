"""Many steps from one place, judged at once: what ``Judge.lowest`` says of each of them.

Brute force over all rows asks about every step between any two of them, tens of thousands: one
by one that is half a minute of small arrays. A test holds both against each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from judge import CLOSER, GRID, Judge
from judged_density import PlainCommonStates, squared_distances

Array = np.ndarray[Any, Any]


def lowest_to_each(judge: Judge, start: Array, ends: Array, n: int = GRID) -> Array:
    """The lowest value along the step to each end, the rows at the ends of each left out."""
    joint = _lowest_joints(judge, start, ends, n)
    density = judge.density
    if not isinstance(density, PlainCommonStates) or not density.pairs:
        return joint
    return np.minimum(joint, _lowest_pairs(judge, density, start, ends, n))


def _lowest_joints(judge: Judge, start: Array, ends: Array, n: int) -> Array:
    """On a fine grid, on both sides of the flip, and twice finer around the lowest place."""
    flip = [np.nextafter(0.5, 0.0), 0.5]
    parts = np.tile(np.unique(np.concatenate([np.linspace(0, 1, n), flip])), (len(ends), 1))
    each = np.arange(len(ends))
    for _ in range(3):
        values = _joint_values(judge, start, ends, parts)
        least = values.argmin(axis=1)
        before = parts[each, np.maximum(least - 1, 0)]
        after = parts[each, np.minimum(least + 1, parts.shape[1] - 1)]
        closer = np.linspace(before, after, CLOSER, axis=1)
        parts = np.sort(np.column_stack([closer, parts[each, least]]), axis=1)
    return np.asarray(values.min(axis=1))


def _joint_values(judge: Judge, start: Array, ends: Array, parts: Array) -> Array:
    """The joint value at each part of each step: (steps, parts)."""
    density = judge.density
    is_common = isinstance(density, PlainCommonStates)
    kernels = density.kernels if is_common else density
    places = _places(judge, start, ends, parts) @ kernels.matrix
    squares = squared_distances(places.reshape(-1, places.shape[2]), kernels.rows)
    squares /= -2 * kernels.h**2
    logs = squares.reshape(*parts.shape, -1)
    logs[_left_out(judge, start, ends, parts.shape[1])] = -np.inf
    mean, spread = density.expected(start) if is_common else (np.zeros(1), np.ones(1))
    return np.asarray((_log_of_sums(logs) + kernels.constant - mean[0]) / spread[0])


def _left_out(judge: Judge, start: Array, ends: Array, n: int) -> tuple[Array, Array, Array]:
    """Where the rows at the ends of each step are, of ``n`` parts of each."""
    steps, rows = np.nonzero([judge.at_ends(start, end) for end in ends])
    return np.repeat(steps, n), np.tile(np.arange(n), len(steps)), np.repeat(rows, n)


def _log_of_sums(logs: Array) -> Array:
    """The logarithm of the sum of what stands last, written over."""
    top = np.maximum(logs.max(axis=2, initial=-np.inf), -1e300)
    logs -= top[:, :, None]
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(np.exp(logs, out=logs).sum(axis=2)))


def _places(judge: Judge, start: Array, ends: Array, parts: Array) -> Array:
    """Places along each step: (steps, parts, columns); discrete columns flip in the middle."""
    t, to = parts[:, :, None], ends[:, None, :]
    straight = np.where(t == 1, to, start + t * (to - start))
    return np.where(judge.discrete, np.where(t < 0.5, start, to), straight)


def _lowest_pairs(
    judge: Judge, density: PlainCommonStates, start: Array, ends: Array, n: int
) -> Array:
    """The lowest that the pairs of states along each step stand for."""
    parts = _parts_for_pairs(density, start, ends, n)
    places = _places(judge, start, ends, parts)
    cells = density.bins(places.reshape(-1, places.shape[2])).reshape(*parts.shape, -1)
    own = [(density.bins(start[None, :])[0], np.full(len(ends), _is_row(judge, start)))]
    others = [_is_row(judge, end) and bool((end != start).any()) for end in ends]
    own.append((density.bins(ends)[:, None, :], np.array(others)))
    rarest = np.full(parts.shape, np.inf)
    total = np.zeros(parts.shape)
    for pair in density.pairs:
        both = cells[:, :, [pair.first, pair.second]]
        without = np.zeros(parts.shape)
        for theirs, counts in own:
            alike = (both == theirs[..., [pair.first, pair.second]]).all(axis=2)
            without += alike & counts[:, None]
        ratios = pair.log_ratios(both.reshape(-1, 2), without.ravel()).reshape(parts.shape)
        rarest = np.minimum(rarest, ratios)
        total += ratios * np.mean(pair.weights)
    mean, spread = density.expected(start)
    found = [
        np.interp(value, values, heights) + np.minimum(value - values[0], 0.0)
        for value, (values, heights) in zip(
            [(rarest - mean[1]) / spread[1], (total - mean[2]) / spread[2]],
            density.scales,
            strict=True,
        )
    ]
    return np.asarray(np.minimum(*found).min(axis=1))


def _parts_for_pairs(density: PlainCommonStates, start: Array, ends: Array, n: int) -> Array:
    """The ends, the grid, and the middle between any two bin edges that are crossed.

    A part that is on an edge, or in no cell for any length, is the start once more.
    """
    crossed = [np.zeros(len(ends)), np.full(len(ends), 0.5), np.ones(len(ends))]
    for j, first in enumerate(density.first_columns):
        moved = ends[:, first] - start[first]
        if not density.discrete[first]:
            for edge in density.edges[j]:
                with np.errstate(divide="ignore", invalid="ignore"):
                    part = (edge - start[first]) / moved
                crossed.append(np.where((part > 0) & (part < 1), part, 0.0))
    crossings = np.sort(np.column_stack(crossed), axis=1)
    widths = np.diff(crossings, axis=1)
    middles = np.where(widths > 1e-11, crossings[:, :-1] + widths / 2, 0.0)
    grid = np.linspace(0, 1, n)[1:-1]
    clear = np.abs(grid[:, None] - crossings[:, None, :]).min(axis=2) > 1e-9
    return np.column_stack(
        [np.zeros(len(ends)), np.where(clear, grid, 0.0), middles, np.ones(len(ends))]
    )


def _is_row(judge: Judge, place: Array) -> bool:
    return bool((judge.rows == place).all(axis=1).any())
