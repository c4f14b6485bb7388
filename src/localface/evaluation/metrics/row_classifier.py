"""A second opinion on states: a classifier that was taught rows and records that are nobody's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localface.data.schema import Schema
from localface.errors import DataError
from localface.types import Array

_MOST_CATEGORIES = 255  # that scikit-learn's boosting takes


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowClassifier:
    """How much a record looks like a row, rather than values of different rows put together.

    Boosted trees, which share nothing with any density: they see combinations of many features
    at once, and no distance. Read as the share of held-out people who look less like rows.
    """

    model: Any
    row_scores: Array

    @classmethod
    def fit(cls, records: Array, heldout: Array, schema: Schema, *, seed: int = 0) -> RowClassifier:
        """Teach rows that methods were given against as many composed ones; needs scikit-learn."""
        try:
            from sklearn.ensemble import HistGradientBoostingClassifier
        except ImportError as error:
            raise DataError(
                "a classifier of rows needs scikit-learn: pip install scikit-learn"
            ) from error
        chance = np.random.default_rng(seed)
        composed = np.column_stack([chance.permutation(column) for column in records.T])
        sizes = [len(feature.categories or ()) if feature.discrete else 0 for feature in schema]
        model = HistGradientBoostingClassifier(
            max_iter=300,
            learning_rate=0.08,
            early_stopping=True,
            categorical_features=[2 < size <= _MOST_CATEGORIES for size in sizes],
            random_state=seed,
        )
        labels = np.repeat([1, 0], len(records))
        model.fit(np.concatenate([records, composed]), labels)
        return cls(model, np.sort(model.decision_function(heldout)))

    def share(self, records: Array) -> Array:
        """The share of held-out people who look less like a row than each record."""
        if not len(records):
            return np.zeros(0)
        below = np.searchsorted(self.row_scores, self.model.decision_function(records))
        return np.asarray(below / len(self.row_scores))
