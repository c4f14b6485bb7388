"""An explainer of two numeric features as a plane, with score and density on a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import TwoSlopeNorm
from matplotlib.lines import Line2D

from localface.answers.wording import format_number, format_percent
from localface.apps.plots.style import INK, SCORES, SMALL, axis_label
from localface.errors import InputError
from localface.explainer import LocalFACE
from localface.sources.holder import list_all_rows
from localface.types import Array

_CELLS = 90  # of the grid, across
_PIECES = 40  # lines that a step is drawn with
_PIECES_OF_OUTLINE = 4  # lines that a part of an outline is drawn with
_BATCH = 1000  # points whose density is worked out at once


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """Rows, and scores and densities on a grid; in the user's units."""

    explainer: LocalFACE
    rows: Array
    across: Array
    up: Array
    scores: Array
    log_densities: Array

    @property
    def threshold(self) -> float:
        """The score to reach, as the user gave it."""
        return float(self.explainer.options.min_score)

    def to_user_units(self, points: Array) -> Array:
        """Turn points of the explainer's space into the user's units."""
        return self.explainer.engine.space.records(points)

    def points(self, records: Array) -> Array:
        """Turn records in the user's units into points."""
        return self.explainer.engine.space.points(records)

    def curve(self, points: Array) -> Array:
        """The straight steps between points, which are curves in the user's units."""
        return self.explainer.engine.space.curve(points, _PIECES)

    def ball_outline(self, centre: Array, radius: float) -> Array:
        """The outline of a ball, which need not be round in the user's units."""
        angle = np.linspace(0, 2 * np.pi, 121)
        outline = centre + radius * np.column_stack([np.cos(angle), np.sin(angle)])
        return self.explainer.engine.space.curve(outline, _PIECES_OF_OUTLINE)


def make_plane(explainer: LocalFACE, what: str) -> Plane:
    """The plane of an explainer, or a refusal that says what to draw instead."""
    kinds = [feature.kind for feature in explainer.schema]
    if len(kinds) != 2 or not set(kinds) <= {"numeric", "integer"}:
        raise InputError(
            f"{what} draws a plane of two numeric features; "
            f"this explainer has {len(kinds)} features ({', '.join(dict.fromkeys(kinds))}): "
            "draw one person's way with explain(...).plot() instead"
        )
    rows = _all_rows(explainer)
    low = rows.min(axis=0)
    high = rows.max(axis=0)
    margin = 0.12 * (high - low)
    across, up = (
        np.linspace(start, end, _CELLS)
        for start, end in zip(low - margin, high + margin, strict=True)
    )
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    scores = np.array(
        [
            explainer.engine.score.display_score(score)
            for score in explainer.engine.score(grid).tolist()
        ]
    )
    plane = Plane(explainer, rows, across, up, scores.reshape(_CELLS, -1), np.zeros((0, 0)))
    on_grid = log_densities(explainer, plane.points(grid)).reshape(_CELLS, -1)
    return Plane(explainer, rows, across, up, plane.scores, on_grid)


def _all_rows(explainer: LocalFACE) -> Array:
    """All rows, as their owner may see them."""
    source = explainer.engine.source
    return source.records(list_all_rows(source))


def log_densities(explainer: LocalFACE, points: Array) -> Array:
    """The log-densities of some points."""
    parts = [points[i : i + _BATCH] for i in range(0, len(points), _BATCH)]
    return np.concatenate(
        [explainer.density.mean_along(part, part, None).log_densities for part in parts]
    )


def draw_background(panel: Axes, plane: Plane) -> ScalarMappable:
    """Paint the score, stronger where the density is higher, and outline floor and target."""
    colors = _score_colors(plane)
    shares = plane.explainer.density.scale.share_below(plane.log_densities)
    paint = np.asarray(colors.to_rgba(plane.scores))
    paint[..., 3] = 0.10 + 0.75 * shares
    extent = (plane.across[0], plane.across[-1], plane.up[0], plane.up[-1])
    panel.set_facecolor("white")
    panel.imshow(
        paint, extent=extent, origin="lower", interpolation="bilinear", aspect="auto", zorder=0
    )
    grid = (plane.across, plane.up)
    floor: dict[str, Any] = {
        "levels": [plane.explainer.log_floor],
        "linewidths": 1.5,
        "linestyles": "solid",
    }
    panel.contour(*grid, plane.log_densities, colors=INK, zorder=1, **floor)
    target: dict[str, Any] = {
        "levels": [plane.threshold],
        "linewidths": 1.3,
        "linestyles": "dotted",
    }
    panel.contour(*grid, plane.scores, colors=INK, zorder=1, **target)
    panel.autoscale(enable=False)
    features = plane.explainer.schema.features
    panel.set_xlabel(axis_label(features[0]))
    panel.set_ylabel(axis_label(features[1]))
    panel.tick_params(labelsize=SMALL)
    return colors


def draw_color_bar(panels: Any, painted: ScalarMappable, plane: Plane) -> None:
    """Add a colour bar."""
    figure = np.ravel(panels)[0].figure
    bar = figure.colorbar(painted, ax=panels, pad=0.01, aspect=30)
    limits = (painted.norm.vmin, plane.threshold, painted.norm.vmax)
    ends = [end for end in limits if isinstance(end, float)]
    decimals = 2 - math.floor(math.log10(ends[-1] - ends[0]))
    bar.set_ticks(ends, labels=[format_number(round(end, decimals)) for end in ends])
    bar.set_label("score (paler: less common states)", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)


def background_legend_entries(plane: Plane) -> list[Line2D]:
    """The legend entries of the outlines."""
    floor = (
        f"edge of the common states (floor: {format_percent(plane.explainer.options.min_density)})"
    )
    return [
        Line2D([], [], color=INK, linewidth=1.5, label=floor),
        Line2D(
            [],
            [],
            color=INK,
            linewidth=1.3,
            linestyle="dotted",
            label=f"score {format_number(plane.threshold)} (wanted)",
        ),
    ]


def _score_colors(plane: Plane) -> ScalarMappable:
    """Colours with the threshold in the middle; reversed where low scores are wanted."""
    low = float(plane.scores.min())
    high = float(plane.scores.max())
    target = plane.explainer.engine.answers.target
    if target.kind == "probability":
        low = min(0.0, low)
        high = max(1.0, high)
    hair = 1e-9 * max(1.0, abs(plane.threshold))  # the threshold must lie between the ends
    norm = TwoSlopeNorm(
        plane.threshold,
        vmin=min(low, plane.threshold - hair),
        vmax=max(high, plane.threshold + hair),
    )
    return ScalarMappable(norm, SCORES.reversed() if target.at_most else SCORES)
