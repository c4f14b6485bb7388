"""What measuring a missing value could show: said beside an answer, and never credited to it."""

from __future__ import annotations

from dataclasses import dataclass

from localface.answers.wording import format_percent


@dataclass(frozen=True, slots=True)
class Measurement:
    """A feature that may be measured, and how many of the values that others have would do.

    ``n_values`` are the different values tried, everything else as it is; ``n_enough`` of them
    reach the target.
    """

    feature: str
    n_values: int
    n_enough: int


def measurement_sentence(measurement: Measurement, name: str) -> str:
    """Say what having it measured could show; ``name`` is what the feature is called.

    >>> measurement_sentence(Measurement("lact", 200, 50), "lactate")
    'have lactate measured: 25 % of the 200 different values that others have would be enough; \
nothing here counts on it'
    """
    if not measurement.n_enough:
        return f"having {name} measured is not enough, whichever of others' values it shows"
    share = format_percent(measurement.n_enough / measurement.n_values)
    values = f"the {measurement.n_values:,} different values that others have"
    return f"have {name} measured: {share} of {values} would be enough; nothing here counts on it"
