"""What a page needs to know before anyone is asked about: the features, the target, the plane."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

import numpy as np

from localface._version import __version__
from localface.apps.web.handlers import is_plane
from localface.apps.web.people import everyone
from localface.apps.web.view import Labels, named, score_ends, wanted
from localface.data.schema import Feature
from localface.errors import ModelError
from localface.explainer import LocalFACE
from localface.types import Array

NOTE = "Decision support: correlational, not advice."
_LOOKED_AT = 50_000  # rows from which ordinary values are read off
_SCORED = 500  # of them, whose scores tell the ends of an axis
_CELLS = 64  # of the grid, across
_DIGITS = 6


def described(
    explainer: LocalFACE,
    *,
    title: str,
    people: bool,
    outcomes: bool,
    plane: bool,
    words: Labels,
) -> dict[str, Any]:
    """The answer to ``GET /schema``."""
    engine = explainer.engine
    target, rows = engine.answers.target, engine.source.records(everyone(explainer, _LOOKED_AT))
    low, high = score_ends(target, _some_scores(explainer, rows))
    return {
        "title": title,
        "note": NOTE,
        "version": __version__,
        "rows": engine.source.n_rows,
        "target": {
            "sentence": wanted(target, words),
            "label": target.label,
            "min_score": target.min_score,
            "at_most": target.at_most,
            "kind": target.kind,
            "low": low,
            "high": high,
        },
        "min_density": float(explainer.options.min_density),
        "people": people,
        "outcomes": outcomes,
        "plane": plane,
        "features": [
            {**named(feature, words), **_feature(feature, rows[:, j])}
            for j, feature in enumerate(explainer.schema)
        ],
        "relations": [list(words) for words in explainer.schema.relations],
    }


def _feature(feature: Feature, column: Array) -> dict[str, Any]:
    low, high = (None, None) if feature.discrete else _usual(feature, column)
    middle = (
        float(np.median(column))
        if not feature.discrete
        else float(np.bincount(column.astype(int)).argmax())
    )
    return {
        "moves": feature.moves,
        "within": feature.within,
        "bounds": None if feature.bounds is None else list(feature.bounds),
        "resolution": feature.resolution,
        "whole": feature.whole,
        "low": low,
        "high": high,
        "middle": feature.value(_on_grid(feature, middle, round)),
    }


def _usual(feature: Feature, column: Array) -> tuple[float, float]:
    """Where all but the lowest and the highest 1 % of people are, outwards to the resolution."""
    low, high = np.quantile(column, (0.01, 0.99)).tolist()
    return _on_grid(feature, low, floor), _on_grid(feature, high, ceil)


def _on_grid(feature: Feature, value: float, rounded: Any) -> float:
    if feature.whole:
        return float(rounded(value))
    if not feature.resolution:
        return float(f"{value:.6g}")
    return float(round(rounded(round(value / feature.resolution, 9)) * feature.resolution, 12))


def mapped(explainer: LocalFACE) -> dict[str, Any] | None:
    """The answer to ``GET /map``: everyone on the plane, and score and ground on a grid.

    None where there is no plane, or the model fails somewhere on it: beyond the data nobody vouches for it.
    """
    if not is_plane(explainer):
        return None
    engine, names = explainer.engine, explainer.schema.names
    rows = engine.source.records(everyone(explainer, _LOOKED_AT))
    low, high = rows.min(axis=0), rows.max(axis=0)
    edge = 0.12 * (high - low)
    across, up = (np.linspace(a, b, _CELLS) for a, b in zip(low - edge, high + edge, strict=True))
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    places = engine.space.points(grid)
    shares = engine.answers.scale.share(
        explainer.density.mean_along(places, places, None).log_densities
    )
    try:
        scores = [_shown(explainer, part) for part in (rows, grid)]
    except ModelError:
        return None
    return {
        "x": names[0],
        "y": names[1],
        "rows": np.column_stack([rows, scores[0]]).round(_DIGITS).tolist(),
        "grid": {
            "x": across.round(_DIGITS).tolist(),
            "y": up.round(_DIGITS).tolist(),
            "score": scores[1].reshape(_CELLS, _CELLS).round(_DIGITS).tolist(),
            "density": shares.reshape(_CELLS, _CELLS).round(_DIGITS).tolist(),
        },
    }


def _some_scores(explainer: LocalFACE, rows: Array) -> list[float]:
    """The scores of some people, for the ends of an axis; a model that fails has none to give."""
    try:
        scores: list[float] = _shown(explainer, rows[:: max(1, len(rows) // _SCORED)]).tolist()
        return scores
    except ModelError:
        return []


def _shown(explainer: LocalFACE, records: Array) -> Array:
    score = explainer.engine.score
    return np.array([score.shown(one) for one in score(records).tolist()])
