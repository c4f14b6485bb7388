"""Where the numbers of one person's plan may stop: at round values, or wherever is far enough."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from localface.data.rounding import roundest_multiples
from localface.data.space import Space
from localface.types import Array

_ROUND_WITHIN = 0.05  # share of a change by which it may grow for a rounder value
_ROUND_CLOSELY = 0.005  # the same, where effort comes before round values
_HARDLY_AT_ALL = 1e-7  # the same, where values need not be round: enough to be printed in full

Rounding = Callable[[int, Array], Array]
"""Returns values of a column at which a number may stop, no nearer to the person's than given."""


class Stops(NamedTuple):
    """What a ``Person`` has to know of round values."""

    round_outwards: Rounding
    round_closely: Rounding
    next_multiples: Rounding


def stops_of(space: Space, record: Array, *, round_values: bool) -> Stops:
    """Where the numbers of a person with some record may stop."""
    if not round_values:
        with_digits = partial(keep_digits, space, record)
        return Stops(with_digits, with_digits, lambda column, values: values)
    return Stops(
        partial(round_outwards, space, record),
        partial(round_outwards, space, record, within=_ROUND_CLOSELY),
        partial(next_multiples, space, record),
    )


def round_outwards(
    space: Space, record: Array, column: int, values: Array, *, within: float = _ROUND_WITHIN
) -> Array:
    """Return round values of a number's column, hardly further from a record than given ones.

    They are multiples of the feature's resolution where it has one, and whole where it is.
    """
    feature = space.schema.features[int(space.feature_of[column])]
    step = max(feature.resolution or 0.0, 1.0 if feature.whole else 0.0)
    return _round_to(step, space, record, column, values, within=within)


def keep_digits(space: Space, record: Array, column: int, values: Array) -> Array:
    """Return a number's values with as many digits as are written, none nearer to a record.

    They are whole where the feature is, whatever its resolution.
    """
    feature = space.schema.features[int(space.feature_of[column])]
    step = 1.0 if feature.whole else 0.0
    return _round_to(step, space, record, column, values, within=_HARDLY_AT_ALL)


def next_multiples(space: Space, record: Array, column: int, values: Array) -> Array:
    """Return the next multiples of a number's resolution, no nearer to a record than values.

    What has no resolution stays as it is.
    """
    feature = space.schema.features[int(space.feature_of[column])]
    if not feature.resolution:
        return values
    return round_outwards(space, record, column, values, within=0.0)


def _round_to(
    step: float, space: Space, record: Array, column: int, values: Array, *, within: float
) -> Array:
    """Return the roundest multiples of a step within a share of each change, further out."""
    j = int(space.feature_of[column])
    codes = space.column_codes(j, values)
    own = float(record[j])
    further = within * (codes - own)
    found = codes
    are_round = space.schema.features[j].whole and step == 1 and (np.abs(further) < 1).all()
    if not are_round:
        near, far = codes.tolist(), (codes + further).tolist()
        upwards = (codes > own).tolist()
        found = np.array(roundest_multiples(near, far, step, upwards=upwards))
    return space.column_values(j, found)
