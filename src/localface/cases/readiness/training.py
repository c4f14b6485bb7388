"""Fits the forest on repeated splits, measured beside the paper's figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from localface.cases.readiness.codebook import schema
from localface.cases.readiness.imputation import Imputation, fit_imputation
from localface.cases.readiness.samples import Samples, Split, SplitBy, split_samples
from localface.errors import DataError
from localface.types import Array, Ids

SPECIFICITY = 0.7
MEASURES = {
    "auc": "AUC",
    "brier": "Brier score",
    "f1": "F1 at specificity 0.7",
    "accuracy": "accuracy at specificity 0.7",
    "sensitivity": "sensitivity at specificity 0.7",
}
PAPER = {
    "auc": (0.8814, 0.0060),
    "brier": (0.1442, 0.0029),
    "f1": (0.8162, 0.0075),
    "accuracy": (0.7978, 0.0067),
    "sensitivity": (0.8966, 0.0137),
}
"""Mean and standard deviation over the paper's 100 splits."""


@dataclass(frozen=True, slots=True, order=True)
class Settings:
    """What a forest is grown with."""

    n_estimators: int = 100
    max_features: float = 0.5
    max_depth: int = 7

    def __str__(self) -> str:
        return (
            f"{self.n_estimators} trees, depth {self.max_depth}, max_features {self.max_features}"
        )


# the grid that the paper searched
TREES = (20, 50, 100)
SHARES = (0.3, 0.5, 0.7)
DEPTHS = (4, 5, 6, 7)


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """One split with its forest: both parts imputed, in clinical units, with the test scores."""

    split: Split
    imputation: Imputation
    settings: Settings
    model: Any
    train: Any
    test: Any
    ready: Array
    scores: Array


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Every measure on every split; ``scores`` and ``ready`` are of all tested rows, in order."""

    by: SplitBy
    measures: Mapping[str, Array]
    settings: tuple[Settings, ...]
    scores: Array
    ready: Array
    first: Fitted

    @property
    def n_splits(self) -> int:
        """How many splits there were."""
        return len(self.settings)

    def mean(self, measure: str) -> float:
        """A measure's mean over the splits."""
        return float(np.mean(self.measures[measure]))

    def sd(self, measure: str) -> float:
        """A measure's standard deviation over the splits; NaN for one split."""
        return float(np.std(self.measures[measure], ddof=1)) if self.n_splits > 1 else float("nan")

    def __repr__(self) -> str:
        measures = f"AUC {self.mean('auc'):.4f}, Brier {self.mean('brier'):.4f}"
        return f"<Evaluation: {self.n_splits} splits by {self.by}, {measures}>"


def evaluate_forest(
    samples: Samples,
    *,
    splits: int = 100,
    grid: bool = False,
    by: SplitBy = "patient",
    seed: int = 0,
    progress: bool = True,
) -> Evaluation:
    """Fit and measure on repeated random splits.

    Parameters
    ----------
    samples : the rows; what is missing is imputed from each training part
    splits : how often; the paper's figures are over 100
    grid : search the paper's grid on each split; else a forest of 100 trees, depth 7, half of
        the features
    by : ``"patient"``, or ``"row"`` as in the original study, which lets patients leak between
        the parts
    seed : of the first split; the following ones count on from it
    progress : show a progress bar where there is a terminal
    """
    if splits < 1:
        raise DataError(f"splits is a whole number, 1 or more; got {splits!r}")
    measures: dict[str, list[float]] = {name: [] for name in MEASURES}
    done = []
    first = None
    for number in _range_with_progress(splits, f"splits by {by}", progress=progress):
        parts = split_samples(samples, seed=seed + number, by=by)
        fitted = fit_on_split(samples, parts, grid=grid, seed=seed + number)
        first = first or fitted
        done.append((fitted.settings, fitted.scores, fitted.ready))
        for name, value in forest_measures(fitted.ready, fitted.scores).items():
            measures[name].append(value)
    assert first is not None
    settings, scores, ready = zip(*done, strict=True)
    every = {name: np.array(values) for name, values in measures.items()}
    return Evaluation(by, every, settings, np.concatenate(scores), np.concatenate(ready), first)


def fit_on_split(samples: Samples, parts: Split, *, grid: bool = False, seed: int = 0) -> Fitted:
    """Impute, choose and grow a forest on the training part, and score the tested part."""
    imputation = fit_imputation(samples.features.iloc[parts.train], schema())
    train, test = (
        imputation.fill_missing(samples.features.iloc[rows]).reset_index(drop=True)
        for rows in (parts.train, parts.test)
    )
    settings = search_settings(samples, parts.train, seed=seed) if grid else Settings()
    model = fit_forest(train, samples.ready[parts.train], settings, seed=seed)
    scores = model.predict_proba(test)[:, 1]
    return Fitted(
        parts, imputation, settings, model, train, test, samples.ready[parts.test], scores
    )


