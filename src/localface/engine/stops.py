"""Where the numbers of one person's plan may stop: at round values, or wherever is far enough."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from localface.data.space import ROUND_CLOSELY, Space
from localface.types import Array

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
        keep_digits = partial(space.keep_digits, record)
        return Stops(keep_digits, keep_digits, lambda column, values: values)
    return Stops(
        partial(space.round_outwards, record),
        partial(space.round_outwards, record, within=ROUND_CLOSELY),
        partial(space.next_multiples, record),
    )
