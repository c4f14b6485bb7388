"""Fills in missing values from the most similar patients of the training part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.errors import DataError, list_names
from localface.types import Array

DONOR_PATIENTS = 5
"""How many similar patients a missing value is taken from."""


@dataclass(frozen=True, slots=True, eq=False)
class Imputation:
    """Fills missing values in clinical units; distances are in standard deviations."""

    schema: Schema
    scaler: Any
    knn: Any

    def fill_missing(self, frame: Any) -> Any:
        """The frame with nothing missing; what was charted stays as it is, bit for bit."""
        raw = frame.to_numpy(dtype=float)
        gaps = np.isnan(raw)
        if not gaps.any():
            return frame.copy()
        guessed = self.scaler.inverse_transform(self.knn.transform(self.scaler.transform(raw)))
        columns = [
            _round_to_chartable(feature, guessed[:, i]) for i, feature in enumerate(self.schema)
        ]
        done = np.where(gaps, np.column_stack(columns), raw)
        _enforce_order_in_place(done, gaps, self.schema)
        return type(frame)(done, columns=frame.columns, index=frame.index)


def fit_imputation(train: Any, schema: Schema) -> Imputation:
    """Fit the scaling and the neighbours on a training part."""
    from sklearn.impute import KNNImputer
    from sklearn.preprocessing import StandardScaler

    never = [name for name in schema.names if train[name].isna().all()]
    if never:
        raise DataError(
            f"{list_names(never)}: never charted among {len(train):,} training rows, "
            "so nothing can be imputed"
        )
    raw = train.to_numpy(dtype=float)
    scaler = StandardScaler().fit(raw)
    return Imputation(
        schema, scaler, KNNImputer(n_neighbors=DONOR_PATIENTS).fit(scaler.transform(raw))
    )


def _round_to_chartable(feature: Feature, values: Array) -> Array:
    """A mean of patients as it could have been charted: to the resolution, within the bounds."""
    step = feature.resolution or (1.0 if feature.whole else 0.0)
    settled = np.round(np.round(values / step) * step, 6) if step else values
    if feature.bounds is None:
        return np.asarray(settled)
    low, high = feature.bounds
    return np.asarray(
        np.clip(settled, -np.inf if low is None else low, np.inf if high is None else high)
    )


def _enforce_order_in_place(values: Array, gaps: Any, schema: Schema) -> None:
    """A minimum that was filled in does not exceed its maximum, nor the reverse."""
    for low, _, high in schema.relations:
        i = schema.index(low)
        j = schema.index(high)
        crossed = values[:, i] > values[:, j]
        lowered = crossed & gaps[:, i]
        raised = crossed & ~gaps[:, i] & gaps[:, j]
        values[lowered, i] = values[lowered, j]
        values[raised, j] = values[raised, i]
