"""The answer to ``GET /schema``: what a page needs to know of features and target."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor
from typing import Any

import numpy as np

from localface._version import __version__
from localface.apps.web.views.labels import Labels, feature_view, target_text
from localface.apps.web.views.scoring import sample_records, score_records
from localface.apps.web.views.view import score_axis
from localface.data.absence import is_absent
from localface.data.feature import Feature
from localface.errors import ModelError
from localface.explainer import LocalFACE
from localface.types import Array

NOTE = "Decision support: correlational, not advice."
_GROUPS = ("What may change", "What stays as it is")
_N_ROWS = 50_000  # from which ordinary values are read off
_N_SCORED = 500  # of them, whose scores tell the ends of an axis


def schema_reply(
    explainer: LocalFACE,
    *,
    title: str,
    people: bool,
    outcomes: bool,
    plane: bool,
    retrained: bool,
    promises: bool,
    labels: Labels,
) -> dict[str, Any]:
    """Describe an explainer; the flags say what else the service can be asked for."""
    rows = sample_records(explainer, _N_ROWS)
    absences = explainer.engine.space.absence_columns.columns
    may_be_missing = {one.feature for one in absences if np.isnan(one.code)}
    return {
        "title": title,
        "note": NOTE,
        "version": __version__,
        "rows": explainer.engine.source.n_rows,
        "each_row": {
            "one": explainer.schema.each_row.one,
            "many": explainer.schema.each_row.many,
        },
        "target": _target_reply(explainer, rows, labels),
        "min_density": float(explainer.options.min_density),
        "people": people,
        "outcomes": outcomes,
        "plane": plane,
        "retrained": retrained,
        "promises": promises,
        "features": [
            {
                **feature_view(feature, labels),
                **_feature_reply(feature, rows[~is_absent(feature, rows[:, column]), column]),
                "group": labels.groups.get(feature.name) or _GROUPS[bool(feature.own)],
                "may_be_missing": column in may_be_missing,
                "codes": [
                    {"value": code, "text": text} for code, text in (feature.codes or {}).items()
                ],
            }
            for column, feature in enumerate(explainer.schema)
        ],
        "relations": [list(relation) for relation in explainer.schema.relations],
    }


def _target_reply(explainer: LocalFACE, rows: Array, labels: Labels) -> dict[str, Any]:
    target = explainer.engine.answers.target
    low, high = score_axis(target, _sample_scores(explainer, rows))
    return {
        "sentence": target_text(target, labels),
        "label": target.label,
        "min_score": target.min_score,
        "at_most": target.at_most,
        "kind": target.kind,
        "low": low,
        "high": high,
    }


def _sample_scores(explainer: LocalFACE, rows: Array) -> list[float]:
    """The scores of some people, for the ends of an axis; a model that fails has none to give."""
    try:
        some = rows[:: max(1, len(rows) // _N_SCORED)]
        scores: list[float] = score_records(explainer, some).tolist()
        return scores
    except ModelError:
        return []


def _feature_reply(feature: Feature, column: Array) -> dict[str, Any]:
    """How a feature may move, and where people are, those without a value left out."""
    low = high = middle = None
    if feature.discrete and len(column):
        middle = float(np.bincount(column.astype(int)).argmax())
    elif len(column):
        low, high = _ordinary_range(feature, column)
        middle = float(np.median(column))
    return {
        "moves": feature.moves,
        "within": feature.within,
        "bounds": None if feature.bounds is None else list(feature.bounds),
        "resolution": feature.resolution,
        "whole": feature.whole,
        "low": low,
        "high": high,
        "middle": None
        if middle is None
        else feature.value(_rounded_to_resolution(feature, middle, round)),
    }


def _ordinary_range(feature: Feature, column: Array) -> tuple[float, float]:
    """Where all but the lowest and the highest 1 % of people are, outwards to the resolution."""
    low, high = np.quantile(column, (0.01, 0.99)).tolist()
    return _rounded_to_resolution(feature, low, floor), _rounded_to_resolution(feature, high, ceil)


def _rounded_to_resolution(
    feature: Feature, value: float, rounding: Callable[[float], int]
) -> float:
    """A value on the grid of a feature's resolution."""
    if feature.whole:
        return float(rounding(value))
    if not feature.resolution:
        return float(f"{value:.6g}")
    steps = rounding(round(value / feature.resolution, 9))
    return float(round(steps * feature.resolution, 12))
