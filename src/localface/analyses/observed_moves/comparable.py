"""What counts as a comparable move."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from localface.errors import InputError, list_names

HOUR = 3_600_000_000.0
"""An hour in the microseconds that datetimes are counted in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparable:
    """What counts as a comparable move.

    Parameters
    ----------
    within : how soon: a number in the time column's own units (hours where it holds datetimes),
        or a ``timedelta``; six times the usual time between two rows of a person if not given
    size : the share of the suggested change that is far enough
    nearest : the share of people who are similar to an ordinary person; it sets how far a similar
        state may be
    radius : how far a similar state may be, in ordinary differences between people, instead of
        ``nearest``
    filled : the share of rows that must have a value of a feature for similarity to be judged by it
    features : what similarity is judged by, where it should not be every feature that is ``filled``

    >>> Comparable(within=48, size=0.8).time_limit_in_user_units(dated=True)
    48.0
    """

    within: float | timedelta | None = None
    size: float = 0.5
    nearest: float = 0.05
    radius: float | None = None
    filled: float = 0.75
    features: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("size", "nearest", "filled"):
            value = getattr(self, name)
            if not _is_finite_number(value) or not 0 < value <= 1:
                raise InputError(f"{name}={value!r}: a share above 0, and at most 1, is wanted")
        if self.radius is not None and not (_is_finite_number(self.radius) and self.radius >= 0):
            raise InputError(f"radius={self.radius!r}: a number of ordinary differences is wanted")
        if self.features is not None:
            object.__setattr__(self, "features", _checked_feature_names(self.features))
        _check_time_limit(self.within)

    def time_limit_in_user_units(self, *, dated: bool) -> float:
        """How soon, in hours where times are dates, else in the time column's own units."""
        within: Any = self.within
        assert within is not None, "MoveCounter.of reads it off the trajectories"
        if not _is_time_span(within):
            return float(within)
        if not dated:
            raise InputError(
                f"within={within!r} is a length of time, and times are numbers: "
                "give it in their units"
            )
        return float(np.timedelta64(within).astype("timedelta64[us]").astype(np.int64)) / HOUR

    def time_limit_in_stored_units(self, *, dated: bool) -> float:
        """How soon, in the units that times are counted in."""
        return self.time_limit_in_user_units(dated=dated) * (HOUR if dated else 1.0)


def _check_time_limit(within: Any) -> None:
    if within is None:
        return
    known = (
        np.timedelta64(within) > np.timedelta64(0)
        if _is_time_span(within)
        else _is_finite_number(within) and within > 0
    )
    if not known:
        raise InputError(f"within={within!r}: a positive number, or a timedelta, is wanted")


def _is_time_span(value: object) -> bool:
    return isinstance(value, timedelta | np.timedelta64)


def _is_finite_number(value: object) -> bool:
    return (
        isinstance(value, int | float | np.number)
        and not isinstance(value, bool)
        and bool(np.isfinite(value))
    )


def _checked_feature_names(features: object) -> tuple[str, ...]:
    if isinstance(features, str) or not hasattr(features, "__iter__"):
        raise InputError(f"features={features!r}: a list of names is wanted, as in ({features!r},)")
    names = tuple(features)
    odd = [name for name in names if not isinstance(name, str)]
    if odd or not names:
        raise InputError(
            f"features={features!r}: names are wanted, and {list_names(odd) or 'none'} came"
        )
    return names
