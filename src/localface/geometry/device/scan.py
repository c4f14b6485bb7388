"""What is asked of all rows at once, whatever does the work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np
import numpy.typing as npt

from localface.types import Array, Ids

KERNELS = 0
BALLS = 1
COUNTS = 2
Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class KernelSamples:
    """KernelSamples along straight legs, at which kernels of all rows are summed.

    ``legs`` numbers the leg of each sample; samples of one leg follow each other. ``own`` are up
    to two rows of each leg that are left out, -1 for none; ``groups`` the group of each leg, all
    rows of which are left out, where rows have groups; and rows nearer than ``nearest`` to the
    start of a leg. ``mode`` says what is summed: ``KERNELS`` at offsets along the leg, ``BALLS``,
    kernels of rows that are nearer to the start by the offset, or ``COUNTS``, the rows within
    the offset of the start.
    """

    legs: Ids
    offsets: Array
    starts: Array
    directions: Array
    own: Ids
    mode: int = KERNELS
    groups: Ids | None = None
    nearest: float = 0.0

    @classmethod
    def join(cls, several: Sequence[KernelSamples]) -> KernelSamples:
        """Put samples together, all of which can be joined."""
        firsts = np.cumsum([0, *(len(one.starts) for one in several)])[:-1]
        return cls(
            np.concatenate([a.legs + b for a, b in zip(several, firsts, strict=True)]),
            np.concatenate([one.offsets for one in several]),
            np.concatenate([one.starts for one in several]),
            np.concatenate([one.directions for one in several]),
            np.concatenate([one.own for one in several]),
        )

    @property
    def can_be_joined(self) -> bool:
        """Whether these are sums as most are asked for."""
        return self.mode == KERNELS and self.groups is None and self.nearest == 0

    @classmethod
    def at_points(
        cls, points: Array, own: Ids | None = None, *, offsets: Array | None = None, mode: int = 0
    ) -> KernelSamples:
        """One sample at each point."""
        n = len(points)
        return cls(
            np.arange(n),
            np.zeros(n) if offsets is None else offsets,
            points,
            np.zeros_like(points),
            np.full((n, 2), -1) if own is None else own,
            mode=mode,
        )


@dataclass(frozen=True, slots=True, eq=False)
class NearQuestions:
    """Questions for the rows nearest to points, or for those whose states are nearest.

    ``counts`` rows are wanted of each, within ``radii``, of those within the ``allowed`` limits.
    Where ``cuts`` says so, a row counts by the state that is taken over from it: values are cut
    short at ``lower`` and ``upper``, and the columns of one ``group`` stay ``kept`` where one that
    ``decides`` would be cut. All but the first two are (questions, columns).
    """

    counts: Ids
    radii: Array
    points: Array
    allowed_lower: Array
    allowed_upper: Array
    cuts: npt.NDArray[np.bool_]
    lower: Array
    upper: Array
    kept: Array
    group: Numbers  # -1 for columns that are in no group
    decides: Numbers

    @classmethod
    def for_points(cls, points: Array, counts: Ids) -> NearQuestions:
        """Ask for the rows nearest to points, wherever they are."""
        nothing = np.zeros(points.shape, dtype=np.int32)
        unlimited = np.full(points.shape, np.inf)
        return cls(
            counts=counts,
            radii=np.full(len(points), np.inf),
            points=points,
            allowed_lower=-unlimited,
            allowed_upper=unlimited,
            cuts=np.zeros(len(points), dtype=bool),
            lower=-unlimited,
            upper=unlimited,
            kept=points,
            group=nothing - 1,
            decides=nothing,
        )

    @classmethod
    def join(cls, several: Sequence[NearQuestions]) -> NearQuestions:
        """Put questions together."""
        arrays = ([getattr(one, field.name) for one in several] for field in fields(cls))
        return cls(*(np.concatenate(each) for each in arrays))

    @property
    def limits_rows(self) -> npt.NDArray[np.bool_]:
        """Which questions leave out rows by their values."""
        limited = (self.allowed_lower > -np.inf) | (self.allowed_upper < np.inf)
        return np.asarray(limited.any(axis=1))

    def subset(self, chosen: Ids) -> NearQuestions:
        """Return some of the questions."""
        return NearQuestions(*(getattr(self, one.name)[chosen] for one in fields(self)))

    def __len__(self) -> int:
        return len(self.counts)


class RowScan(Protocol):
    """Rows that lie where they can all be looked at in no time."""

    def kernel_sums(self, samples: KernelSamples, bandwidth: float) -> tuple[Array, Array]:
        """Return the sum at each sample, and the same weighted by the offset nearest to each row.

        Kernels are exp(-d^2 / 2 bandwidth^2); sums are the same whatever the batch.
        """
        ...

    def near_rows(self, asked: NearQuestions) -> tuple[Ids, Ids]:
        """Return rows near each question, in no order, and how many of them are whose.

        None that is left out can be among the nearest that are wanted.
        """
        ...