def fit_forest(features: Any, ready: Array, settings: Settings, *, seed: int = 0) -> Any:
    """Fit a forest on values in clinical units: trees do not mind scales, the explainer does."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(
        n_estimators=settings.n_estimators,
        max_features=settings.max_features,
        max_depth=settings.max_depth,
        random_state=seed,
        n_jobs=-1,
    )
    # Several threads add up the trees' votes in any order, and so differ in the last bit:
    # one thread scores.
    return forest.fit(features, ready).set_params(n_jobs=1)


def search_settings(samples: Samples, rows: Ids, *, seed: int = 0) -> Settings:
    """The settings of the grid with the best mean AUC, by multiple-source cross-validation."""
    from sklearn.metrics import roc_auc_score

    found: dict[Settings, list[float]] = {}
    for fitted_on, tried_on in cross_validation_folds(samples, rows):
        imputation = fit_imputation(samples.features.iloc[fitted_on], schema())
        train, test = (
            imputation.fill_missing(samples.features.iloc[part]) for part in (fitted_on, tried_on)
        )
        for share, depth in product(SHARES, DEPTHS):
            forest = fit_forest(
                train, samples.ready[fitted_on], Settings(max(TREES), share, depth), seed=seed
            )
            votes = [tree.predict_proba(test.to_numpy())[:, 1] for tree in forest.estimators_]
            # the first 20 trees of a forest are the forest of 20 trees of the same seed
            for trees in TREES:
                auc = roc_auc_score(samples.ready[tried_on], np.mean(votes[:trees], axis=0))
                found.setdefault(Settings(trees, share, depth), []).append(float(auc))
    if not found:
        raise DataError(
            f"no fold of {len(rows):,} training rows holds both outcomes: use grid=False"
        )
    return max(sorted(found), key=lambda one: float(np.mean(found[one])))


def cross_validation_folds(samples: Samples, rows: Ids) -> Iterator[tuple[Ids, Ids]]:
    """Hold out one source after another; of a single source, a fifth of its patients after another.

    A source is held out whole, so what is chosen is what carries over to a hospital not seen.
    No patient is on both sides of a fold.
    """
    people = samples.patient_numbers[rows]
    if len(samples.sources) > 1:
        held_out = [samples.source[rows] == name for name in samples.sources]
    else:
        order = np.random.default_rng(0).permutation(people.max() + 1)
        held_out = [order[people] % 5 == number for number in range(5)]
    for out in held_out:
        parts = [rows[part] for part in (out, ~out) if part.any()]
        both_outcomes = all(0 < samples.ready[part].mean() < 1 for part in parts)
        if both_outcomes and out.any():
            yield rows[~out], rows[out]


def forest_measures(ready: Array, scores: Array) -> dict[str, float]:
    """Measure scores against what happened.

    >>> result = forest_measures(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8]))
    >>> round(result["auc"], 2), round(result["sensitivity"], 2)
    (0.75, 0.5)
    """
    from sklearn.metrics import roc_auc_score

    called = scores > score_cut_at_specificity(ready, scores)
    hits = int(np.sum(called & (ready == 1)))
    alarms = int(np.sum(called & (ready == 0)))
    misses = int(np.sum(ready == 1)) - hits
    return {
        "auc": float(roc_auc_score(ready, scores)),
        "brier": float(np.mean((scores - ready) ** 2)),
        "f1": 2 * hits / (2 * hits + alarms + misses),
        "accuracy": float(np.mean(called == (ready == 1))),
        "sensitivity": hits / (hits + misses),
    }


def score_cut_at_specificity(
    ready: Array, scores: Array, specificity: float = SPECIFICITY
) -> float:
    """The score above which patients are called ready, at this specificity.

    At least this share of those who were not ready is not called so.

    >>> score_cut_at_specificity(np.zeros(10, dtype=int), np.arange(10) / 10)
    0.6
    """
    others = np.sort(scores[ready == 0])
    return float(others[int(np.ceil(specificity * len(others) - 1e-9)) - 1])


def _range_with_progress(n: int, what: str, *, progress: bool) -> Iterator[int]:
    """Count to n, with a bar where there is a terminal."""
    from tqdm.auto import tqdm

    yield from tqdm(range(n), desc=what, unit=" splits", disable=None if progress else True)
