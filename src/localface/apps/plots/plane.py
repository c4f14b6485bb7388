"""An explainer of two numeric features, seen as a plane: its rows, its score and how common each place is."""

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
_BATCH = 1000  # places whose density is worked out at once


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """What there is to see; everything in the user's units but the densities."""

    explainer: LocalFACE
    rows: Array
    across: Array
    up: Array
    scores: Array
    levels: Array

    @property
    def threshold(self) -> float:
        """The score to reach, as the user gave it."""
        return float(self.explainer.options.min_score)

    def units(self, points: Array) -> Array:
        """Turn points of the explainer's space into the user's units."""
        space = self.explainer.engine.space
        return np.asarray(points * space.scales + space.centres)

    def points(self, records: Array) -> Array:
        """Turn records in the user's units into points."""
        space = self.explainer.engine.space
        return np.asarray((records - space.centres) / space.scales)

    def circle(self, centre: Array, radius: float) -> Array:
        """The outline of a ball, which need not be round in the user's units."""
        angle = np.linspace(0, 2 * np.pi, 121)
        return self.units(centre + radius * np.column_stack([np.cos(angle), np.sin(angle)]))


def plane_of(explainer: LocalFACE, what: str) -> Plane:
    """Look at an explainer as a plane, or say what to draw instead."""
    kinds = [feature.kind for feature in explainer.schema]
    if len(kinds) != 2 or not set(kinds) <= {"numeric", "integer"}:
        raise InputError(
            f"{what} draws a plane of two numeric features; this explainer has {len(kinds)} features "
            f"({', '.join(dict.fromkeys(kinds))}): draw one person's way with explain(...).plot() instead"
        )
    rows = _rows(explainer)
    low, high = rows.min(axis=0), rows.max(axis=0)
    edge = 0.12 * (high - low)
    across, up = (
        np.linspace(*ends) for ends in zip(low - edge, high + edge, (_CELLS, _CELLS), strict=True)
    )
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    scores = np.array(
        [
            explainer.engine.score.display_score(score)
            for score in explainer.engine.score(grid).tolist()
        ]
    )
    plane = Plane(explainer, rows, across, up, scores.reshape(_CELLS, -1), np.zeros((0, 0)))
    levels = densities(explainer, plane.points(grid)).reshape(_CELLS, -1)
    return Plane(explainer, rows, across, up, plane.scores, levels)


def _rows(explainer: LocalFACE) -> Array:
    """All rows, for the eyes of whoever holds the data."""
    source = explainer.engine.source
    return source.records(list_all_rows(source))


def densities(explainer: LocalFACE, points: Array) -> Array:
    """How common places are, as log-densities."""
    parts = [points[i : i + _BATCH] for i in range(0, len(points), _BATCH)]
    return np.concatenate(
        [explainer.density.mean_along(part, part, None).log_densities for part in parts]
    )


def draw_ground(panel: Axes, plane: Plane) -> ScalarMappable:
    """Paint the score, the stronger the more common the place, and the borders of viable ground and target."""
    colors = _painter(plane)
    shares = plane.explainer.density.scale.share(plane.levels)
    paint = np.asarray(colors.to_rgba(plane.scores))
    paint[..., 3] = 0.10 + 0.75 * shares
    extent = (plane.across[0], plane.across[-1], plane.up[0], plane.up[-1])
    panel.set_facecolor("white")
    panel.imshow(
        paint, extent=extent, origin="lower", interpolation="bilinear", aspect="auto", zorder=0
    )
    panel.contour(
        plane.across, plane.up, plane.levels, levels=[plane.explainer.floor], colors=INK, linewidths=1.5,
        linestyles="solid", zorder=1,
    )  # fmt: skip
    panel.contour(
        plane.across, plane.up, plane.scores, levels=[plane.threshold], colors=INK, linewidths=1.3,
        linestyles="dotted", zorder=1,
    )  # fmt: skip
    panel.autoscale(enable=False)
    features = plane.explainer.schema.features
    panel.set_xlabel(axis_label(features[0]))
    panel.set_ylabel(axis_label(features[1]))
    panel.tick_params(labelsize=SMALL)
    return colors


def draw_bar(panels: Any, painted: ScalarMappable, plane: Plane) -> None:
    """Say what the colours mean."""
    figure = np.ravel(panels)[0].figure
    bar = figure.colorbar(painted, ax=panels, pad=0.01, aspect=30)
    low, high = painted.norm.vmin, painted.norm.vmax
    ends = [end for end in (low, plane.threshold, high) if isinstance(end, float)]
    decimals = 2 - math.floor(math.log10(ends[-1] - ends[0]))
    bar.set_ticks(ends, labels=[format_number(round(end, decimals)) for end in ends])
    bar.set_label("score (paler: less common ground)", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)


def ground_keys(plane: Plane) -> list[Line2D]:
    """What the borders mean."""
    floor = f"edge of viable ground (floor: {format_percent(plane.explainer.options.min_density)})"
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


def _painter(plane: Plane) -> ScalarMappable:
    """Put the threshold in the middle of the colours; a target that lies low turns them round."""
    low, high = float(plane.scores.min()), float(plane.scores.max())
    target = plane.explainer.engine.answers.target
    if target.kind == "probability":
        low, high = min(0.0, low), max(1.0, high)
    hair = 1e-9 * max(1.0, abs(plane.threshold))  # the threshold must lie between the ends
    norm = TwoSlopeNorm(
        plane.threshold,
        vmin=min(low, plane.threshold - hair),
        vmax=max(high, plane.threshold + hair),
    )
    return ScalarMappable(norm, SCORES.reversed() if target.at_most else SCORES)
