"""One straight line beside rows: sums of kernels along it, worked out in an order that no batch can change.

Steps are judged many at a time (see ``beside``), where rounding depends on the batch.
What is too close to call is settled here, row by row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localface.density.protocol import TOLERANCE
from localface.geometry.segments import norms
from localface.types import Array, Ids

_FIRST = 256  # samples that a minimum is first looked for with, at most
_APART = 2.5  # bandwidths between them: the bound between two falls less than a nat, which mostly decides already


def first_places(lengths: Array, h: float) -> tuple[Ids, Array]:
    """Places on each line to begin with, evenly apart, though not without end for someone far off.

    >>> lines, places = first_places(np.array([0.0, 1.0]), h=1.0)
    >>> lines.tolist(), places.tolist()
    ([0, 1, 1], [0.0, 0.0, 1.0])
    """
    parts = np.where(lengths > 0, np.ceil(np.clip(lengths / (_APART * h), 1, _FIRST)), 0).astype(
        np.int64
    )
    line = np.repeat(np.arange(len(lengths)), parts + 1)
    number = np.arange(len(line)) - np.repeat(np.cumsum(parts + 1) - parts - 1, parts + 1)
    return line, lengths[line] * (number / np.maximum(parts, 1)[line])


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """Rows as a line sees them: where each one's foot is, and how far off it stands (squared)."""

    foot: Array
    off: Array
    length: float
    h: float

    @classmethod
    def beside(cls, start: Array, end: Array, rows: Array, h: float) -> Line:
        """Measure rows against the line from one place to another."""
        length = float(norms(end - start))
        away = rows - start
        squares = (away * away).sum(axis=1)
        if length == 0.0:
            return cls(np.zeros(len(rows)), squares, 0.0, h)
        foot = (away * ((end - start) / length)).sum(axis=1)
        return cls(foot, np.maximum(squares - foot * foot, 0.0), length, h)

    def at(self, places: Array) -> tuple[Array, Array]:
        """Log-sum of kernels exp(-|x - x_i|^2 / 2h^2), and its slope, at places along the line."""
        if len(self.foot) == 0:
            return np.full(len(places), -np.inf), np.zeros(len(places))
        across = self.foot - places[:, None]
        logs = (across * across + self.off) / (-2 * self.h**2)
        top = logs.max(axis=1)
        weights = np.exp(logs - top[:, None])
        total = weights.sum(axis=1)
        slopes = (weights * across).sum(axis=1) / (total * self.h**2)
        return top + np.log(total), slopes

    def clears(self, mark: float) -> bool:
        """Tell whether the log-sum stays above ``mark``, within the tolerance, all along the line."""
        _, places = first_places(np.array([self.length]), self.h)
        logs, slopes = self.at(places)
        while True:
            if logs.min() < mark - TOLERANCE / 2:
                return False
            bounds, crossings = lower_bounds(places, logs, slopes, self.h)
            low = bounds < mark - TOLERANCE
            if not low.any():
                return True
            more = self.at(crossings[low])
            order = np.argsort(np.concatenate([places, crossings[low]]), kind="stable")
            places = np.concatenate([places, crossings[low]])[order]
            logs, slopes = (
                np.concatenate([old, new])[order]
                for old, new in zip((logs, slopes), more, strict=True)
            )


def lower_bounds(places: Array, logs: Array, slopes: Array, h: float) -> tuple[Array, Array]:
    """What the log-sum cannot fall below between neighbouring places, and where the bound is lowest.

    log p(s) + s^2/2h^2 is convex along any line, so each sample gives a parabola that
    the log-density cannot fall below; between two samples the bound is lowest where
    their parabolas cross. See "Reading the paper", certificates.
    """
    width, bend = np.diff(places), 1 / (2 * h**2)
    slant = slopes[:-1] - slopes[1:] - 2 * width * bend
    with np.errstate(divide="ignore", invalid="ignore"):
        into = (np.diff(logs) - slopes[1:] * width - bend * width**2) / slant
        into = np.clip(np.where(np.isfinite(into), into, width / 2), 0.0, width)
        from_left = logs[:-1] + slopes[:-1] * into - bend * into**2
        back = width - into
        from_right = logs[1:] - slopes[1:] * back - bend * back**2
    bound = np.minimum(np.maximum(from_left, from_right), np.minimum(logs[:-1], logs[1:]))
    return bound, places[:-1] + into
