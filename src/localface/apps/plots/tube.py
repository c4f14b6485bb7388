"""A drawing of the tube around the rows, worked out by the code that implements it."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Wedge

from localface.apps.plots.style import (
    GREEN,
    INK,
    NORMAL,
    ORANGE,
    RED,
    draw_dots,
    figure_or_new,
    hide_axes,
    write_beside_point,
)
from localface.geometry.deviation import segment_stays_near
from localface.geometry.segments import fewest_rows_within, intervals_near_rows
from localface.types import Array

_ROWS = np.array([[0.0, 0.0], [1.25, 0.55], [2.35, -0.05], [3.5, 0.5], [4.7, 0.05], [1.0, 2.75]])
_STEPS = ((0, 4), (5, 3))  # a step along the rows, and one across a gap
_APART = 1.85  # the two rows of the theorem
_ANGLES = (13.0, -29.0)  # degrees off the line between them: of a covered step, and of another
_REACH = 1.72  # how far these steps go
_TUBE = "#f3e6b8"


def plot_tube(figure: Figure | None = None) -> Figure:
    """Draw the tube: a step is covered where every place on it has a row within eps.

    On the left the cover sweep over any number of rows; on the right the theorem for two
    rows, as corrected: the step from x1 to a place within eps of x2 is covered exactly when
    the rows are at most sqrt(2) eps apart, or the cosine at x1 is at least d / (2 eps).
    """
    figure = figure_or_new(figure, 11.0, 5.4)
    left, right = figure.subplots(1, 2, width_ratios=[1.3, 1.0])
    _draw_sweep_panel(left)
    _draw_theorem_panel(right)
    return figure


def _draw_sweep_panel(panel: Axes) -> None:
    """Any number of rows: a covered step, and one with a gap."""
    _draw_balls(panel, _ROWS)
    for first, last in _STEPS:
        start = _ROWS[first]
        end = _ROWS[last]
        fewest = fewest_rows_within(start, end, _ROWS, 1.0)
        _draw_step(panel, start, end, fine=fewest > 0)
        _draw_gap(panel, start, end, _ROWS)
    panel.annotate(
        "",
        _ROWS[0] + [-1.0, 0.0],
        _ROWS[0],
        arrowprops={"arrowstyle": "<->", "color": INK, "shrinkA": 0, "shrinkB": 0},
    )
    write_beside_point(panel, _ROWS[0] + [-0.5, 0.0], "ε", (0, 4))
    write_beside_point(
        panel,
        np.array([0.75, -1.42]),
        "covered: someone within ε of every point",
        (0, 0),
        color=GREEN,
    )
    write_beside_point(
        panel, np.array([2.6, 1.95]), "not covered:\nnobody within ε of the gap", (0, 0), color=RED
    )
    draw_dots(panel, _ROWS, s=42, color=INK, zorder=6)
    panel.set_title(
        "any number of rows: sweep the step", loc="left", fontsize=NORMAL + 1, fontweight="bold"
    )
    hide_axes(panel)
    panel.set(xlim=(-1.1, 5.8), ylim=(-1.6, 3.85))


def _draw_theorem_panel(panel: Axes) -> None:
    """Two rows: the cone of steps that stay within eps of one of them."""
    rows = np.array([[0.0, 0.0], [_APART, 0.0]])
    _draw_balls(panel, rows)
    _draw_cone(panel, rows)
    for angle in _ANGLES:
        turn = np.radians(angle)
        end = _REACH * np.array([np.cos(turn), np.sin(turn)])
        fine = segment_stays_near(rows[0], rows[1], end, 1.0)
        _draw_step(panel, rows[0], end, fine=fine)
        _draw_gap(panel, rows[0], end, rows)
        if fine:
            write_beside_point(panel, end, "covered", (7, 6), color=GREEN)
        else:
            write_beside_point(panel, end, "not covered", (-34, -36), color=RED)
    panel.plot(*rows.T, color=INK, linewidth=1.0, linestyle=":", zorder=4)
    write_beside_point(panel, rows[0], "$x_1$", (-16, 6))
    write_beside_point(panel, rows[1], "$x_2$", (9, -13))
    note = (
        r"dotted: ends within $\varepsilon$ of $x_2$ that are covered, "
        r"$\cos\varphi \geq d\,/\,2\varepsilon$"
    )
    write_beside_point(panel, np.array([-0.85, -1.6]), note, (0, 0))
    draw_dots(panel, rows, s=42, color=INK, zorder=6)
    title = rf"two rows, $d = {_APART}\,\varepsilon$ apart: the corrected theorem"
    panel.set_title(title, loc="left", fontsize=NORMAL + 1, fontweight="bold")
    hide_axes(panel)
    panel.set(xlim=(-1.1, 2.95), ylim=(-1.68, 1.5))


def _draw_cone(panel: Axes, rows: Array) -> None:
    """The directions in which a step may deviate, and where in the second ball it may end."""
    widest = float(np.degrees(np.arccos(_APART / 2)))
    cone = Wedge(
        (0, 0),
        3.0,
        -widest,
        widest,
        facecolor="none",
        edgecolor=ORANGE,
        hatch="..",
        linewidth=0,
        zorder=3,
    )
    panel.add_patch(cone)
    cone.set_clip_path(Circle(tuple(rows[1]), 1.0, transform=panel.transData))
    for angle in np.radians([-widest, widest]):
        panel.plot(
            [0, 2.6 * np.cos(angle)],
            [0, 2.6 * np.sin(angle)],
            color=ORANGE,
            linewidth=1.5,
            zorder=3,
        )


def _draw_balls(panel: Axes, rows: Array) -> None:
    """Fill the tube, and draw the balls that it is made of."""
    for row in rows:
        panel.add_patch(Circle(tuple(row), 1.0, facecolor=_TUBE, linewidth=0, zorder=1))
    for row in rows:
        panel.add_patch(
            Circle(tuple(row), 1.0, fill=False, edgecolor="#b09b4a", linewidth=0.9, zorder=2)
        )


def _draw_step(panel: Axes, start: Array, end: Array, *, fine: bool) -> None:
    look: dict[str, Any] = {"color": GREEN} if fine else {"color": RED, "linestyle": (0, (4, 2))}
    panel.plot(*np.stack([start, end]).T, linewidth=2.4, zorder=5, **look)
    panel.plot(*end, marker="o" if fine else "X", markersize=9, color=look["color"], zorder=7)


def _draw_gap(panel: Axes, start: Array, end: Array, rows: Array) -> None:
    """Thicken what the sweep leaves uncovered."""
    enter, leave, length = intervals_near_rows(start, end, rows, 1.0)
    along = np.linspace(0, length, 2001)
    alone = ~((enter[:, None] <= along) & (along <= leave[:, None])).any(axis=0)
    if alone.any():
        gap = start + along[alone][[0, -1], None] / length * (end - start)
        panel.plot(*gap.T, color=RED, linewidth=8, alpha=0.45, solid_capstyle="butt", zorder=4)
