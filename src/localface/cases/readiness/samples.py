"""The rows that a model is fitted or tested on, with their split."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from localface.cases.readiness.codebook import schema
from localface.cases.readiness.generated import Cohort
from localface.errors import DataError, did_you_mean, list_names
from localface.types import Array, Ids

if TYPE_CHECKING:
    from localface.cases.mimic import Extraction

SplitBy = Literal["patient", "row"]
TEST_SHARE = Fraction(2, 5)
"""Of the smallest source; as many rows of every other source are tested on, as in the paper."""

_TRIES = 200  # draws until both parts hold both outcomes; few rows may need several


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Features as a pandas frame, with the outcome, the source, and the patient of each row."""

    features: Any
    ready: Array
    source: Array
    patient: Any

    def __post_init__(self) -> None:
        wanted = list(schema().names)
        missing = [name for name in wanted if name not in self.features]
        if missing:
            raise DataError(
                f"a sample has {len(wanted)} features, "
                f"and the table has no column {list_names(missing)}"
            )
        features = self.features[wanted].astype(float).reset_index(drop=True)
        object.__setattr__(self, "features", features)
        for name in ("ready", "source", "patient"):
            values = np.array(getattr(self, name))
            if len(values) != len(self.features):
                raise DataError(
                    f"{name!r} needs one value a row: "
                    f"{len(self.features):,} rows, {len(values):,} values"
                )
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    @classmethod
    def of_cohort(cls, cohort: Cohort) -> Samples:
        """Take a generated cohort: every row is a patient of their own."""
        return cls(cohort.frame(), cohort.ready, cohort.source, np.arange(len(cohort.ready)))

    @classmethod
    def of_extraction(cls, extraction: Extraction) -> Samples:
        """Take the rows of a MIMIC-III extraction: a patient may have several."""
        table = extraction.table
        return cls(table, *(table[name].to_numpy() for name in ("ready", "source", "subject_id")))

    def __len__(self) -> int:
        return len(self.ready)

    def __repr__(self) -> str:
        ready = int(self.ready.sum())
        return f"<Samples: {len(self):,} rows of {self.n_patients:,} patients, {ready:,} ready>"

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources by name, in the order they come."""
        return tuple(dict.fromkeys(self.source.tolist()))

    @property
    def patient_numbers(self) -> Ids:
        """A number for each row's patient; the same id in two sources is two patients."""
        keys = np.char.add(np.char.add(self.source.astype(str), "\n"), self.patient.astype(str))
        return np.unique(keys, return_inverse=True)[1]

    @property
    def n_patients(self) -> int:
        """How many patients there are."""
        return int(self.patient_numbers.max()) + 1 if len(self) else 0

    @property
    def has_repeated_patients(self) -> bool:
        """Whether some patient has more than one row."""
        return self.n_patients < len(self)


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Which rows are fitted on, and which are tested on."""

    train: Ids
    test: Ids


def split_samples(samples: Samples, *, seed: int = 0, by: SplitBy = "patient") -> Split:
    """Split the rows as the paper does.

    40 % of the smaller source, and as many rows of the other, are tested on. Whole patients
    go to one side or the other; ``by="row"`` splits row by row instead, as the original study
    did, so that a patient with several rows may be on both sides.
    Of a single source, 40 % is tested on.

    >>> from localface.cases.readiness import synthetic
    >>> parts = split_samples(Samples.of_cohort(synthetic(sizes={"mimic": 300, "gicu": 100})))
    >>> len(parts.train), len(parts.test)
    (320, 80)
    """
    if by not in ("patient", "row"):
        raise DataError(
            "samples are split by 'patient' or by 'row'; "
            f"got {by!r}{did_you_mean(by, ('patient', 'row'))}"
        )
    units = samples.patient_numbers if by == "patient" else np.arange(len(samples))
    rng = np.random.default_rng(seed)
    for _ in range(_TRIES):
        test = _draw_test_rows(samples, units, rng)
        if _has_both_outcomes(samples.ready[test]) and _has_both_outcomes(samples.ready[~test]):
            return Split(np.flatnonzero(~test), np.flatnonzero(test))
    raise DataError(
        f"{samples!r} cannot be parted so that patients who were ready and patients who were "
        "not stand on both sides: more patients of either kind are needed"
    )


def _draw_test_rows(samples: Samples, units: Ids, rng: np.random.Generator) -> Any:
    """Mark the rows to test on: whole units of each source, as near to the number as possible."""
    sizes = [int(np.sum(samples.source == name)) for name in samples.sources]
    wanted = min(ceil(size * TEST_SHARE) for size in sizes)
    marked = np.zeros(len(samples), dtype=bool)
    for name in samples.sources:
        rows = np.flatnonzero(samples.source == name)
        found, unit_of_row = np.unique(units[rows], return_inverse=True)
        order = rng.permutation(len(found))
        reached = np.cumsum(np.bincount(unit_of_row)[order])
        enough = int(np.abs(reached - wanted).argmin()) + 1
        tested = order[: min(enough, len(found) - 1)]
        marked[rows[np.isin(unit_of_row, tested)]] = True
    return marked


def _has_both_outcomes(ready: Array) -> bool:
    return 0 < int(ready.sum()) < len(ready)
