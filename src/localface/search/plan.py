"""How a search goes about it, the same for everyone who asks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from localface.types import Array


@dataclass(frozen=True, slots=True)
class WalkOptions:
    """How a walk goes: how many rows it looks at, and how it moves between them.

    ``patience`` is how many vertices are accepted before asking whether any allowed row reaches
    the target at all. No row should be revealed to someone who cannot get there, but the answer
    takes every row's score; where those are known the question comes first. ``most`` is how many
    vertices are accepted before the walk gives up.
    """

    n_neighbors: int
    momentum_steps: int = 0
    momentum_radius: float = np.inf
    patience: int = 8
    most: float = np.inf


@dataclass(frozen=True, slots=True)
class Price:
    """What a step costs: its length, and more where the density is below an ordinary person's.

    With an ``exponent`` the cost is length * max(1, (usual / D)^exponent), D the mean
    density along the step: it falls with density, and is never less than the length, so
    that straight lines bound it from below. An exponent of one over the dimension counts
    lengths in distances between neighbours. (The paper prints D * length, under which a
    high density is expensive: see "Reading the paper".)
    """

    usual_log_density: float = 0.0
    exponent: float = 0.0

    def exact_costs(self, lengths: Array, log_means: Array) -> Array:
        """What steps cost, given the log of the mean density along them."""
        shortfalls = np.maximum(self.usual_log_density - log_means, 0.0)
        return np.asarray(lengths * np.exp(self.exponent * shortfalls))


@dataclass(frozen=True, slots=True)
class Plan:
    """Which stages a search runs, and how far each of them goes.

    ``exact_source`` says that the source finds every near row, so that a row that it does not
    find is not there. With ``existence_only`` the search ends as soon as it knows that there is a
    path. With ``every_change`` the actions make all changes, not only those the score needs; with
    ``least_effort`` they change as little as possible in all, not as few features.
    """

    walk_options: WalkOptions
    slack: float = 0.05
    cost: str = "length"
    price: Price = field(default_factory=Price)
    astar: bool = True
    strategy: str = "guided"
    actions: bool = True
    max_changes: int = 1
    max_features: int | None = None
    exact_source: bool = True
    existence_only: bool = False
    every_change: bool = False
    least_effort: bool = False
