"""The options of an explainer, checked together so that every mistake is told at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from localface.errors import InputError, near_miss

EDGES = ("strict", "average", "cover")
STRATEGIES = ("guided", "paper")
ENDS = ("people", "states")
COSTS = ("length", "density", "safest")
DENSITIES = ("kde", "knn")


@dataclass(frozen=True, slots=True)
class Options:
    """How recourse is looked for; see ``LocalFACE`` for what each one means."""

    min_score: float
    min_density: float
    edges: str
    n_neighbors: int
    max_step: float | None
    max_rows: int | None
    momentum_steps: int
    strategy: str
    density: Any
    cost: str | None
    slack: float
    people: int
    radius: float | None
    ends: str = "people"

    def __post_init__(self) -> None:
        mistakes = list(self._mistakes())
        if mistakes:
            raise InputError("; ".join(mistakes))

    @property
    def price(self) -> str:
        """What a path is paid for in, where the user did not say."""
        return self.cost or ("density" if self.edges == "average" else "length")

    def plain(self) -> dict[str, Any]:
        """The settings as plain values, for the record."""
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}

    def _mistakes(self) -> Iterator[str]:
        if not _number(self.min_score):
            yield f"min_score={self.min_score!r}: a finite number is wanted"
        if not (_number(self.min_density) and 0 <= self.min_density < 1):
            yield (
                f"min_density={self.min_density!r}: a share from 0 to below 1 is wanted "
                "(0.05 means: no place more unusual than 95 % of people's)"
            )
        yield from _word("edges", self.edges, EDGES)
        yield from _word("strategy", self.strategy, STRATEGIES)
        yield from _word("ends", self.ends, ENDS)
        if self.cost is not None:
            yield from _word("cost", self.cost, COSTS)
        if isinstance(self.density, str):
            yield from _word("density", self.density, DENSITIES)
        for name, least in (("n_neighbors", 1), ("momentum_steps", 0), ("people", 1)):
            yield from _whole(name, getattr(self, name), least)
        if self.max_rows is not None:
            yield from _whole("max_rows", self.max_rows, 1)
        for name in ("max_step", "radius"):
            value = getattr(self, name)
            if value is not None and not (_number(value) and value > 0):
                yield f"{name}={value!r}: a positive number is wanted, or None"
        if not (_number(self.slack) and self.slack >= 0):
            yield f"slack={self.slack!r}: a share of at least 0 is wanted (0.05: proven within 5 % of the best)"


def check_max_changes(value: object) -> None:
    """Refuse a number of changes that is none."""
    for mistake in _whole("max_changes", value, 1):
        raise InputError(mistake)


def _word(name: str, value: object, known: tuple[str, ...]) -> Iterator[str]:
    if value not in known:
        yield f"{name}={value!r}: one of {', '.join(map(repr, known))} is wanted{near_miss(value, known)}"


def _whole(name: str, value: object, least: int) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        yield f"{name}={value!r}: a whole number of at least {least} is wanted"


def _number(value: object) -> bool:
    try:
        return math.isfinite(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def _plain(value: object) -> object:
    if isinstance(value, Real) and not isinstance(
        value, bool
    ):  # NumPy's numbers too, which JSON cannot hold
        return int(value) if isinstance(value, Integral) else float(value)
    return value if value is None or isinstance(value, bool | str) else type(value).__name__


def check_on_error(on_error: str) -> None:
    """Refuse what is neither way of meeting an error."""
    for mistake in _word("on_error", on_error, ("raise", "record")):
        raise InputError(mistake)
