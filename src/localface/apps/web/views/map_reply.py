"""The answer to ``GET /map``: rows, scores and densities where the data is a plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from localface.apps.web.views.scoring import sample_records, score_records
from localface.errors import ModelError
from localface.explainer import LocalFACE
from localface.types import Array

_N_ROWS = 50_000  # drawn at most, about
_CELLS = 64  # of the grid, in each direction
_KNOTS = 257  # values of an axis between which steps are taken to be straight
_DIGITS = 6
_MARGIN = 0.12  # around the rows, as a share of their extent


def is_plane(explainer: LocalFACE) -> bool:
    """Whether a map can be drawn: two features, both numbers."""
    kinds = [feature.kind for feature in explainer.schema]
    return len(kinds) == 2 and set(kinds) <= {"numeric", "integer"}


def map_reply(explainer: LocalFACE) -> dict[str, Any] | None:
    """The rows on the plane, score and density on a grid, and how steps bend on it.

    None where there is no plane, or where the model fails somewhere on it: beyond the
    data it need not work.
    """
    if not is_plane(explainer):
        return None
    rows = sample_records(explainer, _N_ROWS)
    low = rows.min(axis=0)
    high = rows.max(axis=0)
    margin = _MARGIN * (high - low)
    across, up = (
        np.linspace(start, end, _CELLS)
        for start, end in zip(low - margin, high + margin, strict=True)
    )
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    try:
        row_scores = score_records(explainer, rows)
        grid_scores = score_records(explainer, grid)
    except ModelError:
        return None
    x, y = explainer.schema.names
    return {
        "x": x,
        "y": y,
        "rows": np.column_stack([rows, row_scores]).round(_DIGITS).tolist(),
        "grid": {
            "x": across.round(_DIGITS).tolist(),
            "y": up.round(_DIGITS).tolist(),
            "score": _as_grid_rows(grid_scores),
            "density": _as_grid_rows(_density_shares(explainer, grid)),
        },
        "straight": _straight_axes(explainer, low - margin, high + margin),
    }


def _straight_axes(explainer: LocalFACE, low: Array, high: Array) -> list[dict[str, list[float]]]:
    """For each axis some values, and where they are in the space in which steps are straight."""
    values = np.linspace(low, high, _KNOTS)
    places = explainer.engine.space.points(values)
    return [{"values": values[:, j].tolist(), "at": places[:, j].tolist()} for j in range(2)]


def _density_shares(explainer: LocalFACE, records: Array) -> Array:
    """How common each record is, as the share of people in less common states."""
    engine = explainer.engine
    points = engine.space.points(records)
    log_densities = explainer.density.mean_along(points, points, None).log_densities
    return engine.answers.scale.share_below(log_densities)


def _as_grid_rows(values: Array) -> list[list[float]]:
    rows: list[list[float]] = values.reshape(_CELLS, _CELLS).round(_DIGITS).tolist()
    return rows
