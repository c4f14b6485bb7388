"""What a search found, in points; units come later."""

from __future__ import annotations

from dataclasses import dataclass

from localface.search.move import Move
from localface.search.questions import OthersHelped, TargetCounts
from localface.types import Array


@dataclass(frozen=True, slots=True, eq=False)
class ActionPath:
    """The actions of an outcome: their states in order, and the log-densities at and along them."""

    moves: tuple[Move, ...]
    log_densities: Array  # after each move
    step_log_densities: Array  # what the rule measures along each move
    log_floor: float
    donors: tuple[int, ...] = ()  # the rows that values were taken over from
    rarer: bool = False  # they do not keep the floor on the way: nothing that does was found
    helped: OthersHelped | None = None  # how many others the same changes would help


@dataclass(frozen=True, slots=True)
class MissingActions:
    """That actions were asked for, and that none were found which keep the floor.

    ``most`` is how many features they were allowed to change; ``with_more`` are the actions that
    were found without this limit, ``fewest`` how many features those change; None where there was
    none, or where nothing was found. ``rarer`` are actions to a common state that lead through
    rarer ones, where some were found.
    """

    most: int | None = None
    fewest: int | None = None
    rarer: ActionPath | None = None
    with_more: ActionPath | None = None

    @property
    def keeps_limit(self) -> bool:
        """Whether the actions found without the limit keep it after all: then none are missing."""
        return self.most is not None and self.fewest is not None and self.fewest <= self.most


@dataclass(frozen=True, slots=True, eq=False)
class GrownState:
    """A state that a person comes to by waiting alone, and its score."""

    point: Array
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """A path and what is known of it; without one, the factual alone and the reason as a status."""

    status: str
    points: Array
    ids: tuple[int, ...]
    scores: tuple[float, ...]
    log_densities: Array  # at each vertex
    step_log_densities: Array  # what the rule measures along each step
    log_floor: float
    donors: tuple[int, ...] = ()  # the row that each vertex was taken from, -1 without one
    cost: float = 0.0
    entry: bool = False  # the first step leads from below the floor onto it
    relaxed: bool = False  # the floor was lowered
    proven: bool = False  # no path over all the data is shorter, up to the slack
    counts: TargetCounts | None = None
    actions: ActionPath | None = None
    missing_actions: MissingActions | None = None  # where a path is all there is
    no_floor_helps: bool = False  # no floor, however low, opens a path
    cut_short: bool = False  # its time was up before it was as good as it could be
    composed: bool = False  # the path ends at a state that no row has
    waiting: GrownState | None = None  # where waiting alone reaches the target
