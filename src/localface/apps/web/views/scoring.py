"""Scores of many records at once, as the user sees them."""

from __future__ import annotations

import numpy as np

from localface.errors import ModelError
from localface.explainer import LocalFACE
from localface.sources.holder import list_all_rows
from localface.types import Array

_BATCH = 2**16  # records scored at a time


def sample_records(explainer: LocalFACE, n: int) -> Array:
    """The records of about ``n`` of an explainer's rows, spread evenly over all of them."""
    source = explainer.engine.source
    ids = list_all_rows(source)
    return source.records(ids[:: max(1, len(ids) // n)])


def score_records(explainer: LocalFACE, records: Array) -> Array:
    """What the model says of some records; raises ``ModelError`` where it fails."""
    score = explainer.engine.score
    return np.array(score.display_scores(score(records).tolist(), records))


def scores_or_nan(explainer: LocalFACE, records: Array) -> Array:
    """What the model says of everyone; NaN for those on whom it fails."""
    batches = [records[i : i + _BATCH] for i in range(0, len(records), _BATCH)]
    return np.concatenate([_score_by_halving(explainer, batch) for batch in batches])


def _score_by_halving(explainer: LocalFACE, records: Array) -> Array:
    """Score records; where the model fails, each half by itself, down to those it fails on."""
    try:
        return score_records(explainer, records)
    except ModelError:
        if len(records) == 1:
            return np.array([np.nan])
        half = len(records) // 2
        parts = (records[:half], records[half:])
        return np.concatenate([_score_by_halving(explainer, part) for part in parts])
