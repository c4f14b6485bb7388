"""What has to be decided to make a cohort of MIMIC-III, each decision by name."""

from __future__ import annotations

from dataclasses import dataclass, fields

from localface.errors import DataError

EXTRA_DAYS = (3, 4, 5, 6, 7, 8)
"""Days before callout at which a stay is sampled once more, as not ready."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """How the cohort is made where the original study is odd, or the public record of it is silent.

    The defaults are what we hold to be right; ``Decisions.original()`` does as the study did,
    as far as is known.

    Parameters
    ----------
    first_stay_only : take the first ICU stay of an admission only (silent: whether the study did)
    single_callout_only : drop stays with several callouts; otherwise the last is time zero
    extra_days : days before callout at which stays are sampled once more, labelled 0
    extra_of_all_stays : extra negatives also of stays that ended badly (label 0 in any case)
    errors_dropped : leave out what was charted in error (silent)
    zeros_dropped : a rate, a pressure or a concentration of exactly 0 is no measurement (silent)
    right_heart_excluded : leave out pressures and saturations of the right heart, which are not
        the arterial ones
    celsius_kept : judge Celsius temperatures by limits in Celsius (the study lost them to its
        Fahrenheit limits)
    haemoglobin_converted : haemoglobin in g/L (the study left it in g/dL)
    fio2_mended : read FiO2 up to 1 as a fraction, and drop what is less than room air (silent)
    unscored_pain_dropped : "Unable to Score" is no pain score (it is charted with the number 0)
    absent_tube_dropped : "Not applicable" is no tube (the study: any row is a tube)
    tube_carried : a tube last charted 4 to 36 h before still counts (removals are not charted)
    text_numbers_read : where VALUENUM is empty, read numbers from VALUE, such as "33%" (silent)
    age_capped : ages over 89, shifted to 300 years by de-identification, become 91 (the study
        left them)
    bmi_limited : drop impossible heights, weights and body mass indices (the study kept up to
        57 SD)
    """

    first_stay_only: bool = True
    single_callout_only: bool = True
    extra_days: tuple[int, ...] = EXTRA_DAYS
    extra_of_all_stays: bool = True
    errors_dropped: bool = True
    zeros_dropped: bool = True
    right_heart_excluded: bool = True
    celsius_kept: bool = True
    haemoglobin_converted: bool = True
    fio2_mended: bool = True
    unscored_pain_dropped: bool = True
    absent_tube_dropped: bool = True
    tube_carried: bool = False
    text_numbers_read: bool = True
    age_capped: bool = True
    bmi_limited: bool = True

    def __post_init__(self) -> None:
        days = tuple(self.extra_days)
        whole = all(type(day) is int and day > 0 for day in days)
        if not whole or len(set(days)) < len(days):
            raise DataError(
                "extra_days are different whole numbers of days, 1 or more, such as (3, 4); got "
                f"{days!r}"
            )
        object.__setattr__(self, "extra_days", days)

    @classmethod
    def original(cls) -> Decisions:
        """Return the decisions of the original study, as far as the public record tells."""
        return cls(
            errors_dropped=False,
            zeros_dropped=False,
            right_heart_excluded=False,
            celsius_kept=False,
            haemoglobin_converted=False,
            fio2_mended=False,
            unscored_pain_dropped=False,
            absent_tube_dropped=False,
            text_numbers_read=False,
            age_capped=False,
            bmi_limited=False,
        )

    def departures(self) -> tuple[str, ...]:
        """The names of the decisions that are not the original study's."""
        original = Decisions.original()
        names = [field.name for field in fields(self)]
        return tuple(name for name in names if getattr(self, name) != getattr(original, name))

    def to_plain_values(self) -> dict[str, object]:
        """Every decision by name, in plain values."""
        return {field.name: _to_plain_value(getattr(self, field.name)) for field in fields(self)}


def _to_plain_value(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
