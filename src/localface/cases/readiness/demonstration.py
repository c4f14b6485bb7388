"""The demonstration: the generated cohort, with a forest that comes with the package.

``python -m localface.cases.readiness.demonstration`` grows the forest again and writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from localface.cases.readiness.generated import synthetic
from localface.cases.readiness.samples import Samples, split_samples
from localface.models.readers.stored_forest import StoredForest, read_stored_forest, write_forest
from localface.types import Array

_FOREST = files("localface.cases").joinpath("readiness_forest.npz")


@dataclass(frozen=True, slots=True, eq=False)
class Demonstration:
    """Who a forest was grown on and who was not, as pandas frames, and whether they were ready."""

    model: StoredForest
    train: Any
    test: Any
    train_ready: Array
    test_ready: Array


def make_demonstration() -> Demonstration:
    """Generate the cohort, and take the forest from the package: growing it takes seconds."""
    with as_file(_FOREST) as path:
        model = read_stored_forest(path)
    return _split_cohort(model)


def grow_forest() -> Any:
    """Grow the forest of the demonstration by scikit-learn."""
    from localface.cases.readiness.training import Settings, fit_forest

    cohort = _split_cohort(None)
    return fit_forest(cohort.train, cohort.train_ready, Settings())


def _split_cohort(model: Any) -> Demonstration:
    samples = Samples.of_cohort(synthetic(seed=0))
    parts = split_samples(samples)
    train, test = (
        samples.features.iloc[rows].reset_index(drop=True) for rows in (parts.train, parts.test)
    )
    return Demonstration(model, train, test, samples.ready[parts.train], samples.ready[parts.test])


if __name__ == "__main__":
    write_forest(grow_forest(), Path(str(_FOREST)))
