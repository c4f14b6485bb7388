"""What judges records in a trial: the floor in use, one to compare it with, a classifier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np

from localface.analyses.floor_report.trial import Trial, area_under_curve
from localface.density.common_states.composing import compose_records
from localface.types import Array

_MOST_CATEGORIES = 255  # that scikit-learn's boosting takes


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """How well one judge tells rows from records that are nobody's.

    ``held_out`` and ``composed`` are the shares that clear the floor, ``auc`` how often a row
    is judged more common than a composed record, ``one_column_auc`` the same beside rows of
    which a single value is somebody else's.
    """

    name: str
    held_out: float
    composed: float
    auc: float
    one_column_auc: float

    def to_dict(self) -> dict[str, object]:
        """Return the figures as plain values that JSON can hold."""
        return {
            "name": self.name,
            "held_out": self.held_out,
            "composed": self.composed,
            "auc": self.auc,
            "one_column_auc": self.one_column_auc,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What one judge says of the records of a trial: the higher, the more common."""

    held_out: Array
    composed: Array
    one_swapped: Array
    floor: float

    @classmethod
    def by(cls, judge: Callable[[Array], Array], trial: Trial, floor: float) -> Judged:
        """Let a function judge all records of a trial."""
        return cls(
            judge(trial.held_out), judge(trial.composed), judge(trial.one_swapped), floor=floor
        )

    def figures(self, name: str) -> JudgeFigures:
        """Sum up in four figures."""
        return JudgeFigures(
            name,
            held_out=float(np.mean(self.held_out >= self.floor)),
            composed=float(np.mean(self.composed >= self.floor)),
            auc=area_under_curve(self.held_out, self.composed),
            one_column_auc=area_under_curve(self.held_out, self.one_swapped),
        )


def judged_by_classifier(
    trial: Trial, n_categories: tuple[int, ...], floor: float, seed: int
) -> Judged | None:
    """Judge by a boosted classifier of rows against composed records; None without scikit-learn.

    Its threshold is set on the held-out rows themselves, so that it refuses as many as the
    floor is meant to.
    """
    if find_spec("sklearn") is None:
        return None
    from sklearn.ensemble import HistGradientBoostingClassifier

    composed = compose_records(trial.known, np.random.default_rng(seed + 1))
    labels = np.repeat([1, 0], len(trial.known))
    boosted = HistGradientBoostingClassifier(
        max_iter=300,
        learning_rate=0.08,
        early_stopping=True,
        categorical_features=[2 < n <= _MOST_CATEGORIES for n in n_categories],
        random_state=seed,
    ).fit(np.vstack([trial.known, composed]), labels)
    judged = Judged.by(lambda some: np.asarray(boosted.decision_function(some)), trial, -np.inf)
    return replace(judged, floor=float(np.quantile(judged.held_out, floor)))
