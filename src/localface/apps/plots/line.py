"""A figure of a path beside one straight step to its end, with the density along both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from localface.answers.wording import format_number, format_percent
from localface.apps.plots.pipeline import (
    draw_end,
    draw_path,
    draw_start,
    end_legend_entry,
    path_legend_entry,
    person_legend_entry,
)
from localface.apps.plots.plane import (
    Plane,
    background_legend_entries,
    draw_background,
    draw_color_bar,
    log_densities,
    make_plane,
)
from localface.apps.plots.style import GREEN, GREY, NORMAL, PURPLE, SMALL, draw_dots, figure_or_new
from localface.explainer import LocalFACE
from localface.geometry.segments import norms
from localface.types import Array

_N_POINTS = 401  # along each path
_DASHES = (0, (5, 2))


def plot_against_line(
    explainer: LocalFACE,
    person: Any,
    figure: Figure | None = None,
    *,
    where: Mapping[str, Any] | None = None,
) -> Figure:
    """Draw the path that was found beside one straight step to its end, with the density below.

    A straight step is a curve in the user's units, unless all numbers enter by a scale.

    Parameters
    ----------
    explainer
        An explainer of two numeric features.
    person
        Whom to explain; there must be recourse, else ``NoRecourse`` is raised with the reason.
    figure
        A figure to draw on; by default a new one.
    where
        What this person may change, as for ``explain``.
    """
    plane = make_plane(explainer, "plot_against_line")
    records = explainer.explain(person, where=where).require().records
    path = plane.points(records)
    straight = path[[0, -1]]
    figure = figure_or_new(figure, 7.0, 7.4)
    top, bottom = figure.subplots(2, height_ratios=[2.2, 1.0])
    painted = draw_background(top, plane)
    rows = draw_dots(
        top, plane.rows, "row", s=9.0, linewidths=0.5, edgecolors=GREY, facecolors="none", zorder=2
    )
    draw_path(top, plane, straight, color=PURPLE, linestyle=_DASHES)
    draw_path(top, plane, path, color=GREEN)
    draw_start(top, records[0])
    draw_end(top, records[-1])
    paths = _path_legend_entries(path, straight)
    keys = [
        *paths,
        person_legend_entry(plane.explainer.schema.each_row),
        end_legend_entry(),
        rows,
        *background_legend_entries(plane),
    ]
    figure.legend(
        handles=keys,
        fontsize=NORMAL - 0.5,
        loc="outside upper left",
        ncols=2,
        frameon=False,
        handlelength=3.2,
    )
    draw_color_bar(top, painted, plane)
    _draw_density_along(bottom, plane, path, straight)
    return figure


def _path_legend_entries(path: Array, straight: Array) -> list[Line2D]:
    lengths = [
        format_number(float(norms(np.diff(one, axis=0)).sum()), 2) for one in (path, straight)
    ]
    return [
        path_legend_entry(f"LocalFACE, length {lengths[0]}", GREEN),
        path_legend_entry(f"straight step, length {lengths[1]}", PURPLE, _DASHES),
    ]


def _draw_density_along(panel: Axes, plane: Plane, path: Array, straight: Array) -> None:
    """Draw the density along both, as the share of people in less common states."""
    floor = plane.explainer.options.min_density
    for one, color, linestyle in ((straight, PURPLE, _DASHES), (path, GREEN, "-")):
        travelled, points = _sample_points_along(one)
        shares = plane.explainer.density.scale.share_below(log_densities(plane.explainer, points))
        panel.plot(travelled, 100 * shares, color=color, linewidth=2.2, linestyle=linestyle)
    panel.axhline(100 * floor, linewidth=1.5, color=panel.xaxis.label.get_color())
    panel.annotate(
        f"floor: {format_percent(floor)}",
        (0, 100 * floor),
        (4, 4),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        fontsize=SMALL,
    )
    panel.set_ylim(-4, 104)
    panel.set_xlabel("way travelled [standard deviations]")
    rows = plane.explainer.schema.each_row.many
    panel.set_ylabel(f"how common\n[% of {rows} in\nless common states]", fontsize=NORMAL - 1)
    panel.tick_params(labelsize=SMALL)
    panel.spines[["top", "right"]].set_visible(False)


def _sample_points_along(path: Array) -> tuple[Array, Array]:
    """Points along a path, and how far each is from its start."""
    lengths = norms(np.diff(path, axis=0))
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    travelled = (np.arange(_N_POINTS) + 0.5) / _N_POINTS * ends[-1]
    points = np.column_stack([np.interp(travelled, ends, column) for column in path.T])
    return travelled, points
