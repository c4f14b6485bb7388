"""Who asks, as a search sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from localface.geometry.bounds import Bounds
from localface.geometry.projection import Projection
from localface.types import NO_ROWS, Array, Ids, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Person:
    """One person's state in points, the constraints on it, and what counts as reaching the target.

    Along a step, ``rule`` says what must reach ``log_floor``: the "lowest" log-density or the
    log of the "mean" density. ``signed``: scores may be negative, and
    ``LocalGraph.appeal_of`` then maps them to positive numbers.
    """

    factual: Array
    bounds: Bounds
    min_score: float
    log_floor: float
    discrete: Mask
    rule: str = "lowest"
    max_step: float = np.inf
    signed: bool = False
    # Rounds a state to the nearest one that a record can have.
    snap: Callable[[Array], Array] = lambda point: point
    # Columns of one group only ever change together.
    group_of: Ids = field(default_factory=lambda: NO_ROWS)
    # Columns of numbers that may stop between two values; None: those that are a group alone.
    part_of_the_way: Mask | None = None
    # Strictly between these two points a change of a column does not count as one.
    just_noticeable: tuple[Array, Array] = (np.zeros(0), np.zeros(0))
    # Round values of a column, no nearer to the person's own than given ones.
    round_outwards: Callable[[int, Array], Array] = lambda column, values: values
    # The same, hardly further than they are: where effort comes before round values.
    round_closely: Callable[[int, Array], Array] = lambda column, values: values
    # The same, on the next multiple of the resolution; a number without one stays as it is.
    next_multiples: Callable[[int, Array], Array] = lambda column, values: values
    # Whether numbers stop at such values, or just where the target is reached.
    stops_at_round_values: bool = True
    # The lowest and the highest number of each column in the data; None: any may be.
    seen: tuple[Array, Array] | None = None
    # Which states keep the relations between features that the schema declares.
    keeps_relations: Callable[[Array], Mask] = lambda points: np.ones(len(points), dtype=bool)
    # What a change of each column costs; None: all the same.
    weights: Array | None = None
    # The states that this person may take over from rows; None: paths lead through rows themselves.
    projection: Projection | None = None
    # Columns that the actions leave as they are, whatever the rows on the path have there.
    fixed: Mask | None = None
    # What steps between the start and the end may fall to; None: nothing below the floor.
    lowest_on_the_way: float | None = None
    # States that the person comes to by waiting, the soonest first; None: nothing grows by itself.
    grown: Array | None = None

    @property
    def log_floor_of_steps(self) -> float:
        """The log-density that steps from common states have to keep."""
        return self.log_floor if self.lowest_on_the_way is None else self.lowest_on_the_way

    @property
    def limiting_projection(self) -> Projection | None:
        """The projection, where it does anything to rows."""
        if self.projection is None or not self.projection.limits_anything:
            return None
        return self.projection

    def no_further_than_seen(self, column: int | Ids, values: Array) -> Array:
        """Return values of a column, those beyond all that the data and the person have cut."""
        if self.seen is None:
            return values
        own = self.factual[column]
        low, high = (ends[column] for ends in self.seen)
        return np.clip(values, np.minimum(low, own), np.maximum(high, own))

    def columns_of(self, groups: Sequence[int]) -> Mask:
        """Tell which columns belong to some groups: few, of few, so that all are compared."""
        own = self.group_of[:, None] == np.array(groups, dtype=np.int64)
        return np.asarray(own.any(axis=1))

    def columns_on_the_way(self, groups: list[int]) -> list[int]:
        """Return the columns of some groups that may stop between two values."""
        mine = self.columns_of(groups)
        if self.part_of_the_way is not None:
            return np.flatnonzero(mine & self.part_of_the_way).tolist()
        alone = np.bincount(self.group_of)[self.group_of] == 1
        return np.flatnonzero(mine & alone & ~self.discrete).tolist()

    @property
    def weights_of_groups(self) -> Array | None:
        """What changing each group costs, in the order of their numbers; None: all the same."""
        if self.weights is None:
            return None
        groups = np.unique(self.group_of).tolist()
        return np.array([self.weight_of((group,)) for group in groups])

    def weight_of(self, groups: tuple[int, ...]) -> float:
        """What changing some groups of columns at once costs: as much as the costliest column."""
        if self.weights is None:
            return 1.0
        return float(self.weights[self.columns_of(groups)].max())
